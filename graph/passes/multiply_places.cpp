// multiply_places: a convolution whose window is the whole image has one place as its result, and is a product of as many rows as there
// are images: the convolutions over means of squeeze-and-excitation blocks, classifiers that are convolutions. Kernels of convolutions have
// pixels of one image as rows: 8 images of 960x1x1 to 1280 take 183 to 371 us, the product 70 (one thread, Zen 5). One image stays as it is,
// a product of one row gains nothing.
#include <algorithm>
#include <vector>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Of a known batch: blocks with smaller ones are worked off image by image, from end to end (graph/subgraphs/batch_parts.h), which gains
/// more (EfficientNet-B0, 8 images: 4%).
constexpr std::int64_t kFewestWeights = 1 << 18;

bool takes_whole_images(const Graph& graph, const Node& node) {
  if (node.is_dead || !is_type(node, "Conv2D") || !is_float_constant(graph, node, 1) ||
      (has_input(node, 2) && !is_float_constant(graph, node, 2)))
    return false;
  const TensorDesc& x = graph.values[node.inputs[0]].desc;
  if (x.dtype != DataType::kFloat || x.shape.size() != 4 || x.shape[0] == 1 ||
      node.op.attrs.get_int("group", 1) != 1 || node.op.attrs.get_int("input_shuffle", 1) != 1)
    return false;
  const Shape& weights = shape_of(graph, node.inputs[1]);
  if (is_static(x.shape) && element_count(weights) < kFewestWeights) return false;
  return std::equal(x.shape.begin() + 1, x.shape.end(), weights.begin() + 1) &&
         is_all(node, "pads", 0) && is_all(node, "dilations", 1);
}

ValueId reshaped(Graph& graph, const std::string& stem, ValueId from, const Shape& shape) {
  const ValueId to = add_intermediate(graph, stem, {.dtype = DataType::kFloat, .shape = shape});
  Shape asked = shape;
  asked[0] = 0;  // as many images as there are
  graph.add_node({.name = graph.values[to].name,
                  .op = call_of("Reshape"),
                  .inputs = {from, add_ints(graph, stem + "_shape", asked)},
                  .outputs = {to}});
  return to;
}

/// The product, its bias and the functions behind it, in rows; then the images.
std::vector<Node> row_of(Graph& graph, const Node& node, const std::vector<NodeId>& functions) {
  const ConstantPtr weights = as_right_factor(*constant_input(graph, node, 1));
  const Shape& images = shape_of(graph, node.inputs[0]);
  const ValueId x =
      reshaped(graph, node.name + "_rows", node.inputs[0], {images[0], weights->desc().shape[0]});
  const ValueId factor =
      add_constant(graph, graph.values[node.inputs[1]].name + "_turned", weights);
  std::vector<Node> row;
  row.push_back({.name = node.name,
                 .op = call_of("MatMulV2"),
                 .inputs = {x, factor},
                 .outputs = node.outputs,
                 .origins = node.origins});
  if (has_input(node, 2))
    row.push_back({.name = graph.unused_name(node.name + "_bias"),
                   .op = call_of("Add"),
                   .inputs = {node.outputs[0], node.inputs[2]},
                   .outputs = node.outputs,
                   .origins = node.origins});
  for (const NodeId function : functions) row.push_back(graph.nodes[function]);
  return row;
}

void multiply(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  const std::vector<NodeId> functions = functions_behind(graph, node.outputs[0]);
  const Shape& image = shape_of(graph, node.outputs[0]);
  const Shape shape = {image[0], image[1]};
  std::vector<Node> row = row_of(graph, node, functions);
  graph.remove_node(id);
  for (const NodeId function : functions) graph.remove_node(function);
  const ValueId whole = row.back().outputs[0];
  const ValueId made =
      add_row(graph, std::move(row), {.dtype = DataType::kFloat, .shape = shape}, "_rows");
  graph.add_node({.name = graph.unused_name(node.name + "_images"),
                  .op = call_of("Reshape"),
                  .inputs = {made, add_ints(graph, node.name + "_shape", {0, shape[1], 1, 1})},
                  .outputs = {whole}});
}

}  // namespace

bool multiply_places(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!takes_whole_images(graph, graph.nodes[id])) continue;
    multiply(graph, id);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
