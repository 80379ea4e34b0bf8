// expand_einsum: an Einsum is sums, matrix products and transpositions. A label that one operand alone has, and not the
// result, is summed in it; then two factors after another are multiplied, of which both have labels that are summed or the
// batch, and each has rows or columns of its own.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "graph/analysis/contraction_order.h"
#include "graph/import/function_call.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

using Sizes = std::map<char, std::int64_t>;

constexpr std::int64_t kCopiedDim = 0;  ///< what Reshape takes for that of its input

bool has(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

/// A tensor with a label for each dimension.
struct Factor {
  Term value;
  std::string labels;
};

Shape shape_of_labels(const std::string& labels, const Sizes& sizes) {
  Shape shape;
  for (const char label : labels) shape.push_back(sizes.at(label));
  return shape;
}

/// kUnknownDim where one of them is.
std::int64_t count_of(const std::string& labels, const Sizes& sizes) {
  const Shape shape = shape_of_labels(labels, sizes);
  return is_static(shape) ? element_count(shape) : kUnknownDim;
}

Sizes sizes_of(const std::string& labels, const Shape& shape) {
  Sizes sizes;
  for (std::size_t d = 0; d < shape.size(); ++d) sizes[labels[d]] = shape[d];
  return sizes;
}

/// Labels that make a dimension, for each.
using Groups = std::vector<std::string>;

Groups each_of(const std::string& labels) {
  Groups groups;
  for (const char label : labels) groups.emplace_back(1, label);
  return groups;
}

/// Has as many dimensions as `shape`, of which the run computes those that are open: the first `kept` are those of the value, others
/// products of `size` of their labels.
Term reshaped_by_run(Term value, const Shape& shape, const Groups& groups, std::size_t kept,
                     const std::function<Term(char)>& size) {
  FunctionCall& call = *value.call;
  std::vector<Term> dims;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (shape[i] != kUnknownDim) {
      dims.push_back(call.ints({shape[i]}));
    } else if (i < kept) {
      dims.push_back(call.size_along(value, static_cast<std::int64_t>(i)));
    } else {
      dims.push_back(size(groups[i][0]));
      for (const char label : groups[i].substr(1)) dims.back() = dims.back() * size(label);
    }
  }
  reference::Attrs attrs;
  attrs.set("allowzero", std::int64_t{1});
  return call.op("Reshape", {value, call.concat(dims, 0)}, attrs);
}

/// The first `kept` dimensions are those of the value. `size`: of a label, for what that and one open dimension leave unsaid.
Term reshaped(Term value, const Groups& groups, const Sizes& sizes, std::size_t kept,
              const std::function<Term(char)>& size) {
  Shape shape;
  for (const std::string& labels : groups) shape.push_back(count_of(labels, sizes));
  if (value.call->shape(value) == shape) return value;
  Shape asked = shape;
  const auto end = asked.begin() + static_cast<std::ptrdiff_t>(kept);
  std::replace(asked.begin(), end, kUnknownDim, kCopiedDim);
  if (std::ranges::count(asked, kUnknownDim) > 1)
    return reshaped_by_run(value, shape, groups, kept, size);
  return value.call->reshape(value, asked);
}

Term transposed(const Factor& from, const std::string& to) {
  if (from.labels == to) return from.value;
  std::vector<std::int64_t> perm;
  for (const char label : to) perm.push_back(static_cast<std::int64_t>(from.labels.find(label)));
  return from.value.call->transpose(from.value, perm);
}

