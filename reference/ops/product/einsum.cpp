// Einsum: sums of products of elements, indexed as an equation says.
#include <algorithm>
#include <array>
#include <map>

#include "reference/elements/doubles.h"
#include "reference/op.h"
#include "reference/products/einsum_equation.h"
#include "reference/slicing.h"
#include "reference/tensors/strided.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<Shape> shapes_of(std::span<const Tensor> tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.desc.shape);
  return shapes;
}

std::vector<TensorDesc> infer_einsum(const InferContext& context) {
  const std::vector<Shape> shapes = shapes_of(context.inputs);
  const EinsumEquation equation = einsum_equation(context.attrs.get_string("equation", ""), shapes);
  const auto extents = equation.extents(shapes);
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
  const std::vector<Shape> shapes = shapes_of(context.inputs);
  const EinsumEquation equation = einsum_equation(context.attrs.get_string("equation", ""), shapes);
  std::string labels = equation.output;
  Shape shape;
  const auto extents = equation.extents(shapes);
  for (const auto& [label, extent] : extents) {
    if (labels.find(label) == std::string::npos) labels += label;
  }
  for (char label : labels) shape.push_back(extents.at(label));
  check_doubles(static_cast<std::size_t>(element_count(shape)));
  std::vector<double> products(static_cast<std::size_t>(element_count(shape)), 1.0);
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const auto values = to_doubles(context.inputs[i]);
    const std::array strides = {label_strides(labels, equation.inputs[i], shapes[i])};
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
  const EinsumEquation equation =
      einsum_equation(slicing.attrs.get_string("equation", ""), shapes_of(slicing.inputs));
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
                .versions = {12},
                .signature = {"n1*", "!equation=string"},
                .kind = OpKind::kProduct,
                .infer = infer_einsum,
                .compute = compute_einsum,
                .work = &CostContext::pairs,
                .slices = label_apart,
                .factors = 2});
}

}  // namespace aoe::reference
