// Winograd's transforms for the points 0, 1, -1 (F(2,3)) and 0, 1, -1, 2, -2 (F(4,3)). Rows of the matrices that belong to
// points of opposite sign share their even and their odd part.
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

}  // namespace

std::vector<Vec> transform_inputs(Builder& b, const std::vector<Vec>& d) {
  if (d.size() == 4) return keep_all(b, {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]});
  AOE_CHECK(d.size() == 6, "tiles have 4 or 6 inputs a side");
  const Vec even1 = keep(b, times(-4, d[2], d[4])), odd1 = keep(b, times(-4, d[1], d[3]));
  const Vec even2 = keep(b, d[4] - d[2]), odd2 = keep(b, splat(2, d[1].lanes()) * (d[3] - d[1]));
  return keep_all(b, {times(4, d[0], times(-5, d[2], d[4])), even1 + odd1, even1 - odd1,
                      even2 + odd2, even2 - odd2, times(4, d[1], times(-5, d[3], d[5]))});
}

std::vector<Vec> transform_products(Builder& b, const std::vector<Vec>& p) {
  if (p.size() == 4) return keep_all(b, {p[0] + p[1] + p[2], p[1] - p[2] - p[3]});
  AOE_CHECK(p.size() == 6, "tiles have 4 or 6 inputs a side");
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
  AOE_CHECK(outputs == 2 || outputs == 4, "F(2,3) and F(4,3) only");
  return outputs == 2 ? two : four;
}

}  // namespace aoe::compiler
