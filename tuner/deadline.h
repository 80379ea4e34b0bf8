// Deadline: a moment that ends something, by a clock that tests can set.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace aoe::tuner {

using TimePoint = std::chrono::steady_clock::time_point;
using Now = std::function<TimePoint()>;

inline double seconds_between(TimePoint begin, TimePoint end) {
  return std::chrono::duration<double>(end - begin).count();
}
inline std::chrono::steady_clock::duration seconds(double count) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(count));
}

/// Of a time without a limit.
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Without a moment it never comes.
class Deadline {
 public:
  Deadline() = default;
  explicit Deadline(TimePoint at, Now now = std::chrono::steady_clock::now)
      : at_(at), now_(std::move(now)) {}

  bool is_set() const { return at_.has_value(); }
  bool has_passed() const { return at_ && now_() >= *at_; }
  /// 0 beyond it, infinity when it never comes.
  double left_s() const {
    if (!at_) return kUnlimited;
    return std::max(0.0, seconds_between(now_(), *at_));
  }
  /// How long ago it was; 0 before it, or when it never comes.
  double late_s() const { return at_ ? std::max(0.0, seconds_between(*at_, now_())) : 0; }
  Deadline sooner_by(double by_s) const {
    return at_ ? Deadline(*at_ - seconds(by_s), now_) : Deadline();
  }
  bool operator<(const Deadline& other) const { return at_ && (!other.at_ || *at_ < *other.at_); }

  /// Too long for a time point is for ever.
  static Deadline in(double from_now_s, const Now& now = std::chrono::steady_clock::now) {
    constexpr double kForEver = 1e9;
    return from_now_s < kForEver ? Deadline(now() + seconds(from_now_s), now) : Deadline();
  }

 private:
  std::optional<TimePoint> at_;
  Now now_;
};

}  // namespace aoe::tuner
