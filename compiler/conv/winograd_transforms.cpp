// Winograd's transforms for the points 0, 1, -1 and infinity (4 inputs), with 2, -2 (6 inputs), and with 1/2, -1/2 (8
// inputs). Rows of the matrices that belong to points of opposite sign share their even and their odd part.
#include "compiler/conv/winograd_transforms.h"

#include <cmath>

#include "base/check.h"

namespace aoe::compiler {
namespace {

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

/// Of an odd number modulo 2^32: each step doubles the bits that are right, of which the number itself has three.
constexpr std::uint32_t inverse_modulo(std::uint32_t odd) {
  std::uint32_t inverse = odd;
  for (int step = 0; step < 4; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

/// In lanes like those of another.
template <std::uint32_t odd>
Vec inverse_of(const Vec& like) {
  constexpr std::uint32_t kInverse = inverse_modulo(odd);
  static_assert(kInverse * odd == 1);
  return int_splat(static_cast<std::int32_t>(kInverse), like.lanes(), like.type());
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

// Output i sums up the products times the i-th powers of their points: 0 counts in the first output only, infinity in
// the last.
std::vector<Vec> transform_products(Builder& b, const std::vector<Vec>& p, std::int64_t outputs) {
  if (p.size() == 4) return keep_all(b, {p[0] + p[1] + p[2], p[1] - p[2] - p[3]});
  AOE_CHECK(p.size() == 6 || p.size() == 8, "tiles have 4, 6 or 8 inputs a side");
  const bool has_halves = p.size() == 8;
  std::vector<Vec> sums, differences;  // of the points of opposite sign
  for (std::size_t i = 1; i + 1 < p.size(); i += 2) {
    sums.push_back(keep(b, p[i] + p[i + 1]));
    differences.push_back(keep(b, p[i] - p[i + 1]));
  }
  std::vector<Vec> results = {p[0] + sums[0] + sums[1]};
  if (has_halves) results[0] = results[0] + sums[2];
  for (std::int64_t i = 1; i < outputs; ++i) {
    const std::vector<Vec>& pairs = i % 2 == 0 ? sums : differences;
    const auto power = static_cast<float>(std::int64_t{1} << i);
    const Vec inner = has_halves ? times(1 / power, pairs[2], pairs[0]) : pairs[0];
    results.push_back(times(power, pairs[1], inner));
  }
  results.back() = results.back() + p.back();
  return keep_all(b, std::move(results));
}

std::vector<Vec> transform_whole_inputs(Builder& b, const std::vector<Vec>& d) {
  AOE_CHECK(d.size() == 6, "whole tiles have 6 inputs a side");
  const Vec three = int_splat(3, d[0].lanes(), d[0].type());
  const Vec even = keep(b, d[4] - d[2]), odd = keep(b, d[3] - d[1]);
  const Vec even2 = keep(b, even + even), odd2 = keep(b, odd + odd), odd3 = keep(b, odd2 + odd);
  const Vec first = keep(b, d[0] - d[2]), last = keep(b, d[5] - d[3]);
  return keep_all(b, {first + first + even2 - odd3, even2 - odd - three * (d[1] + d[2]),
                      even2 - odd2 + three * (d[2] - d[3]), even2 + odd, even - odd2,
                      last + last - odd2 - (even2 + even)});
}

std::vector<Vec> transform_whole_products(Builder& b, std::vector<Vec> p, ColumnWeights weights) {
  AOE_CHECK(p.size() == 6, "whole tiles have 6 inputs a side");
  if (weights == ColumnWeights::kFifths) {
    const Vec fifth = inverse_of<5>(p[3]);
    p[3] = keep(b, p[3] * fifth);
    p[4] = keep(b, p[4] * fifth);
  }
  const Vec sum = keep(b, p[1] + p[2]), difference = keep(b, p[1] - p[2]);
  const Vec two = keep(b, p[3] + p[3]), four = keep(b, two + two);
  const Vec half2 = keep(b, p[4] + p[4]), half4 = keep(b, half2 + half2);
  return keep_all(b, {p[0] + sum + p[3] + (half4 + half4), difference + two - half4,
                      sum + four + half2, difference + (four + four) - p[4] + p[5]});
}

Vec scaled_sum(Vec sum, Vec bias, ColumnWeights weights) {
  const Vec inverse =
      weights == ColumnWeights::kFifths ? inverse_of<45>(sum) : inverse_of<225>(sum);
  return convert(sum * inverse + bias, loopnest::Type::kFloat);
}

std::vector<std::vector<double>> weight_transform(std::int64_t inputs, std::int64_t taps) {
  struct Point {
    double value, factor;
  };
  static const std::vector<Point> four = {{0, 1}, {1, 0.5}, {-1, 0.5}};
  static const std::vector<Point> six = {
      {0, 1. / 4}, {1, -1. / 6}, {-1, -1. / 6}, {2, 1. / 24}, {-2, 1. / 24}};
  static const std::vector<Point> eight = {{0, 1},          {1, -2. / 9},  {-1, -2. / 9},
                                           {2, 1. / 90},    {-2, 1. / 90}, {0.5, 32. / 45},
                                           {-0.5, 32. / 45}};
  AOE_CHECK(inputs == 4 || inputs == 6 || inputs == 8, "tiles have 4, 6 or 8 inputs a side");
  std::vector<std::vector<double>> rows;
  for (const Point& point : inputs == 4 ? four : inputs == 6 ? six : eight) {
    std::vector<double> row;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      row.push_back(point.factor * std::pow(point.value, static_cast<double>(tap)));
    rows.push_back(std::move(row));
  }
  rows.emplace_back(static_cast<std::size_t>(taps), 0.0).back() = 1;  // infinity
  return rows;
}

}  // namespace aoe::compiler
