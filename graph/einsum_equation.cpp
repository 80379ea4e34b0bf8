#include "graph/einsum_equation.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>

namespace aoe::graph {
namespace {

constexpr std::string_view kEllipsis = "...";

std::string letters_that_are_not_in(const std::string& text) {
  std::string letters;
  for (const char from : {'A', 'a'})
    for (int i = 0; i < 26; ++i) letters += static_cast<char>(from + i);
  std::erase_if(letters, [&](char letter) { return text.find(letter) != std::string::npos; });
  return letters;
}

/// Puts the last `count` of `unused` in the place of an ellipsis, for dimensions without a letter, which broadcasting aligns
/// at their end. False when there are not so many.
bool name_ellipsis(std::string& term, std::size_t count, const std::string& unused) {
  const auto at = term.find(kEllipsis);
  if (at == std::string::npos) return true;
  if (count > unused.size()) return false;
  term.replace(at, kEllipsis.size(), unused.substr(unused.size() - count));
  return true;
}

/// Without an arrow: the ellipsis, then all letters that stand once, by the alphabet.
std::string implicit_result(const std::string& terms) {
  std::string result = terms.find(kEllipsis) == std::string::npos ? "" : std::string(kEllipsis);
  const std::set<char> all(terms.begin(), terms.end());
  for (const char letter : all)
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0 &&
        std::ranges::count(terms, letter) == 1)
      result += letter;
  return result;
}

bool are_letters(const std::string& term) {
  return std::ranges::all_of(term, [](unsigned char c) { return std::isalpha(c) != 0; });
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text)
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  return terms;
}

}  // namespace

std::map<char, std::int64_t> EinsumEquation::sizes(const std::vector<Shape>& shapes) const {
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t d = 0; d < terms[i].size(); ++d) {
      std::int64_t& size = sizes.emplace(terms[i][d], 1).first->second;
      if (shapes[i][d] != 1) size = shapes[i][d];
    }
  return sizes;
}

std::optional<EinsumEquation> einsum_equation(std::string text, const std::vector<Shape>& shapes) {
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  EinsumEquation equation{.terms = split(text.substr(0, arrow)), .result = {}};
  if (equation.terms.size() != shapes.size()) return std::nullopt;
  equation.result = arrow == std::string::npos ? implicit_result(text) : text.substr(arrow + 2);
  const std::string unused = letters_that_are_not_in(text);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::string& term = equation.terms[i];
    const bool has_ellipsis = term.find(kEllipsis) != std::string::npos;
    const std::size_t letters = term.size() - (has_ellipsis ? kEllipsis.size() : 0);
    if (letters > shapes[i].size()) return std::nullopt;
    const std::size_t unnamed = shapes[i].size() - letters;
    widest = std::max(widest, has_ellipsis ? unnamed : 0);
    if (!name_ellipsis(term, unnamed, unused) || !are_letters(term) ||
        term.size() != shapes[i].size())
      return std::nullopt;
  }
  if (!name_ellipsis(equation.result, widest, unused) || !are_letters(equation.result))
    return std::nullopt;
  return equation;
}

std::vector<std::pair<std::size_t, std::size_t>> contraction_order(
    const EinsumEquation& equation, const std::map<char, std::int64_t>& sizes) {
  using Factors = unsigned;  ///< a bit for each
  const std::size_t count = equation.terms.size();
  const Factors all = (1u << count) - 1;
  // Of a product: the letters that are not summed in it.
  std::vector<std::set<char>> kept(all + 1);
  for (Factors part = 1; part <= all; ++part) {
    std::set<char> inside, outside(equation.result.begin(), equation.result.end());
    for (std::size_t i = 0; i < count; ++i)
      (part >> i & 1 ? inside : outside).insert(equation.terms[i].begin(), equation.terms[i].end());
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
