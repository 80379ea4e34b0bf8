// The order in which the factors of an Einsum are multiplied. Internal to graph/.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "reference/products/einsum_equation.h"

namespace aoe::graph {

/// Which two factors are multiplied next, so that all products together have the fewest elements, summed ones counted; a
/// product is a factor behind those that there were. For up to kMostFactors.
std::vector<std::pair<std::size_t, std::size_t>> contraction_order(
    const reference::EinsumEquation& equation, const std::map<char, std::int64_t>& sizes);

inline constexpr std::size_t kMostFactors = 10;

}  // namespace aoe::graph
