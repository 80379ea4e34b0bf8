#include "graph/subgraphs/batch_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/rewrite.h"
#include "graph/subgraph.h"
#include "graph/subgraphs/atoms.h"

namespace aoe::graph {
namespace {

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

}  // namespace

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

std::vector<std::vector<NodeId>> batch_rows(const Graph& graph, std::size_t most_nodes) {
  std::vector<std::vector<NodeId>> rows(1);
  const auto close = [&] {
    if (!rows.back().empty()) rows.emplace_back();
  };
  for (const std::vector<NodeId>& atom : atoms_of(graph)) {
    const std::int64_t images = batch_of(graph, atom.front());
    const bool fits = std::ranges::all_of(
        atom, [&](NodeId id) { return can_be_cut(graph, graph.nodes[id], images); });
    std::vector<NodeId>& row = rows.back();
    if (!fits || row.size() + atom.size() > most_nodes ||
        (!row.empty() && batch_of(graph, row.front()) != images))
      close();
    if (fits && atom.size() <= most_nodes)
      rows.back().insert(rows.back().end(), atom.begin(), atom.end());
  }
  if (rows.back().empty()) rows.pop_back();
  return rows;
}

void cut_batch(Graph& graph, const std::vector<NodeId>& nodes, std::int64_t parts) {
  BatchWriter(graph, nodes, parts).write();
}

namespace {

/// Of a part's input and output: other cores and the weights want their share of L3.
constexpr std::int64_t kShareOfL3 = 4;
constexpr std::int64_t kMostCopies = 1024;  ///< of nodes, in a row

std::int64_t bytes_of(const Graph& graph, ValueId value) {
  return static_cast<std::int64_t>(sizeof(float)) * element_count(shape_of(graph, value));
}

/// What a node reads and writes: of images, and of weights.
struct Traffic {
  std::int64_t images = 0, weights = 0;
};

Traffic traffic_of(const Graph& graph, const Node& node) {
  Traffic traffic{.images = bytes_of(graph, node.outputs[0])};
  for (const ValueId input : node.inputs) {
    if (input == kNone) continue;
    const bool is_constant = graph.values[input].constant != nullptr;
    (is_constant ? traffic.weights : traffic.images) += bytes_of(graph, input);
  }
  return traffic;
}

/// Whether a cache of `bytes` is too small for the batch, and reading the weights for each image costs less than what it saves.
bool gains(const Graph& graph, NodeId id, std::int64_t bytes) {
  const std::int64_t images = batch_of(graph, id);
  if (!can_be_cut(graph, graph.nodes[id], images)) return false;
  const Traffic traffic = traffic_of(graph, graph.nodes[id]);
  return traffic.images > bytes && traffic.weights * (images - 1) < traffic.images;
}

/// The fewest parts of which each fits, as far as that many copies may be.
std::int64_t parts_of(std::int64_t images, std::int64_t largest, std::int64_t bytes,
                      std::size_t nodes) {
  std::int64_t best = 1;
  for (std::int64_t parts = 2; parts <= images; ++parts) {
    if (images % parts != 0) continue;
    if (parts * static_cast<std::int64_t>(nodes) > kMostCopies) break;
    best = parts;
    if (largest / parts <= bytes) break;
  }
  return best;
}

/// From the first node that gains to the last.
bool slice_row(Graph& graph, std::vector<NodeId> row, std::int64_t bytes) {
  const std::int64_t images = batch_of(graph, row.front());
  const auto does_gain = [&](NodeId id) { return gains(graph, id, bytes); };
  const auto first = std::ranges::find_if(row, does_gain);
  const auto last = std::find_if(row.rbegin(), std::make_reverse_iterator(first), does_gain).base();
  row = std::vector<NodeId>(first, last);
  if (row.size() < 2) return false;  // nothing passes between them
  std::int64_t largest = 0;
  for (const NodeId id : row)
    largest = std::max(largest, traffic_of(graph, graph.nodes[id]).images);
  const std::int64_t parts = parts_of(images, largest, bytes, row.size());
  if (parts < 2) return false;
  cut_batch(graph, row, parts);
  return true;
}

}  // namespace

Pass slice_batches_pass(const Hardware& hardware) {
  const auto run = [bytes = hardware.l3_bytes / kShareOfL3](Graph& graph) {
    const std::vector<NodeId> order = graph.topological_order();
    if (std::ranges::none_of(order, [&](NodeId id) { return gains(graph, id, bytes); }))
      return false;
    bool changed = false;
    for (const std::vector<NodeId>& row : batch_rows(graph, order.size()))
      changed = slice_row(graph, row, bytes) || changed;
    return changed;
  };
  return {"slice_batches", run};
}

}  // namespace aoe::graph
