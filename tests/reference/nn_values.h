// What the tests of neural-network operators share: float tensors by shape, attributes as literals, calls that give
// shapes and values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>

#include "op_runner.h"

namespace aoe::reference {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

/// A float tensor whose values a test can look at.
struct Values {
  Shape shape;
  std::vector<float> data;
  ConstantPtr tensor() const { return floats(shape, {data.begin(), data.end()}); }
};

inline Values counting(Shape shape) {
  Values v{shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)))};
  std::iota(v.data.begin(), v.data.end(), 0.0F);
  return v;
}

/// Uniform in [-1, 1).
inline Values random_values(Shape shape, unsigned seed) {
  Values v{shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)))};
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : v.data) value = uniform(engine);
  return v;
}

/// Entries [begin, end) of the first axis.
inline Values slice(const Values& x, std::int64_t begin, std::int64_t end) {
  Values part{x.shape, {}};
  part.shape[0] = end - begin;
  const std::int64_t entry = element_count(x.shape) / x.shape[0];
  part.data.assign(x.data.begin() + begin * entry, x.data.begin() + end * entry);
  return part;
}

struct Results {
  std::vector<Shape> shapes;
  std::vector<Doubles> values;
};

inline Results call(const OpCall& op, const std::vector<ConstantPtr>& inputs,
                    std::size_t output_count = 1) {
  Results results;
  for (OpOutput& output : run_checked(op, inputs, output_count)) {
    results.shapes.push_back(std::move(output.desc.shape));
    results.values.push_back(std::move(output.values));
  }
  return results;
}

inline Attrs attrs_of(std::initializer_list<std::pair<std::string, Attr>> values) {
  Attrs attrs;
  for (const auto& [name, value] : values) attrs.set(name, value);
  return attrs;
}

inline void expect_near(const Doubles& actual, const Doubles& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "at " << i;
  }
}

/// What infer() says when shapes are known and values are not.
inline Shape inferred_shape(const OpCall& op, const std::vector<Shape>& shapes) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes)
    inputs.push_back({{.dtype = DataType::kFloat, .shape = shape}, nullptr});
  return infer(op, inputs, 1)[0].shape;
}

}  // namespace aoe::reference
