// RandomNumbers: number i is a function of a key and of i alone, so that parts of a result can be made apart and in any order. A counter whose
// bits are mixed (SplitMix64).
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace aoe::reference {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t key) : begin_(mixed(key)) {}

  /// Of another key in each call. The system's own random numbers take microseconds each: they are asked once.
  static RandomNumbers fresh() {
    static const std::uint64_t begin = [] {
      std::random_device device;
      return std::uint64_t{device()} << 32 | device();
    }();
    static std::atomic<std::uint64_t> calls = 0;
    return RandomNumbers(begin + mixed(calls++));
  }

  /// In [0, 1).
  double uniform(std::int64_t i) const {
    const std::uint64_t bits =
        mixed(begin_ + (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u);
    return static_cast<double>(bits >> 12) * 0x1p-52;
  }

  /// Spread as a bell of mean 0 and deviation 1 is: two uniform numbers are radius and angle (Box and Muller) of a pair.
  double normal(std::int64_t i) const {
    const std::int64_t first = i / 2 * 2;
    const double radius = std::sqrt(-2 * std::log(1 - uniform(first))),
                 angle = 2 * std::numbers::pi * uniform(first + 1);
    return radius * (i == first ? std::cos(angle) : std::sin(angle));
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

  std::uint64_t begin_;
};

}  // namespace aoe::reference
