// Gelu with a bias, with tanh, and by a sigmoid: BiasGelu, FastGelu, QuickGelu.
#include "graph/import/function_call.h"

namespace aoe::graph {
namespace {

Term gelu(Term x, const std::string& approximate) {
  reference::Attrs attrs;
  attrs.set("approximate", approximate);
  return x.call->op("Gelu", {x}, attrs);
}

Term with_bias(FunctionCall& call) {
  return call.has(1) ? call.input(0) + call.input(1) : call.input(0);
}

void expand_quick_gelu(FunctionCall& call) {
  reference::Attrs attrs;
  attrs.set("alpha", call.attrs().get_float("alpha", 1.702f));
  call.give(0, call.op("Swish", {call.input(0)}, attrs));
}

}  // namespace

void register_gelu(FunctionRegistry& registry) {
  const auto exact = [](FunctionCall& call) { call.give(0, gelu(with_bias(call), "none")); };
  registry.add({kMicrosoft, "Gelu", exact});
  registry.add({kMicrosoft, "BiasGelu", exact});
  registry.add({kMicrosoft, "FastGelu",
                [](FunctionCall& call) { call.give(0, gelu(with_bias(call), "tanh")); }});
  registry.add({kMicrosoft, "QuickGelu", expand_quick_gelu});
}

}  // namespace aoe::graph
