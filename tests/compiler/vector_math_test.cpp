// exp, log, the trigonometric and hyperbolic functions, ... of generated code against the C library in double precision, and the NaN
// rules of min and max.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// `function` of the elements of both, float or double.
template <typename T>
std::vector<T> run_binary(Vec (*function)(Vec, Vec), const Soc& soc, std::vector<T> left,
                          std::vector<T> right) {
  constexpr bool kIsWide = sizeof(T) == 8;
  constexpr DataType kElement = kIsWide ? DataType::kDouble : DataType::kFloat;
  constexpr Type kLanes = kIsWide ? Type::kDouble : Type::kFloat;
  const auto count = static_cast<std::int64_t>(left.size());
  Builder b("binary");
  const Buffer x = b.buffer("x", Access::kRead, kElement);
  const Buffer z = b.buffer("z", Access::kRead, kElement);
  const Buffer y = b.buffer("y", Access::kWrite, kElement);
  b.parallel(1, [&](Int) {
    const int lanes = kIsWide ? soc.vector_lanes() / 2 : soc.vector_lanes();
    vector_loop(b, "i", count, lanes, [&](Int i, std::optional<Int> active) {
      b.store(
          y, i,
          function(b.load_as(kLanes, x, i, lanes, active), b.load_as(kLanes, z, i, lanes, active)),
          active);
    });
  });
  std::vector<T> output(left.size());
  void* const buffers[] = {left.data(), right.data(), output.data()};
  compile_and_run(b.finish(), soc, buffers);
  return output;
}

std::vector<float> run_unary(Vec (*function)(Vec), const Soc& soc, std::vector<float> input) {
  const auto count = static_cast<std::int64_t>(input.size());
  Builder b("unary");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
  b.parallel(1, [&](Int) {
    vector_loop(b, "i", count, soc.vector_lanes(), [&](Int i, std::optional<Int> active) {
      b.store(y, i, function(b.load(x, i, soc.vector_lanes(), active)), active);
    });
  });
  std::vector<float> output(input.size());
  void* const buffers[] = {input.data(), output.data()};
  compile_and_run(b.finish(), soc, buffers);
  return output;
}

/// Every 8191st float32 there is, both signs, denormals, infinities and NaNs among them, and the
/// corners.
std::vector<float> sample_floats() {
  std::vector<float> samples = {0.0f,      -0.0f,     kInfinity, -kInfinity, kNan,    1.0f,
                                -1.0f,     88.72283f, 88.72284f, -87.33655f, -103.9f, -104.1f,
                                0x1p-126f, 0x1p-149f, 0.707f,    1.41421f,   4.0f,    10.0f};
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 8191) {
    samples.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return samples;
}

struct Function {
  const char* name;
  Vec (*generated)(Vec);
  double (*exact)(double);
};

void PrintTo(const Function& function, std::ostream* out) {
  *out << function.name;
}

