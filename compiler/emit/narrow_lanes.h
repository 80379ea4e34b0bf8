// What kernels make of narrow lanes, in operations that all lanes have.
#pragma once

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// int8 as uint8, 128 larger.
inline loopnest::Vec flip_signs(const loopnest::Vec& bytes) {
  using loopnest::Type;
  const loopnest::Vec flipped =
      bit_xor(bytes, loopnest::int_splat(-128, bytes.lanes(), Type::kInt8));
  return bits_as(flipped, Type::kUint8);
}

}  // namespace aoe::compiler
