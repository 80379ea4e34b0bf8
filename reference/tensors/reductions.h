// Reductions over axes: what ReduceSum, ReduceMean, ReduceMax, ... do with elements of type T: the accumulator, its start, one
// step, how two accumulators become one, the end.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/tensor.h"
#include "reference/attrs.h"
#include "reference/elements/arithmetic.h"
#include "reference/elements/typed.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {

template <typename T>
struct Sum {
  using Acc = SumType<T>;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<Acc>(x); }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Acc finish(Acc acc, double) { return acc; }
};

template <typename T>
struct Prod : Sum<T> {
  using Acc = SumType<T>;
  static constexpr Acc kStart = 1;
  static Acc step(Acc acc, ComputeType<T> x) { return acc * static_cast<Acc>(x); }
  static Acc merge(Acc a, Acc b) { return a * b; }
};

template <typename T>
struct SumSquare : Sum<T> {
  using Acc = SumType<T>;
  static Acc step(Acc acc, ComputeType<T> x) {
    return acc + static_cast<Acc>(x) * static_cast<Acc>(x);
  }
};

template <typename T>
struct L1 : Sum<T> {
  using Acc = SumType<T>;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<Acc>(absolute(x)); }
};

template <typename T>
struct Mean {
  using Acc = double;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<double>(x); }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Acc finish(Acc acc, double count) { return acc / count; }
};

template <typename T>
struct L2 {
  using Acc = double;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) {
    return acc + static_cast<double>(x) * static_cast<double>(x);
  }
  static Acc merge(Acc a, Acc b) { return a + b; }
  static Acc finish(Acc acc, double) { return std::sqrt(acc); }
};

template <typename T>
struct LogSum : Mean<T> {
  static double finish(double acc, double) { return std::log(acc); }
};

/// Keeps the largest x so far and the sum of exp(x - largest), which never overflows.
template <typename T>
struct LogSumExp {
  struct Acc {
    double largest;
    double sum;
  };
  static constexpr Acc kStart{-std::numeric_limits<double>::infinity(), 0};
  static Acc step(Acc acc, ComputeType<T> x) {
    const auto value = static_cast<double>(x);
    if (value == acc.largest) return {value, acc.sum + (std::isfinite(value) || value > 0 ? 1 : 0)};
    if (value > acc.largest) return {value, acc.sum * std::exp(acc.largest - value) + 1};
    return {acc.largest, acc.sum + std::exp(value - acc.largest)};
  }
  static double finish(Acc acc, double) {
    return acc.sum == 0 ? acc.largest : acc.largest + std::log(acc.sum);
  }
};

/// Of bool, 0 and what is not: vectors of bool have no elements to point at.
template <typename T>
using Comparable = std::conditional_t<std::is_same_v<T, bool>, unsigned char, ComputeType<T>>;

template <typename T>
struct Max {
  using Acc = Comparable<T>;
  using Limits = std::numeric_limits<Acc>;
  static constexpr Acc kStart = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static Acc step(Acc acc, Acc x) { return maximum(acc, x); }
  static Acc merge(Acc a, Acc b) { return maximum(a, b); }
  static Acc finish(Acc acc, double) { return acc; }
};

template <typename T>
struct Min : Max<T> {
  using Acc = Comparable<T>;
  using Limits = std::numeric_limits<Acc>;
  static constexpr Acc kStart = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static Acc step(Acc acc, Acc x) { return minimum(acc, x); }
  static Acc merge(Acc a, Acc b) { return minimum(a, b); }
};

/// The opset since which the axes of a Reduce... are an input and no attribute.
int input_axes_since(const std::string& type);

/// Which axes of inputs[0] go, as flags; nullopt when they are an input whose values are not known.
std::optional<std::vector<bool>> reduced_axes(const std::string& type, int version,
                                              const Attrs& attrs, std::span<const Tensor> inputs);

/// Strides of the output in the input's dimensions: 0 along the reduced ones.
Strides output_strides(const Shape& in, const std::vector<bool>& reduced);

}  // namespace aoe::reference