const Function kFunctions[] = {
    {"exp", loopnest::exp, std::exp},
    {"log", loopnest::log, std::log},
    {"tanh", loopnest::tanh, std::tanh},
    {"erf", loopnest::erf, std::erf},
    {"sin", loopnest::sin, std::sin},
    {"cos", loopnest::cos, std::cos},
    {"tan", loopnest::tan, std::tan},
    {"asin", loopnest::asin, std::asin},
    {"acos", loopnest::acos, std::acos},
    {"atan", loopnest::atan, std::atan},
    {"sinh", loopnest::sinh, std::sinh},
    {"cosh", loopnest::cosh, std::cosh},
    {"asinh", loopnest::asinh, std::asinh},
    {"acosh", loopnest::acosh, std::acosh},
    {"atanh", loopnest::atanh, std::atanh},
    {"log1p", loopnest::log1p, std::log1p},
    {"sigmoid", loopnest::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
};

class Transcendental : public testing::TestWithParam<Function> {};

TEST_P(Transcendental, IsWithinFourUlpOr1e7) {
  const std::vector<float> input = sample_floats();
  for (const Soc& soc : test_socs()) {
    const std::vector<float> output = run_unary(GetParam().generated, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double exact = GetParam().exact(input[i]);
      const auto rounded = static_cast<float>(exact);
      if (std::isnan(rounded)) {
        ASSERT_TRUE(std::isnan(output[i])) << soc.version << " of " << input[i];
        continue;
      }
      if (std::isinf(rounded)) {
        ASSERT_EQ(output[i], rounded) << soc.version << " of " << input[i];
        continue;
      }
      const float magnitude = std::max(std::fabs(rounded), std::numeric_limits<float>::min());
      const double ulp = std::nextafter(magnitude, kInfinity) - magnitude;
      const double tolerance = std::max(4 * ulp, 1e-7);
      ASSERT_NEAR(output[i], exact, tolerance) << soc.version << " of " << input[i];
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, Transcendental, testing::ValuesIn(kFunctions),
                         testing::PrintToStringParamName());

// ---- float64 ----

struct WideFunction {
  const char* name;
  Vec (*generated)(Vec);
  long double (*exact)(long double);
};

void PrintTo(const WideFunction& function, std::ostream* out) {
  *out << function.name;
}

const WideFunction kWideFunctions[] = {
    {"exp", loopnest::exp, std::exp},       {"log", loopnest::log, std::log},
    {"tanh", loopnest::tanh, std::tanh},    {"erf", loopnest::erf, std::erf},
    {"sin", loopnest::sin, std::sin},       {"cos", loopnest::cos, std::cos},
    {"tan", loopnest::tan, std::tan},       {"asin", loopnest::asin, std::asin},
    {"acos", loopnest::acos, std::acos},    {"atan", loopnest::atan, std::atan},
    {"sinh", loopnest::sinh, std::sinh},    {"cosh", loopnest::cosh, std::cosh},
    {"asinh", loopnest::asinh, std::asinh}, {"acosh", loopnest::acosh, std::acosh},
    {"atanh", loopnest::atanh, std::atanh},
};

/// Of all sizes, and those where results begin and end.
std::vector<double> sample_doubles() {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  std::vector<double> samples = {
      0.0,    -0.0,   kEnd,  -kEnd, std::nan(""), 1.0,       -1.0,      709.78,  709.783, -708.4,
      -745.1, -745.2, 710.4, 710.5, 0x1p-1022,    0x1p-1074, 0x1p-1060, 0.70711, 1.41421, 22.0};
  constexpr std::uint64_t kStep = 0x1000000000000u / 3;
  for (std::uint64_t i = 0; i < 0xffff * 3; i += 7)
    samples.push_back(std::bit_cast<double>(i * kStep));
  for (double x = -40; x < 40; x += 0.00731) samples.push_back(x);
  return samples;
}

std::vector<double> run_wide(Vec (*function)(Vec), const Soc& soc, std::vector<double> input) {
  const auto count = static_cast<std::int64_t>(input.size());
  const int lanes = soc.vector_lanes() / 2;
  Builder b("wide");
  const Buffer x = b.buffer("x", Access::kRead, DataType::kDouble);
  const Buffer y = b.buffer("y", Access::kWrite, DataType::kDouble);
  b.parallel(1, [&](Int) {
    vector_loop(b, "i", count, lanes, [&](Int i, std::optional<Int> active) {
      b.store(y, i, function(b.load_as(Type::kDouble, x, i, lanes, active)), active);
    });
  });
  std::vector<double> output(input.size());
  void* const buffers[] = {input.data(), output.data()};
  compile_and_run(b.finish(), soc, buffers);
  return output;
}

class Float64Function : public testing::TestWithParam<WideFunction> {};

TEST_P(Float64Function, IsWithinFourUlpOr1e15) {
  const std::vector<double> input = sample_doubles();
  for (const Soc& soc : test_socs()) {
    const std::vector<double> output = run_wide(GetParam().generated, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const long double exact = GetParam().exact(static_cast<long double>(input[i]));
      const auto rounded = static_cast<double>(exact);
      if (std::isnan(rounded)) {
        ASSERT_TRUE(std::isnan(output[i])) << soc.version << " of " << input[i];
        continue;
      }
      if (std::isinf(rounded)) {
        ASSERT_EQ(output[i], rounded) << soc.version << " of " << input[i];
        continue;
      }
      const double tolerance = std::max(4 * 0x1p-52 * std::fabs(rounded), 1e-15);
      ASSERT_LE(std::fabs(static_cast<double>(output[i] - exact)), tolerance)
          << soc.version << " of " << input[i] << ": " << output[i];
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, Float64Function, testing::ValuesIn(kWideFunctions),
                         testing::PrintToStringParamName());

TEST(Float64Exp, KeepsRelativePrecisionOfSmallResults) {
  std::vector<double> input;
  for (double x = -708; x < 0; x += 0.37) input.push_back(x);
  for (const Soc& soc : test_socs()) {
    const std::vector<double> output = run_wide(loopnest::exp, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(output[i] / std::exp(input[i]), 1.0, 4 * 0x1p-52) << input[i];
  }
}

TEST(Float64Function, ReducesAnglesNearMultiplesOfARightOne) {
  std::vector<double> input;
  for (double n = 1; n < 1e307; n = n * 1.37 + 1) input.push_back(n * 1.57079632679489661923);
  for (const Soc& soc : test_socs()) {
    // Of all numbers the one nearest to a multiple; std::cos is 6 units off.
    const double nearest = run_wide(loopnest::cos, soc, {0x1.6ac5b262ca1ffp+849})[0];
    EXPECT_NEAR(nearest / -4.68716592425462761112e-19, 1, 4e-16);
    const auto sines = run_wide(loopnest::sin, soc, input);
    const auto cosines = run_wide(loopnest::cos, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      EXPECT_NEAR(sines[i] / std::sin(input[i]), 1, 8e-16) << input[i];
      EXPECT_NEAR(cosines[i] / std::cos(input[i]), 1, 8e-16) << input[i];
    }
  }
}

TEST(Float64Function, KeepsRelativePrecisionAndSignsNearZero) {
  constexpr WideFunction kOdd[] = {
      {"sin", loopnest::sin, std::sin},       {"tan", loopnest::tan, std::tan},
      {"asin", loopnest::asin, std::asin},    {"atan", loopnest::atan, std::atan},
      {"asinh", loopnest::asinh, std::asinh}, {"atanh", loopnest::atanh, std::atanh},
      {"erf", loopnest::erf, std::erf},       {"tanh", loopnest::tanh, std::tanh}};
  const std::vector<double> input = {1e-300, -1e-200, 1e-100, 3e-15, -1e-8, -1e-3, -0.0};
  for (const Soc& soc : test_socs()) {
    for (const WideFunction& odd : kOdd) {
      const auto output = run_wide(odd.generated, soc, input);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const auto exact = static_cast<double>(odd.exact(input[i]));
        EXPECT_EQ(std::signbit(output[i]), std::signbit(exact)) << odd.name << " of " << input[i];
        EXPECT_NEAR(output[i], exact, 2e-15 * std::fabs(exact)) << odd.name << " of " << input[i];
      }
    }
  }
}

TEST(Transcendental, KeepsRelativePrecisionOfSmallExponentials) {
  // Softmax divides such numbers by each other: 1e-7 absolute would not do.
  for (const Soc& soc : test_socs()) {
    std::vector<float> input;
    for (float x = -86.5f; x < 0.0f; x += 0.37f) input.push_back(x);
    const std::vector<float> output = run_unary(loopnest::exp, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double exact = std::exp(static_cast<double>(input[i]));
      EXPECT_NEAR(output[i] / exact, 1.0, 4 * 0x1p-23) << input[i];
    }
  }
}

TEST(Transcendental, KeepsRelativePrecisionNearZero) {
  for (const Soc& soc : test_socs()) {
    const std::vector<float> input = {1e-30f, -1e-20f, 1e-10f, 3e-5f, -1e-3f};
    const auto tanhs = run_unary(loopnest::tanh, soc, input);
    const auto erfs = run_unary(loopnest::erf, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      EXPECT_NEAR(tanhs[i] / std::tanh(double{input[i]}), 1.0, 1e-6) << input[i];
      EXPECT_NEAR(erfs[i] / std::erf(double{input[i]}), 1.0, 1e-6) << input[i];
    }
  }
}

TEST(Transcendental, KeepsRelativePrecisionAndSignsOfSmallAngles) {
  const Function kOdd[] = {
      {"sin", loopnest::sin, std::sin},      {"tan", loopnest::tan, std::tan},
      {"asin", loopnest::asin, std::asin},   {"atan", loopnest::atan, std::atan},
      {"sinh", loopnest::sinh, std::sinh},   {"asinh", loopnest::asinh, std::asinh},
      {"atanh", loopnest::atanh, std::atanh}};
  const std::vector<float> input = {1e-30f, -1e-20f, 1e-10f, 3e-5f, -1e-3f, -0.0f, 0x1p-140f};
  for (const Soc& soc : test_socs()) {
    for (const Function& odd : kOdd) {
      const auto output = run_unary(odd.generated, soc, input);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const double exact = odd.exact(input[i]);
        EXPECT_EQ(std::signbit(output[i]), std::signbit(exact)) << odd.name << " of " << input[i];
        EXPECT_NEAR(output[i], exact, 1e-6 * std::fabs(exact)) << odd.name << " of " << input[i];
      }
    }
  }
}

TEST(Transcendental, AddsSmallNumbersToOneWithoutLosingThem) {
  const std::vector<float> input = {1e-30f, 4e-18f, -3e-9f, 6e-8f, -1e-5f, 0.3f, 1.0f, 1e6f};
  for (const Soc& soc : test_socs()) {
    const auto output = run_unary(loopnest::log1p, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(output[i] / std::log1p(double{input[i]}), 1.0, 1e-6) << input[i];
  }
}

TEST(Transcendental, ReducesAnglesNearMultiplesOfARightOne) {
  // Relative to the result, which is tiny there: the quadrants must be counted with more digits than float32 has.
  std::vector<float> input;
  for (double n = 1; n < 1e38; n = n * 1.37 + 1)
    input.push_back(static_cast<float>(n * 1.57079632679489661923));
  for (const Soc& soc : test_socs()) {
    const auto sines = run_unary(loopnest::sin, soc, input);
    const auto cosines = run_unary(loopnest::cos, soc, input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double x = input[i];
      EXPECT_NEAR(sines[i] / std::sin(x), 1, 4e-7) << x;
      EXPECT_NEAR(cosines[i] / std::cos(x), 1, 4e-7) << x;
    }
  }
}

/// All pairs of the corners, and some of any bits.
template <typename T, typename Bits>
std::pair<std::vector<T>, std::vector<T>> pairs_of(const std::vector<T>& corners) {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  const auto add = [&](T x, T y) { pairs.first.push_back(x), pairs.second.push_back(y); };
  for (const T x : corners)
    for (const T y : corners) add(x, y);
  std::uint64_t state = 12345;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return std::bit_cast<T>(static_cast<Bits>(state >> (64 - 8 * sizeof(T))));
  };
  for (int i = 0; i < 4000; ++i) add(next(), next());
  return pairs;
}

template <typename T, typename Bits>
void expect_exact_remainders(const std::vector<T>& corners) {
  const auto [left, right] = pairs_of<T, Bits>(corners);
  for (const Soc& soc : test_socs()) {
    const std::vector<T> output = run_binary<T>(loopnest::fmod, soc, left, right);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const T exact = std::fmod(left[i], right[i]);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(output[i])) << left[i] << " by " << right[i];
      } else {
        EXPECT_EQ(std::bit_cast<Bits>(output[i]), std::bit_cast<Bits>(exact))
            << left[i] << " by " << right[i] << ": " << output[i] << ", expected " << exact;
      }
    }
  }
}

TEST(Remainder, IsExact) {
  expect_exact_remainders<float, std::uint32_t>({0.0f, -0.0f, 1.0f, -1.0f, 3.0f, 0.1f, 7.5f, 1e-3f,
                                                 1e30f, 0x1p-149f, 0x1p-126f, 3.4e38f, -5.25f,
                                                 kInfinity, -kInfinity, kNan, 16777215.0f});
}

TEST(Remainder, OfFloat64IsExact) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  expect_exact_remainders<double, std::uint64_t>(
      {0.0,      -0.0,      1.0,         -1.0,         3.0,
       0.1,      7.5,       1e-3,        1e30,         1e300,
       -1.7e308, 0x1p-1074, 0x1.8p-1060, 0x1p-1022,    0x1.fffffffffffffp1023,
       -5.25,    kEnd,      -kEnd,       std::nan(""), 9007199254740991.0});
}

