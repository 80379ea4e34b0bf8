// See einsum_equation.h.
#include "reference/products/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "reference/fail.h"

namespace aoe::reference {
namespace {

constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kMaxEllipsisAxes = 10;

/// Replaces "..." by one digit per axis it stands for.
std::string expand_ellipsis(std::string term, std::size_t axes) {
  const std::size_t position = term.find(kEllipsis);
  if (position == std::string::npos) return term;
  if (axes > kMaxEllipsisAxes)
    fail_model("an ellipsis stands for " + std::to_string(axes) + " axes");
  std::string digits;
  for (std::size_t i = axes; i-- > 0;) digits += static_cast<char>('0' + i);
  return term.replace(position, kEllipsis.size(), digits);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> terms(1);
  for (char c : text) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

/// Without "->": the ellipsis, then all labels that occur once, in alphabetical order.
std::string implicit_output(const std::vector<std::string>& inputs) {
  std::map<char, int> uses;
  std::string output;
  for (const std::string& term : inputs) {
    if (term.find(kEllipsis) != std::string::npos) output = kEllipsis;
    for (char c : term) uses[c] += std::isalpha(static_cast<unsigned char>(c)) != 0 ? 1 : 0;
  }
  for (const auto& [label, count] : uses) {
    if (count == 1) output += label;
  }
  return output;
}

/// Letters, and the digits of ellipses; the output has each once.
void check_labels(const EinsumEquation& equation) {
  const auto is_label = [](unsigned char c) { return std::isalnum(c) != 0; };
  for (const std::string& term : equation.inputs)
    if (!std::ranges::all_of(term, is_label)) fail_model("term \"" + term + "\" is not of letters");
  std::string labels = equation.output;
  std::ranges::sort(labels);
  if (!std::ranges::all_of(labels, is_label) || std::ranges::adjacent_find(labels) != labels.end())
    fail_model("output \"" + equation.output + "\" is not of letters, each once");
}

}  // namespace

EinsumEquation einsum_equation(std::string text, std::span<const Shape> shapes) {
  std::erase(text, ' ');
  if (std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }))
    fail_model("equation \"" + text + "\" has digits");
  const std::size_t arrow = text.find("->");
  EinsumEquation equation{.inputs = split(text.substr(0, arrow)), .output = {}};
  if (equation.inputs.size() != shapes.size()) {
    fail_model("equation \"" + text + "\" has " + std::to_string(equation.inputs.size()) +
               " terms for " + std::to_string(shapes.size()) + " inputs");
  }
  equation.output =
      arrow == std::string::npos ? implicit_output(equation.inputs) : text.substr(arrow + 2);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::string& term = equation.inputs[i];
    const std::size_t rank = shapes[i].size();
    const bool has_ellipsis = term.find(kEllipsis) != std::string::npos;
    const std::size_t letters = term.size() - (has_ellipsis ? kEllipsis.size() : 0);
    if (has_ellipsis ? letters > rank : letters != rank) {
      fail_model("term \"" + term + "\" for an input " + to_string(shapes[i]));
    }
    if (has_ellipsis) widest = std::max(widest, rank - letters);
    term = expand_ellipsis(term, rank - letters);
  }
  equation.output = expand_ellipsis(equation.output, widest);
  check_labels(equation);
  return equation;
}

std::map<char, std::int64_t> EinsumEquation::extents(std::span<const Shape> shapes) const {
  std::map<char, std::int64_t> found;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t axis = 0; axis < inputs[i].size(); ++axis) {
      const std::int64_t dim = shapes[i][axis];
      auto [place, is_new] = found.emplace(inputs[i][axis], dim);
      std::int64_t& extent = place->second;
      if (is_new || dim == extent || dim == 1) continue;
      if (extent != 1 && extent != kUnknownDim && dim != kUnknownDim) {
        fail_model(std::string("label '") + inputs[i][axis] + "' is " + std::to_string(extent) +
                   " and " + std::to_string(dim));
      }
      if (extent == 1 || extent == kUnknownDim) extent = dim;
    }
  }
  for (char label : output) {
    if (!found.contains(label))
      fail_model(std::string("output label '") + label + "' is in no input");
  }
  return found;
}

}  // namespace aoe::reference
