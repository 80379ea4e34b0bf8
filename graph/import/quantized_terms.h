// Bytes with a scale and a zero point inside a function's call: the numbers they stand for, and their products.
#pragma once

#include "graph/import/function_call.h"

namespace aoe::graph {

struct ByteTerm {
  Term values;
  Term scale;  ///< a number, or one for each index of an axis
  Term zero;   ///< the like; absent(): 0
};

/// Input `i`, or absent().
Term optional_input(FunctionCall& call, std::size_t i);

/// The numbers that `bytes` stand for. `axis` counts where there is more than one scale; a single one may be a list.
Term real(FunctionCall& call, const ByteTerm& bytes, std::int64_t axis = 1);

/// The bytes nearest to `value`. Without a zero point they are of `dtype`.
Term quantised(FunctionCall& call, Term value, Term scale, Term zero, DataType dtype);

/// a x b in whole numbers, times both scales: as fuse_dynamic_quantized finds it.
Term product(FunctionCall& call, const ByteTerm& a, const ByteTerm& b);

/// Bytes of 8 / bits values each, the lowest bits first, along the last axis; `count` values of a row stay.
Term unpacked(FunctionCall& call, Term bytes, std::int64_t bits, std::int64_t count);

}  // namespace aoe::graph
