// Whole runs of operator tuning on a machine that is a formula.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "graph/passes.h"
#include "runtime/om/om.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/tuner.h"

namespace aoe::tuner::tests {
namespace fs = std::filesystem;
using compiler::Candidate;
using compiler::Task;
using nlohmann::json;

inline constexpr double kDefaultNs = 2000;

/// A machine without noise on which what the untuned model uses takes 2000 ns an op, and everything else from 500 to
/// 1500: alone and inside models alike, unless a test says otherwise.
class FormulaMeasurer final : public Measurer {
 public:
  explicit FormulaMeasurer(const compiler::Soc& soc) : soc_(soc) {}

  void set_weights_in(WeightsIn) override {}
  void set_bounds(const MeasureBounds& bounds) override { bounds_ = bounds; }

  std::vector<Timing> measure(const Task& task, std::span<const Candidate> candidates,
                              double) override {
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates) {
      spend(candidate_s);
      if ((stop != nullptr && stop->stop_requested()) || bounds_.end.has_passed()) {
        timings.push_back(Timing::failure(Outcome::kStopped, "tuning was stopped"));
        continue;
      }
      timings.push_back(timed(task, candidate));
      measured.push_back(key(task) + " " + to_text(candidate));
      if (stop != nullptr && static_cast<int>(measured.size()) == stop_after) stop->request_stop();
    }
    return timings;
  }

  std::vector<Timing> race(const Task& task, std::span<const Candidate> candidates) override {
    spend(race_s);
    const Timing late = Timing::failure(Outcome::kStopped, "tuning was stopped");
    if (bounds_.end.has_passed()) return std::vector<Timing>(candidates.size(), late);
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates) timings.push_back(timed(task, candidate));
    return timings;
  }

  std::vector<Timing> race_subgraphs(const fs::path&, std::span<const fs::path> oms) override {
    return std::vector<Timing>(oms.size(),
                               Timing::failure(Outcome::kCompileError, "there are no subgraphs"));
  }

  Result<std::vector<ModelTiming>> run_models(std::span<const fs::path> oms) override {
    if (runs_no_models) return Unexpected("no such machine");
    spend(model_s * static_cast<double>(oms.size()));
    if (bounds_.end.has_passed()) return Unexpected("stopped: tuning was stopped");
    std::vector<ModelTiming> timings;
    for (const fs::path& path : oms) timings.push_back(model_timing(runtime::Om::load(path)));
    for (std::size_t i = 1; i < timings.back().samples_ns.size() && oms.size() > 1; i += 2)
      timings.back().samples_ns[i] *= 1 + tuned_noise;
    if (oms.size() > 1)
      for (double& ns : timings.back().samples_ns) ns *= tuned_share;
    return timings;
  }

  double time_ns(const std::string& repo_key, const std::string& candidate) const {
    const std::string name = repo_key + " " + candidate;
    if (defaults_.contains(name)) return kDefaultNs;
    if (const auto set = set_ns.find(name); set != set_ns.end()) return set->second;
    if (others_ns > 0) return others_ns;
    return 500 + static_cast<double>(hash64(name) % 1000);
  }

  std::map<std::string, double> set_ns;  ///< "<repo_key> <candidate>": instead of the formula's
  double others_ns = 0;                  ///< of what is no default, instead of the formula's
  std::string unmeasurable_type;         ///< ops of this type give wrong results
  std::function<bool(const std::string& candidate)> is_slow_in_models;
  bool runs_no_models = false;
  double tuned_noise =
      0;  ///< the share by which every other run of a model beside the untuned one is slower
  double tuned_share = 1;  ///< of its time that a model beside the untuned one takes
  /// Told how long the machine took, when it is set: the clock of a test. Nothing goes on beyond the bounds.
  std::function<void(double seconds)> on_spent;
  double candidate_s = 1, race_s = 2, model_s = 1;
  std::stop_source* stop = nullptr;
  int stop_after = 0;                 ///< measurements
  std::vector<std::string> measured;  ///< "<repo_key> <candidate>", of searches

 private:
  static constexpr int kSamples = 15;

  /// What is cut off takes until then.
  void spend(double seconds) {
    if (on_spent) on_spent(std::min(seconds, bounds_.end.left_s()));
  }

  std::string key(const Task& task) const { return compiler::key_of(task, soc_).repo_key(); }

  Timing timed(const Task& task, const Candidate& candidate) const {
    if (task.op.type == unmeasurable_type)
      return Timing::failure(Outcome::kWrongResult, "off by one");
    Timing timing;
    timing.samples_ns.assign(kSamples, time_ns(key(task), to_text(candidate)));
    return timing;
  }

  /// The first model that a run shows is the untuned one: it says what the defaults are.
  ModelTiming model_timing(const runtime::Om& om) {
    const bool is_first = defaults_.empty();
    std::map<std::string, double> node_ns;
    for (const json& node : om.tuning.at("nodes")) {
      const bank::Strategy strategy{.format = node.at("format"),
                                    .impl = node.at("impl"),
                                    .schedule = node.at("schedule").get<bank::Schedule>()};
      const std::string repo_key = node.at("repo_key");
      const std::string text = to_text(strategy);
      if (is_first) defaults_.insert(std::string(repo_key).append(" ").append(text));
      double ns = time_ns(repo_key, text);
      if (ns != kDefaultNs && is_slow_in_models && is_slow_in_models(text)) ns = 2 * kDefaultNs;
      node_ns[node.at("node")] = ns;
    }
    return tests::model_timing(om, node_ns, kSamples);
  }

  const compiler::Soc& soc_;
  MeasureBounds bounds_;
  std::set<std::string> defaults_;
};

