// Random numbers. With a seed they are those of the reference, one behind the other; without one each part of a result has
// an engine of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/typed.h"

namespace aoe::native {
namespace {

using Seeded = std::mt19937_64;

/// SplitMix64: a counter whose bits are mixed.
class Mixed {
 public:
  explicit Mixed(std::uint64_t begin) : state_(begin) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

/// In [0, 1), as the standard library makes it of 64 bits.
double uniform(Seeded& engine) {
  const double value = static_cast<double>(engine()) * 0x1p-64;
  return value < 1 ? value : std::nextafter(1.0, 0.0);
}

/// As many bits as a double has, as a number with a sign: processors convert those at once.
double uniform(Mixed& engine) {
  return static_cast<double>(static_cast<std::int64_t>(engine() >> 11)) * 0x1p-53;
}

/// Marsaglia's polar method, two numbers at a time, in the standard library's order.
class Polar {
 public:
  double operator()(Seeded& engine) {
    if (has_saved_) {
      has_saved_ = false;
      return saved_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform(engine) - 1;
      y = 2 * uniform(engine) - 1;
      square = x * x + y * y;
    } while (square > 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    saved_ = x * factor;
    has_saved_ = true;
    return y * factor;
  }

 private:
  bool has_saved_ = false;
  double saved_ = 0;
};

/// Marsaglia's and Tsang's ziggurat: layers of equal area under the bell, of which all but the rim of one needs no logarithm.
class Ziggurat {
 public:
  double operator()(Mixed& engine) const {
    while (true) {
      const std::uint64_t bits = engine();
      const std::size_t layer = bits % kLayers;
      const double side = (bits >> 10 & 1) != 0 ? -1 : 1;
      const double x = static_cast<double>(bits >> 11) * 0x1p-53 * edges_[layer];
      if (x < edges_[layer + 1]) return side * x;
      if (layer == 0) return side * tail(engine);
      const double low = bell(edges_[layer]), high = bell(edges_[layer + 1]);
      if (low + uniform(engine) * (high - low) < bell(x)) return side * x;
    }
  }

 private:
  static constexpr std::size_t kLayers = 256;
  static constexpr double kLast = 3.6541528853610088;  ///< where the tail begins
  static constexpr double kArea =
      0.00492867323399141;  ///< of a layer, and of the tail with what is below it

  static double bell(double x) { return std::exp(-0.5 * x * x); }

  /// The lowest layer is as wide as a box of its area would be; above it each edge follows from the one below.
  static std::array<double, kLayers + 1> make_edges() {
    std::array<double, kLayers + 1> edges{};
    edges[0] = kArea / bell(kLast);
    edges[1] = kLast;
    for (std::size_t i = 2; i < kLayers; ++i)
      edges[i] = std::sqrt(-2 * std::log(kArea / edges[i - 1] + bell(edges[i - 1])));
    edges[kLayers] = 0;
    return edges;
  }

  static double tail(Mixed& engine) {
    double x = 0, y = 0;
    do {
      x = -std::log(1 - uniform(engine)) / kLast;
      y = -std::log(1 - uniform(engine));
    } while (2 * y < x * x);
    return kLast + x;
  }

  const std::array<double, kLayers + 1> edges_ = make_edges();
};

Polar normal_of(const Seeded&) {
  return {};
}
const Ziggurat& normal_of(const Mixed&) {
  static const Ziggurat ziggurat;
  return ziggurat;
}

/// Another one for each run. The system's own random numbers take microseconds each: they are asked once.
std::uint64_t fresh_key() {
  static const std::uint64_t begin = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  static std::atomic<std::uint64_t> runs = 0;
  return Mixed(begin ^ Mixed(runs++)())();
}

/// Calls fill(engine, begin, end) for parts of `count` elements.
template <typename Fill>
void fill_parts(const Run& run, std::int64_t count, double cost, const Fill& fill) {
  if (run.attrs.has("seed")) {
    Seeded engine(std::bit_cast<std::uint32_t>(run.attrs.get_float("seed", 0)));
    return fill(engine, 0, count);
  }
  const std::uint64_t key = fresh_key();
  run.threads.share(count, cost, [&](std::int64_t begin, std::int64_t end) {
    Mixed engine(Mixed(key + static_cast<std::uint64_t>(begin))());
    fill(engine, begin, end);
  });
}

template <typename T>
void write_normal(const Run& run) {
  const double mean = run.attrs.get_float("mean", 0), scale = run.attrs.get_float("scale", 1);
  T* y = run.output(0).as<T>();
  fill_parts(run, run.output(0).elements(), 6,
             [&](auto& engine, std::int64_t begin, std::int64_t end) {
               auto&& normal = normal_of(engine);
               for (std::int64_t i = begin; i < end; ++i)
                 y[i] = reference::convert<T>(normal(engine) * scale + mean);
             });
}

template <typename T>
void write_uniform(const Run& run) {
  const double low = run.attrs.get_float("low", 0), high = run.attrs.get_float("high", 1);
  T* y = run.output(0).as<T>();
  fill_parts(run, run.output(0).elements(), 3,
             [&](auto& engine, std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i)
                 y[i] = reference::convert<T>(uniform(engine) * (high - low) + low);
             });
}

template <typename T, typename X>
void write_bernoulli(const Run& run) {
  const X* x = run.inputs[0].as<X>();
  T* y = run.output(0).as<T>();
  fill_parts(run, run.output(0).elements(), 3,
             [&](auto& engine, std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i)
                 y[i] = reference::convert<T>(static_cast<std::int32_t>(uniform(engine) < x[i]));
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

/// Classes of one row after the other; of a row the sums of its probabilities, among which a number is looked up as the standard
/// library does it.
template <typename T>
class Multinomial {
 public:
  explicit Multinomial(const Run& run)
      : x_(run.inputs[0].as<float>()),
        y_(run.output(0).as<T>()),
        classes_(run.shape(0)[1]),
        samples_(run.output(0).desc.shape[1]) {}

  template <typename Engine>
  void write(Engine& engine, std::int64_t begin, std::int64_t end) const {
    std::vector<double> sums(static_cast<std::size_t>(classes_));
    for (std::int64_t row = begin; row < end; ++row) {
      add_up(x_ + row * classes_, sums);
      for (std::int64_t i = 0; i < samples_; ++i)
        y_[row * samples_ + i] = reference::convert<T>(draw(engine, sums));
    }
  }

 private:
  /// sums[i] = the weights of classes 0 to i.
  static void add_up(const float* row, std::vector<double>& sums) {
    exponentials(row, std::ssize(sums), sums.data());
    double sum = 0;
    for (double& each : sums) each = sum += each;
  }

  /// One class draws nothing.
  template <typename Engine>
  static std::int64_t draw(Engine& engine, const std::vector<double>& sums) {
    if (sums.size() < 2) return 0;
    return std::ranges::lower_bound(sums, uniform(engine) * sums.back()) - sums.begin();
  }

  const float* x_;
  T* y_;
  std::int64_t classes_, samples_;
};

void run_multinomial(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr) return;
  const double classes = static_cast<double>(run.shape(0)[1]);
  const double cost = 4 * classes + 20 * static_cast<double>(y.desc.shape[1]);
  reference::visit_type<reference::NumericTypes>(y.desc.dtype, [&]<typename T>() {
    const Multinomial<T> multinomial(run);
    fill_parts(run, run.shape(0)[0], cost, [&](auto& engine, std::int64_t begin, std::int64_t end) {
      multinomial.write(engine, begin, end);
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
