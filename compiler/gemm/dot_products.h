// What Impls share that compute a product as dot products of rows: matrix_vector of one column, few_columns of some.
#pragma once

#include <optional>

#include "compiler/gemm/matmul_shape.h"
#include "compiler/loopnest/loopnest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {

/// Of a product of float32 whose left rows lie in one piece each; "no" says why it is none.
inline Result<MatMulShape> dot_product_shape(const Task& task) {
  Result<MatMulShape> shape = matmul_shape(task);
  if (!shape) return shape;
  if (shape->a.column != 1) return Unexpected("transA");
  for (std::size_t i = 0; i < 2; ++i)
    if (task.in(i).dtype != DataType::kFloat)
      return Unexpected(to_string(task.in(i)) + ", needs float32");
  return shape;
}

/// x * y of all `count` pairs that factors_at(i) gives, added up lane by lane.
template <typename FactorsAt>
loopnest::Vec sum_of_products(loopnest::Builder& builder, std::int64_t count,
                              const FactorsAt& factors_at) {
  std::optional<loopnest::Vec> total;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [x, y] = factors_at(i);
    total = builder.get(builder.local(total ? fma(x, y, *total) : x * y));
  }
  return *total;
}

/// What comes from memory comes faster in whole lines: 4096x4096 by 4096x1 in 3.0 ms, by broadcasts in 5.6 (Zen 4).
inline double whole_lines_ns(const Soc& soc, double bytes) {
  constexpr double kMemoryShare = 0.9;
  return kMemoryShare * memory_ns(soc, bytes);
}

}  // namespace aoe::compiler
