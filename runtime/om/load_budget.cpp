// See load_budget.h. Tested by tests/runtime/load_budget_test.cpp.
#include "runtime/om/load_budget.h"

#include "reference/texts/texts.h"

namespace aoe::runtime {

void LoadBudget::take_expressions(const reference::OpCall& call) {
  for (const reference::BodyStep& step : reference::flat_steps(call)) take_expressions(step.call);
  if (!reference::reads_texts(call.type)) return;
  steps -= reference::work(call, {}, {});
  if (steps < 0) throw Exceeded("has regular expressions that are too many or too large");
}

void LoadBudget::take_body(std::string_view file, std::size_t graph_bytes) {
  // A byte of a graph takes as long as 500 of weights; a body without any takes as long as 2,000 of them.
  constexpr std::size_t kWeightBytes = 500, kLeast = 2000;
  const std::size_t taken = kLeast + graph_bytes + file.size() / kWeightBytes;
  if (taken > body_bytes) throw Exceeded("has bodies that are too many or too large");
  body_bytes -= taken;
}

}  // namespace aoe::runtime
