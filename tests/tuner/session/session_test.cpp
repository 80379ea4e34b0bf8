// Whole tuning runs with a measurer that is a formula: what reaches the bank, how it is counted, and how a run ends.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bank/bank_file.h"
#include "base/error.h"
#include "base/file.h"
#include "graph/gears.h"
#include "graph/passes.h"
#include "runtime/geared_om.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tuner/session/job_journal.h"
#include "tuner/tuner.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Task;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kDefaultNs = 2000;

/// A machine without noise on which what the untuned model uses takes 2000 ns an op, and everything else from 500 to
/// 1500: alone and inside models alike, unless a test says otherwise.
class FormulaMeasurer final : public Measurer {
 public:
  explicit FormulaMeasurer(const compiler::Soc& soc) : soc_(soc) {}

  void set_weights_in(WeightsIn) override {}

  std::vector<Timing> measure(const Task& task, std::span<const Candidate> candidates,
                              double) override {
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates) {
      if (stop != nullptr && stop->stop_requested()) {
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
    std::vector<ModelTiming> timings;
    for (const fs::path& path : oms) timings.push_back(model_timing(runtime::Om::load(path)));
    return timings;
  }

  double time_ns(const std::string& repo_key, const std::string& candidate) const {
    const std::string name = repo_key + " " + candidate;
    if (defaults_.contains(name)) return kDefaultNs;
    if (const auto set = set_ns.find(name); set != set_ns.end()) return set->second;
    return 500 + static_cast<double>(hash64(name) % 1000);
  }

  std::map<std::string, double> set_ns;  ///< "<repo_key> <candidate>": instead of the formula's
  std::string unmeasurable_type;         ///< ops of this type give wrong results
  std::function<bool(const std::string& candidate)> is_slow_in_models;
  bool runs_no_models = false;
  std::stop_source* stop = nullptr;
  int stop_after = 0;                 ///< measurements
  std::vector<std::string> measured;  ///< "<repo_key> <candidate>", of searches

 private:
  static constexpr int kSamples = 15;

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
    ModelTiming timing;
    timing.samples_ns.assign(kSamples, 0);
    for (const json& node : om.tuning.at("nodes")) {
      const bank::Strategy strategy{.format = node.at("format"),
                                    .impl = node.at("impl"),
                                    .schedule = node.at("schedule").get<bank::Schedule>()};
      const std::string repo_key = node.at("repo_key");
      const std::string text = to_text(strategy);
      if (is_first) defaults_.insert(repo_key + " " + text);
      double ns = time_ns(repo_key, text);
      if (ns != kDefaultNs && is_slow_in_models && is_slow_in_models(text)) ns = 2 * kDefaultNs;
      timing.steps.push_back({node.at("node"), false, std::vector<double>(kSamples, ns)});
      for (double& sample : timing.samples_ns) sample += ns;
    }
    return timing;
  }

  const compiler::Soc& soc_;
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

  json result() const { return json::parse(read_file(options_.result_path, ExitCode::kOutput)); }
  json opat() const { return result().at(1).at("OPAT"); }

