// Lessons from measurements, and trees from lessons.
#include "tuner/search/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "tuner/search/features.h"

namespace aoe::tuner {
using compiler::Features;
using compiler::Impl;
namespace {

/// Times the default.
constexpr double kHopelessRatio = 4;
/// Fewer say more about noise than about an Impl.
constexpr std::size_t kFewestLessons = 12;

/// What the Impls' estimates say of a candidate against the default. Bounded as what is measured is: "166 times as slow" that
/// became kHopelessRatio would teach that such estimates are far too high, and the next hopeless candidate look fast.
double estimated_log_ratio(const Features& features) {
  const double own = find_feature(features, kEstimateFeature).value_or(0);
  return std::min(worst_log_ratio(),
                  own - find_feature(features, kDefaultEstimateFeature).value_or(0));
}

/// What trees start from: the Impl's own estimate. They learn where it is wrong, so that on a task
/// unlike all others it still counts.
double prior(const Features& features) {
  return find_feature(features, kDefaultEstimateFeature).value_or(0) +
         estimated_log_ratio(features);
}

std::optional<double> log_ratio_of(const Features& features, Outcome outcome, double time_ns,
                                   double default_ns) {
  if (features.empty() || !(default_ns > 0)) return std::nullopt;
  if (outcome == Outcome::kStopped || outcome == Outcome::kKilled) return std::nullopt;
  if (outcome != Outcome::kOk) return worst_log_ratio();
  if (!(time_ns > 0)) return std::nullopt;
  return std::min(worst_log_ratio(), std::log(time_ns / default_ns));
}

/// What makes two tasks alike: the rest of the features follows from these or is the candidate's.
bool is_of_task(std::string_view name) {
  return name.find(".extent-") != std::string_view::npos || name.starts_with(kAttributePrefix) ||
         name == "task.threads" || name == "task.weights_in" || name == "task.epilogue_steps";
}

/// Infinity when the Formats or the ranks differ.
double task_distance(const std::map<std::string_view, double>& self, const Features& other) {
  double sum = 0;
  for (const auto& [name, value] : other) {
    if (!is_of_task(name) && !name.starts_with("format.")) continue;
    const auto own = self.find(name);
    if (own == self.end()) return std::numeric_limits<double>::infinity();
    sum += std::abs(value - own->second);
  }
  return sum;
}

}  // namespace

double worst_log_ratio() {
  static const double worst = std::log(kHopelessRatio);
  return worst;
}

std::optional<Lesson> lesson_of(const Impl& impl, const Features& features, const Timing& timing,
                                double default_ns) {
  const double time_ns = timing.ok() ? timing.median_ns() : 0;
  const auto log_ratio = log_ratio_of(features, timing.outcome, time_ns, default_ns);
  if (!log_ratio) return std::nullopt;
  return Lesson{std::string(impl.name()), impl.version(), features, *log_ratio};
}

std::vector<Lesson> lessons_of(std::span<const bank::Record> records) {
  std::vector<Lesson> lessons;
  for (const bank::Record& record : records) {
    const auto outcome = outcome_from_name(record.status);
    if (!outcome) continue;
    const bank::Strategy& strategy = record.strategy;
    if (const auto ratio = log_ratio_of(record.features, *outcome, strategy.measured.time_ns,
                                        strategy.measured.default_time_ns))
      lessons.push_back({strategy.impl, strategy.impl_version, record.features, *ratio});
  }
  return lessons;
}

void FeatureTable::add_columns(const Features& features) {
  for (const auto& [name, value] : features) columns_.try_emplace(name, columns_.size());
}

FeatureRows FeatureTable::rows(std::span<const Features* const> features) const {
  FeatureRows rows{columns_.size(), {}};
  rows.values.resize(columns_.size() * features.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (const auto& [name, value] : *features[i]) {
      const auto column = columns_.find(name);
      if (column != columns_.end())
        rows.values[i * columns_.size() + column->second] = static_cast<float>(value);
    }
  }
  return rows;
}

void CostModel::learn(std::vector<Lesson> lessons) {
  for (Lesson& lesson : lessons) {
    Book& book = books_[{lesson.impl, lesson.impl_version}];
    book.lessons.push_back(std::move(lesson));
    ++book.learnt;
  }
  for (auto& [impl, book] : books_)
    if (book.lessons.size() >= kFewestLessons && 4 * book.learnt >= book.lessons.size())
      train(book);
}

void CostModel::train(Book& book) {
  if (book.lessons.size() > kMostLessonsOfAnImpl)
    book.lessons.erase(book.lessons.begin(), book.lessons.end() - kMostLessonsOfAnImpl);
  std::vector<const Features*> features;
  std::vector<float> labels;
  for (const Lesson& lesson : book.lessons) {
    book.table.add_columns(lesson.features);
    features.push_back(&lesson.features);
    labels.push_back(static_cast<float>(lesson.log_ratio - estimated_log_ratio(lesson.features)));
  }
  book.trees.emplace(book.table.rows(features), labels, BoosterOptions{});
  book.learnt = 0;
}

bool CostModel::knows(const Impl& impl) const {
  const auto book = books_.find({std::string(impl.name()), impl.version()});
  return book != books_.end() && book->second.trees;
}

std::vector<double> CostModel::predict(const Impl& impl, std::span<const Features> features) const {
  AOE_CHECK(knows(impl), "no lessons of " + std::string(impl.name()));
  const Book& book = books_.at({std::string(impl.name()), impl.version()});
  std::vector<const Features*> pointers;
  for (const Features& of_one : features) pointers.push_back(&of_one);
  const std::vector<float> corrections = book.trees->predict(book.table.rows(pointers));
  std::vector<double> ratios;
  for (std::size_t i = 0; i < features.size(); ++i)
    ratios.push_back(prior(features[i]) + corrections[i]);
  return ratios;
}

double CostModel::distance(const Impl& impl, const Features& features) const {
  double nearest = std::numeric_limits<double>::infinity();
  const auto book = books_.find({std::string(impl.name()), impl.version()});
  if (book == books_.end()) return nearest;
  const std::map<std::string_view, double> self(features.begin(), features.end());
  for (const Lesson& lesson : book->second.lessons)
    nearest = std::min(nearest, task_distance(self, lesson.features));
  return nearest;
}

}  // namespace aoe::tuner
