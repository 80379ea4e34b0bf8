// DynamicTimeWarping of com.microsoft: an operator of our own.
#include "graph/import/function_call.h"

namespace aoe::graph {

void register_dynamic_time_warping(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "DynamicTimeWarping", [](FunctionCall& call) {
                  call.give(0, call.op("DynamicTimeWarping", {call.input(0)}));
                }});
}

}  // namespace aoe::graph
