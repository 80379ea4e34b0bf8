// Booster by XGBoost's C API.
#include "tuner/search/booster.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <limits>
#include <string>

#include "base/check.h"

namespace aoe::tuner {
namespace {

/// All inputs are ours, so a refusal is a bug of ours.
void must(int status) {
  AOE_CHECK(status == 0, std::string("XGBoost: ") + XGBGetLastError());
}

class Matrix {
 public:
  explicit Matrix(const FeatureRows& rows) {
    must(XGDMatrixCreateFromMat_omp(rows.values.data(), rows.count(), rows.columns,
                                    std::numeric_limits<float>::quiet_NaN(), &handle_, 1));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  DMatrixHandle get() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

}  // namespace

struct Booster::Handle {
  BoosterHandle booster = nullptr;
  std::size_t columns = 0;

  explicit Handle(const Matrix& rows) {
    const DMatrixHandle matrices[] = {rows.get()};
    must(XGBoosterCreate(matrices, 1, &booster));
  }
  ~Handle() { XGBoosterFree(booster); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void set(const char* name, const std::string& value) {
    must(XGBoosterSetParam(booster, name, value.c_str()));
  }
};

Booster::Booster(const FeatureRows& rows, std::span<const float> labels,
                 const BoosterOptions& options) {
  AOE_CHECK(rows.count() > 0 && rows.count() == labels.size(), "one label per row, and some rows");
  const Matrix matrix(rows);
  must(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size()));
  handle_ = std::make_unique<Handle>(matrix);
  handle_->columns = rows.columns;
  handle_->set("objective", "reg:squarederror");
  handle_->set("base_score", "0");
  handle_->set("tree_method", "hist");
  handle_->set("nthread", "1");
  handle_->set("verbosity", "0");
  handle_->set("seed", "1");
  handle_->set("max_depth", std::to_string(options.depth));
  // Not std::to_string(), which takes the program's decimal point.
  handle_->set("eta", fmt::to_string(options.learning_rate));
  handle_->set("min_child_weight", fmt::to_string(options.min_rows_per_leaf));
  for (int round = 0; round < options.rounds; ++round)
    must(XGBoosterUpdateOneIter(handle_->booster, round, matrix.get()));
}

Booster::~Booster() = default;
Booster::Booster(Booster&&) noexcept = default;
Booster& Booster::operator=(Booster&&) noexcept = default;

std::vector<float> Booster::predict(const FeatureRows& rows) const {
  if (rows.count() == 0) return {};
  AOE_CHECK(rows.columns == handle_->columns, "other columns than it was fitted to");
  const Matrix matrix(rows);
  bst_ulong count = 0;
  const float* values = nullptr;  // belongs to the booster, until the next call
  must(XGBoosterPredict(handle_->booster, matrix.get(), 0, 0, 0, &count, &values));
  return {values, values + count};
}

}  // namespace aoe::tuner
