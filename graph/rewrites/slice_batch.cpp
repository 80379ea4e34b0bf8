// slice_batch: a row of ops on a batch of images is carried out image by image (or by a few images):
// all its ops on the first part of the batch, then all on the next one, so that what passes between
// them stays in the cache. Parts of a batch are whole pieces of it in every Format: neither cutting
// nor joining copies anything (split_in_place, concat_in_place).
#include <algorithm>
#include <map>
#include <set>

#include "graph/atoms.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"
#include "graph/subgraph.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kMostNodes = 20;   ///< a subgraph holds little more
constexpr std::size_t kFewestNodes = 2;  ///< between which something passes
constexpr std::int64_t kMostParts = 16;  ///< each is a copy of all nodes

/// Ops that treat the images of a batch alike and apart, whatever their attributes say.
bool is_of_images(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  if (reference::is_elementwise(node.op) || (def != nullptr && def->is_per_image)) return true;
  return node.op.type == "ConcatV2" && node.op.attrs.get_int("axis", 1) == 1;
}

bool is_batch(const Graph& graph, ValueId value, std::int64_t images) {
  const TensorDesc& desc = graph.values[value].desc;
  return desc.dtype == DataType::kFloat && desc.shape.size() == 4 && is_static(desc.shape) &&
         desc.shape[0] == images;
}

/// Inputs of the anchor behind the images are weights.
bool has_weights(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  return def != nullptr && def->factors > 1;
}

/// Constants without a batch of their own serve all images alike.
bool is_shared(const Graph& graph, const Node& node, std::size_t i) {
  if (!graph.values[node.inputs[i]].constant) return false;
  const bool is_weight = has_weights(node) && i < anchor_input_count(node);
  const Shape& shape = shape_of(graph, node.inputs[i]);
  return is_weight || shape.size() < 4 || shape[0] == 1;
}

/// Whether the node can be carried out for a part of `images`.
bool can_be_cut(const Graph& graph, const Node& node, std::int64_t images) {
  if (node.is_dead || !is_of_images(node) || node.outputs.size() != 1 || images < 2 ||
      !is_batch(graph, node.outputs[0], images))
    return false;
  if (has_weights(node) && !constant_input(graph, node, 1)) return false;
  bool has_batch = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone || is_shared(graph, node, i)) continue;
    if (graph.values[node.inputs[i]].constant || !is_batch(graph, node.inputs[i], images))
      return false;
    has_batch = true;
  }
  return has_batch;
}

std::int64_t batch_of(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.outputs.size() != 1 || node.outputs[0] == kNone) return 0;
  const Shape& shape = shape_of(graph, node.outputs[0]);
  return shape.size() == 4 ? shape[0] : 0;
}

/// Numbers of parts: single images, and a few together.
std::vector<RewriteParams> choices_of(std::int64_t images) {
  std::vector<RewriteParams> choices;
  for (const std::int64_t parts : {images, images / 2, images / 4})
    if (parts >= 2 && parts <= kMostParts && images % parts == 0)
      choices.push_back({{"parts", parts}});
  return choices;
}

Place place_of(const Graph& graph, const std::vector<NodeId>& nodes, const Hardware& hardware) {
  std::int64_t large = 0;
  for (const NodeId id : nodes)
    if (4 * element_count(shape_of(graph, graph.nodes[id].outputs[0])) >= hardware.l2_bytes)
      ++large;  // smaller ones stay there as they are
  const bool is_worth_it = 2 * large > static_cast<std::int64_t>(nodes.size());
  return {.nodes = nodes,
          .choices = choices_of(batch_of(graph, nodes.front())),
          .expected_share = is_worth_it ? 0.2 : 0};
}

/// Rows of neighbouring atoms on one batch, as long as a subgraph may be.
std::vector<Place> find_slice_batch(const Graph& graph, const Hardware& hardware) {
  std::vector<Place> places;
  std::vector<NodeId> row;
  const auto close = [&] {
    if (row.size() >= kFewestNodes && !choices_of(batch_of(graph, row.front())).empty())
      places.push_back(place_of(graph, row, hardware));
    row.clear();
  };
  for (const std::vector<NodeId>& atom : atoms_of(graph)) {
    const std::int64_t images = batch_of(graph, atom.front());
    const bool fits = std::ranges::all_of(
        atom, [&](NodeId id) { return can_be_cut(graph, graph.nodes[id], images); });
    if (!fits || row.size() + atom.size() > kMostNodes ||
        (!row.empty() && batch_of(graph, row.front()) != images))
      close();
    if (fits && atom.size() <= kMostNodes) row.insert(row.end(), atom.begin(), atom.end());
  }
  close();
  return places;
}

