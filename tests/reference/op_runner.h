// Runs one operator in a test: inputs from plain vectors, outputs as doubles, and the promises every operator makes
// checked on the way (see run_checked).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/elements/typed.h"
#include "reference/op.h"

namespace aoe::reference {

inline ConstantPtr make_tensor(DataType dtype, Shape shape, const std::vector<double>& values) {
  auto tensor = std::make_shared<Constant>(TensorDesc{.dtype = dtype, .shape = std::move(shape)});
  visit_type<AllTypes>(dtype, [&]<typename T>() {
    for (std::size_t i = 0; i < values.size(); ++i)
      static_cast<T*>(tensor->mutable_data())[i] = convert<T>(values[i]);
  });
  return tensor;
}

inline ConstantPtr floats(Shape shape, const std::vector<double>& values) {
  return make_tensor(DataType::kFloat, std::move(shape), values);
}
inline ConstantPtr ints(Shape shape, const std::vector<double>& values) {
  return make_tensor(DataType::kInt64, std::move(shape), values);
}
inline ConstantPtr bools(Shape shape, const std::vector<double>& values) {
  return make_tensor(DataType::kBool, std::move(shape), values);
}

struct OpOutput {
  TensorDesc desc;
  std::vector<double> values;
};

/// Runs the call and checks what holds for every operator:
/// - infer() with dimensions or values unknown says nothing that the full infer() contradicts;
/// - run() writes all elements of its outputs, whatever was there before, and nothing behind them.
/// nullptr stands for an absent optional input.
std::vector<OpOutput> run_checked(const OpCall& call, const std::vector<ConstantPtr>& inputs,
                                  std::size_t output_count = 1);

}  // namespace aoe::reference
