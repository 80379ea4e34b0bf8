// Strategies of other shapes: where a bank does not know a task, what won for the nearest shape of the same operator, attributes,
// types and ranks may be taken, if the model of costs agrees (node_options.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bank/strategy.h"

namespace aoe::compiler {

/// A task of another shape that has a winner.
struct Neighbour {
  std::string repo_key;
  /// In doublings: the sum over all extents of inputs and outputs.
  double distance = 0;
  bank::StrategySet set;
};

/// By description of the task that was asked for; the nearest first, a few of each.
using Neighbours = std::map<std::string, std::vector<Neighbour>, std::less<>>;

/// What a program says of ops that have such a strategy, once a model; takes their number (runtime::tuned_ops()).
inline constexpr const char* kNearWarning =
    "{} ops take what won for the nearest shape (--op_bank_near=on); atc --mode=6 lists them";

/// Interface: banks, read as a whole.
class NearSource {
 public:
  virtual ~NearSource() = default;
  virtual Neighbours near(const std::vector<bank::TaskKey>& tasks) const = 0;
};

/// Keeps the nearest of what it is offered.
class NearFinder {
 public:
  explicit NearFinder(const std::vector<bank::TaskKey>& tasks);
  void offer(const bank::TaskKey& key, const bank::StrategySet& set);
  Neighbours take() { return std::move(found_); }

 private:
  struct Wanted {
    std::string description;
    std::vector<std::int64_t> extents;
  };
  std::multimap<std::string, Wanted, std::less<>> wanted_;  ///< by what stands beside the extents
  Neighbours found_;
};

}  // namespace aoe::compiler