/// `output` is left to the power of right as the C library has it, within 4 units of the last place or `least`.
template <typename T>
void expect_powers(const std::vector<T>& left, const std::vector<T>& right, T least) {
  for (const Soc& soc : test_socs()) {
    const std::vector<T> output = run_binary<T>(loopnest::pow, soc, left, right);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const T exact = std::pow(left[i], right[i]);
      const std::string what = std::to_string(left[i]) + " to the " + std::to_string(right[i]);
      if (std::isnan(exact) || std::isinf(exact)) {
        EXPECT_EQ(std::isnan(output[i]), std::isnan(exact)) << what << ": " << output[i];
        EXPECT_TRUE(std::isnan(exact) || output[i] == exact) << what << ": " << output[i];
      } else {
        EXPECT_EQ(std::signbit(output[i]), std::signbit(exact)) << what;
        const T tolerance = 4 * std::numeric_limits<T>::epsilon() * std::fabs(exact) + least;
        EXPECT_LE(std::fabs(output[i] - exact), tolerance)
            << what << ": " << output[i] << ", expected " << exact;
      }
    }
  }
}

TEST(Power, IsThatOfTheLibraryToTheEndsOfTheRange) {
  const std::vector<float> corners = {
      0.0f,  -0.0f, 1.0f,   -1.0f,   0.5f, -0.5f,       2.0f,      3.0f,       -3.0f, 2.5f,
      -2.5f, 1e-3f, -1e30f, 3.4e38f, 7.0f, 16777217.0f, kInfinity, -kInfinity, kNan,  0x1p-140f};
  std::vector<float> left, right;
  for (const float x : corners)
    for (const float y : corners) left.push_back(x), right.push_back(y);
  for (int i = 0; i < 4000; ++i) {
    const float x =
        std::exp(static_cast<float>(i % 177) - 87.0f) * (1 + static_cast<float>(i) * 1e-4f);
    left.push_back(x), right.push_back(85.0f / std::log(x) * static_cast<float>(i % 41 - 20) / 20);
  }
  expect_powers<float>(left, right, 1e-37f);
}

