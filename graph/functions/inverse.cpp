// Inverse of com.microsoft: an operator of our own.
#include "graph/import/function_call.h"

namespace aoe::graph {

void register_inverse(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "Inverse", [](FunctionCall& call) {
                  call.give(0, call.op("MatrixInverse", {call.input(0)}));
                }});
}

}  // namespace aoe::graph
