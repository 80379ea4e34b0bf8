// Importing what a model shows to the outside: inputs, initializers, outputs.
#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "base/size.h"
#include "graph/import/input_shapes.h"
#include "graph/import/input_values.h"
#include "graph/import/onnx_importer.h"
#include "graph/import/small_types.h"

namespace aoe::graph {
namespace {

DeclaredInput declared_input(const onnx::ValueInfoProto& info) {
  DeclaredInput input{.name = info.name(), .desc = read_declaration(info)};
  if (input.desc.dtype == DataType::kUndefined)
    throw Error(ExitCode::kModel, "has no element type", "input '" + info.name() + "'");
  for (const auto& dim : info.type().tensor_type().shape().dim())
    input.dim_names.push_back(dim.dim_param());
  return input;
}

/// An optional that the caller gives holds something.
onnx::TypeProto held_type(const onnx::ValueInfoProto& info) {
  return info.type().has_optional_type() ? info.type().optional_type().elem_type() : info.type();
}

std::string item_name(const std::string& sequence, std::size_t i) {
  return sequence + "[" + std::to_string(i) + "]";
}

bool contradict(const Shape& declared, const Shape& inferred) {
  if (declared.size() != inferred.size()) return true;
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (declared[i] >= 0 && inferred[i] >= 0 && declared[i] != inferred[i]) return true;
  return false;
}

std::string desc_text(const TensorDesc& desc) {
  return std::string(name(desc.dtype)) + " " + to_string(desc.shape);
}

/// Up to IR version 3 every initializer is an input as well; only the others are given by the caller.
std::set<std::string> initialized_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

/// Large models should not be in memory twice. What is cleared keeps its memory; what is swapped away does not.
void release_values(onnx::TensorProto& tensor) {
  onnx::TensorProto whole;
  whole.Swap(&tensor);
  tensor.set_name(whole.name());
}

}  // namespace

/// What the caller calls the tensors of a sequence: as many as --input_shape names.
std::vector<std::string> Importer::items_of_input(const std::string& name) const {
  std::vector<std::string> items;
  while (options_.input_shapes.contains(item_name(name, items.size())))
    items.push_back(item_name(name, items.size()));
  const auto empty = options_.input_shapes.find(name);
  const bool is_empty = empty != options_.input_shapes.end() && empty->second.empty();
  if (items.empty() != is_empty)
    throw Error(ExitCode::kModel, "is a sequence, whose length must be known",
                "input '" + name + "'",
                "give the shape of each of its tensors, as in --input_shape=\"" + name +
                    "[0]:2,3;" + name + "[1]:2,3\"; an empty sequence is \"" + name + ":\"");
  return items;
}

/// What --input_value says of it; it is an input no longer.
ConstantPtr Importer::take_given_input(const std::string& name,
                                       const std::vector<std::string>& numbers,
                                       std::vector<DeclaredInput>& inputs) const {
  const auto input = std::ranges::find(inputs, name, &DeclaredInput::name);
  if (input == inputs.end())
    throw Error(ExitCode::kUsage, "the model has no input '" + name + "'", "--input_value");
  TensorDesc declared = std::move(input->desc);
  if (const auto given = options_.input_shapes.find(name); given != options_.input_shapes.end())
    declared.shape = given->second;
  inputs.erase(input);
  return constant_of_input(name, declared, numbers);
}

void Importer::import_inputs(Scope& scope) {
  const std::set<std::string> initialized = initialized_names(model_.graph());
  std::vector<DeclaredInput> inputs;
  std::map<std::string, Shape> shapes = options_.input_shapes;
  std::map<std::string, std::vector<std::string>> sequences;  // to their tensors
  std::map<std::string, const SmallType*> small;
  std::set<std::string> texts;
  const auto declare = [&](onnx::ValueInfoProto info) {
    if (is_text(info)) {
      texts.insert(info.name());
      info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
    }
    inputs.push_back(declared_input(info));
    small[info.name()] = small_type(info.type().tensor_type().elem_type());
  };
  const auto bind = [&](const std::string& name, ValueId id) {
    scope.values[name] = id;
    if (small.at(name) != nullptr) now_->small[id] = small.at(name);
    if (texts.contains(name)) now_->texts.insert(id);
  };
  for (onnx::ValueInfoProto info : model_.graph().input()) {
    if (initialized.contains(info.name())) continue;
    const std::string name = info.name();
    const onnx::TypeProto type = held_type(info);
    *info.mutable_type() = type.has_sequence_type() ? type.sequence_type().elem_type() : type;
    if (!type.has_sequence_type()) {
      declare(info);
      continue;
    }
    for (const std::string& item : sequences[name] = items_of_input(name)) {
      info.set_name(item);
      declare(info);
      inputs.back().dim_names.assign(inputs.back().dim_names.size(), "");  // each has its own sizes
    }
    shapes.erase(name);
  }
  for (const auto& [name, numbers] : options_.input_values) {
    ConstantPtr constant = take_given_input(name, numbers, inputs);
    const TensorDesc desc = constant->desc();
    bind(name, now_->graph.add_value(unique_value_name(name), desc, std::move(constant)));
    shapes.erase(name);
  }
  resolve_input_shapes(inputs, shapes);
  for (const DeclaredInput& input : inputs) {
    check_size(input.desc, "input '" + input.name + "'");
    budget_.add_value("input '" + input.name + "'");
    if (!value_names_.insert(input.name).second)
      throw Error(ExitCode::kModel, "is declared twice", "input '" + input.name + "'");
    const ValueId id = now_->graph.add_value(input.name, input.desc);
    bind(input.name, id);
    now_->graph.inputs.push_back(id);
  }
  for (const auto& [name, items] : sequences) {
    std::vector<ValueId> tensors;
    for (const std::string& item : items) tensors.push_back(scope.values.at(item));
    scope.compounds[name].items = std::move(tensors);
  }
}

void Importer::import_initializer(const std::string& name, ConstantPtr constant, std::int64_t type,
                                  Scope& scope) {
  if (scope.values.contains(name))
    throw Error(ExitCode::kModel, "is defined twice", "initializer '" + name + "'");
  const TensorDesc desc = constant->desc();
  scope.values[name] =
      now_->graph.add_value(unique_value_name(scope.prefix + name), desc, std::move(constant));
  if (const SmallType* small = small_type(type)) now_->small[scope.values[name]] = small;
  if (type == onnx::TensorProto::STRING) now_->texts.insert(scope.values[name]);
}

void Importer::import_sparse_initializers(const onnx::GraphProto& graph, Scope& scope) {
  for (const auto& sparse : graph.sparse_initializer())
    import_initializer(sparse.values().name(), tensors_.read(sparse), onnx::TensorProto::UNDEFINED,
                       scope);
}

/// Gives up each tensor that it has read.
void Importer::take_initializers(onnx::GraphProto& graph, Scope& scope) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    import_initializer(tensor.name(), tensors_.read(tensor), tensor.data_type(), scope);
    release_values(tensor);
  }
  import_sparse_initializers(graph, scope);
}

