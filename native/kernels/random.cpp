// Random numbers: those of the reference, of which each is a function of its place, so that threads share them and vectors make them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "base/ceil_div.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/random_numbers.h"
#include "reference/elements/typed.h"

namespace aoe::native {
namespace {

using reference::RandomNumbers;

/// Numbers are made in blocks, which are the same wherever parts begin.
constexpr std::int64_t kBlock = 64;

/// to[0] to to[kBlock) = log(x), x in (0, 1], by the series of the inverse hyperbolic tangent.
AOE_WIDE_EXACT void take_logarithms(const double* x, double* to) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu, kOne = 0x3ff0000000000000u;
  for (std::int64_t i = 0; i < kBlock; ++i) {
    // x = mantissa * 2^exponent, the mantissa around 1; the exponent becomes floating point by the bits of 2^52 + 2^51.
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x[i]) + (kOne - kRootHalf);
    const double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffu) + kRootHalf);
    const double exponent =
        std::bit_cast<double>((bits >> 52) + 0x4338000000000000u) - (0x1.8p52 + 1023);
    const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
    double sum = 1.0 / 23;
    for (const double factor : {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0})
      sum = sum * square + factor;
    to[i] = 2 * s * sum + exponent * std::numbers::ln2;
  }
}

/// Cosine and sine of 2 pi x, x in [0, 1), of what is left of the nearest quarter.
AOE_WIDE_EXACT void take_cosines_and_sines(const double* x, double* cosines, double* sines) {
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const double shifted = 4 * x[i] + 0x1.8p52;
    const std::uint64_t quarter = std::bit_cast<std::uint64_t>(shifted);
    const double rest = (4 * x[i] - (shifted - 0x1.8p52)) * (std::numbers::pi / 2);
    const double square = rest * rest;
    double sine = -1.0 / 1307674368000, cosine = 1.0 / 20922789888000;
    for (const double factor :
         {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0})
      sine = sine * square + factor;
    for (const double factor : {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                                -1.0 / 720, 1.0 / 24, -0.5, 1.0})
      cosine = cosine * square + factor;
    sine *= rest;
    const double a = (quarter & 1) != 0 ? -sine : cosine, b = (quarter & 1) != 0 ? cosine : sine;
    const std::uint64_t sign = (quarter & 2) << 62;
    cosines[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) ^ sign);
    sines[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(b) ^ sign);
  }
}

/// x[i] = sqrt(-2 * x[i]). Compilers ask each root for errno, and make no vectors.
AOE_WIDE_EXACT void take_radii(double* x) {
#if defined(__x86_64__) && !defined(__clang__)
  using Loose = Lanes<double>::Loose;
  for (std::int64_t i = 0; i < kBlock; i += Lanes<double>::kCount) {
    Loose& four = *reinterpret_cast<Loose*>(x + i);
    four = __builtin_ia32_sqrtpd256(-2 * four);
  }
#else
  for (std::int64_t i = 0; i < kBlock; ++i) x[i] = std::sqrt(-2 * x[i]);
#endif
}

/// Numbers from `first` on, uniform ones and those of a bell, kBlock and twice as many.
AOE_WIDE_EXACT void take_uniform(const RandomNumbers& numbers, std::int64_t first, double* to) {
  const RandomNumbers kept = numbers;
  for (std::int64_t i = 0; i < kBlock; ++i) to[i] = kept.uniform(first + i);
}

AOE_WIDE_EXACT void take_normal(const RandomNumbers& numbers, std::int64_t first, double* to) {
  const RandomNumbers kept = numbers;
  double radii[kBlock], angles[kBlock], cosines[kBlock], sines[kBlock];
  for (std::int64_t i = 0; i < kBlock; ++i) {
    radii[i] = 1 - kept.uniform(first + 2 * i);
    angles[i] = kept.uniform(first + 2 * i + 1);
  }
  take_logarithms(radii, radii);
  take_cosines_and_sines(angles, cosines, sines);
  take_radii(radii);
  for (std::int64_t i = 0; i < kBlock; ++i) {
    to[2 * i] = radii[i] * cosines[i];
    to[2 * i + 1] = radii[i] * sines[i];
  }
}

