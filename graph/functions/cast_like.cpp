// CastLike: a Cast, for the types of values are known.
#include "graph/import/function_call.h"

namespace aoe::graph {
namespace {

void expand(FunctionCall& call) {
  call.give(0, call.cast(call.input(0), call.dtype(call.input(1))));
}

}  // namespace

void register_cast_like(FunctionRegistry& registry) {
  registry.add({"", "CastLike", expand});
}

}  // namespace aoe::graph
