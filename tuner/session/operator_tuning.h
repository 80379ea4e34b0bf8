// Tunes one operator's task: seeds, search, the race of the finalists, and the decision what the bank gets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/search/search.h"
#include "tuner/session/conclusion.h"
#include "tuner/tasks/operator_list.h"

namespace aoe::tuner {

/// The same for all tasks of a run.
struct OperatorTuningContext {
  const compiler::Soc& soc;
  Policy policy;                   ///< weights_in is not kAuto
  std::string policy_text;         ///< stored with measurements, compared before they are recalled
  const bank::Provenance& origin;  ///< of the run
  std::uint64_t seed = 1;
  double peak_gflops = 0;           ///< measured, of float32; 0: not known
  CostModel* cost_model = nullptr;  ///< advises, and learns from each task; nullptr: none
};

struct OperatorTuningInput {
  const OperatorTask& task;
  std::optional<bank::StrategySet> known = {};  ///< what the banks have for it
  std::vector<compiler::Candidate> seeds = {};  ///< measured in any case; winners of similar tasks
  std::vector<bank::Record> records =
      {};  ///< earlier measurements to recall instead of repeating them
  SearchLimits limits;
  std::function<void(std::vector<bank::Record>)> keep_records;  ///< of the search, as they come
  std::function<void(const SearchResult&)> on_batch;            ///< for displays
};

Conclusion tune_operator(const OperatorTuningInput& input, Measurer& measurer,
                         const OperatorTuningContext& context);

}  // namespace aoe::tuner
