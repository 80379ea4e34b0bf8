// CastLike: a Cast, for the types of values are known.
#include "graph/function_call.h"

namespace aoe::graph {
namespace {

void expand(FunctionCall& call) {
  const DataType to = call.dtype(call.input(1));
  if (to == DataType::kUndefined)
    throw NotExpressible{"the type it casts to is known only when it runs"};
  call.give(0, call.cast(call.input(0), to));
}

}  // namespace

void register_cast_like(FunctionRegistry& registry) {
  registry.add({"", "CastLike", expand});
}

}  // namespace aoe::graph
