// What a product with packed weights reads besides them, laid out by blocks of columns.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/emit/integer_math.h"
#include "compiler/impl.h"
#include "reference/products/packed_weights.h"

namespace aoe::compiler {

/// [block of `columns` columns][index below count][column], `value(row of the weights, index)` below n, zeros beyond.
template <typename T, typename Value>
PackedConstant by_columns(std::int64_t n, std::int64_t columns, std::int64_t count, Value value) {
  const std::int64_t blocks = ceil_div(n, columns);
  return {.size_bytes = static_cast<std::size_t>(blocks * count * columns) * sizeof(T),
          .pack = [=](void* destination) {
            T* to = static_cast<T*>(destination);
            for (std::int64_t block = 0; block < blocks; ++block)
              for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t column = 0; column < columns; ++column) {
                  const std::int64_t row = block * columns + column;
                  *to++ = row < n ? value(row, i) : T{};
                }
          }};
}

/// The same of a constant of float32 with `count` in a row.
inline PackedConstant floats_by_columns(ConstantPtr of, std::int64_t n, std::int64_t columns,
                                        std::int64_t count) {
  return by_columns<float>(n, columns, count,
                           [of = std::move(of), count](std::int64_t row, std::int64_t i) {
                             return static_cast<const float*>(of->data())[row * count + i];
                           });
}

/// Zero points, uint8 where they are packed.
inline std::pair<PackedConstant, DataType> zeros_by_columns(ConstantPtr zero,
                                                            const reference::PackedWeights& w,
                                                            std::int64_t columns) {
  if (zero->desc().dtype != DataType::kUint8)
    return {floats_by_columns(std::move(zero), w.n, columns, w.blocks()), DataType::kFloat};
  return {by_columns<std::uint8_t>(
              w.n, columns, w.blocks(),
              [zero = std::move(zero), w](std::int64_t row, std::int64_t i) {
                const auto* bytes = static_cast<const std::uint8_t*>(zero->data());
                return static_cast<std::uint8_t>(w.at(bytes + row * w.zero_row_bytes(), i));
              }),
          DataType::kUint8};
}

/// What a kernel of such a product reads beside its inputs: weights, scales, and zero points and a bias where there are some.
struct NbitsConstants {
  std::vector<PackedConstant> packed = {};
  std::vector<loopnest::Elements> types = {};
  std::optional<std::size_t> zero = {}, bias = {};  ///< their places

  std::size_t add(PackedConstant constant, DataType dtype) {
    packed.push_back(std::move(constant));
    types.emplace_back(dtype);
    return packed.size() - 1;
  }
};

inline ConstantPtr nbits_input(const Task& task, std::size_t i) {
  return i < task.inputs.size() ? task.inputs[i].constant : nullptr;
}

/// Behind `weights`, laid out for a kernel of its own, which have elements of `dtype`.
inline NbitsConstants nbits_constants(const Task& task, const reference::PackedWeights& w,
                                      std::int64_t columns, PackedConstant weights,
                                      DataType dtype) {
  NbitsConstants constants;
  constants.add(std::move(weights), dtype);
  constants.add(
      floats_by_columns(nbits_input(task, reference::kPackedScale), w.n, columns, w.blocks()),
      DataType::kFloat);
  if (ConstantPtr zero = nbits_input(task, reference::kPackedZero)) {
    auto [packed, zero_type] = zeros_by_columns(std::move(zero), w, columns);
    constants.zero = constants.add(std::move(packed), zero_type);
  }
  if (ConstantPtr bias = nbits_input(task, reference::kPackedBias))
    constants.bias =
        constants.add(floats_by_columns(std::move(bias), w.n, columns, 1), DataType::kFloat);
  return constants;
}

}  // namespace aoe::compiler
