// The search of one operator's task as an order for a node: what the coordinator sends, what the node does and answers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/session/operator_tuning.h"

namespace aoe::tuner {

/// `limit_s`: of the node's time, 0 for none. Of `input.limits` the trials; a deadline is the order's.
nlohmann::json operator_order(const OperatorTuningInput& input,
                              const OperatorTuningContext& context, double limit_s);

/// On the node. Throws std::exception: it is no such order, or this node cannot carry it out.
nlohmann::json run_operator_order(const nlohmann::json& message, const compiler::Soc& soc,
                                  Measurer& measurer, CostModel& experience, std::stop_token stop);

struct OperatorAnswer {
  Conclusion conclusion;              ///< with its race records
  std::vector<bank::Record> records;  ///< of the search
};

/// Throws std::exception: it is no answer.
OperatorAnswer operator_answer(const nlohmann::json& message);

}  // namespace aoe::tuner
