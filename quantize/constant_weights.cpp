// The nodes that depend on no input are cut out as a model of their own, which the importer reads and fold_constants folds.
#include "quantize/constant_weights.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/import/onnx_import.h"
#include "graph/import/onnx_proto.h"
#include "graph/passes.h"
#include "quantize/new_names.h"

namespace aoe::quantize {
namespace {

bool reads_weights(const onnx::NodeProto& node) {
  constexpr std::array kReaders = {"Conv", "MatMul", "Gemm", "BatchNormalization", "Add"};
  return node.domain().empty() && std::ranges::find(kReaders, node.op_type()) != kReaders.end();
}

bool has_subgraph(const onnx::NodeProto& node) {
  return std::ranges::any_of(
      node.attribute(), [](const auto& each) { return each.has_g() || each.graphs_size() > 0; });
}

/// Nodes of a graph that depend on its initializers alone, and which weights they compute.
class Computed {
 public:
  explicit Computed(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) known_.insert(tensor.name());
    for (const onnx::NodeProto& node : graph.node()) {
      const bool is_computed =
          !has_subgraph(node) && std::ranges::all_of(node.input(), [&](const std::string& input) {
            return input.empty() || known_.contains(input);
          });
      if (is_computed)
        for (const std::string& output : node.output()) {
          known_.insert(output);
          makers_[output] = &node;
        }
      else if (reads_weights(node))
        for (const std::string& input : node.input())
          if (is_sole_output(input)) weights_.insert(input);
    }
    for (const auto& output : graph.output()) weights_.erase(output.name());
  }

  const std::set<std::string>& weights() const { return weights_; }

  /// Everything behind the weights, in the order of the model; an Identity gives out each, since what a graph gives out is not folded.
  onnx::ModelProto model(const onnx::ModelProto& whole) const {
    std::set<std::string> read;
    std::vector<std::string> open(weights_.begin(), weights_.end());
    while (!open.empty()) {
      const std::string value = open.back();
      open.pop_back();
      const auto maker = makers_.find(value);
      if (!read.insert(value).second || maker == makers_.end()) continue;
      for (const std::string& input : maker->second->input())
        if (!input.empty()) open.push_back(input);
    }
    onnx::ModelProto cut;
    cut.set_ir_version(whole.ir_version());
    *cut.mutable_opset_import() = whole.opset_import();
    *cut.mutable_functions() = whole.functions();
    onnx::GraphProto& graph = *cut.mutable_graph();
    for (const onnx::TensorProto& tensor : whole.graph().initializer())
      if (read.contains(tensor.name())) *graph.add_initializer() = tensor;
    for (const onnx::NodeProto& node : whole.graph().node())
      if (std::ranges::any_of(node.output(), [&](const std::string& output) {
            return read.contains(output) && makers_.contains(output);
          }))
        *graph.add_node() = node;
    NewNames names(graph);
    for (const std::string& weight : weights_)
      give_out(graph, weight, names.of(weight, "_given_out"));
    return cut;
  }

 private:
  /// A node that gives out more would stay for the rest, and give out this again.
  bool is_sole_output(const std::string& value) const {
    const auto maker = makers_.find(value);
    return maker != makers_.end() && maker->second->output_size() == 1;
  }

  static void give_out(onnx::GraphProto& graph, const std::string& value, const std::string& as) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Identity");
    node.add_input(value);
    node.add_output(as);
    graph.add_output()->set_name(node.output(0));
  }

  std::set<std::string> known_;
  std::map<std::string, const onnx::NodeProto*> makers_;
  std::set<std::string> weights_;
};

graph::Graph folded(const onnx::ModelProto& model, const std::filesystem::path& name) {
  const std::string bytes = model.SerializeAsString();
  graph::Graph graph = graph::import_onnx({.bytes = bytes, .name = name}, {});
  std::ranges::find(graph::passes(), "fold_constants", &graph::Pass::name)->run(graph);
  return graph;
}

void add_initializer(onnx::GraphProto& graph, const std::string& name, const Constant& value) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : value.desc().shape) tensor.add_dims(dim);
  tensor.set_raw_data(value.data(), value.size_bytes());
}

/// Also those that only such nodes read.
void drop_unread_nodes(onnx::GraphProto& graph, const std::set<std::string>& replaced) {
  auto& nodes = *graph.mutable_node();
  for (int before = -1; before != nodes.size();) {
    before = nodes.size();
    std::set<std::string> read;
    for (const auto& output : graph.output()) read.insert(output.name());
    for (const onnx::NodeProto& node : nodes)
      for (const std::string& input : graph::names_read(node))
        if (!replaced.contains(input)) read.insert(input);
    int kept = 0;
    for (int n = 0; n < nodes.size(); ++n)
      if (std::ranges::any_of(nodes[n].output(),
                              [&](const std::string& output) { return read.contains(output); }))
        nodes.SwapElements(kept++, n);
    nodes.DeleteSubrange(kept, nodes.size() - kept);
  }
}

}  // namespace

void make_initializers_of_computed_weights(onnx::ModelProto& model,
                                           const std::filesystem::path& name) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const Computed computed(graph);
  if (computed.weights().empty()) return;
  const graph::Graph values = folded(computed.model(model), name);
  std::set<std::string> replaced;
  for (const graph::Value& value : values.values)
    if (computed.weights().contains(value.name) && value.constant &&
        value.desc.dtype == DataType::kFloat) {
      add_initializer(graph, value.name, *value.constant);
      replaced.insert(value.name);
    }
  if (!replaced.empty()) drop_unread_nodes(graph, replaced);
}

}  // namespace aoe::quantize
