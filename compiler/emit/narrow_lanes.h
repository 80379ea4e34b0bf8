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

/// Each lane of 16 bits twice, which makes a word of it.
inline loopnest::Vec twice(const loopnest::Vec& a) {
  using loopnest::Type;
  const loopnest::Vec words = convert(bits_as(a, Type::kInt16), Type::kInt32, false);
  const loopnest::Vec above =
      shift_left(words, loopnest::int_splat(16, words.lanes(), Type::kInt32));
  return bits_as(bit_or(words, above), a.type());
}

/// Lane `which`, 0 or 1, of each word of lanes of 16 bits.
inline loopnest::Vec every_second(const loopnest::Vec& a, std::int64_t which) {
  using loopnest::Type;
  loopnest::Vec words = bits_as(a, Type::kInt32);
  if (which == 1) words = shift_right(words, loopnest::int_splat(16, words.lanes(), Type::kInt32));
  return bits_as(convert(words, Type::kInt16), a.type());
}

/// The first `count` lanes, and zeros behind them: narrow integers as int32, as masks are of lanes of 32 bits.
inline loopnest::Vec first_lanes(const loopnest::Vec& value, const loopnest::Int& count) {
  const loopnest::Vec wide =
      is_narrow(value.type()) ? convert(value, loopnest::Type::kInt32) : value;
  return select(loopnest::active_lanes(count, wide.lanes()), wide,
                loopnest::splat(0.0, wide.lanes(), wide.type()));
}

}  // namespace aoe::compiler