RandomNumbers numbers_of(const Run& run) {
  if (!run.attrs.has("seed")) return RandomNumbers::fresh();
  return RandomNumbers(std::bit_cast<std::uint32_t>(run.attrs.get_float("seed", 0)));
}

template <typename T>
AOE_WIDE_EXACT void write_scaled(const double* x, std::int64_t count, double scale, double offset,
                                 T* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = reference::convert<T>(x[i] * scale + offset);
}

template <typename T>
void write_normal(const Run& run) {
  constexpr std::int64_t kPairs = 2 * kBlock;
  const double mean = run.attrs.get_float("mean", 0), scale = run.attrs.get_float("scale", 1);
  const RandomNumbers numbers = numbers_of(run);
  T* y = run.output(0).as<T>();
  const std::int64_t count = run.output(0).elements();
  run.threads.share(ceil_div(count, kPairs), 1.5 * kPairs,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t first = begin * kPairs;
                           first < std::min(count, end * kPairs); first += kPairs) {
                        double x[kPairs];
                        take_normal(numbers, first, x);
                        write_scaled(x, std::min(kPairs, count - first), scale, mean, y + first);
                      }
                    });
}

/// Calls write(uniform numbers, first, count) for blocks of `count` elements.
template <typename Write>
void write_blocks(const Run& run, std::int64_t count, const Write& write) {
  const RandomNumbers numbers = numbers_of(run);
  run.threads.share(ceil_div(count, kBlock), 1.0 * kBlock,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t first = begin * kBlock;
                           first < std::min(count, end * kBlock); first += kBlock) {
                        double x[kBlock];
                        take_uniform(numbers, first, x);
                        write(x, first, std::min(kBlock, count - first));
                      }
                    });
}

template <typename T>
void write_uniform(const Run& run) {
  const double low = run.attrs.get_float("low", 0), high = run.attrs.get_float("high", 1);
  T* y = run.output(0).as<T>();
  write_blocks(run, run.output(0).elements(),
               [&](const double* x, std::int64_t first, std::int64_t count) {
                 write_scaled(x, count, high - low, low, y + first);
               });
}

/// y[i] = 1 where x[i] is below p[i].
template <typename T, typename X>
AOE_WIDE_EXACT void write_ones_below(const double* x, const X* p, std::int64_t count, T* y) {
  const T one = reference::convert<T>(1), zero = reference::convert<T>(0);
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] < p[i] ? one : zero;
}

template <typename T, typename X>
void write_bernoulli(const Run& run) {
  const X* p = run.inputs[0].as<X>();
  T* y = run.output(0).as<T>();
  write_blocks(run, run.output(0).elements(),
               [&](const double* x, std::int64_t first, std::int64_t count) {
                 write_ones_below(x, p + first, count, y + first);
               });
}

/// y[i] = exp(x[i]) within a unit or two in the last place, of x[i] between -708 and 709, and as if it were: what lies outside is
/// next to nothing, or next to all. Vectors are written out: compilers do not make them.
AOE_WIDE void exponentials(const float* x, std::int64_t count, double* y) {
  constexpr double kLog2E = 0x1.71547652b82fep0, kLn2High = 0x1.62e42feep-1,
                   kLn2Low = 0x1.a39ef35793c76p-33, kLeast = -708, kMost = 709;
  constexpr double kRounding = 0x1.8p52;  // the sum's low bits are the nearest whole number
  constexpr double k4 = 1.0 / 24, k5 = k4 / 5, k6 = k5 / 6, k7 = k6 / 7, k8 = k7 / 8, k9 = k8 / 9,
                   k10 = k9 / 10, k11 = k10 / 11, k12 = k11 / 12, k13 = k12 / 13;
  constexpr std::int64_t kLanes = 4;
  if (count < kLanes) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = std::exp(static_cast<double>(x[i]));
    return;
  }
  using Doubles __attribute__((vector_size(kLanes * sizeof(double)))) = double;
  using Bits __attribute__((vector_size(kLanes * sizeof(double)))) = std::uint64_t;
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t first =
        std::min(i, count - kLanes);  // the last vector overlaps the one before
    Doubles v;
    for (std::int64_t c = 0; c < kLanes; ++c) v[c] = x[first + c];
    v = v > kLeast ? v : kLeast - Doubles{};
    v = v < kMost ? v : kMost - Doubles{};
    const Doubles shifted = v * kLog2E + kRounding, whole = shifted - kRounding;
    const Doubles r = (v - whole * kLn2High) - whole * kLn2Low;
    // The Taylor series: |r| < 0.35 leaves 4e-18 behind its 13th power.
    Doubles sum = (((((k13 * r + k12) * r + k11) * r + k10) * r + k9) * r + k8) * r + k7;
    sum = (((sum * r + k6) * r + k5) * r + k4) * r + 1.0 / 6;
    sum = ((sum * r + 0.5) * r + 1) * r + 1;
    const Bits power = reinterpret_cast<Bits>(sum) + (reinterpret_cast<Bits>(shifted) << 52);
    std::memcpy(y + first, &power, sizeof power);
  }
}