class Session : public ::testing::Test {
 protected:
  Session() {
    fs::create_directories(options_.work_directory);
    options_.policy.search.max_trials = 40;
    options_.policy.confirm.rounds = 2;
    graph::run_passes(graph_, {});
  }

  TuneOutcome tune() {
    bank::KnowledgeBank bank = open_bank();
    options_.stop = stop_.get_token();
    return tune_operators(graph_, bank, nullptr, machine_, options_);
  }

  bank::KnowledgeBank open_bank() const {
    return bank::KnowledgeBank(temp_ / "bank", {.soc_version = soc_.version});
  }

  /// "<repo_key> <strategy>" of each task with a winner.
  std::set<std::string> winners() const {
    std::set<std::string> list;
    for (const bank::BankEntry& entry : open_bank().entries())
      if (entry.set.has_winner())
        list.insert(entry.key.repo_key() + " " + to_text(entry.set.strategies.front()));
    return list;
  }

  /// The same of those that no model has confirmed.
  std::set<std::string> unconfirmed() const {
    std::set<std::string> list;
    for (const bank::BankEntry& entry : open_bank().entries())
      if (entry.unconfirmed.has_winner())
        list.insert(entry.key.repo_key() + " " + to_text(entry.unconfirmed.strategies.front()));
    return list;
  }

  void tune_until_the_first_task_is_done() {
    options_.on_progress = [&](const Progress& progress) {
      if (progress.tasks_done == 1) stop_.request_stop();
    };
    EXPECT_EQ(tune().state, TuningState::kIncomplete);
    options_.on_progress = {};
    stop_ = std::stop_source();
  }

  json result() const { return parse_json(read_file(options_.result_path, ExitCode::kOutput)); }
  json opat() const { return result().at(1).at("OPAT"); }

  /// Checks the documented identities, too.
  void expect_counters(int add, int update, int reserved, int unsatisfied,
                       int not_searched = 0) const {
    const json summary = opat().at("repo_summary");
    EXPECT_EQ(summary.at("repo_add_num"), add);
    EXPECT_EQ(summary.at("repo_update_num"), update);
    EXPECT_EQ(summary.at("repo_reserved_num"), reserved);
    EXPECT_EQ(summary.at("repo_unsatisfied_num"), unsatisfied);
    EXPECT_EQ(summary.at("repo_not_searched_num"), not_searched);
    EXPECT_EQ(summary.at("repo_hit_num"), update + reserved);
    EXPECT_EQ(summary.at("total_num"), add + update + reserved + unsatisfied);
  }

  static constexpr int kTasks = 3;
  const aoe::tests::TempDir temp_;
  const compiler::Soc soc_ = compiler::detect_soc(1);
  graph::Graph graph_ = aoe::tests::import_text(R"(
    g (float[1,16,14,14] x) => (float[1,8,14,14] y) <float[16,16,3,3] w, float[8,16,1,1] v> {
      a = Conv <pads = [1,1,1,1]> (x, w)
      b = Relu (a)
      c = Conv (b, v)
      y = Softmax <axis = 1> (c)
    })");
  FormulaMeasurer machine_{soc_};
  std::stop_source stop_;
  TuneOptions options_{.soc = soc_,
                       .policy = {},
                       .filter = {},
                       .tuning_name = "g",
                       .result_path = temp_ / "result.json",
                       .work_directory = temp_ / "scratch",
                       .tuned_om_path = temp_ / "tuned.om",
                       .stop = {},
                       .on_progress = {}};
};

}  // namespace aoe::tuner::tests
