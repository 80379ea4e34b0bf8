// expand_einsum: an Einsum of two tensors is a matrix product between transposed views of them: labels that both and the
// result have become the batch, those that only the operands share are summed, the rest are rows and columns.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

struct Equation {
  std::string left, right, result;
};

bool are_distinct_letters(std::string term) {
  if (!std::ranges::all_of(term, [](unsigned char c) { return std::isalpha(c) != 0; }))
    return false;
  std::ranges::sort(term);
  return std::ranges::adjacent_find(term) == term.end();
}

/// Puts letters in the place of an ellipsis: as many as there are dimensions without one, of `unused` the last. False when there
/// are more letters than dimensions.
bool name_ellipsis(std::string& term, std::size_t rank, const std::string& unused) {
  constexpr std::size_t kDots = 3;
  const auto at = term.find("...");
  if (at == std::string::npos) return true;
  const std::size_t letters = term.size() - kDots;
  if (letters > rank || rank - letters > unused.size()) return false;
  term.replace(at, kDots, unused.substr(unused.size() - (rank - letters)));
  return true;
}

std::string letters_that_are_not_in(const std::string& text) {
  std::string letters;
  for (const char from : {'A', 'a'})
    for (int i = 0; i < 26; ++i) letters += static_cast<char>(from + i);
  std::erase_if(letters, [&](char letter) { return text.find(letter) != std::string::npos; });
  return letters;
}

/// "ab,bc->ac" of tensors of such ranks; none when it is of another form (a diagonal, other than two operands).
std::optional<Equation> equation_of(const Node& node, std::size_t left, std::size_t right,
                                    std::size_t result) {
  std::string text = node.op.attrs.get_string("equation", "");
  std::erase(text, ' ');
  const auto comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    return std::nullopt;
  Equation equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                    text.substr(arrow + 2)};
  const std::string unused = letters_that_are_not_in(text);
  if (!name_ellipsis(equation.left, left, unused) ||
      !name_ellipsis(equation.right, right, unused) ||
      !name_ellipsis(equation.result, result, unused))
    return std::nullopt;
  for (const std::string& term : {equation.left, equation.right, equation.result})
    if (!are_distinct_letters(term)) return std::nullopt;
  return equation;
}

bool has(const std::string& term, char label) {
  return term.find(label) != std::string::npos;
}

/// The labels of a matrix product, by what becomes of them.
struct Roles {
  std::string batch, rows, columns, summed;
};

/// None when a label is summed that only one operand has.
std::optional<Roles> roles_of(const Equation& e) {
  Roles roles;
  for (const char label : e.left) {
    const bool in_right = has(e.right, label), in_result = has(e.result, label);
    if (!in_right && !in_result) return std::nullopt;
    (in_right ? in_result ? roles.batch : roles.summed : roles.rows) += label;
  }
  for (const char label : e.right) {
    if (has(e.left, label)) continue;
    if (!has(e.result, label)) return std::nullopt;
    roles.columns += label;
  }
  return roles;
}

using Sizes = std::map<char, std::int64_t>;

/// False when a label has two sizes: one of them is broadcast then.
bool read_sizes(const std::string& term, const Shape& shape, Sizes& sizes) {
  if (term.size() != shape.size() || !is_static(shape)) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!sizes.emplace(term[d], shape[d]).second && sizes[term[d]] != shape[d]) return false;
  return true;
}

Shape shape_of_labels(const std::string& labels, const Sizes& sizes) {
  Shape shape;
  for (const char label : labels) shape.push_back(sizes.at(label));
  return shape;
}

std::int64_t count_of(const std::string& labels, const Sizes& sizes) {
  return element_count(shape_of_labels(labels, sizes));
}

/// Writes the nodes in front of, at and behind the matrix product.
class EinsumExpansion {
 public:
  EinsumExpansion(Graph& graph, NodeId id, Sizes sizes)
      : graph_(graph), id_(id), node_(graph.nodes[id]), sizes_(std::move(sizes)) {}

  void run(const Equation& e, const Roles& r) {
    const std::int64_t rows = count(r.rows), columns = count(r.columns), summed = count(r.summed);
    const auto matrices = [&](std::int64_t height, std::int64_t width) {
      return r.batch.empty() ? Shape{height, width} : Shape{count(r.batch), height, width};
    };
    const ValueId left = reshape(transpose(node_.inputs[0], e.left, r.batch + r.rows + r.summed),
                                 matrices(rows, summed));
    const ValueId right =
        reshape(transpose(node_.inputs[1], e.right, r.batch + r.summed + r.columns),
                matrices(summed, columns));
    const ValueId product = add("MatMulV2", {}, {left, right}, matrices(rows, columns));
    const std::string labels = r.batch + r.rows + r.columns;
    const ValueId unfolded = reshape(product, shape_of_labels(labels, sizes_));
    graph_.edit(id_)->op = call_of("Transpose", permutation(labels, e.result));
    graph_.edit(id_)->inputs = {unfolded};
  }

 private:
  std::int64_t count(const std::string& labels) const { return count_of(labels, sizes_); }

  ValueId add(const char* type, reference::Attrs attrs, std::vector<ValueId> inputs, Shape shape) {
    const TensorDesc desc{.dtype = dtype_of(graph_, node_.outputs[0]), .shape = std::move(shape)};
    const ValueId to = add_intermediate(graph_, node_.name + "_" + type, desc);
    graph_.add_node({.name = graph_.values[to].name,
                     .op = call_of(type, std::move(attrs)),
                     .inputs = std::move(inputs),
                     .outputs = {to},
                     .origins = node_.origins});
    return to;
  }

  static reference::Attrs permutation(const std::string& from, const std::string& to) {
    std::vector<std::int64_t> perm;
    for (const char label : to) perm.push_back(static_cast<std::int64_t>(from.find(label)));
    reference::Attrs attrs;
    attrs.set("perm", perm);
    return attrs;
  }

  ValueId transpose(ValueId from, const std::string& labels, const std::string& wanted) {
    if (labels == wanted) return from;
    return add("Transpose", permutation(labels, wanted), {from}, shape_of_labels(wanted, sizes_));
  }

  ValueId reshape(ValueId from, const Shape& shape) {
    return add("Reshape", {}, {from, add_ints(graph_, node_.name + "_shape", shape)}, shape);
  }

  Graph& graph_;
  NodeId id_;
  const Node node_;  ///< as it was
  Sizes sizes_;
};

bool expand_einsum_at(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!is_type(node, "Einsum") || node.inputs.size() != 2 || node.outputs[0] == kNone) return false;
  const Shape left = shape_of(graph, node.inputs[0]), right = shape_of(graph, node.inputs[1]),
              result = shape_of(graph, node.outputs[0]);
  if (!is_static(left) || !is_static(right) || !is_static(result)) return false;
  const auto equation = equation_of(node, left.size(), right.size(), result.size());
  if (!equation) return false;
  Sizes sizes;
  if (!read_sizes(equation->left, left, sizes) || !read_sizes(equation->right, right, sizes))
    return false;
  const auto roles = roles_of(*equation);
  if (!roles || std::ranges::any_of(sizes, [](const auto& size) { return size.second == 0; }))
    return false;
  EinsumExpansion(graph, id, sizes).run(*equation, *roles);
  return true;
}

}  // namespace

bool expand_einsum(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= expand_einsum_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
