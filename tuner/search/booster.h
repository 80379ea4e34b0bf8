// Booster: gradient-boosted regression trees; booster.cpp is the one place that knows XGBoost.
// Single-threaded, so that nothing disturbs measurements, and the same rows give the same trees.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace aoe::tuner {

/// Row-major numbers; NaN is "unknown", which trees treat as a value of its own.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;

  std::size_t count() const { return columns == 0 ? 0 : values.size() / columns; }
};

struct BoosterOptions {
  int rounds = 60;
  int depth = 6;
  double learning_rate = 0.15;
  double min_rows_per_leaf = 2;
};

class Booster {
 public:
  /// At least one row and one column; one label per row.
  Booster(const FeatureRows& rows, std::span<const float> labels, const BoosterOptions& options);
  ~Booster();
  Booster(Booster&&) noexcept;
  Booster& operator=(Booster&&) noexcept;

  /// `rows` with the columns that it was fitted to.
  std::vector<float> predict(const FeatureRows& rows) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace aoe::tuner
