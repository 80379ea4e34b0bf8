// Winograd's transforms for the points 0, 1, -1 (F(2,3)), 2, -2 (F(4,3)), 1/2 and -1/2 (F(6,3)). Rows of the matrices
// that belong to points of opposite sign share their even and their odd part.
#include "compiler/conv/winograd_transforms.h"

#include "base/check.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::splat;
using loopnest::Vec;

Vec keep(Builder& builder, const Vec& value) {
  return builder.get(builder.local(value));
}

Vec times(float factor, const Vec& x, const Vec& plus) {
  return fma(splat(factor, x.lanes()), x, plus);
}

std::vector<Vec> keep_all(Builder& builder, std::vector<Vec> values) {
  for (Vec& value : values) value = keep(builder, value);
  return values;
}

std::vector<Vec> transform_8_inputs(Builder& b, const std::vector<Vec>& d) {
  const Vec even1 = keep(b, times(-4.25f, d[4], d[2] + d[6]));
  const Vec odd1 = keep(b, times(-4.25f, d[3], d[1] + d[5]));
  const Vec even2 = keep(b, times(0.25f, d[2], times(-1.25f, d[4], d[6])));
  const Vec odd2 = keep(b, times(0.5f, d[1], times(-2.5f, d[3], d[5] + d[5])));
  const Vec even3 = keep(b, times(4, d[2], times(-5, d[4], d[6])));
  const Vec odd3 = keep(b, times(0.5f, d[5], times(-2.5f, d[3], d[1] + d[1])));
  return keep_all(
      b, {times(5.25f, d[4] - d[2], d[0] - d[6]), even1 + odd1, even1 - odd1, even2 + odd2,
          even2 - odd2, even3 + odd3, even3 - odd3, times(5.25f, d[3] - d[5], d[7] - d[1])});
}

std::vector<Vec> transform_8_products(Builder& b, const std::vector<Vec>& p) {
  const Vec sum1 = keep(b, p[1] + p[2]), difference1 = keep(b, p[1] - p[2]);
  const Vec sum2 = keep(b, p[3] + p[4]), difference2 = keep(b, p[3] - p[4]);
  const Vec sum3 = keep(b, p[5] + p[6]), difference3 = keep(b, p[5] - p[6]);
  const auto power = [&](float factor, const Vec& one, const Vec& two, const Vec& half) {
    return times(factor, two, times(1 / factor, half, one));
  };
  return keep_all(
      b, {p[0] + sum1 + sum2 + sum3, power(2, difference1, difference2, difference3),
          power(4, sum1, sum2, sum3), power(8, difference1, difference2, difference3),
          power(16, sum1, sum2, sum3), power(32, difference1, difference2, difference3) + p[7]});
}

}  // namespace

std::vector<Vec> transform_inputs(Builder& b, const std::vector<Vec>& d) {
  if (d.size() == 4) return keep_all(b, {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]});
  if (d.size() == 8) return transform_8_inputs(b, d);
  AOE_CHECK(d.size() == 6, "tiles have 4, 6 or 8 inputs a side");
  const Vec even1 = keep(b, times(-4, d[2], d[4])), odd1 = keep(b, times(-4, d[1], d[3]));
  const Vec even2 = keep(b, d[4] - d[2]), odd2 = keep(b, splat(2, d[1].lanes()) * (d[3] - d[1]));
  return keep_all(b, {times(4, d[0], times(-5, d[2], d[4])), even1 + odd1, even1 - odd1,
                      even2 + odd2, even2 - odd2, times(4, d[1], times(-5, d[3], d[5]))});
}

std::vector<Vec> transform_products(Builder& b, const std::vector<Vec>& p) {
  if (p.size() == 4) return keep_all(b, {p[0] + p[1] + p[2], p[1] - p[2] - p[3]});
  if (p.size() == 8) return transform_8_products(b, p);
  AOE_CHECK(p.size() == 6, "tiles have 4, 6 or 8 inputs a side");
  const Vec sum1 = keep(b, p[1] + p[2]), difference1 = keep(b, p[1] - p[2]);
  const Vec sum2 = keep(b, p[3] + p[4]), difference2 = keep(b, p[3] - p[4]);
  return keep_all(b, {p[0] + sum1 + sum2, times(2, difference2, difference1), times(4, sum2, sum1),
                      times(8, difference2, difference1) + p[5]});
}

const std::vector<std::vector<double>>& weight_transform(std::int64_t outputs) {
  static const std::vector<std::vector<double>> two = {
      {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static const std::vector<std::vector<double>> four = {{1. / 4, 0, 0},
                                                        {-1. / 6, -1. / 6, -1. / 6},
                                                        {-1. / 6, 1. / 6, -1. / 6},
                                                        {1. / 24, 1. / 12, 1. / 6},
                                                        {1. / 24, -1. / 12, 1. / 6},
                                                        {0, 0, 1}};
  static const std::vector<std::vector<double>> six = {{1, 0, 0},
                                                       {-2. / 9, -2. / 9, -2. / 9},
                                                       {-2. / 9, 2. / 9, -2. / 9},
                                                       {1. / 90, 1. / 45, 2. / 45},
                                                       {1. / 90, -1. / 45, 2. / 45},
                                                       {32. / 45, 16. / 45, 8. / 45},
                                                       {32. / 45, -16. / 45, 8. / 45},
                                                       {0, 0, 1}};
  AOE_CHECK(outputs == 2 || outputs == 4 || outputs == 6, "F(2,3), F(4,3) and F(6,3) only");
  return outputs == 2 ? two : outputs == 4 ? four : six;
}

}  // namespace aoe::compiler
