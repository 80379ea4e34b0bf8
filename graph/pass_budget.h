// PassBudget: how much all passes over a graph and over the bodies of its nodes may add and evaluate. Weights that a small file
// shares among thousands of nodes would be scaled, packed and converted for each; limits make a line of that. Honest models stay
// far below.
#pragma once

#include <cstddef>
#include <string>

#include "graph/evaluation.h"

namespace aoe::graph {

class PassBudget {
 public:
  static constexpr std::size_t kMostNodes = 300'000;

  /// For a graph with `weights` bytes of constants: each may be made anew several times.
  explicit PassBudget(std::size_t weights);

  /// These throw Error(kModel) with the limit and `where` once the sum is beyond it.
  void add_node(const std::string& where);
  void add_bytes(std::size_t count, const std::string& where);

  EvaluationBudget evaluation;

  /// What this thread's run_passes() may do; nullptr outside of such.
  static PassBudget* current();

  /// A budget for a graph as long as this lives, unless there is one already.
  class Scope {
   public:
    explicit Scope(const Graph& graph);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const bool is_outermost_;
  };

 private:
  const std::size_t most_bytes_;
  std::size_t nodes_ = 0, bytes_ = 0;
};

}  // namespace aoe::graph