ValueId Importer::through_identity(ValueId from, const std::string& name) {
  const reference::OpDef* identity = reference::ops().find_onnx("", "Identity");
  AOE_CHECK(identity != nullptr, "there is no Identity operator");
  Node node;
  budget_.add_node("output '" + name + "'");
  std::string node_name = "Identity_" + name;
  while (!node_names_.insert(node_name).second)
    node_name = "Identity_" + name + "_" + std::to_string(++made_up_["Identity_" + name]);
  node.name = node_name;
  node.op = {.type = identity->type, .version = identity->versions.back()};
  node.inputs = {from};
  node.outputs = {now_->graph.add_value(unique_value_name(name), now_->graph.values[from].desc)};
  const ValueId result = node.outputs[0];
  if (now_->texts.contains(from)) now_->texts.insert(result);
  now_->inference.infer_node(now_->graph.add_node(std::move(node)));
  return result;
}

/// Every output becomes a value of its own, under its name and with a producer. A constant leaves its name to it.
void Importer::add_output(ValueId id, const std::string& name) {
  if (now_->graph.values[id].constant && now_->graph.values[id].name == name) {
    now_->graph.rename(id, unique_value_name(name));
    value_names_.erase(name);
  }
  if (now_->graph.values[id].producer == kNone || now_->graph.is_output(id)) {
    id = through_identity(id, name);
  } else if (now_->graph.values[id].name != name) {
    now_->graph.rename(id, unique_value_name(name));  // out of a branch or a function
  }
  now_->graph.outputs.push_back(id);
}

