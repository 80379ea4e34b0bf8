// RoundToFloat16: ours. Each float32 to the nearest float16, ties to even, kept as float32: what precision modes of
// float16 make of the values that they store or multiply.
#include "reference/elementwise.h"

namespace aoe::reference {

void register_round_to_float16(OpRegistry& registry) {
  registry.add(unary("RoundToFloat16", "", {"s"}, Fn::kRoundToFloat16));
}

}  // namespace aoe::reference
