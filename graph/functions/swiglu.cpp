// SwiGLU: Swish of a gate times a value.
#include "graph/import/function_call.h"

namespace aoe::graph {

void register_swiglu(FunctionRegistry& registry) {
  registry.add({"", "SwiGLU", [](FunctionCall& call) {
                  reference::Attrs attrs;
                  attrs.set("alpha", call.attrs().get_float("alpha", 1));
                  call.give(0, call.op("Swish", {call.input(0)}, attrs) * call.input(1));
                }});
}

}  // namespace aoe::graph
