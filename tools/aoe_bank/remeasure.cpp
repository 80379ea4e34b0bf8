// aoe_bank verify --remeasure=N: what strategies have claimed, measured again on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "api/settings.h"
#include "api/worker_program.h"
#include "base/log.h"
#include "base/measuring_notice.h"
#include "base/statistics.h"
#include "compiler/soc.h"
#include "compiler/task_from_key.h"
#include "tools/aoe_bank/commands.h"
#include "tuner/measure/worker_measurer.h"

namespace aoe::tools {
using nlohmann::json;
namespace {

/// A strategy that says it beats its default.
struct Claim {
  bank::TaskKey key;
  bank::Strategy strategy;
  double gain() const { return strategy.measured.default_time_ns / strategy.measured.time_ns; }
};

enum class Finding { kHolds, kUncertain, kLost, kSkipped };
const char* name(Finding finding) {
  constexpr const char* kNames[] = {"holds", "uncertain", "lost", "skipped"};
  return kNames[static_cast<int>(finding)];
}

struct Found {
  Claim claim;
  Finding finding = Finding::kSkipped;
  std::string cause;  ///< why there is no comparison
  Comparison comparison;
};

/// `count` of all claims, each as likely as any other, in the bank's order.
std::vector<Claim> sample(const bank::KnowledgeBank& bank, std::size_t count, std::uint64_t seed) {
  std::vector<Claim> drawn;
  std::mt19937_64 random(seed);
  std::size_t seen = 0;
  bank.visit([&](const bank::BankEntry& entry) {
    for (const bank::Strategy& strategy : entry.set.strategies) {
      const bank::Measurement& m = strategy.measured;
      if (m.verdict != "faster" || m.time_ns <= 0 || m.default_time_ns <= 0) continue;
      ++seen;
      if (drawn.size() < count)
        drawn.push_back({entry.key, strategy});
      else if (const std::size_t place = random() % seen; place < count)
        drawn[place] = {entry.key, strategy};
    }
  });
  std::ranges::sort(drawn, {}, [](const Claim& claim) { return claim.key.digest(); });
  return drawn;
}

/// As the claim was measured: "in-model-2 weights_in=l3".
tuner::WeightsIn weights_in(const bank::Strategy& strategy) {
  using enum tuner::WeightsIn;
  for (const tuner::WeightsIn place : {kL2, kL3, kMemory})
    if (strategy.measured.policy.ends_with("weights_in=" + std::string(tuner::name(place))))
      return place;
  return kMemory;
}

/// What a compilation of the task alone takes.
compiler::Candidate default_of(const compiler::Task& task, const compiler::Soc& soc) {
  std::vector<compiler::Candidate> all = compiler::default_candidates(task, soc);
  return std::move(*std::ranges::min_element(all, {}, [&](const compiler::Candidate& each) {
    return each.impl->plan(task, each.format, soc)->estimate_ns(each.schedule);
  }));
}

/// It holds where the whole interval is beyond the margin, and is lost where none of it is: as confirmation decides.
Finding judge(const Comparison& comparison, double margin) {
  if (comparison.is_faster()) return Finding::kHolds;
  return comparison.verdict != Verdict::kAmbiguous && comparison.high <= 1 + margin
             ? Finding::kLost
             : Finding::kUncertain;
}

class Remeasurer {
 public:
  explicit Remeasurer(const compiler::Soc& soc)
      : soc_(soc),
        policy_(api::load_preset("default")),
        measurer_({.soc = soc, .policy = policy_.measure, .program = worker()}) {}

  Found measure(Claim claim) {
    Found found{.claim = std::move(claim)};
    const bank::Strategy& strategy = found.claim.strategy;
    const auto task = compiler::task_from_key(found.claim.key);
    if (!task) return skip(std::move(found), task.error());
    const auto won = compiler::candidate_of(strategy, *task, soc_);
    if (!won) return skip(std::move(found), won.error());
    const compiler::Candidate candidates[] = {default_of(*task, soc_), *won};
    if (candidates[0].impl == won->impl && candidates[0].schedule == won->schedule &&
        candidates[0].format.name == won->format.name) {
      found.finding = Finding::kHolds;
      found.cause = "it is the default by now";
      return found;
    }
    measurer_.set_weights_in(weights_in(strategy));
    const std::vector<tuner::Timing> timings = measurer_.race(*task, candidates);
    if (!timings[0].ok()) return skip(std::move(found), "the default: " + timings[0].cause);
    if (!timings[1].ok()) {
      found.finding = Finding::kLost;
      found.cause = std::string(tuner::name(timings[1].outcome)) + ": " + timings[1].cause;
      return found;
    }
    const double margin = policy_.confirm.min_gain;
    found.comparison = compare_pairs(timings[0].samples_ns, timings[1].samples_ns, margin);
    found.finding = judge(found.comparison, margin);
    return found;
  }