/// Classes of one row after the other; of a row the sums of its probabilities, among which a number is looked up.
template <typename T>
class Multinomial {
 public:
  explicit Multinomial(const Run& run)
      : x_(run.inputs[0].as<float>()),
        y_(run.output(0).as<T>()),
        classes_(run.shape(0)[1]),
        samples_(run.output(0).desc.shape[1]) {}

  void write(const RandomNumbers& numbers, std::int64_t begin, std::int64_t end) const {
    std::vector<double> sums(static_cast<std::size_t>(classes_));
    for (std::int64_t row = begin; row < end; ++row) {
      add_up(x_ + row * classes_, sums);
      for (std::int64_t i = row * samples_; i < (row + 1) * samples_; ++i) {
        const double drawn = numbers.uniform(i) * (sums.empty() ? 0 : sums.back());
        const auto found = std::ranges::upper_bound(sums, drawn);
        y_[i] = reference::convert<T>(found == sums.end() ? last_ : found - sums.begin());
      }
    }
  }

 private:
  /// sums[i] = the weights of classes 0 to i.
  static void add_up(const float* row, std::vector<double>& sums) {
    exponentials(row, std::ssize(sums), sums.data());
    double sum = 0;
    for (double& each : sums) each = sum += each;
  }

  const float* x_;
  T* y_;
  std::int64_t classes_, samples_, last_ = std::max<std::int64_t>(classes_ - 1, 0);
};

void run_multinomial(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr) return;
  const double classes = static_cast<double>(run.shape(0)[1]);
  const double cost = 4 * classes + 20 * static_cast<double>(y.desc.shape[1]);
  reference::visit_type<reference::NumericTypes>(y.desc.dtype, [&]<typename T>() {
    const Multinomial<T> multinomial(run);
    const RandomNumbers numbers = numbers_of(run);
    run.threads.share(run.shape(0)[0], cost, [&](std::int64_t begin, std::int64_t end) {
      multinomial.write(numbers, begin, end);
    });
  });
}

/// `write`: of all element types that results may have.
template <typename Write>
Kernel random_kernel(const char* type, const Write& write) {
  return {.type = type, .supports = takes_all, .run = [write](const Run& run) {
            const Tensor& y = run.output(0);
            if (y.data == nullptr) return;
            reference::visit_type<reference::AllTypes>(
                y.desc.dtype, [&]<typename T>() { write.template operator()<T>(run); });
          }};
}

}  // namespace

void register_random(KernelRegistry& registry) {
  const auto normal = []<typename T>(const Run& run) { write_normal<T>(run); };
  const auto uniform_of = []<typename T>(const Run& run) { write_uniform<T>(run); };
  for (const char* type : {"RandomNormal", "RandomNormalLike"})
    registry.add(random_kernel(type, normal));
  for (const char* type : {"RandomUniform", "RandomUniformLike"})
    registry.add(random_kernel(type, uniform_of));
  Kernel bernoulli = random_kernel("Bernoulli", []<typename T>(const Run& run) {
    if (run.inputs[0].desc.dtype == DataType::kDouble) return write_bernoulli<T, double>(run);
    write_bernoulli<T, float>(run);
  });
  bernoulli.supports = takes_one_float_type;
  registry.add(std::move(bernoulli));
  registry.add({.type = "Multinomial", .supports = takes_floats(1), .run = run_multinomial});
}

}  // namespace aoe::native