  /// Checks the documented identities, too.
  void expect_counters(int add, int update, int reserved, int unsatisfied) const {
    const json summary = opat().at("repo_summary");
    EXPECT_EQ(summary.at("repo_add_num"), add);
    EXPECT_EQ(summary.at("repo_update_num"), update);
    EXPECT_EQ(summary.at("repo_reserved_num"), reserved);
    EXPECT_EQ(summary.at("repo_unsatisfied_num"), unsatisfied);
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

TEST_F(Session, WinnersAreKeptCountedAndInTheModel) {
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.tasks, kTasks);
  EXPECT_EQ(outcome.verdict, "faster");
  EXPECT_EQ(outcome.trials, static_cast<std::int64_t>(machine_.measured.size()));
  EXPECT_DOUBLE_EQ(outcome.baseline_ms, kTasks * kDefaultNs / 1e6);
  ASSERT_EQ(outcome.gains.size(), static_cast<std::size_t>(kTasks));
  for (const TaskGain& gain : outcome.gains) EXPECT_LT(gain.after_ns, gain.before_ns);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning successful");
  EXPECT_EQ(opat().at("repo_modified_operators").size(), static_cast<std::size_t>(kTasks));
  expect_counters(kTasks, 0, 0, 0);
  ASSERT_TRUE(outcome.om_written);
  const runtime::Om om = runtime::Om::load(options_.tuned_om_path);
  for (const json& node : om.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
}

TEST_F(Session, EveryOpOfAChangedTaskIsListedAndNoneOfADemotedOne) {
  graph_ = aoe::tests::import_text(R"(
    g (float[1,16,14,14] x) => (float[1,16,14,14] y) <float[16,16,3,3] w, float[16,16,3,3] v> {
      a = Conv <pads = [1,1,1,1]> (x, w)
      b = Softmax <axis = 1> (a)
      y = Conv <pads = [1,1,1,1]> (b, v)
    })");
  graph::run_passes(graph_, {});
  const auto listed = [&] {
    std::map<std::string, json> ops;
    const json list = opat().at("repo_modified_operators");
    for (const json& op : list) ops[op.at("op_name")] = op.at("tune_performance");
    EXPECT_EQ(ops.size(), list.size()) << "an op is listed twice";
    return ops;
  };
  EXPECT_EQ(tune().tasks, 2) << "two equal convolutions and a softmax";
  EXPECT_EQ(listed().size(), 3U);
  std::vector<json> convolutions;
  for (const auto& [name, gains] : listed())
    if (name.starts_with("Conv")) convolutions.push_back(gains);
  ASSERT_EQ(convolutions.size(), 2U);
  EXPECT_EQ(convolutions[0], convolutions[1]);
  expect_counters(2, 0, 0, 0);  // strategies, not ops

  fs::remove_all(temp_ / "bank");
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  tune();
  EXPECT_TRUE(listed().empty());
}

// ---- REPEAT_TUNE ----

TEST_F(Session, WhatTheBankKnowsIsSkippedAndCountsAsHitAndReserved) {
  tune();
  const auto first = winners();
  machine_.measured.clear();
  const TuneOutcome again = tune();
  EXPECT_TRUE(machine_.measured.empty());
  EXPECT_EQ(again.trials, 0);
  EXPECT_EQ(again.settled, kTasks);
  EXPECT_EQ(again.verdict, "faster");
  expect_counters(0, 0, kTasks, 0);
  EXPECT_EQ(winners(), first);
}

TEST_F(Session, RepeatedTuningThatFindsNothingBetterReserves) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 400;
  machine_.measured.clear();
  options_.repeat_tune = true;
  tune();
  EXPECT_FALSE(machine_.measured.empty());
  expect_counters(0, 0, kTasks, 0);
  EXPECT_EQ(winners(), first);
}

TEST_F(Session, RepeatedTuningThatFindsBetterUpdates) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  options_.repeat_tune = true;
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  expect_counters(0, kTasks, 0, 0);
  const json operators = opat().at("repo_modified_operators");
  for (const json& op : operators)
    for (const auto& [mode, gain] : op.at("tune_performance").items())
      EXPECT_EQ(gain.at("update_mode"), "update") << mode;
  const auto second = winners();
  EXPECT_EQ(second.size(), first.size());
  for (const std::string& winner : second) EXPECT_FALSE(first.contains(winner)) << winner;
}

// ---- confirmation in the model ----

TEST_F(Session, WhatIsSlowerInTheModelIsDemoted) {
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_TRUE(outcome.gains.empty());
  EXPECT_TRUE(winners().empty());
  EXPECT_EQ(outcome.verdict, "same");
  EXPECT_DOUBLE_EQ(outcome.result_ms, outcome.baseline_ms);
  EXPECT_TRUE(opat().at("repo_modified_operators").empty());
  expect_counters(0, 0, 0, kTasks);
  EXPECT_TRUE(outcome.om_written);
}

TEST_F(Session, ADemotedUpdateGivesTheBankItsStrategyBack) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  machine_.is_slow_in_models = [&](const std::string& candidate) {
    return std::ranges::none_of(first,
                                [&](const std::string& w) { return w.ends_with(candidate); });
  };
  options_.repeat_tune = true;
  tune();
  EXPECT_EQ(winners(), first);
  expect_counters(0, 0, kTasks, 0);
}

// ---- limits ----

TEST_F(Session, TasksBeyondTheTimeLimitAreNotSearched) {
  options_.policy.search.time_limit_s = 1e-9;
  const TuneOutcome outcome = tune();
  EXPECT_TRUE(machine_.measured.empty());
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_TRUE(outcome.om_written);
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, kTasks);
  // Nothing was learned of them: the next run, with time, searches.
  options_.policy.search.time_limit_s = 0;
  tune();
  expect_counters(kTasks, 0, 0, 0);
}

