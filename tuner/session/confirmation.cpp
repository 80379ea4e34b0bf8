// Rounds of compiling, measuring in the model, and demoting.
#include "tuner/session/confirmation.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "compiler/cut_off.h"
#include "compiler/lowering/gear_split.h"
#include "runtime/om/om_graph.h"

namespace aoe::tuner {
namespace {

/// Of the model's time: a smaller loss shows in no figure of the whole, and another round costs
/// seconds.
constexpr double kLeastLoss = 5e-4;

void set_untuned(Confirmation& c, Verdict verdict) {
  c.tuned_ns = c.untuned_ns;
  c.comparison = {.speedup = 1, .low = 1, .high = 1, .verdict = verdict};
}

/// What noise may say of two oms of the same code is no gain.
bool is_untuned(const std::string& om, const ConfirmSetting& setting) {
  return runtime::run_alike(runtime::Om::parse(om, nullptr, "the tuned model"),
                            runtime::Om::load(setting.untuned_om));
}

void judge(Confirmation& c, const std::vector<ModelTiming>& timings,
           const ConfirmSetting& setting) {
  c.untuned_ns = median(timings[0].samples_ns);
  c.untuned_interval_ns = median_interval(timings[0].samples_ns);
  c.pairs = static_cast<int>(timings[0].samples_ns.size());
  if (is_untuned(c.om, setting)) return set_untuned(c, Verdict::kSame);
  c.tuned_ns = median(timings[1].samples_ns);
  c.comparison = compare_models(timings[0], timings[1], setting.policy.min_gain);
}

bool may_be_a_gain(const Comparison& comparison) {
  return comparison.verdict == Verdict::kAmbiguous && comparison.speedup > 1;
}

void append(std::vector<ModelTiming>& timings, std::vector<ModelTiming> more) {
  if (timings.empty()) return timings.swap(more);
  for (std::size_t i = 0; i < timings.size(); ++i) timings[i].append(more[i]);
}

/// Another round, and the last measurement; `left_s` was left before this one.
bool has_time_for_more(const Deadline& deadline, double left_s) {
  if (!deadline.is_set()) return true;
  const double round_s = left_s - deadline.left_s();
  return deadline.left_s() > 2 * round_s;
}

Result<std::vector<ModelTiming>> measure(const ConfirmSetting& setting, const std::string& om,
                                         int round, Measurer& measurer) {
  const auto path = setting.scratch_directory / ("tuned_" + std::to_string(round) + ".om");
  write_file_atomically(path, om);
  const std::filesystem::path both[] = {setting.untuned_om, path};
  auto timings = measurer.run_models(both);
  if (timings && setting.is_stopped()) return Unexpected("tuning was stopped");
  return timings;
}

using CompileWithout = std::function<ConfirmAttempt(const std::set<std::string>&)>;

Result<ConfirmAttempt> compiled(const CompileWithout& compile_without,
                                const std::set<std::string>& demoted) {
  try {
    return compile_without(demoted);
  } catch (const compiler::CutOff& e) {
    return Unexpected(e.what());
  }
}

}  // namespace

Comparison compare_models(const ModelTiming& untuned, const ModelTiming& tuned, double margin) {
  Comparison comparison =
      compare_groups(untuned.samples_ns, tuned.samples_ns, untuned.load_begins, margin);
  const double calm_speedup = untuned.calm_ns() / tuned.calm_ns();
  logger("tuner")->info("loads={} pairs={} speedup={:.4f} ({:.4f} to {:.4f}) calm_speedup={:.4f}",
                        untuned.load_begins.size(), untuned.samples_ns.size(), comparison.speedup,
                        comparison.low, comparison.high, calm_speedup);
  comparison.speedup = std::min(comparison.speedup, calm_speedup);
  comparison.low = std::min(comparison.low, calm_speedup);
  if (comparison.is_faster() && calm_speedup <= 1 + margin)
    comparison.verdict = Verdict::kAmbiguous;
  return comparison;
}

std::set<std::string> slower_ones(const ModelTiming& untuned, const ModelTiming& tuned,
                                  const std::vector<Placed>& placed, double margin) {
  std::set<std::string> slower;
  for (const Placed& each : placed) {
    const std::vector<double> before = share_ns(untuned, each.before);
    const std::vector<double> after = share_ns(tuned, each.after);
    const double before_ns = median(before), after_ns = median(after);
    if (after_ns == 0) continue;  // its ops became part of something else
    const Comparison comparison = compare_pairs(before, after, margin);
    const bool is_loss =
        comparison.is_slower() && after_ns - before_ns >= kLeastLoss * median(untuned.samples_ns);
    logger("tuner")->debug("op={} in the model: us={:.2f} before_us={:.2f} verdict={}",
                           each.tunable->first_node(), after_ns / 1e3, before_ns / 1e3,
                           name(comparison.verdict));
    if (!is_loss) continue;
    logger("tuner")->info("op={} loses {:.2f} us in the model", each.tunable->first_node(),
                          (after_ns - before_ns) / 1e3);
    slower.insert(each.tunable->key.description);
  }
  return slower;
}

Fate fate_of(const Comparison& comparison) {
  if (comparison.is_faster()) return Fate::kConfirmed;
  if (comparison.speedup < 1) return Fate::kDemoted;
  return comparison.verdict == Verdict::kSame ? Fate::kConfirmed : Fate::kWaiting;
}

void keep_untuned(Confirmation& confirmation, std::string untuned_om,
                  const std::set<std::string>& won) {
  const bool waits = fate_of(confirmation.comparison) == Fate::kWaiting;
  logger("tuner")->warn(
      "the tuned model is not faster than the untuned one{}, which is kept: paired gain {:.2f}% to "
      "{:.2f}%{}",
      waits ? " beyond doubt" : "", 100 * (confirmation.comparison.low - 1),
      100 * (confirmation.comparison.high - 1),
      waits ? "; what was won waits in the bank for the next run" : "");
  confirmation.om = std::move(untuned_om);
  if (!waits)
    for (const auto* lost : {&won, &std::as_const(confirmation.suspects)})
      confirmation.demoted.insert(lost->begin(), lost->end());
  set_untuned(confirmation, waits ? Verdict::kAmbiguous : Verdict::kSame);
}

Result<Confirmation> confirm_in_rounds(const ConfirmSetting& setting,
                                       const CompileWithout& compile_without, Measurer& measurer) {
  std::optional<Confirmation> best;
  std::vector<ModelTiming> timings_of_best;
  std::set<std::string> demoted;
  int round = 0;
  while (round < setting.policy.rounds) {
    const double left_s = setting.deadline.left_s();
    auto attempt = compiled(compile_without, demoted);
    if (!attempt && best) return std::move(*best);
    if (!attempt) return Unexpected(attempt.error());
    auto timings = measure(setting, attempt->om, round, measurer);
    if (!timings && best && setting.deadline.has_passed()) return std::move(*best);
    if (!timings) return Unexpected(timings.error());
    Confirmation now{
        .demoted = demoted, .suspects = attempt->suspects, .om = std::move(attempt->om)};
    judge(now, *timings, setting);
    logger("tuner")->info("round={} untuned_ms={:.3f} tuned_ms={:.3f} verdict={} demoted={}", round,
                          now.untuned_ns / 1e6, now.tuned_ns / 1e6, name(now.comparison.verdict),
                          demoted.size());
    ++round;
    std::set<std::string> losers =
        slower_ones((*timings)[0], (*timings)[1], attempt->placed, setting.policy.min_gain);
    if (losers.empty() && now.comparison.is_slower()) losers = std::move(attempt->suspects);
    if (!best || now.comparison.speedup > best->comparison.speedup) {
      best = std::move(now);
      timings_of_best = *std::move(timings);
    }
    const std::size_t known = demoted.size();
    demoted.merge(losers);
    if (demoted.size() == known || !has_time_for_more(setting.deadline, left_s)) break;
  }
  const auto measure_again = [&]() -> Result<void> {
    auto again = measure(setting, best->om, round, measurer);
    if (!again && setting.deadline.has_passed()) return {};
    if (!again) return Unexpected(again.error());
    append(timings_of_best, *std::move(again));
    judge(*best, timings_of_best, setting);
    return {};
  };
  bool has_time = true;
  if (round > 1) {  // the best of several rounds flatters itself: what is reported is measured anew
    const double left_s = setting.deadline.left_s();
    timings_of_best.clear();
    if (auto measured = measure_again(); !measured) return Unexpected(measured.error());
    has_time = has_time_for_more(setting.deadline, left_s);
  }
  // A gain that nothing proves may show itself in twice the loads, some of them in another phase of the machine.
  if (has_time && may_be_a_gain(best->comparison))
    if (auto measured = measure_again(); !measured) return Unexpected(measured.error());
  return std::move(*best);
}

std::string split_om(const std::string& om, const std::string& model, const Gears& gears) {
  return compiler::om_model(runtime::Om::parse(om, nullptr, model), gears).serialize();
}

}  // namespace aoe::tuner
