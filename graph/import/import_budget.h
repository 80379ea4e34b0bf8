// ImportBudget: how large a model may become when functions and branches are written out, ranges are expanded and so on.
// A file of a few kilobytes can call functions that call functions two thousand million times; limits make a line of
// that. Honest models stay far below: the largest have some ten thousand nodes.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace aoe::graph {

class ImportBudget {
 public:
  /// Thrown beyond a limit. Of the whole model: whoever tries one of two branches must not take it for that branch's.
  struct Exceeded : Error {
    using Error::Error;
  };

  static constexpr std::size_t kMostNodes = 100'000;
  static constexpr std::size_t kMostValues = 1'000'000;
  /// What nodes read and give, taken together: nodes may read one value a million times.
  static constexpr std::size_t kMostOperands = 1'000'000;
  /// Of one node each: what replaces its operands one by one looks at all of them each time.
  static constexpr std::size_t kMostPairs = 1'000'000'000;
  /// Of sequences, in each list of them: a node that adds one to many makes a list of its own.
  static constexpr std::size_t kMostItems = 50'000'000;
  /// Of what is not a tensor of the main graph, stored as it is: bodies of functions and branches, each time they are
  /// used, the dense form of sparse tensors, and constants that operators are written with.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

  /// These throw Exceeded(kModel) with the limit and `where` ("node x") once the sum is beyond it.
  void add_node(const std::string& where) { add_nodes(1, where); }
  void add_nodes(std::size_t count, const std::string& where);
  void add_operands(std::size_t count, const std::string& where);
  void add_items(std::size_t count, const std::string& where);
  void add_value(const std::string& where);
  /// Names grow with the depth of calls, and each is kept in several places.
  void add_name(const std::string& name) {
    add_bytes(8 * name.size(), "'" + name.substr(0, 64) + "'");
  }
  void add_bytes(std::size_t count, const std::string& where);

 private:
  std::size_t nodes_ = 0, values_ = 0, operands_ = 0, pairs_ = 0, items_ = 0, bytes_ = 0;
};

}  // namespace aoe::graph
