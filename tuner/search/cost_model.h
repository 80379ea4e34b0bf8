// CostModel: what measurements of all tasks so far say about a candidate that was not measured.
//
//   CostModel model;  model.learn(lessons_of(bank.recent_records(CostModel::kMostLessons)));
//   if (model.knows(impl)) model.predict(impl, rows);   // ln(time / roofline) of each
//
// It learns how much faster or slower than its task's default a candidate was: what makes a whole
// task slow (a rough roofline, a noisy hour) is in both times and teaches nothing. Leave-one-out over
// the records of twelve models, the candidate predicted to be the fastest gave 77% of the gain that
// the races proved; taught with times over the roofline instead, it was slower than the default.
//
// One set of trees per Impl, not one for all: the features of an Impl are its own (a convolution's
// register block means nothing to a softmax), a new version of one Impl forgets nothing of the
// others, and only what learnt something is trained again. Times of different Impls stay comparable
// because all are ratios to the same default. The same lessons give the same predictions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "compiler/impl.h"
#include "tuner/measure/measurer.h"
#include "tuner/search/booster.h"

namespace aoe::tuner {

struct Lesson {
  std::string impl;
  int impl_version = 0;
  compiler::Features features;
  double log_ratio = 0;  ///< ln(time / time of the task's default)
};

/// What slower candidates and those that failed count as: nobody will want them, and how bad they
/// are exactly should not cost the trees a leaf.
double worst_log_ratio();

/// nullopt: nothing to be learnt (stopped, killed from outside, a record without features).
/// `default_ns`: of the same task, from the same search.
std::optional<Lesson> lesson_of(const compiler::Impl& impl, const compiler::Features& features,
                                const Timing& timing, double default_ns);
std::vector<Lesson> lessons_of(std::span<const bank::Record> records);

/// Feature rows for trees: names become columns, absent ones are unknown.
class FeatureTable {
 public:
  void add_columns(const compiler::Features& features);
  FeatureRows rows(std::span<const compiler::Features* const> features) const;
  std::size_t columns() const { return columns_.size(); }

 private:
  std::map<std::string, std::size_t, std::less<>> columns_;
};

class CostModel {
 public:
  static constexpr std::size_t kMostLessons = 20000;         ///< worth reading from a bank
  static constexpr std::size_t kMostLessonsOfAnImpl = 4000;  ///< older ones are forgotten

  /// Trains what has grown by a quarter: tens of milliseconds for each Impl that has.
  void learn(std::vector<Lesson> lessons);

  bool knows(const compiler::Impl& impl) const;
  /// ln(time / roofline), if the default takes as long as its Impl estimates.
  std::vector<double> predict(const compiler::Impl& impl,
                              std::span<const compiler::Features> features) const;
  /// How unlike the nearest task is that taught something of this Impl in this Format: the sum of
  /// the absolute differences of the tasks' features, mostly base-2 logarithms of extents; infinity
  /// without any. Trees know nothing of what lies far from all lessons, but answer all the same.
  double distance(const compiler::Impl& impl, const compiler::Features& features) const;

 private:
  struct Book {
    std::vector<Lesson> lessons;
    std::size_t learnt = 0;  ///< since the trees were made
    FeatureTable table;
    std::optional<Booster> trees;
  };
  static void train(Book& book);

  std::map<std::pair<std::string, int>, Book> books_;  ///< by Impl and version
};

}  // namespace aoe::tuner