TEST(Power, OfFloat64IsThatOfTheLibraryToTheEndsOfTheRange) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  auto [left, right] = pairs_of<double, std::uint64_t>(
      {0.0,  -0.0,  1.0,          -1.0,      0.5,        -0.5,      2.0, 3.0,
       -3.0, 2.5,   -2.5,         1e-3,      -1e300,     1.7e308,   7.0, 9007199254740993.0,
       kEnd, -kEnd, std::nan(""), 0x1p-1060, 0.70710678, 1.41421356});
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp((i % 1409) - 704.0) * (1 + i * 1e-5);
    left.push_back(x), right.push_back(708 / std::log(x) * (i % 41 - 20) / 20);
    // near 1 and near the square root of 1/2, where the logarithm is hardest
    const double near = (i % 2 == 0 ? 1 : 0.7071067811865476) * (1 + (i - 10000) * 1e-6);
    left.push_back(near), right.push_back(700 / std::log(near) * (i % 37 - 18) / 18.0);
  }
  expect_powers<double>(left, right, 0x1p-1073);
}

struct Extreme {
  const char* name;
  Vec (*make)(Vec x);
  float nan_free_of_2;  ///< the result for x = 2
};
/// x, or 1 where that is NaN.
Vec number(Vec x) {
  return select(x <= x, x, splat(1.0f, x.lanes()));
}
const Extreme kExtremes[] = {
    {"max_with_constant_right", [](Vec x) { return max(x, splat(1.0f, x.lanes())); }, 2.0f},
    {"max_with_constant_left", [](Vec x) { return max(splat(1.0f, x.lanes()), x); }, 2.0f},
    {"min_with_constant", [](Vec x) { return min(x, splat(1.0f, x.lanes())); }, 1.0f},
    {"max_of_two", [](Vec x) { return max(x + x, x); }, 4.0f},
    {"min_of_two_first_nan", [](Vec x) { return min(x, x * splat(0.0f, x.lanes())); }, 0.0f},
    {"max_second_nan", [](Vec x) { return max(abs(x * splat(0.0f, x.lanes())), x); }, 2.0f},
    {"max_of_three_first_nan", [](Vec x) { return max(x, number(x), number(x + x)); }, 4.0f},
    {"max_of_three_second_nan", [](Vec x) { return max(number(x), x + x, number(x)); }, 4.0f},
    {"max_of_three_third_nan", [](Vec x) { return max(number(x + x), number(x), x); }, 4.0f},
    {"reduce_max", [](Vec x) { return broadcast(reduce_max(x), x.lanes()); }, 2.0f},
    {"reduce_min", [](Vec x) { return broadcast(reduce_min(x), x.lanes()); }, 2.0f},
};

