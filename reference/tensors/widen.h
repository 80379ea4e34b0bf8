// Widening: a tensor of any element type as a vector of doubles or 64-bit integers, and back.
//
// Operators that are not bound by their element type compute in double throughout: one code for
// float, double and the half types, and an oracle that is more exact than what it judges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace aoe::reference {

/// The elements of a dense tensor in row-major order. Bool reads as 0 and 1.
std::vector<double> to_doubles(const Tensor& tensor);
std::vector<std::int64_t> to_int64s(const Tensor& tensor);
/// Stretched to `shape` as numpy broadcasts; Error(kModel) when it does not fit.
std::vector<double> to_doubles(const Tensor& tensor, const Shape& shape);

/// The only element of a tensor that must have one.
double to_double(const Tensor& tensor);
std::int64_t to_int64(const Tensor& tensor);

/// Stores in the tensor's element type, as convert() of reference/elements/typed.h does.
void from_doubles(std::span<const double> values, const Tensor& tensor);
void from_int64s(std::span<const std::int64_t> values, const Tensor& tensor);

}  // namespace aoe::reference