TEST_F(Session, TheTrialLimitHoldsForTheWholeRun) {
  for (const int limit : {1, 2, 3, 10, 25}) {
    machine_.measured.clear();
    fs::remove_all(temp_ / "bank");
    options_.max_trials = limit;
    const TuneOutcome outcome = tune();
    EXPECT_LE(static_cast<int>(machine_.measured.size()), limit);
    EXPECT_GE(static_cast<int>(machine_.measured.size()), 1);
    EXPECT_EQ(outcome.trials, static_cast<std::int64_t>(machine_.measured.size()));
    EXPECT_EQ(result().at(0).at("basic").at("trials"), outcome.trials);
    EXPECT_EQ(opat().at("repo_summary").at("total_num"), kTasks);
  }
}

// ---- stopped, resumed ----

TEST_F(Session, AStoppedRunIsIncompleteAndKeepsWhatItWon) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.tasks_done == 1) stop_.request_stop();
  };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kIncomplete);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning incomplete");
  EXPECT_FALSE(outcome.om_written);
  EXPECT_FALSE(fs::exists(options_.tuned_om_path));
  EXPECT_EQ(unconfirmed().size(), 1U);
  expect_counters(1, 0, 0, 0);
}

TEST_F(Session, WhatAStoppedRunWonIsNotServedBeforeTheNextRunConfirmsIt) {
  tune_until_the_first_task_is_done();
  const auto waiting = unconfirmed();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_TRUE(winners().empty());
  const bank::KnowledgeBank bank = open_bank();
  for (const bank::BankEntry& entry : bank.entries()) EXPECT_FALSE(bank.find(entry.key));

  machine_.measured.clear();
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.settled, 1);
  for (const std::string& each : machine_.measured)
    EXPECT_NE(each.substr(0, each.find(' ')),
              waiting.begin()->substr(0, waiting.begin()->find(' ')))
        << "it was searched again";
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_TRUE(winners().contains(*waiting.begin()));
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  expect_counters(kTasks - 1, 0, 1, 0);
}

TEST_F(Session, WhatAStoppedRunWonIsWithdrawnByTheNextRunWhenItDoesNotHold) {
  tune_until_the_first_task_is_done();
  ASSERT_EQ(unconfirmed().size(), 1U);
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  tune();
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, kTasks);
  // That nothing beats the default is known of each of them.
  const bank::KnowledgeBank bank = open_bank();
  EXPECT_EQ(bank.entries().size(), static_cast<std::size_t>(kTasks));
  for (const bank::BankEntry& entry : bank.entries()) EXPECT_TRUE(bank.find(entry.key));
}

TEST_F(Session, AStoppedUpdateLeavesTheConfirmedStrategyInPlace) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  options_.repeat_tune = true;
  tune_until_the_first_task_is_done();
  EXPECT_EQ(unconfirmed().size(), 1U);
  EXPECT_EQ(winners(), first);
  options_.repeat_tune = false;
  tune();
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_NE(winners(), first);
}

// ---- a bank that fails ----

TEST_F(Session, ABankThatFailsInTheMiddleLosesNothing) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage != Stage::kSearch || progress.tasks_done != 1) return;
    fs::remove_all(temp_ / "bank");  // and nobody can make it again
    write_file_atomically(temp_ / "bank", "in the way");
  };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_TRUE(outcome.om_written);
  expect_counters(kTasks, 0, 0, 0);
  ASSERT_EQ(outcome.rescued.size(), 1U);
  EXPECT_FALSE(outcome.rescued.front().cause.empty());

  fs::remove(temp_ / "bank");
  const auto content = bank::read_bank_file(outcome.rescued.front().file);
  EXPECT_EQ(content.kind, bank::BankKind::kOp);
  bank::KnowledgeBank bank = open_bank();
  bank.commit(bank::commit_of(content, bank));
  const runtime::Om om = runtime::Om::load(options_.tuned_om_path);
  for (const json& node : om.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  // Confirmed: those that were won after the bank had gone, and the one before.
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  EXPECT_TRUE(unconfirmed().empty());
  EXPECT_FALSE(bank.all_records().empty());
}