/// A dimension that only a run knows, beside one that is known, may be 1 there and stretches.
Factor stretched(const Factor& from, const Sizes& sizes) {
  FunctionCall& call = *from.value.call;
  const Shape shape = call.shape(from.value);
  Shape least(shape.size(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (const std::int64_t size = sizes.at(from.labels[d]); shape[d] == kUnknownDim && size > 1)
      least[d] = size;
  if (std::ranges::count(least, 1) == std::ssize(least)) return from;
  return {call.op("Expand", {from.value, call.ints(least)}), from.labels};
}

/// Without dimensions of 1 that stretch to what is known, or whose label stands elsewhere too.
Factor squeezed(const Factor& from, const Sizes& sizes) {
  const Shape shape = from.value.call->shape(from.value);
  Factor to{from.value, {}};
  Shape kept;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const char label = from.labels[d];
    const bool stretches = sizes.at(label) != 1 && sizes.at(label) != kUnknownDim;
    if (shape[d] == 1 && (stretches || has(from.labels.substr(d + 1), label))) continue;
    to.labels += label;
    kept.push_back(shape[d]);
  }
  const auto size = [&](char label) {
    return from.value.call->size_along(from.value,
                                       static_cast<std::int64_t>(from.labels.find(label)));
  };
  if (kept.size() < shape.size())
    to.value = reshaped(from.value, each_of(to.labels), sizes_of(to.labels, kept), 0, size);
  return to;
}

/// The diagonal of the dimensions `a` and `b`, which have one label, comes last.
Factor diagonal(const Factor& from, std::size_t a, std::size_t b) {
  FunctionCall& call = *from.value.call;
  const Shape shape = call.shape(from.value);
  Factor to{{}, {}};
  std::vector<std::int64_t> perm;
  Shape flat;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == a || d == b) continue;
    to.labels += from.labels[d];
    perm.push_back(static_cast<std::int64_t>(d));
    flat.push_back(shape[d]);
  }
  perm.insert(perm.end(), {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)});
  flat.push_back(shape[a] * shape[b]);
  to.labels += from.labels[a];
  const Term last = std::ranges::is_sorted(perm) ? from.value : call.transpose(from.value, perm);
  to.value =
      call.slice(call.reshape(last, flat), std::ssize(flat) - 1, 0, flat.back(), shape[a] + 1);
  return to;
}

Factor without_repeats(Factor factor) {
  for (std::size_t d = 0; d < factor.labels.size();) {
    const auto again = factor.labels.find(factor.labels[d], d + 1);
    factor = again == std::string::npos ? factor : diagonal(factor, d, again);
    d = again == std::string::npos ? d + 1 : 0;
  }
  return factor;
}

/// Summed over the labels that are not in `wanted`.
Factor summed(const Factor& from, const std::string& wanted) {
  FunctionCall& call = *from.value.call;
  std::vector<std::int64_t> axes;
  Factor to = from;
  std::erase_if(to.labels, [&](char label) { return !has(wanted, label); });
  for (std::size_t d = 0; d < from.labels.size(); ++d)
    if (!has(wanted, from.labels[d])) axes.push_back(static_cast<std::int64_t>(d));
  reference::Attrs attrs;
  attrs.set("keepdims", std::int64_t{0});
  if (!axes.empty()) to.value = call.op("ReduceSum", {from.value, call.ints(axes)}, attrs);
  return to;
}

std::string labels_of(const std::vector<Factor>& factors, const std::string& result) {
  std::string labels = result;
  for (const Factor& factor : factors) labels += factor.labels;
  return labels;
}

std::ptrdiff_t open_labels(const std::string& labels, const Sizes& sizes) {
  return std::ranges::count_if(labels, [&](char label) { return sizes.at(label) == kUnknownDim; });
}

/// How two factors are multiplied as matrices.
struct Product {
  std::string batch, rows, inner, columns;
  bool is_open = false;  ///< of sizes that only a run knows
  /// Each label of the rows is a dimension: behind the product a Reshape would find one open dimension at most.
  bool spreads_rows = false;

  /// Dimensions that stay as they are where they are open: a batch that does needs no Reshape behind the product.
  Groups outer() const {
    if (batch.empty()) return {};
    return is_open ? each_of(batch) : Groups{batch};
  }
  Groups left() const {
    Groups groups = outer();
    if (spreads_rows)
      std::ranges::copy(each_of(rows), std::back_inserter(groups));
    else
      groups.push_back(rows);
    groups.push_back(inner);
    return groups;
  }
  Groups right() const {
    Groups groups = outer();
    groups.push_back(inner);
    groups.push_back(columns);
    return groups;
  }
  /// So many of the first labels are dimensions of matrices.
  std::size_t kept_with(const std::string& next, bool spreads) const {
    if (!is_open) return 0;
    return batch.size() + (spreads ? next.size() : next.size() == 1 ? 1 : 0);
  }
};

