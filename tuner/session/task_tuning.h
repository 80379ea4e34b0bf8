// Tunes one task: seeds, search, the race of the finalists, and the decision what the bank gets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/result/aoe_result.h"
#include "tuner/search/search.h"
#include "tuner/tasks/task_list.h"

namespace aoe::tuner {

enum class Decision {
  kAdd,          ///< new and better than the default
  kUpdate,       ///< better than what the bank had, side by side
  kReserved,     ///< the bank's stays
  kUnsatisfied,  ///< nothing better than the default
  kFailed,       ///< not even the default could be measured
  kStopped,      ///< no decision: tuning was stopped
};

struct TaskVerdict {
  Decision decision = Decision::kStopped;
  /// The best of every Format that raced, the winner first; of kUnsatisfied the default first.
  std::vector<bank::Strategy> strategies;
  std::optional<bank::Strategy> by_default;  ///< the default as it raced
  std::vector<bank::Record> race_records;
  std::optional<compiler::Candidate> winner;
  double default_ns = 0;  ///< from the race
  double best_ns = 0;
  std::vector<ModeGain> gains;  ///< of kAdd and kUpdate
  std::string cause;            ///< of kFailed
  int measured = 0;
};

struct TaskTuningContext {
  const compiler::Soc& soc;
  const Policy& policy;
  std::string policy_text;  ///< stored with measurements, compared before they are recalled
  std::uint64_t seed = 1;
  WeightsIn weights_in = WeightsIn::kMemory;
  CostModel* cost_model = nullptr;  ///< advises, and learns from each task; nullptr: none
  std::function<void(std::vector<bank::Record>)> keep_records;  ///< of the search, as they come
  std::function<void(const SearchResult&)> on_batch;            ///< for displays
};

struct TaskTuningInput {
  const TuningTask& task;
  std::vector<compiler::Candidate> neighbours;  ///< winners of similar tasks, fitted to this one
  std::optional<bank::StrategySet> banked;      ///< what the bank has for it
  std::vector<bank::Record> records;  ///< earlier measurements to recall instead of repeating them
  SearchLimits limits;
};

TaskVerdict tune_task(const TaskTuningInput& input, Measurer& measurer,
                      const TaskTuningContext& context);

}  // namespace aoe::tuner