TEST(MinMax, PropagateNan) {
  for (const Soc& soc : test_socs()) {
    const auto lanes = static_cast<std::size_t>(soc.vector_lanes());
    for (const Extreme& extreme : kExtremes) {
      const auto numbers = run_unary(extreme.make, soc, std::vector<float>(lanes, 2.0f));
      const auto nans = run_unary(extreme.make, soc, std::vector<float>(lanes, kNan));
      for (std::size_t i = 0; i < lanes; ++i) {
        EXPECT_EQ(numbers[i], extreme.nan_free_of_2) << extreme.name;
        EXPECT_TRUE(std::isnan(nans[i])) << extreme.name;
      }
    }
  }
}

TEST(MinMax, OneNanLaneReachesTheReduction) {
  for (const Soc& soc : test_socs()) {
    for (int lane = 0; lane < soc.vector_lanes(); ++lane) {
      std::vector<float> input(static_cast<std::size_t>(soc.vector_lanes()), 1.0f);
      input[static_cast<std::size_t>(lane)] = kNan;
      const auto make = [](Vec x) { return broadcast(reduce_max(x), x.lanes()); };
      EXPECT_TRUE(std::isnan(run_unary(make, soc, input)[0])) << lane;
    }
  }
}

}  // namespace
}  // namespace aoe::compiler::loopnest
