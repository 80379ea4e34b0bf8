// RegisterBlock: sums of products in registers, rows x vectors of them: the innermost code of every kernel that multiplies
// matrices. A step of the sum brings one vector for each column of vectors and one element, in all lanes, for each row.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct RegisterBlock {
  enum class Order { kByRow, kByVector };
  using Load = std::function<loopnest::Local(std::int64_t number)>;

  std::int64_t rows = 1, vectors = 1;
  const std::vector<loopnest::Local>& sums;
  Order order = Order::kByRow;  ///< of `sums`
  /// fma(), or one that multiplies pairs or quads: (element, vector, sum).
  loopnest::Vec (*multiply_add)(loopnest::Vec, loopnest::Vec, loopnest::Vec) = loopnest::fma;
  /// Which side waits in registers while the other comes one by one: the smaller one, else vectors.
  bool keeps_smaller_side = false;

  /// Emits one step: `vector` and `element` emit the loads, in the order in which they are needed.
  void step(loopnest::Builder& builder, const Load& vector, const Load& element) const;

  /// A row's part of several steps at once, whose vectors are there: number `step * this->vectors + vector` of `loaded`.
  /// `element` may differ from vector to vector.
  using Element = std::function<loopnest::Vec(std::int64_t vector, std::int64_t step)>;
  void add_row(loopnest::Builder& builder, std::int64_t row, const Element& element,
               const std::vector<loopnest::Local>& loaded, std::int64_t steps = 1) const;
};

}  // namespace aoe::compiler
