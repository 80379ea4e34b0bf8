// Einsum: sums of products of elements, indexed as an equation says. Ellipses, repeated labels (diagonals) and the
// implicit output of the classical form included.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "reference/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/strided.h"
#include "reference/widen.h"

namespace aoe::reference {
namespace {

/// Labels are letters; the axes of an ellipsis get the digits, right-aligned as in broadcasting.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

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
void check_labels(const Equation& equation) {
  const auto is_label = [](unsigned char c) { return std::isalnum(c) != 0; };
  for (const std::string& term : equation.inputs)
    if (!std::ranges::all_of(term, is_label)) fail_model("term \"" + term + "\" is not of letters");
  std::string labels = equation.output;
  std::ranges::sort(labels);
  if (!std::ranges::all_of(labels, is_label) || std::ranges::adjacent_find(labels) != labels.end())
    fail_model("output \"" + equation.output + "\" is not of letters, each once");
}

Equation parse(std::string text, std::span<const Tensor> tensors) {
  std::erase(text, ' ');
  if (std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }))
    fail_model("equation \"" + text + "\" has digits");
  const std::size_t arrow = text.find("->");
  Equation equation{.inputs = split(text.substr(0, arrow)), .output = {}};
  if (equation.inputs.size() != tensors.size()) {
    fail_model("equation \"" + text + "\" has " + std::to_string(equation.inputs.size()) +
               " terms for " + std::to_string(tensors.size()) + " inputs");
  }
  equation.output =
      arrow == std::string::npos ? implicit_output(equation.inputs) : text.substr(arrow + 2);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::string& term = equation.inputs[i];
    const std::size_t rank = tensors[i].desc.shape.size();
    const bool has_ellipsis = term.find(kEllipsis) != std::string::npos;
                .signature = {"n1*", "!equation=string"},
    const std::size_t letters = term.size() - (has_ellipsis ? kEllipsis.size() : 0);
    if (has_ellipsis ? letters > rank : letters != rank) {
      fail_model("term \"" + term + "\" for an input " + to_string(tensors[i].desc.shape));
    }
    if (has_ellipsis) widest = std::max(widest, rank - letters);
    term = expand_ellipsis(term, rank - letters);
  }
  equation.output = expand_ellipsis(equation.output, widest);
  check_labels(equation);
  return equation;
}

/// The extent of each label. Extents of 1 stretch.
std::map<char, std::int64_t> label_extents(const Equation& equation,
                                           std::span<const Tensor> tensors) {
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t axis = 0; axis < equation.inputs[i].size(); ++axis) {
      const std::int64_t dim = tensors[i].desc.shape[axis];
      auto [place, is_new] = extents.emplace(equation.inputs[i][axis], dim);
      std::int64_t& extent = place->second;
      if (is_new || dim == extent || dim == 1) continue;
      if (extent != 1 && extent != kUnknownDim && dim != kUnknownDim) {
        fail_model(std::string("label '") + equation.inputs[i][axis] + "' is " +
                   std::to_string(extent) + " and " + std::to_string(dim));
      }
      if (extent == 1 || extent == kUnknownDim) extent = dim;
    }
  }
  for (char label : equation.output) {
    if (!extents.contains(label))
      fail_model(std::string("output label '") + label + "' is in no input");
  }
  return extents;
}

std::vector<TensorDesc> infer_einsum(const InferContext& context) {
  const Equation equation = parse(context.attrs.get_string("equation", ""), context.inputs);
  const auto extents = label_extents(equation, context.inputs);
  Shape shape;
  for (char label : equation.output) shape.push_back(extents.at(label));
  return {{.dtype = context.dtype(0), .shape = std::move(shape)}};
}

/// Strides of a tensor along `labels`; a label that stands twice walks the diagonal.
Strides label_strides(const std::string& labels, const std::string& term, const Shape& shape) {
  const Strides dense = dense_strides(shape);
  Strides strides(labels.size(), 0);
  for (std::size_t axis = 0; axis < term.size(); ++axis) {
    if (shape[axis] != 1) strides[labels.find(term[axis])] += dense[axis];
  }
  return strides;
}

/// Multiplies one input after another into the product over all labels; the output then sums over those it lacks.
void compute_einsum(const OpContext& context) {
  const Equation equation = parse(context.attrs.get_string("equation", ""), context.inputs);
  std::string labels = equation.output;
  Shape shape;
  const auto extents = label_extents(equation, context.inputs);
  for (const auto& [label, extent] : extents) {
    if (labels.find(label) == std::string::npos) labels += label;
  }
  for (char label : labels) shape.push_back(extents.at(label));
  check_doubles(static_cast<std::size_t>(element_count(shape)));
  std::vector<double> products(static_cast<std::size_t>(element_count(shape)), 1.0);
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const auto values = to_doubles(context.inputs[i]);
    const std::array strides = {
        label_strides(labels, equation.inputs[i], context.inputs[i].desc.shape)};
    double* product = products.data();
    for_each_row(shape, strides, [&](const auto& offsets, const auto& steps, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) {
        *product++ *= values[static_cast<std::size_t>(offsets[0] + j * steps[0])];
      }
    });
  }
  std::vector<double> sums = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  const std::size_t summed = sums.empty() ? 0 : products.size() / sums.size();
  for (std::size_t i = 0; i < products.size(); ++i) sums[i / summed] += products[i];
  from_doubles(sums, context.outputs[0]);
}

/// A label that stands once in every input that has it and in the output.
bool label_apart(const Slicing& slicing) {
  const Equation equation = parse(slicing.attrs.get_string("equation", ""), slicing.inputs);
  const char label = equation.output[static_cast<std::size_t>(slicing.output_axes[0])];
  for (std::size_t i = 0; i < slicing.inputs.size(); ++i) {
    const std::string& term = equation.inputs[i];
    const std::size_t at = term.find(label);
    if (slicing.is_whole(i) ? at != std::string::npos
                            : at != static_cast<std::size_t>(slicing.axes[i]) ||
                                  term.find(label, at + 1) != std::string::npos)
      return false;
  }
  return true;
}

}  // namespace

void register_einsum(OpRegistry& registry) {
  registry.add({.type = "Einsum",
                .onnx_type = "Einsum",
                .versions = {12},
                .kind = OpKind::kProduct,
                .infer = infer_einsum,
                .compute = compute_einsum,
                .work = &CostContext::pairs,
                .slices = label_apart,
                .factors = 2});
}

}  // namespace aoe::reference
