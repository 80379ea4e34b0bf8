// move_zero_points: MatMulInteger and ConvInteger whose left zero point is computed, as behind a DynamicQuantizeLinear, leave
// it out and subtract what it adds to every sum: the zero point times the sum of the weights that a result is made of. The
// product is then one of constants, for which there are kernels of bytes. int32 wraps alike.
#include <algorithm>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"
#include "reference/windows/window.h"

namespace aoe::graph {
namespace {

using namespace integer_product;

struct Weights {
  std::vector<std::int64_t> values, zeros;  ///< of zeros one, or one per output
  std::int64_t at(std::int64_t index, std::int64_t output) const {
    const auto zero = zeros.size() == 1 ? 0 : static_cast<std::size_t>(output);
    return values[static_cast<std::size_t>(index)] - zeros[zero];
  }
};

std::optional<Weights> weights_of(const Graph& graph, const Node& node, std::int64_t outputs) {
  const ConstantPtr weight = constant_input(graph, node, kWeight);
  const ConstantPtr zero = constant_input(graph, node, kWeightZero);
  if (!weight || (has_input(node, kWeightZero) && !zero)) return {};
  Weights weights{reference::read_as<std::int64_t>(weight->view()), {0}};
  if (zero) weights.zeros = reference::read_as<std::int64_t>(zero->view());
  const auto count = static_cast<std::int64_t>(weights.zeros.size());
  return count == 1 || count == outputs ? std::optional(std::move(weights)) : std::nullopt;
}

struct Sums {
  Shape shape;
  std::vector<std::int32_t> values;
};

/// Of the columns.
std::optional<Sums> sums_of_product(const Graph& graph, const Node& node) {
  const Shape& shape = shape_of(graph, node.inputs[kWeight]);
  if (shape.size() != 2) return {};
  const std::int64_t rows = shape[0], columns = shape[1];
  const auto weights = weights_of(graph, node, columns);
  if (!weights) return {};
  Sums sums{{columns}, std::vector<std::int32_t>(static_cast<std::size_t>(columns))};
  for (std::int64_t i = 0; i < rows * columns; ++i)
    sums.values[static_cast<std::size_t>(i % columns)] +=
        static_cast<std::int32_t>(weights->at(i, i % columns));
  return sums;
}

/// Of the taps that lie in the image, which are not the same for all pixels where there is padding.
std::optional<Sums> sums_of_convolution(const Graph& graph, const Node& node) {
  const Shape &x = shape_of(graph, node.inputs[kX]), &w = shape_of(graph, node.inputs[kWeight]);
  const TensorDesc& y = graph.values[node.outputs[0]].desc;
  if (x.size() != 4 || !is_static(x) || !is_static(y.shape)) return {};
  const auto weights = weights_of(graph, node, w[0]);
  const auto window = reference::window_of("Conv2D", node.op.attrs, x, w);
  if (!weights || !window) return {};
  const reference::WindowAxis &rows = window->height(), &columns = window->width();
  const std::int64_t taps = rows.kernel * columns.kernel, channels = w[1];
  Sums sums{{1, w[0], rows.output, columns.output}, {}};
  std::vector<std::int64_t> tap_sums(static_cast<std::size_t>(taps));
  for (std::int64_t m = 0; m < w[0]; ++m) {
    std::ranges::fill(tap_sums, 0);
    for (std::int64_t i = 0; i < channels * taps; ++i)
      tap_sums[static_cast<std::size_t>(i % taps)] += weights->at(m * channels * taps + i, m);
    for (std::int64_t row = 0; row < rows.output; ++row) {
      for (std::int64_t column = 0; column < columns.output; ++column) {
        std::int64_t sum = 0;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t h = rows.tap(row, tap / columns.kernel);
          const std::int64_t v = columns.tap(column, tap % columns.kernel);
          if (h >= 0 && h < rows.input && v >= 0 && v < columns.input)
            sum += tap_sums[static_cast<std::size_t>(tap)];
        }
        sums.values.push_back(static_cast<std::int32_t>(sum));
      }
    }
  }
  return sums;
}

ValueId add_op(Graph& graph, const Node& of, const std::string& type, reference::Attrs attrs,
               std::vector<ValueId> inputs, TensorDesc desc) {
  const ValueId to = add_intermediate(graph, of.name + "/" + type, std::move(desc));
  graph.add_node({.name = graph.values[to].name,
                  .op = call_of(type, std::move(attrs)),
                  .inputs = std::move(inputs),
                  .outputs = {to},
                  .origins = of.origins});
  return to;
}

bool move_zero_point(Graph& graph, NodeId id) {
  const Node& found = graph.nodes[id];
  const bool is_product = is_type(found, "MatMulInteger");
  if (!is_product && !is_type(found, "ConvInteger")) return false;
  if (!has_input(found, kXZero) || constant_input(graph, found, kXZero)) return false;
  const Node node = found;
  const Shape zero_shape = shape_of(graph, node.inputs[kXZero]);
  if (!is_static(zero_shape) || element_count(zero_shape) != 1) return false;
  const auto sums = is_product ? sums_of_product(graph, node) : sums_of_convolution(graph, node);
  if (!sums) return false;
  const TensorDesc one{.dtype = DataType::kInt32, .shape = zero_shape};
  const TensorDesc many{.dtype = DataType::kInt32, .shape = sums->shape};
  const TensorDesc result = graph.values[node.outputs[0]].desc;
  reference::Attrs to_int32;
  to_int32.set("to", reference::onnx_number(DataType::kInt32));
  const ValueId zero = add_op(graph, node, "Cast", to_int32, {node.inputs[kXZero]}, one);
  const ValueId weight_sums = add_constant(graph, node.name + "/sums",
                                           std::make_shared<Constant>(many, sums->values.data()));
  const ValueId added = add_op(graph, node, "Mul", {}, {zero, weight_sums}, many);
  std::vector<ValueId> inputs = node.inputs;
  inputs[kXZero] = kNone;
  if (inputs.size() == kXZero + 1) inputs.pop_back();
  const ValueId product =
      add_op(graph, node, node.op.type, node.op.attrs, std::move(inputs), result);
  const NodeEdit changed = graph.edit(id);
  changed->op = call_of("Sub");
  changed->inputs = {product, added};
  return true;
}

}  // namespace

bool move_zero_points(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= move_zero_point(graph, id);
  return changed;
}

}  // namespace aoe::graph