void Importer::import_outputs(Scope& scope) {
  for (const auto& info : model_.graph().output()) {
    const ValueId id = scope.find(info.name());
    const Compound* compound = scope.find_compound(info.name());
    if (id != kNone) {
      check_output_texts(info, id);
      add_output(id, info.name());
    } else if (compound == nullptr || !compound->is_sequence) {
      throw Error(ExitCode::kModel,
                  compound == nullptr
                      ? "is produced by no node"
                      : "is an optional that holds nothing, which no program can be given",
                  "output '" + info.name() + "'");
    } else if (compound->packed != kNone) {
      add_output(compound->packed, info.name() + "[]");
    } else {
      for (std::size_t i = 0; i < compound->items.size(); ++i)
        add_output(compound->items[i], item_name(info.name(), i));
    }
  }
}

/// A program that reads an output takes its type for granted, and asks for its shape: what a model declares wrongly
/// there (exporters that trace one input often do) is only told.
void Importer::check_outputs() const {
  for (const ValueId id : now_->graph.outputs) {
    const Value& value = now_->graph.values[id];
    const auto declaration = declared_.find(value.name);
    if (declaration == declared_.end()) continue;
    const TensorDesc &declared = declaration->second, &computed = value.desc;
    const std::string what = "it is declared " + desc_text(declared) + " and computed as " +
                             desc_text(computed),
                      where = "output '" + value.name + "'";
    if (declared.dtype != DataType::kUndefined && computed.dtype != DataType::kUndefined &&
        declared.dtype != computed.dtype)
      throw Error(ExitCode::kModel, "contradictory types: " + what, where);
    if (has_known_rank(declared) && has_known_rank(computed) &&
        contradict(declared.shape, computed.shape))
      logger("graph")->warn("{}: contradictory shapes: {}, which counts", where, what);
  }
}

void Importer::keep_out_nodes() {
  now_->graph.outputs.clear();
  for (const std::string& entry : options_.out_nodes) {
    const std::size_t colon = entry.rfind(':');
    const std::string node_name = entry.substr(0, colon);
    const std::string index = colon == std::string::npos ? "" : entry.substr(colon + 1);
    const auto node = std::ranges::find(now_->graph.nodes, node_name, &Node::name);
    const auto value = std::ranges::find(now_->graph.values, entry, &Value::name);
    if (node == now_->graph.nodes.end() && value != now_->graph.values.end() &&
        value->producer != kNone) {
      add_out_node(static_cast<ValueId>(value - now_->graph.values.begin()), entry);
      continue;
    }
    if (node == now_->graph.nodes.end())
      throw Error(ExitCode::kUsage, "the model has no node '" + node_name + "'", "--out_nodes",
                  "write it like --out_nodes=\"node_name:0\"");
    const bool is_number =
        !index.empty() && index.size() < 6 && std::ranges::all_of(index, ::isdigit);
    const std::size_t i = is_number ? std::stoul(index) : node->outputs.size();
    if (i >= node->outputs.size() || node->outputs[i] == kNone)
      throw Error(ExitCode::kUsage, "node '" + node_name + "' has no output '" + index + "'",
                  "--out_nodes", "it has " + std::to_string(node->outputs.size()));
    add_out_node(node->outputs[i], entry);
  }
}

void Importer::add_out_node(ValueId id, const std::string& entry) {
  if (now_->graph.is_output(id))
    throw Error(ExitCode::kUsage, "'" + entry + "' is given twice", "--out_nodes");
  now_->graph.outputs.push_back(id);
}

}  // namespace aoe::graph
