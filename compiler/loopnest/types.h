// Types of lanes, and of what lies in buffers.
#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace aoe::compiler::loopnest {

/// kInt and kBool are an index and a condition on indices; the others are lanes. Narrow lanes are moved, converted, reinterpreted
/// and multiplied; of arithmetic they have dot(), float16 fma() as well, and integers what bit_and() and its like do.
enum class Type {
  kInt,
  kBool,
  kFloat,
  kDouble,
  kInt32,
  kInt64,
  kMask,
  // narrow
  kFloat16,
  kBfloat16,
  kInt16,
  kInt8,
  kUint8
};

inline bool is_narrow(Type type) {
  return type >= Type::kFloat16;
}
/// Of a lane.
int bits_of(Type type);
/// Lanes in a word, which has 32 bits: 1 of float32, 2 of bfloat16, 4 of int8.
inline int per_word(Type type) {
  return is_narrow(type) ? 32 / bits_of(type) : 1;
}
/// The lanes that are the elements of a narrow type of memory.
Type narrow_type(DataType dtype);

/// What lies in a buffer: elements of a type, or words, each a pair or a quad of elements.
struct Elements {
  DataType dtype = DataType::kFloat;
  bool are_in_words = false;
  Elements() = default;
  Elements(DataType type, bool in_words = false)  // NOLINT: implicit by design
      : dtype(type), are_in_words(in_words) {}
  /// Of what indices, strides and counts of lanes count.
  std::int64_t bytes() const {
    return are_in_words ? 4 : static_cast<std::int64_t>(size_bytes(dtype));
  }
};
inline Elements words_of(DataType dtype) {
  return {dtype, true};
}

}  // namespace aoe::compiler::loopnest