class BatchWriter {
 public:
  BatchWriter(Graph& graph, const std::vector<NodeId>& nodes, std::int64_t parts)
      : graph_(graph), parts_(parts), border_(subgraph_of(graph, nodes)) {
    for (const NodeId id : border_.nodes) region_.push_back(graph.nodes[id]);
    for (const NodeId id : nodes) graph.remove_node(id);
  }

  void write() {
    for (const ValueId input : border_.inputs) cut(input);
    for (std::int64_t part = 0; part < parts_; ++part)
      for (const Node& node : region_) write_part(node, part);
    for (const ValueId output : border_.outputs) join(output);
  }

 private:
  TensorDesc part_desc(ValueId value) const {
    TensorDesc desc = graph_.values[value].desc;
    desc.shape[0] /= parts_;
    return desc;
  }

  ValueId add_part(ValueId value, std::int64_t part) {
    const std::string stem = graph_.values[value].name + "_part" + std::to_string(part);
    const ValueId added = add_intermediate(graph_, stem, part_desc(value));
    parts_of_[value].push_back(added);
    return added;
  }

  void cut(ValueId value) {
    const std::string stem = graph_.values[value].name + "_parts";
    const std::int64_t images = graph_.values[value].desc.shape[0] / parts_;
    Node split{.op = call_of("SplitV")};
    split.inputs = {value,
                    add_ints(graph_, stem,
                             std::vector<std::int64_t>(static_cast<std::size_t>(parts_), images))};
    split.op.attrs.set("axis", std::int64_t{0});
    for (std::int64_t part = 0; part < parts_; ++part)
      split.outputs.push_back(add_part(value, part));
    // Two regions may cut one value: names of values are made unique, and the node takes one.
    split.name = graph_.values[split.outputs[0]].name + "_cut";
    graph_.add_node(std::move(split));
  }

  void write_part(const Node& whole, std::int64_t part) {
    Node node = whole;
    node.name += "_part" + std::to_string(part);
    for (ValueId& input : node.inputs)
      if (const auto cut = parts_of_.find(input); cut != parts_of_.end())
        input = cut->second[static_cast<std::size_t>(part)];
    node.outputs = {add_part(whole.outputs[0], part)};
    graph_.add_node(std::move(node));
  }

  void join(ValueId value) {
    Node node{.name = graph_.values[value].name + "_joined", .op = call_of("ConcatV2")};
    node.op.attrs.set("axis", std::int64_t{0});
    node.inputs = parts_of_.at(value);
    node.outputs = {value};
    graph_.add_node(std::move(node));
  }

  Graph& graph_;
  std::int64_t parts_;
  Subgraph border_;
  std::vector<Node> region_;
  std::map<ValueId, std::vector<ValueId>> parts_of_;
};

Result<void> apply_slice_batch(Graph& graph, const std::vector<NodeId>& nodes,
                               const RewriteParams& params) {
  const std::int64_t images = nodes.empty() ? 0 : batch_of(graph, nodes.front());
  if (!std::ranges::all_of(nodes,
                           [&](NodeId id) { return can_be_cut(graph, graph.nodes[id], images); }))
    return Unexpected("not all ops treat the images of one batch apart");
  const auto given = params.find("parts");
  const std::int64_t parts = given == params.end() ? 0 : given->second;
  if (parts < 2 || parts > kMostParts || images % parts != 0)
    return Unexpected(std::to_string(parts) + " parts of " + std::to_string(images) + " images");
  BatchWriter(graph, nodes, parts).write();
  return {};
}

}  // namespace

void register_slice_batch(RewriteRegistry& registry) {
  registry.add(
      {.kind = "slice_batch", .version = 1, .find = find_slice_batch, .apply = apply_slice_batch});
}

}  // namespace aoe::graph
