#include "graph/analysis/contraction_order.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <set>

namespace aoe::graph {

std::vector<std::pair<std::size_t, std::size_t>> contraction_order(
    const reference::EinsumEquation& equation, const std::map<char, std::int64_t>& sizes) {
  using Factors = unsigned;  ///< a bit for each
  const std::size_t count = equation.inputs.size();
  const Factors all = (1u << count) - 1;
  // Of a product: the letters that are not summed in it.
  std::vector<std::set<char>> kept(all + 1);
  for (Factors part = 1; part <= all; ++part) {
    std::set<char> inside, outside(equation.output.begin(), equation.output.end());
    for (std::size_t i = 0; i < count; ++i)
      (part >> i & 1 ? inside : outside)
          .insert(equation.inputs[i].begin(), equation.inputs[i].end());
    std::ranges::set_intersection(inside, outside, std::inserter(kept[part], kept[part].end()));
  }
  const auto work = [&](Factors a, Factors b) {
    std::set<char> letters = kept[a];
    letters.insert(kept[b].begin(), kept[b].end());
    double elements = 1;
    for (const char letter : letters) elements *= static_cast<double>(sizes.at(letter));
    return elements;
  };
  std::vector<double> least(all + 1, 0);
  std::vector<Factors> left(all + 1, 0);  // the first factor of the best product
  for (Factors part = 1; part <= all; ++part) {
    if ((part & (part - 1)) == 0) continue;
    least[part] = std::numeric_limits<double>::infinity();
    for (Factors a = (part - 1) & part; a > part - a; a = (a - 1) & part) {
      const double cost = least[a] + least[part ^ a] + work(a, part ^ a);
      if (cost < least[part]) least[part] = cost, left[part] = a;
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> order;
  const std::function<std::size_t(Factors)> multiply = [&](Factors part) -> std::size_t {
    if (left[part] == 0) return static_cast<std::size_t>(std::countr_zero(part));
    const std::size_t second = multiply(part ^ left[part]), first = multiply(left[part]);
    order.emplace_back(std::min(first, second), std::max(first, second));
    return count + order.size() - 1;
  };
  multiply(all);
  return order;
}

}  // namespace aoe::graph