/// Labels of both that are in `wanted` are the batch, others of both are summed.
Product product_of(const Factor& left, const Factor& right, const std::string& wanted,
                   const Sizes& sizes) {
  Product product;
  for (const char label : left.labels)
    (!has(right.labels, label) ? product.rows
     : has(wanted, label)      ? product.batch
                               : product.inner) += label;
  for (const char label : right.labels)
    if (!has(left.labels, label)) product.columns += label;
  product.is_open = open_labels(labels_of({left, right}, {}), sizes) > 0;
  product.spreads_rows = product.batch.empty() && open_labels(product.rows, sizes) > 1;
  return product;
}

Factor multiplied(const Factor& left, const Factor& right, const std::string& wanted,
                  const Sizes& sizes) {
  FunctionCall& call = *left.value.call;
  const Product p = product_of(left, right, wanted, sizes);
  if (p.batch.empty() && !p.spreads_rows && open_labels(p.columns, sizes) > 1)
    return multiplied(right, left, wanted, sizes);
  const std::size_t kept = p.kept_with(p.rows, p.spreads_rows);
  const auto size = [&](char label) {
    const Factor& factor = has(left.labels, label) ? left : right;
    return call.size_along(factor.value, static_cast<std::int64_t>(factor.labels.find(label)));
  };
  const Term a =
      reshaped(transposed(left, p.batch + p.rows + p.inner), p.left(), sizes, kept, size);
  const Term b = reshaped(transposed(right, p.batch + p.inner + p.columns), p.right(), sizes,
                          p.kept_with(p.inner, false), size);
  // Of one product each there is nothing to sum.
  const Term product = p.inner.empty() ? a * b : call.matmul(a, b);
  const std::string labels = p.batch + p.rows + p.columns;
  return {reshaped(product, each_of(labels), sizes, kept, size), labels};
}

/// Sizes that only a run knows are as good as any for the order in which factors are multiplied.
Sizes guessed(Sizes sizes) {
  constexpr std::int64_t kGuess = 64;
  for (auto& [label, size] : sizes)
    if (size == kUnknownDim) size = kGuess;
  return sizes;
}

void expand(FunctionCall& call, const reference::EinsumEquation& equation, const Sizes& sizes) {
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i)
    factors.push_back(
        without_repeats(squeezed(stretched({call.input(i), equation.inputs[i]}, sizes), sizes)));
  // What factors there are at a time stands among those that have been used, which have no labels.
  const auto wanted = [&](std::size_t a, std::size_t b) {
    std::vector<Factor> others = factors;
    others[a].labels.clear();
    others[b].labels.clear();
    return labels_of(others, equation.output);
  };
  for (std::size_t i = 0; i < equation.inputs.size(); ++i)
    factors[i] = summed(factors[i], wanted(i, i));
  for (const auto& [a, b] : contraction_order(equation, guessed(sizes))) {
    factors.push_back(multiplied(factors[a], factors[b], wanted(a, b), sizes));
    factors[a].labels.clear();
    factors[b].labels.clear();
  }
  call.give(0, transposed(factors.back(), equation.output));
}

/// Each label stands once in a factor, and what dimensions that only a run knows stand beside, of 1, stretches as a batch does.
bool has_plain_labels(const reference::EinsumEquation& equation, const std::vector<Shape>& shapes) {
  const auto is_open = [&](char label) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      for (std::size_t d = 0; d < shapes[i].size(); ++d)
        if (equation.inputs[i][d] == label && shapes[i][d] == kUnknownDim) return true;
    return false;
  };
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      const char label = equation.inputs[i][d];
      if (has(equation.inputs[i].substr(d + 1), label)) return false;
      if (shapes[i][d] == 1 && is_open(label) && !has(equation.output, label)) return false;
    }
  return true;
}

bool expand_einsum_at(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!is_type(node, "Einsum") || node.outputs[0] == kNone) return false;
  std::vector<Shape> shapes;
  for (const ValueId input : node.inputs) {
    if (!has_known_rank(graph.values[input].desc)) return false;
    shapes.push_back(shape_of(graph, input));
    if (std::ranges::count(shapes.back(), 0) > 0) return false;
  }
  if (shapes.size() > kMostFactors) return false;
  const reference::EinsumEquation equation =
      reference::einsum_equation(node.op.attrs.get_string("equation", ""), shapes);
  if (!std::ranges::all_of(shapes, is_static) && !has_plain_labels(equation, shapes)) return false;
  return replace_by_parts(
      graph, id, [&](FunctionCall& call) { expand(call, equation, equation.extents(shapes)); });
}

}  // namespace

bool expand_einsum(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= expand_einsum_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
