// What random calls are made of: numbers, shapes and tensors that a seed decides.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "tests/native/random_calls.h"

namespace aoe::native {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  std::int64_t in(std::int64_t low, std::int64_t high) {  // both included
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(int percent) { return in(1, 100) <= percent; }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[in(0, std::ssize(list) - 1)];
  }
  DataType type();
  DataType numeric();

  std::int64_t dim() { return chance(3) ? 0 : chance(15) ? in(40, 200) : in(1, 12); }
  std::int64_t some() { return std::max<std::int64_t>(dim(), 1); }
  Shape shape(std::int64_t least_rank, std::int64_t most_rank);

 private:
  std::mt19937 engine_;
};

std::shared_ptr<Constant> made(DataType type, Shape shape, const std::function<double()>& value);
ConstantPtr numbers(Draw& draw, DataType type, Shape shape, double low = -3, double high = 3);
/// Few different ones, zeros of both signs and, of floating point, infinities and NaN.
ConstantPtr with_ties(Draw& draw, DataType type, Shape shape, bool with_nan = true);
ConstantPtr ints(const std::vector<std::int64_t>& values, DataType type = DataType::kInt64);
/// In [-dim, dim).
ConstantPtr indices(Draw& draw, DataType type, Shape shape, std::int64_t dim);
DataType index_type(Draw& draw);
ConstantPtr scalar(double value, DataType type);
ConstantPtr zero_point(Draw& draw, DataType type);  ///< of bytes, both ends among them
std::int64_t axis_of(Draw& draw, const Shape& shape);
std::int64_t& at_axis(Shape& shape, std::int64_t axis);

using Drawer = std::function<RandomCall(Draw&)>;
using Drawers = std::map<std::string, Drawer>;  ///< by IR type
/// Those of operators that write where values say, and of convolutions and quantisation.
void add_more_drawers(Drawers& drawers);
/// Those of products, normalisations and formulas.
void add_network_drawers(Drawers& drawers);
/// Those of recurrences and losses.
void add_recurrent_drawers(Drawers& drawers);
void add_fourier_drawers(Drawers& drawers);
void add_attention_drawers(Drawers& drawers);
void add_byte_image_drawers(Drawers& drawers);
RandomCall draw_byte_image(Draw& draw);  ///< a NhwcQuantConv2D

}  // namespace aoe::native
