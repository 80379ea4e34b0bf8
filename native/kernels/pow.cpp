// Pow of two tensors: of integers by squaring, exact for whole exponents from 0 on, as the reference has it; of float32 by logarithms
// in float64, where sizes are known when the model runs.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/power.h"
#include "reference/tensors/broadcast.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kBlock = 256;

/// Unsigned, since that wraps; as wide as vectors multiply.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
struct Block {
  std::array<T, kBlock> bases;
  std::array<double, kBlock> exponents;
  std::array<Wide<T>, kBlock> powers, squares, bits;
};

/// powers[i] = squares[i] to the power of bits[i], where `all` has the bits of all. Uses up the other two.
template <typename W>
AOE_WIDE void square_and_multiply(W* __restrict powers, W* __restrict squares, W* __restrict bits,
                                  W all, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) powers[i] = 1;
  for (; all != 0; all >>= 1)
    for (std::int64_t i = 0; i < count; ++i) {
      const W factor = bits[i] & 1 ? squares[i] : 1;
      powers[i] *= factor;
      squares[i] *= squares[i];
      bits[i] >>= 1;
    }
}

/// A power whose exponent has no bits here: of a negative whole one no more than 1, -1 and 0 have anything left.
template <typename T>
T other_power(T base, double exponent) {
  if (base == 0 || exponent > -1 || exponent != std::floor(exponent))
    return reference::power(base, exponent);
  if (base == 1) return 1;
  if constexpr (std::is_signed_v<T>)
    if (base == -1) return exponent / 2 == std::floor(exponent / 2) ? T{1} : T{-1};
  return 0;
}

template <typename T>
void raise(Block<T>& block, std::int64_t count, T* y) {
  constexpr double kMost = 1 << 30;
  const auto is_small = [](double e) { return e >= 0 && e <= kMost && e == std::floor(e); };
  Wide<T> all = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double exponent = block.exponents[i];
    block.squares[i] = static_cast<Wide<T>>(static_cast<std::int64_t>(block.bases[i]));
    block.bits[i] = is_small(exponent) ? static_cast<Wide<T>>(exponent) : 0;
    all |= block.bits[i];
  }
  square_and_multiply(block.powers.data(), block.squares.data(), block.bits.data(), all, count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    y[i] = is_small(block.exponents[i]) ? static_cast<T>(block.powers[i])
                                        : other_power(block.bases[i], block.exponents[i]);
}

// ---- of floating point ----

/// A whole number of at most 51 bits plus this has them at the end of its own.
constexpr double kWhole = 0x1.8p52;
constexpr auto kWholeBits = std::bit_cast<std::uint64_t>(kWhole);

/// Of positive finite numbers, to 2^-39 of it: the exponent, and of a number between the roots of 1/2 and 2 the series of s =
/// (m - 1) / (m + 1).
AOE_WIDE inline double binary_logarithm(double x) {
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd,
                          kAbove = 1024;  // so that nothing is negative
  constexpr int kMantissa = 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits - kRootOfHalf + (kAbove << kMantissa)) >> kMantissa;
  const double m = std::bit_cast<double>(bits - ((exponent - kAbove) << kMantissa));
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 1.0 / 13;
  for (const double factor : {1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0})
    sum = sum * square + factor;
  constexpr double kTwoByLog2 = 2.8853900817779268;
  return std::bit_cast<double>(exponent - kAbove + kWholeBits) - kWhole + s * sum * kTwoByLog2;
}

/// Of |x| < 1000, to 2^-36 of it.
AOE_WIDE inline double binary_power(double x) {
  const double shifted = x + kWhole, rest = (x - (shifted - kWhole)) * 0.6931471805599453;
  double sum = 1.0 / 362880;
  for (const double factor :
       {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    sum = sum * rest + factor;
  constexpr std::uint64_t kBias = 1023;
  return sum * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + kBias) << 52);
}

