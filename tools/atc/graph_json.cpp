// Both kinds of model become one listing of ops, which is then written.
#include "tools/atc/graph_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aoe::tools {
namespace {

using nlohmann::json;

struct ListedTensor {
  TensorDesc desc;
  int maker = -1;  ///< op
  int output = 0;  ///< of the maker
};

struct ListedOp {
  std::string name, type;
  json attr = json::array();
  std::vector<int> inputs, outputs;  ///< tensors; -1 = absent
};

struct Listing {
  std::string name;
  std::vector<ListedTensor> tensors;
  std::vector<ListedOp> ops;

  void add(ListedOp op) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.outputs[i] < 0) continue;
      ListedTensor& tensor = tensors[static_cast<std::size_t>(op.outputs[i])];
      tensor.maker = static_cast<int>(ops.size());
      tensor.output = static_cast<int>(i);
    }
    ops.push_back(std::move(op));
  }
};

json attribute(const std::string& key, json value) {
  return {{"key", key}, {"value", std::move(value)}};
}

/// {"i": 1}, {"f": 0.5}, {"s": "same"}, {"list": {"i": [...]}}, as the documented tool has them.
struct AttrValue {
  json operator()(std::int64_t v) const { return {{"i", v}}; }
  json operator()(float v) const { return {{"f", v}}; }
  json operator()(const std::string& v) const { return {{"s", v}}; }
  json operator()(const std::vector<std::int64_t>& v) const { return {{"list", {{"i", v}}}}; }
  json operator()(const std::vector<float>& v) const { return {{"list", {{"f", v}}}}; }
  json operator()(const std::vector<std::string>& v) const { return {{"list", {{"s", v}}}}; }
  json operator()(const ConstantPtr& v) const { return {{"t", to_string(v->desc())}}; }
};

json attributes(const reference::Attrs& attrs) {
  json list = json::array();
  for (const auto& [key, value] : attrs.all())
    list.push_back(attribute(key, std::visit(AttrValue{}, value)));
  return list;
}

/// "DT_FLOAT", as the documented tool spells them.
std::string type_name(DataType dtype) {
  if (dtype == DataType::kFloat) return "DT_FLOAT";
  if (dtype == DataType::kDouble) return "DT_DOUBLE";
  if (dtype == DataType::kBFloat16) return "DT_BF16";
  std::string name = dtype == DataType::kUndefined ? "undefined" : std::string(aoe::name(dtype));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return "DT_" + name;
}

json description(const TensorDesc& desc) {
  return {{"dtype", type_name(desc.dtype)},
          {"layout", std::string(name(desc.format))},
          {"shape", {{"dim", desc.shape}}}};
}

json op_json(const Listing& listing, std::size_t id, bool with_shapes) {
  const ListedOp& op = listing.ops[id];
  json result = {{"name", op.name},           {"type", op.type},        {"id", id},
                 {"attr", op.attr},           {"input", json::array()}, {"src_name", json::array()},
                 {"src_index", json::array()}};
  for (const int input : op.inputs) {
    const int maker = input < 0 ? -1 : listing.tensors[static_cast<std::size_t>(input)].maker;
    if (maker < 0) {
      result["input"].push_back("");  // an optional input that is absent
      continue;
    }
    const std::string& source = listing.ops[static_cast<std::size_t>(maker)].name;
    const int index = listing.tensors[static_cast<std::size_t>(input)].output;
    result["input"].push_back(source + ":" + std::to_string(index));
    result["src_name"].push_back(source);
    result["src_index"].push_back(index);
  }
  if (!with_shapes) return result;
  for (const auto& [key, ids] :
       {std::pair("input_desc", &op.inputs), {"output_desc", &op.outputs}}) {
    result[key] = json::array();
    for (const int tensor : *ids)
      if (tensor >= 0)
        result[key].push_back(description(listing.tensors[static_cast<std::size_t>(tensor)].desc));
  }
  return result;
}

json to_json(const Listing& listing, bool with_shapes) {
  json ops = json::array();
  for (std::size_t id = 0; id < listing.ops.size(); ++id)
    ops.push_back(op_json(listing, id, with_shapes));
  return {{"name", listing.name}, {"op", std::move(ops)}};
}

Listing listing_of(const graph::Graph& graph) {
  Listing listing{.name = graph.name};
  for (const graph::Value& value : graph.values) listing.tensors.push_back({.desc = value.desc});
  for (const graph::ValueId id : graph.inputs)
    listing.add({.name = graph.values[id].name, .type = "Data", .outputs = {id}});
  for (graph::ValueId id = 0; id < static_cast<graph::ValueId>(graph.values.size()); ++id)
    if (graph.values[id].constant != nullptr)
      listing.add({.name = graph.values[id].name, .type = "Const", .outputs = {id}});
  for (const graph::NodeId id : graph.topological_order()) {
    const graph::Node& node = graph.nodes[id];
    listing.add({.name = node.name,
                 .type = reference::type_name(node.op),
                 .attr = attributes(reference::anchor(node.op).attrs),
                 .inputs = node.inputs,
                 .outputs = node.outputs});
  }
  listing.add({.name = "Node_Output", .type = "NetOutput", .inputs = graph.outputs});
  return listing;
}

Listing listing_of(const runtime::Om& om) {
  Listing listing{.name = om.name};
  for (const runtime::OmTensor& tensor : om.tensors)
    listing.tensors.push_back({.desc = tensor.desc});
  for (const int id : om.inputs)
    listing.add(
        {.name = om.tensors[static_cast<std::size_t>(id)].name, .type = "Data", .outputs = {id}});
  for (std::size_t id = 0; id < om.tensors.size(); ++id)
    if (om.tensors[id].place == runtime::Place::kWeight)
      listing.add(
          {.name = om.tensors[id].name, .type = "Const", .outputs = {static_cast<int>(id)}});
  for (const runtime::OmStep& step : om.steps) {
    ListedOp op{.name = step.name,
                .type = step.types_text(),
                .attr = attributes(reference::anchor(step.call).attrs),
                .inputs = step.inputs,
                .outputs = step.outputs};
    op.inputs.insert(op.inputs.end(), step.constants.begin(), step.constants.end());
    op.attr.push_back(attribute("_task_type", {{"s", step.task_type()}}));
    op.attr.push_back(attribute("_datadump_original_op_names", {{"list", {{"s", step.origins}}}}));
    listing.add(std::move(op));
  }
  listing.add({.name = "Node_Output", .type = "NetOutput", .inputs = om.outputs});
  return listing;
}

}  // namespace

json graph_json(const graph::Graph& graph, bool with_shapes) {
  return {{"name", graph.name}, {"graph", json::array({to_json(listing_of(graph), with_shapes)})}};
}

json om_json(const runtime::GearedOm& model) {
  json graphs = json::array();
  for (const runtime::Om& om : model.oms) graphs.push_back(to_json(listing_of(om), true));
  const runtime::Om& om = model.oms.front();
  json listing = {{"name", om.name},
                  {"soc_version", om.soc_version},
                  {"isa", om.isa},
                  {"threads", om.threads},
                  {"graph", std::move(graphs)}};
  if (!om.texts.empty())
    listing["texts"] = {
        {"list", om.texts.list}, {"inputs", om.texts.inputs}, {"outputs", om.texts.outputs}};
  return listing;
}

}  // namespace aoe::tools