 private:
  static std::filesystem::path worker() {
    const std::filesystem::path program = api::worker_program();
    tuner::check_worker(program);
    return program;
  }
  static Found skip(Found found, std::string cause) {
    found.cause = std::move(cause);
    return found;
  }

  compiler::Soc soc_;
  tuner::Policy policy_;
  tuner::WorkerMeasurer measurer_;
};

json found_json(const Found& found) {
  const Claim& claim = found.claim;
  json value = {
      {"repo_key", claim.key.repo_key()},    {"op", op_text(claim.key)},
      {"shape", shape_text(claim.key)},      {"candidate", candidate_text(claim.strategy)},
      {"schedule", claim.strategy.schedule}, {"claimed_gain", claim.gain()},
      {"finding", name(found.finding)}};
  if (!found.cause.empty()) {
    value["cause"] = found.cause;
  } else {
    value["found_gain"] = found.comparison.speedup;
    value["low"] = found.comparison.low;
    value["high"] = found.comparison.high;
  }
  return value;
}

std::string found_text(const Found& found) {
  const Claim& claim = found.claim;
  const std::string measured =
      found.cause.empty()
          ? fmt::format("found {:.3f}x ({:.3f} to {:.3f})", found.comparison.speedup,
                        found.comparison.low, found.comparison.high)
          : found.cause;
  return fmt::format("{:<10} {:<20} {:<20.20} {:<20.20} claimed {:.3f}x, {}\n", name(found.finding),
                     claim.key.repo_key(), op_text(claim.key), candidate_text(claim.strategy),
                     claim.gain(), measured);
}

/// Those that are lost. How many.
std::size_t remove_lost(const BankRequest& request, const std::vector<Found>& all) {
  bank::KnowledgeBank bank = request.open_to_write();
  const auto is_lost = [&](const bank::TaskKey& key, const bank::Strategy& strategy) {
    return std::ranges::any_of(all, [&](const Found& found) {
      const bank::Strategy& lost = found.claim.strategy;
      return found.finding == Finding::kLost && found.claim.key.description == key.description &&
             lost.format == strategy.format && lost.impl == strategy.impl &&
             lost.schedule == strategy.schedule;
    });
  };
  return bank.remove({.strategies = is_lost, .records = {}}).strategies;
}

}  // namespace

bool remeasure(const BankRequest& request, json& facts, std::string& text) {
  const int count = request.flags()["remeasure"].as<int>();
  if (count < 1) reject("--remeasure", "is no number of strategies", "for instance 20");
  if (request.kind() == bank::BankKind::kGraph)
    reject("--remeasure", "is of operators; subgraphs are measured inside their model",
           "aoe --job_type=1 does so");
  const compiler::Soc soc = compiler::detect_soc(threads_of(request.flags()));
  if (soc.version != request.soc_version()) {
    facts["remeasured"] = json::array();
    facts["not_remeasured"] = "the bank is of " + request.soc_version();
    text += fmt::format(
        "not measured  the bank is of {}, this machine is {} (--threads says how many)\n",
        request.soc_version(), soc.version);
    return true;
  }
  const MeasuringNotice notice(*logger("aoe_bank"));
  std::vector<Found> all;
  const auto seed = static_cast<std::uint64_t>(request.flags()["seed"].as<int>());
  Remeasurer remeasurer(soc);
  for (Claim& claim : sample(request.open(), static_cast<std::size_t>(count), seed))
    all.push_back(remeasurer.measure(std::move(claim)));
  facts["remeasured"] = json::array();
  for (const Found& found : all) {
    facts["remeasured"].push_back(found_json(found));
    text += found_text(found);
  }
  const bool has_lost = std::ranges::find(all, Finding::kLost, &Found::finding) != all.end();
  if (!has_lost || !request.has("fix")) return !has_lost;
  const std::size_t removed = remove_lost(request, all);
  facts["removed_lost"] = removed;
  text += fmt::format("removed {} strategies that do not hold\n", removed);
  return true;
}

}  // namespace aoe::tools