TEST_F(Session, ABankThatFailsForAWhileHasItAllInTheEnd) {
  options_.on_progress = [&](const Progress& progress) {
    if (progress.stage == Stage::kSearch && progress.tasks_done == 1 &&
        !fs::exists(temp_ / "away")) {
      fs::rename(temp_ / "bank", temp_ / "away");
      write_file_atomically(temp_ / "bank", "in the way");
    }
    if (progress.stage == Stage::kConfirm && fs::exists(temp_ / "away")) {
      fs::remove(temp_ / "bank");
      fs::rename(temp_ / "away", temp_ / "bank");
    }
  };
  const TuneOutcome outcome = tune();
  EXPECT_TRUE(outcome.rescued.empty());
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks));
  for (const auto& entry : fs::directory_iterator(temp_.path()))
    EXPECT_NE(entry.path().extension(), ".zst");
}

TEST_F(Session, BeforeAnythingIsMeasuredTheResultSaysIncomplete) {
  stop_.request_stop();
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  EXPECT_EQ(result().at(0).at("basic").at("tuning_name"), "g");
}

TEST_F(Session, AReloadedRunRepeatsNoMeasurement) {
  machine_.stop = &stop_;
  machine_.stop_after = 20;
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());
  ASSERT_EQ(before.size(), 20U);
  const auto repeated_with = [&](bool reload) {
    machine_.stop = nullptr;
    machine_.measured.clear();
    stop_ = std::stop_source();
    options_.reload = reload;
    EXPECT_EQ(tune().state, TuningState::kSuccessful);
    return std::ranges::count_if(machine_.measured,
                                 [&](const std::string& m) { return before.contains(m); });
  };
  fs::copy(temp_ / "bank", temp_ / "bank_at_stop", fs::copy_options::recursive);
  EXPECT_EQ(repeated_with(true), 0);
  fs::remove_all(temp_ / "bank");
  fs::rename(temp_ / "bank_at_stop", temp_ / "bank");
  EXPECT_GT(repeated_with(false), 0);
}

/// A job in two pieces: interrupted by stop_ or a measurement, then gone on with.
class JobSession : public Session {
 protected:
  TuneOutcome begin() {
    machine_.measured.clear();
    const auto journal = JobJournal::create(temp_.path(), {.tuning_name = "g", .job_type = 2});
    return work_on(*journal);
  }

  TuneOutcome go_on() {
    stop_ = std::stop_source();
    machine_.stop = nullptr;
    machine_.measured.clear();
    options_.on_progress = {};
    options_.reload = true;
    const auto journal = JobJournal::resume(temp_.path());
    return work_on(*journal);
  }

  void stop_after_tasks(int count) {
    options_.on_progress = [this, count](const Progress& progress) {
      if (progress.tasks_done == count) stop_.request_stop();
    };
  }

 private:
  TuneOutcome work_on(JobJournal& journal) {
    options_.journal = &journal;
    TuneOutcome outcome = tune();
    options_.journal = nullptr;
    return outcome;
  }
};

TEST_F(JobSession, EndsAsIfItHadNotBeenInterrupted) {
  for (const int tasks_before : {1, 2}) {
    fs::remove_all(temp_ / "bank");
    fs::remove(temp_ / kJournalName);
    stop_ = std::stop_source();
    options_.reload = false;
    stop_after_tasks(tasks_before);
    const TuneOutcome first = begin();
    EXPECT_EQ(first.state, TuningState::kIncomplete);
    const auto won_before = unconfirmed();
    ASSERT_EQ(won_before.size(), static_cast<std::size_t>(tasks_before));
    const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());

    const TuneOutcome outcome = go_on();
    EXPECT_EQ(outcome.state, TuningState::kSuccessful);
    EXPECT_TRUE(std::ranges::none_of(
        machine_.measured, [&](const std::string& measured) { return before.contains(measured); }));
    expect_counters(kTasks, 0, 0, 0);
    EXPECT_EQ(opat().at("repo_modified_operators").size(), static_cast<std::size_t>(kTasks));
    EXPECT_EQ(outcome.gains.size(), static_cast<std::size_t>(kTasks));
    EXPECT_EQ(outcome.trials, first.trials + std::ssize(machine_.measured));
    EXPECT_EQ(result().at(0).at("basic").at("trials"), outcome.trials);
    EXPECT_TRUE(std::ranges::includes(winners(), won_before));
    EXPECT_THROW((void)JobJournal::resume(temp_.path()), Error) << "it has ended";
  }
}

