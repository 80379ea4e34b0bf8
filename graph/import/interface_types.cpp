// Casts behind outputs and inputs.
#include "graph/import/interface_types.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/to_number.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

constexpr const char* kOutputFlag = "--output_type";
constexpr const char* kInputFlag = "--input_fp16_nodes";
constexpr const char* kOutputAdvice =
    "write a type for all outputs, FP32, FP16, DOUBLE, or (U)INT8, 16, 32, 64, or one for each as "
    "in \"node:0:FP16;other:1:INT8\"";

struct TypeWord {
  std::string_view word;
  DataType dtype;
};
constexpr TypeWord kTypeWords[] = {
    {"FP32", DataType::kFloat},    {"FP16", DataType::kFloat16}, {"DOUBLE", DataType::kDouble},
    {"INT8", DataType::kInt8},     {"INT16", DataType::kInt16},  {"INT32", DataType::kInt32},
    {"INT64", DataType::kInt64},   {"UINT8", DataType::kUint8},  {"UINT16", DataType::kUint16},
    {"UINT32", DataType::kUint32}, {"UINT64", DataType::kUint64}};

DataType type_from_word(const std::string& word) {
  const auto found = std::ranges::find(kTypeWords, word, &TypeWord::word);
  if (found == std::end(kTypeWords))
    throw Error(ExitCode::kUsage, "'" + word + "' is no type", kOutputFlag, kOutputAdvice);
  return found->dtype;
}

/// "node:0:FP16"; names of nodes may hold colons.
OutputType single_output(const std::string& entry) {
  const std::size_t type = entry.rfind(':');
  const std::size_t index =
      type == std::string::npos || type == 0 ? type : entry.rfind(':', type - 1);
  OutputType output;
  if (index == std::string::npos || index == 0 || index == type)
    throw Error(ExitCode::kUsage, "'" + entry + "' is not node:index:type", kOutputFlag,
                kOutputAdvice);
  const auto number = to_number<decltype(output.index)>(
      std::string_view(entry).substr(index + 1, type - index - 1));
  if (!number || *number < 0)
    throw Error(ExitCode::kUsage, "'" + entry + "' is not node:index:type", kOutputFlag,
                kOutputAdvice);
  output.node = entry.substr(0, index);
  output.index = *number;
  output.dtype = type_from_word(entry.substr(type + 1));
  return output;
}

ValueId cast(Graph& graph, const std::string& node_name, ValueId from, ValueId to) {
  reference::Attrs attrs;
  attrs.set("to", reference::onnx_number(dtype_of(graph, to)));
  Node node{.name = node_name,
            .op = call_of("Cast", std::move(attrs)),
            .inputs = {from},
            .outputs = {to}};
  while (std::ranges::find(graph.nodes, node.name, &Node::name) != graph.nodes.end())
    node.name += "_";
  node.origins = {node.name};
  graph.add_node(std::move(node));
  return to;
}

std::string inner_name(const Value& value) {
  return value.name + "_" + std::string(name(value.desc.dtype));
}

bool gives_text(const Graph& graph, ValueId output) {
  const std::vector<std::string>& texts = graph.texts.outputs;
  return std::ranges::find(texts, graph.values[output].name) != texts.end();
}

void set_output(Graph& graph, std::size_t position, DataType dtype) {
  const ValueId shown = graph.outputs[position];
  const DataType own = dtype_of(graph, shown);
  if (own == dtype) return;
  if (gives_text(graph, shown))
    throw Error(ExitCode::kUsage,
                "output '" + graph.values[shown].name + "' holds texts, which have no other type",
                kOutputFlag);
  const ValueId inner =
      add_intermediate(graph, inner_name(graph.values[shown]), graph.values[shown].desc);
  const NodeId producer = graph.values[shown].producer;
  std::ranges::replace(graph.edit(producer)->outputs, shown, inner);
  graph.values[inner].producer = producer;
  graph.values[shown].producer = kNone;
  graph.replace_uses(shown, inner);
  graph.outputs.set(position, shown);
  graph.values[shown].desc.dtype = dtype;
  cast(graph, "Cast_" + graph.values[shown].name, inner, shown);
}

/// By node and index, or by the output's own name.
std::size_t position_of(const Graph& graph, const OutputType& wanted) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& value = graph.values[graph.outputs[i]];
    if (value.name == wanted.node && wanted.index == 0) return i;
    const Node& node = graph.nodes[value.producer];
    const auto index = static_cast<std::size_t>(wanted.index);
    if (node.name == wanted.node && index < node.outputs.size() &&
        node.outputs[index] == graph.outputs[i])
      return i;
  }
  throw Error(
      ExitCode::kUsage,
      "'" + wanted.node + ":" + std::to_string(wanted.index) + "' is no output of the model",
      kOutputFlag, "make it one with --out_nodes");
}

void set_fp16_input(Graph& graph, const std::string& wanted) {
  const auto found =
      std::ranges::find(graph.inputs, wanted, [&](ValueId id) { return graph.values[id].name; });
  if (found == graph.inputs.end())
    throw Error(ExitCode::kUsage, "the model has no input '" + wanted + "'", kInputFlag);
  const ValueId shown = *found;
  if (dtype_of(graph, shown) == DataType::kFloat16) return;
  if (dtype_of(graph, shown) != DataType::kFloat)
    throw Error(ExitCode::kUsage,
                "input '" + wanted + "' is " + std::string(name(dtype_of(graph, shown))),
                kInputFlag, "name inputs that are float32");
  const ValueId inner =
      add_intermediate(graph, inner_name(graph.values[shown]), graph.values[shown].desc);
  graph.replace_uses(shown, inner);
  graph.values[shown].desc.dtype = DataType::kFloat16;
  cast(graph, "Cast_" + wanted, shown, inner);
}

}  // namespace

InterfaceTypes parse_output_type(const std::string& text) {
  InterfaceTypes types;
  if (text.find(':') == std::string::npos) {
    types.outputs = type_from_word(text);
    return types;
  }
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ';');) {
    if (entry.empty()) continue;
    OutputType output = single_output(entry);
    for (const OutputType& other : types.single_outputs)
      if (other.node == output.node && other.index == output.index)
        throw Error(ExitCode::kUsage, "'" + entry + "' gives that output a second type",
                    kOutputFlag);
    types.single_outputs.push_back(std::move(output));
  }
  return types;
}

void set_interface_types(Graph& graph, const InterfaceTypes& types) {
  std::vector<std::optional<DataType>> wanted(graph.outputs.size(), types.outputs);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (gives_text(graph, graph.outputs[i])) wanted[i] = std::nullopt;
  for (const OutputType& output : types.single_outputs)
    wanted[position_of(graph, output)] = output.dtype;
  for (const std::string& input : types.fp16_inputs) set_fp16_input(graph, input);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) set_output(graph, i, *wanted[i]);
}

}  // namespace aoe::graph
