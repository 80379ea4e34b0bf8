// Names and order of NodeProtos, and declarations of values.
#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/size.h"
#include "graph/graph.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/small_types.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {

std::vector<std::string> free_names(const onnx::GraphProto& subgraph) {
  std::set<std::string> own;
  for (const auto& input : subgraph.input()) own.insert(input.name());
  for (const auto& initializer : subgraph.initializer()) own.insert(initializer.name());
  for (const auto& sparse : subgraph.sparse_initializer()) own.insert(sparse.values().name());
  for (const auto& node : subgraph.node()) own.insert(node.output().begin(), node.output().end());
  std::vector<std::string> names;
  for (const auto& node : subgraph.node())
    for (const std::string& read : names_read(node))
      if (!own.contains(read)) names.push_back(read);
  for (const auto& output : subgraph.output())
    if (!own.contains(output.name())) names.push_back(output.name());
  return names;
}

namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::unordered_map<std::string, int> producers_of(
    const Nodes& nodes, const std::function<bool(const std::string&)>& is_known) {
  std::unordered_map<std::string, int> producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      if (is_known(output) || !producers.emplace(output, i).second)
        throw Error(ExitCode::kModel, "produces '" + output + "', which exists already",
                    "node " + describe(nodes[i]));
    }
  }
  return producers;
}

}  // namespace

std::string describe(const onnx::NodeProto& node) {
  std::string text = node.name();
  if (text.empty())
    text = node.output_size() > 0 ? "that produces '" + node.output(0) + "'" : "without name";
  return text + " (ONNX " + (node.domain().empty() ? "" : node.domain() + ".") + node.op_type() +
         ")";
}

[[noreturn]] void fail_node(const onnx::NodeProto& node, const std::string& what) {
  throw Error(ExitCode::kModel, what, "node " + describe(node));
}

std::vector<std::string> names_read(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.input())
    if (!input.empty()) names.push_back(input);
  const auto add = [&](const onnx::GraphProto& subgraph) {
    for (std::string& read : free_names(subgraph)) names.push_back(std::move(read));
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add(attribute.g());
    for (const auto& subgraph : attribute.graphs()) add(subgraph);
  }
  return names;
}

std::vector<int> order_nodes(const Nodes& nodes,
                             const std::function<bool(const std::string&)>& is_known) {
  const auto producers = producers_of(nodes, is_known);
  std::vector<std::vector<int>> readers(nodes.size());
  std::vector<int> missing(nodes.size(), 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& read : names_read(nodes[i])) {
      if (const auto producer = producers.find(read); producer != producers.end()) {
        readers[producer->second].push_back(i);
        ++missing[i];
      } else if (!is_known(read)) {
        throw Error(
            ExitCode::kModel,
            "reads '" + read + "', which is no input, no initializer and no output of another node",
            "node " + describe(nodes[i]));
      }
    }
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const int reader : readers[i])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (static_cast<int>(order.size()) < nodes.size()) {
    const auto stuck = std::ranges::find_if(missing, [](int count) { return count > 0; });
    throw Error(ExitCode::kModel, "depends on its own output: the graph has a cycle",
                "node " + describe(nodes[static_cast<int>(stuck - missing.begin())]));
  }
  return order;
}

bool is_text(const onnx::ValueInfoProto& info) {
  return info.type().tensor_type().elem_type() == onnx::TensorProto::STRING;
}

TensorDesc read_declaration(const onnx::ValueInfoProto& info) {
  const auto fail = [&](const std::string& what) -> void {
    throw Error(ExitCode::kModel,
                "is " + what + "; only tensors of numbers and bools are supported",
                "value '" + info.name() + "'");
  };
  const onnx::TypeProto& type = info.type();
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return {.shape = kUnknownRankShape};
  if (type.has_sequence_type()) fail("a sequence");
  if (type.has_map_type()) fail("a map");
  if (type.has_optional_type()) fail("an optional");
  if (!type.has_tensor_type()) fail("no dense tensor");
  TensorDesc desc{.shape = kUnknownRankShape};
  const auto& tensor = type.tensor_type();
  if (is_text(info)) fail("a tensor of strings");
  if (const SmallType* small = small_type(tensor.elem_type()))
    desc.dtype = small->held;
  else if (tensor.elem_type() != onnx::TensorProto::UNDEFINED)
    desc.dtype = reference::data_type_from_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return desc;
  desc.shape.clear();
  for (const auto& dim : tensor.shape().dim())
    desc.shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value()
                                                                     : kUnknownDim);
  check_size(desc, "value '" + info.name() + "'");
  return desc;
}

}  // namespace aoe::graph
