// Equations of Einsums: a letter for each dimension, and the order in which many factors are multiplied. Internal to graph/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace aoe::graph {

/// "ab,bc->ac". A letter may stand twice in a term, where a diagonal is meant.
struct EinsumEquation {
  std::vector<std::string> terms;
  std::string result;

  /// Of each letter; a dimension of 1 stretches.
  std::map<char, std::int64_t> sizes(const std::vector<Shape>& shapes) const;
};

/// Letters take the place of ellipses, and of a result that is left out. None where operands have other ranks, where there is
/// no letter left, and where a letter is something else.
std::optional<EinsumEquation> einsum_equation(std::string text, const std::vector<Shape>& shapes);

/// Which two factors are multiplied next, so that all products together have the fewest elements, summed ones counted; a
/// product is a factor behind those that there were. For up to kMostFactors.
std::vector<std::pair<std::size_t, std::size_t>> contraction_order(
    const EinsumEquation& equation, const std::map<char, std::int64_t>& sizes);

inline constexpr std::size_t kMostFactors = 10;

}  // namespace aoe::graph