/// NaN where there is more to it than a logarithm.
AOE_WIDE void raise_plainly(const float* bases, const double* exponents, std::int64_t count,
                            float* __restrict y) {
  constexpr double kMost = 200;  // beyond, and below, float32 has infinity and 0
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_plain = (bases[i] >= std::numeric_limits<float>::min()) &
                          (bases[i] <= std::numeric_limits<float>::max()) &
                          (__builtin_fabs(exponents[i]) <= std::numeric_limits<float>::max());
    double x = exponents[i] * binary_logarithm(static_cast<double>(bases[i]));
    x = x < -kMost ? -kMost : x;
    x = x > kMost ? kMost : x;
    const auto power = static_cast<float>(binary_power(x));
    y[i] = is_plain ? power : std::numeric_limits<float>::quiet_NaN();
  }
}

void raise(Block<float>& block, std::int64_t count, float* y) {
  raise_plainly(block.bases.data(), block.exponents.data(), count, y);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (y[i] != y[i]) y[i] = reference::power(block.bases[i], block.exponents[i]);
}

void raise(Block<double>& block, std::int64_t count, double* y) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    y[i] = std::pow(block.bases[i], block.exponents[i]);
}

/// Elements [begin, end) of the result, which operands are stretched to.
template <typename T>
class Pow {
 public:
  explicit Pow(const Run& run)
      : base_(run.inputs[0]), exponent_(run.inputs[1]), y_(run.output(0)), shape_(y_.desc.shape) {
    strides_ = {reference::broadcast_strides(base_.desc.shape, shape_),
                reference::broadcast_strides(exponent_.desc.shape, shape_)};
    reference::collapse(shape_, strides_);
  }

  void run(Threads& threads) const {
    if (y_.data == nullptr) return;
    constexpr double kCostNs = 1;
    threads.share(y_.elements(), kCostNs, [&](std::int64_t begin, std::int64_t end) {
      Block<T> block;
      while (begin < end) {  // no block goes beyond a row
        const std::int64_t column = begin % shape_.back();
        const std::int64_t count = std::min({kBlock, end - begin, shape_.back() - column});
        load(begin, count, block);
        raise(block, count, y_.as<T>() + begin);
        begin += count;
      }
    });
  }

 private:
  void load(std::int64_t element, std::int64_t count, Block<T>& block) const {
    std::array<std::int64_t, 2> at = {};
    for (std::size_t d = shape_.size(); d-- > 0; element /= shape_[d])
      for (std::size_t operand = 0; operand < at.size(); ++operand)
        at[operand] += element % shape_[d] * strides_[operand][d];
    for (std::int64_t i = 0; i < count; ++i)
      block.bases[static_cast<std::size_t>(i)] = base_.as<T>()[at[0] + i * strides_[0].back()];
    reference::visit_type<reference::NumericTypes>(exponent_.desc.dtype, [&]<typename E>() {
      const E* from = exponent_.as<E>() + at[1];
      for (std::int64_t i = 0; i < count; ++i)
        block.exponents[static_cast<std::size_t>(i)] =
            reference::convert<double>(from[i * strides_[1].back()]);
    });
  }

  const Tensor base_, exponent_, y_;
  Shape shape_;  ///< of the result, with few dimensions
  std::array<reference::Strides, 2> strides_;
};

using PowTypes = reference::Join<reference::TypeList<float, double>, reference::IntTypes>;

bool is_of_reals(const Question& question) {
  return is_floating(question.inputs[0].dtype);
}

}  // namespace

void register_pow(KernelRegistry& registry) {
  registry.add(
      {.type = "Pow",
       .supports = [](const Question& question) -> Result<void> {
         return takes_types(question, PowTypes{});
       },
       .run = by_type<PowTypes>([]<typename T>(const Run& run) { Pow<T>(run).run(run.threads); }),
       .is_for_open_sizes = is_of_reals});
}

}  // namespace aoe::native