TEST_F(JobSession, WhatTheBankWasNotToldYetIsNotMeasuredAgain) {
  machine_.stop = &stop_;
  machine_.stop_after = 20;
  begin();
  const std::set<std::string> before(machine_.measured.begin(), machine_.measured.end());
  fs::remove_all(temp_ / "bank");  // gets records every few seconds; kill -9 comes in between
  go_on();
  EXPECT_TRUE(std::ranges::none_of(
      machine_.measured, [&](const std::string& measured) { return before.contains(measured); }));
  expect_counters(kTasks, 0, 0, 0);
  EXPECT_EQ(winners().size(), static_cast<std::size_t>(kTasks)) << "decided tasks are told again";
}

TEST_F(JobSession, WhatWasWonBeforeIsTakenBackWhenTheModelDoesNotConfirmIt) {
  stop_after_tasks(2);
  begin();
  ASSERT_EQ(unconfirmed().size(), 2U);
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  EXPECT_EQ(go_on().verdict, "same");
  EXPECT_TRUE(winners().empty());
  expect_counters(0, 0, 0, kTasks);
}

TEST_F(JobSession, WhatSomebodyElseHasChangedMeanwhileStays) {
  stop_after_tasks(1);
  begin();
  bank::BankEntry entry = open_bank().entries().at(0);
  bank::Strategy& theirs = entry.unconfirmed.strategies.front();
  theirs.schedule.begin()->second *= 2;
  theirs.measured.verdict = "faster";
  open_bank().commit({.strategies = {{entry.key, theirs, true}}, .withdrawn = {entry.key}});
  go_on();
  const auto now = open_bank().find(entry.key);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->strategies.front().schedule, theirs.schedule);
}

// ---- failures ----

TEST_F(Session, AnOperatorThatCannotBeMeasuredFailsAndTheOthersGoOn) {
  machine_.unmeasurable_type = "SoftmaxV2";
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kFailed);
  EXPECT_EQ(outcome.failed_ops.size(), 1U);
  EXPECT_EQ(opat().at("opat_tuning_result"), "tuning failed");
  EXPECT_EQ(opat().at("tuning_failed_operators").size(), 1U);
  EXPECT_EQ(winners().size(), 2U);
  expect_counters(kTasks - 1, 0, 0, 1);
}

TEST_F(Session, AnUntunedModelThatDoesNotRunEndsTheRun) {
  machine_.runs_no_models = true;
  try {
    tune();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    EXPECT_NE(std::string(e.what()).find("no such machine"), std::string::npos) << e.what();
  }
  EXPECT_EQ(result().at(0).at("basic").at("tuning_name"), "g");
}

// ---- gears ----

TEST_F(Session, GearsShareEqualTasksAndOneOm) {
  write_file_atomically(temp_ / "m.onnx", aoe::tests::model_bytes(R"(
    g (float[N,16,14,14] x, float[8,32] z) => (float[N,8,14,14] y, float[8,32] s)
      <float[8,16,1,1] v> {
      y = Conv (x, v)
      s = Softmax <axis = 1> (z)
    })"));
  const auto request = graph::parse_gears(GearKind::kBatch, "1,4,2", "x:-1,16,14,14");
  graph::GearedGraph model = graph::import_gears(temp_ / "m.onnx", {}, request, {});
  graph_ = std::move(model.graph);
  options_.gears = model.gears;

  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.tasks, 4) << "three convolutions, and one softmax";
  // One inference of each gear: the softmax runs in all of them.
  EXPECT_DOUBLE_EQ(outcome.baseline_ms, 6 * kDefaultNs / 1e6);
  EXPECT_EQ(result().at(0).at("basic").at("gears"), (json{"1", "4", "2"}));
  ASSERT_TRUE(outcome.om_written);
  const runtime::GearedOm om = runtime::GearedOm::load(options_.tuned_om_path);
  EXPECT_EQ(om.gears, options_.gears);
  for (const runtime::Om& gear : om.oms) {
    ASSERT_EQ(gear.tuning.at("nodes").size(), 2u);
    for (const json& node : gear.tuning.at("nodes")) EXPECT_EQ(node.at("source"), "bank");
  }
}

}  // namespace
}  // namespace aoe::tuner
