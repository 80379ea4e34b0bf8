// Pow of integers, by squaring: exact for whole exponents from 0 on, as the reference has it.
#include <algorithm>
#include <array>
#include <cmath>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/broadcast.h"
#include "reference/power.h"

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

/// Exponents that have no bits here are left to the reference's own power.
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
                                        : reference::power(block.bases[i], block.exponents[i]);
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

Result<void> supports(const Question& question) {
  if (!is_integer(question.inputs[0].dtype)) return Unexpected("there is generated code");
  return {};
}

}  // namespace

void register_pow(KernelRegistry& registry) {
  registry.add({.type = "Pow",
                .supports = supports,
                .run = by_type<reference::IntTypes>(
                    []<typename T>(const Run& run) { Pow<T>(run).run(run.threads); })});
}

}  // namespace aoe::native
