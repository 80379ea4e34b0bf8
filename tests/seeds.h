// Tests of many random cases: the random numbers of a seed, and which seeds a run takes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace aoe::tests {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937 engine_;
};

/// The number in the environment variable, or `otherwise` when it is not set.
inline std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::atoll(text));
}

/// From AOE_FIRST_SEED on (1), as many as a variable says, in shards, which CTest runs side by side.
class Seeds {
 public:
  static constexpr std::uint32_t kShards = 4;

  /// `count`: the variable's name.
  Seeds(const char* count, std::uint32_t by_default)
      : variable_(count), by_default_(by_default), count_(number_from(count, by_default)) {}

  std::vector<std::uint32_t> of_shard(std::uint32_t shard) const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = shard; i < count_; i += kShards) list.push_back(first_ + i);
    return list;
  }
  /// So few are there only when a failure is run again: what is to be expected of many is not.
  bool are_few() const { return count_ < by_default_; }
  /// One seed is run again: what happens may be told at length.
  bool is_one() const { return count_ == 1; }
  /// What runs this seed again, in shard 0.
  std::string again(std::uint32_t seed) const {
    return "AOE_FIRST_SEED=" + std::to_string(seed) + " " + variable_ + "=1";
  }
  std::string text() const {
    return "seeds " + std::to_string(first_) + " to " + std::to_string(first_ + count_ - 1) +
           ", every " + std::to_string(kShards) + "th\n";
  }

 private:
  std::string variable_;
  std::uint32_t by_default_;
  std::uint32_t count_;
  std::uint32_t first_ = number_from("AOE_FIRST_SEED", 1);
};

}  // namespace aoe::tests
