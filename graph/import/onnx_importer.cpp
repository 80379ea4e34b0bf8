// Importing nodes: operators, constants, and operators that are made of others.
#include "graph/import/onnx_importer.h"

#include <algorithm>

#include "base/error.h"
#include "base/words.h"
#include "graph/import/legacy_opset.h"
#include "graph/import/small_types.h"
#include "reference/texts/texts.h"

namespace aoe::graph {
namespace {

/// ONNX Runtime had some operators before ONNX did, in ONNX's own domain, and they took and did other things: models that it
/// wrote have them in operator sets before ONNX's. Here they are functions of its domain.
bool is_before_onnx(const std::string& type, int opset) {
  if (type == "MeanVarianceNormalization") return opset > 0 && opset < 9;
  return type == "LayerNormalization" && opset > 0 && opset < 17;
}

/// "" is how ONNX spells its own domain, "ai.onnx" is how some exporters do.
std::string canonical_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

bool has_subgraph(const onnx::NodeProto& proto) {
  return std::ranges::any_of(proto.attribute(),
                             [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
}

}  // namespace

std::map<std::string, int> opsets_of(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  std::map<std::string, int> opsets;
  for (const auto& import : imports)
    opsets[canonical_domain(import.domain())] = static_cast<int>(import.version());
  return opsets;
}

Importer::Importer(onnx::ModelProto& model, const std::filesystem::path& path,
                   const ImportOptions& options)
    : model_(model), path_(path), options_(options), tensors_(path, budget_, texts_) {
  for (const onnx::FunctionProto& function : model.functions())
    functions_[{canonical_domain(function.domain()), function.name()}] = &function;
  for (const auto* infos : {&model.graph().value_info(), &model.graph().output()})
    for (const auto& info : *infos)
      if (!info.type().has_sequence_type() && !info.type().has_optional_type() && !is_text(info))
        declared_[info.name()] = read_declaration(info);
}

Graph Importer::run() {
  Scope scope;
  scope.opsets = opsets_of(model_.opset_import());
  now_->graph.name = model_.graph().name();
  import_inputs(scope);
  take_initializers(*model_.mutable_graph(), scope);
  import_nodes(model_.graph().node(), scope);
  if (unsupported_count_ > 0) {
    std::string list = aoe::joined(unsupported_, ", ");
    if (unsupported_count_ > unsupported_.size())
      list += ", and " + std::to_string(unsupported_count_ - unsupported_.size()) + " more";
    throw Error(ExitCode::kModel,
                std::to_string(unsupported_count_) + " unsupported operator" +
                    (unsupported_count_ > 1 ? "s: " : ": ") + list,
                "", "replace them, or export the model another way");
  }
  import_outputs(scope);
  check_outputs();
  if (!options_.out_nodes.empty()) keep_out_nodes();
  tell_texts();
  return std::move(now_->graph);
}

void Importer::import_nodes(const Nodes& nodes, Scope& scope) {
  const auto is_known = [&](const std::string& name) {
    return scope.knows(name) || scope.absent.contains(name);
  };
  const auto reads_absent = [&](const onnx::NodeProto& node) {
    return !scope.absent.empty() && std::ranges::any_of(node.input(), [&](const auto& input) {
      return scope.absent.contains(input);
    });
  };
  for (const int i : order_nodes(nodes, is_known)) {
    if (!reads_absent(nodes[i])) {
      import_node(nodes[i], scope);
      continue;
    }
    onnx::NodeProto node = nodes[i];
    for (std::string& input : *node.mutable_input())
      if (scope.absent.contains(input)) input.clear();
    import_node(node, scope);
  }
}

void Importer::import_node(const onnx::NodeProto& proto, Scope& scope) {
  const bool is_named = !proto.name().empty() || proto.output_size() == 0;
  checked_.push_back({is_named ? proto.name() : proto.output(0), proto.op_type(), ""});
  try {
    import_any(proto, scope);
  } catch (const Error& error) {
    if (checked_.back().problem.empty()) checked_.back().problem = error.what();
    throw;
  }
}

void Importer::import_any(const onnx::NodeProto& proto, Scope& scope) {
  const std::string domain = canonical_domain(proto.domain());
  if (proto.output_size() == 0 && domain.empty() && proto.op_type() == "If")
    return;  // exporters leave some whose outputs nobody read
  if (proto.output_size() == 0) fail_node(proto, "has no output");
  const std::string where = "node " + describe(proto);
  budget_.add_node(where);
  budget_.add_operands(
      static_cast<std::size_t>(proto.input_size()) + static_cast<std::size_t>(proto.output_size()),
      where);
  if (const auto function = functions_.find({domain, proto.op_type()});
      function != functions_.end())
    return import_call(proto, *function->second, scope);
  if (domain.empty() && proto.op_type() == "Constant") return import_constant(proto, scope);
  const SmallType* small = small_input(proto, scope);
  unsigned text_outputs = 0;
  try {
    if (domain.empty() && (import_text_cast(proto, scope) || import_text_unique(proto, scope)))
      return;
    text_outputs = find_text_outputs(proto, domain, scope);
    check_pool(proto, scope);
    if (import_small(proto, scope)) return;
    if (small != nullptr)
      check_small(proto, reference::ops().find_onnx(domain, proto.op_type()), *small, scope);
    if (domain.empty() && proto.op_type() == "If") return import_branch(proto, scope);
    if (domain.empty() && proto.op_type() == "Loop") return import_loop(proto, scope);
    if (domain.empty() && proto.op_type() == "Scan") return import_scan(proto, scope);
    if (domain.empty() && import_compound(proto, scope)) return;
    if (domain == "ai.onnx.preview" && proto.op_type() == "FlexAttention")
      return import_flex_attention(proto, scope);
    const bool is_old = domain.empty() && is_before_onnx(proto.op_type(), scope.opset_of(""));
    const Function* function = functions().find(is_old ? kMicrosoft : domain, proto.op_type());
    if (function != nullptr) {
      import_parts(proto, *function, scope);
      return mark_texts(proto, text_outputs, scope);
    }
  } catch (const NotExpressible& why) {
    if (!reads_unknown(proto, scope)) note_unsupported(proto, scope, ": " + why.reason);
    return bind_unknown_outputs(proto, scope);
  }
  import_operator(proto, small, text_outputs, scope);
}

/// An operator that the engine knows.
void Importer::import_operator(const onnx::NodeProto& proto, const SmallType* small,
                               unsigned text_outputs, Scope& scope) {
  const std::string domain = canonical_domain(proto.domain());
  int version = 0;
  const reference::OpDef* def = find_operator(proto, scope, version);
  if (def == nullptr) return bind_unknown_outputs(proto, scope);
  // Each operand of a sum is an addition, and those of others are not less work.
  constexpr int kMostUsual = 3;
  if (def->kind == reference::OpKind::kElementwise && proto.input_size() > kMostUsual)
    budget_.add_nodes(static_cast<std::size_t>(proto.input_size() - kMostUsual),
                      "node " + describe(proto));
  Node node;
  node.name = unique_node_name(proto, scope);
  node.op = {
      .type = def->type, .version = version, .attrs = read_attributes(proto, scope.call, tensors_)};
  node.origins = {node.name};
  for (const std::string& input : proto.input()) {
    if (scope.find_compound(input) != nullptr)
      fail_node(proto,
                "reads '" + input +
                    "', which is no tensor but a sequence or an optional that holds nothing");
    node.inputs.push_back(input.empty() ? kNone : scope.find(input));
  }
  while (!node.inputs.empty() && node.inputs.back() == kNone) node.inputs.pop_back();
  if (domain.empty() && scope.opset_of(domain) < kOldestOpset)
    upgrade_node(now_->graph, node, proto.op_type());
  for (const std::string& output : proto.output())
    node.outputs.push_back(output.empty() ? kNone : declare(output, scope));
  if (small != nullptr && def->kind == reference::OpKind::kMove)
    for (const ValueId output : node.outputs)
      if (output != kNone) now_->small[output] = small;
  mark_texts(proto, text_outputs, scope);
  if (node.op.attrs.has("pool_strings")) place_pool(node);
  const NodeId id = now_->graph.add_node(std::move(node));
  now_->inference.infer_node(id);
  if (reference::reads_texts(def->type)) {
    count_expressions(id);
    fold_texts(id);
  }
}

const reference::OpDef* Importer::find_operator(const onnx::NodeProto& proto, const Scope& scope,
                                                int& version) {
  const std::string domain = canonical_domain(proto.domain());
  const reference::OpDef* def = reference::ops().find_onnx(domain, proto.op_type());
  if (def == nullptr || has_subgraph(proto)) {
    const bool is_search =
        domain == "com.microsoft" && has_subgraph(proto);  // BeamSearch and its like
    note_unsupported(proto, scope,
                     is_search ? ", which has a decoder inside: export that by itself, and choose "
                                 "its words in the program"
                               : "");
    return nullptr;
  }
  const auto opset = scope.opsets.find(domain);
  // As functions of this domain, it has one version, and models that do not say so run elsewhere.
  if (opset == scope.opsets.end() && domain == "com.microsoft") {
    version = def->versions.back();
    return def;
  }
  if (opset == scope.opsets.end())
    fail_node(proto, "belongs to operator set '" + domain + "', which the model does not import");
  // What upgrade_node() brings to the oldest opset we know is read as that.
  const int reached = domain.empty() ? std::max(opset->second, kOldestOpset) : opset->second;
  const auto above = std::ranges::upper_bound(def->versions, reached);
  if (above == def->versions.begin()) {
    note_unsupported(proto, scope, ", known from " + std::to_string(def->versions.front()));
    return nullptr;
  }
  version = *(above - 1);
  return def;
}

void Importer::note_unsupported(const onnx::NodeProto& proto, const Scope& scope,
                                const std::string& why) {
  const std::string domain = canonical_domain(proto.domain());
  const auto opset = scope.opsets.find(domain);
  const std::string version = opset == scope.opsets.end() ? "?" : std::to_string(opset->second);
  const std::string name = describe(proto);
  checked_.back().problem = "unsupported operator, opset " + version + why;
  constexpr std::size_t kMostListed = 100;
  if (++unsupported_count_ > kMostListed) return;
  unsupported_.push_back("node " + name.substr(0, name.size() - 1) + ", opset " + version + why +
                         ")");
}

/// Whether it stands behind an unsupported node, and may be none itself.
bool Importer::reads_unknown(const onnx::NodeProto& proto, const Scope& scope) const {
  return unsupported_count_ > 0 && std::ranges::any_of(proto.input(), [&](const auto& name) {
           const ValueId id = name.empty() ? kNone : scope.find(name);
           return id != kNone && now_->graph.values[id].desc.dtype == DataType::kUndefined;
         });
}

/// Importing goes on behind an unsupported node, to find all of them.
void Importer::bind_unknown_outputs(const onnx::NodeProto& proto, Scope& scope) {
  for (const std::string& output : proto.output())
    if (!output.empty())
      scope.values[output] =
          now_->graph.add_value(unique_value_name(output), {.shape = kUnknownRankShape});
}

void Importer::import_constant(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.output_size() != 1) fail_node(proto, "needs one output");
  ConstantPtr constant = read_constant_node(proto, scope.call, tensors_, texts_);
  const TensorDesc desc = constant->desc();
  const ValueId id = now_->graph.add_value(unique_value_name(scope.prefix + proto.output(0)), desc,
                                           std::move(constant));
  scope.values[proto.output(0)] = id;
  if (holds_texts(proto, scope.call)) now_->texts.insert(id);
  for (const auto& own : proto.attribute())
    if (const onnx::AttributeProto* value = resolve(own, scope.call))
      if (const SmallType* small = small_type(value->t().data_type())) now_->small[id] = small;
}

Node Importer::call_node(const onnx::NodeProto& proto, Scope& scope) {
  Node node{.name = unique_node_name(proto, scope),
            .op = {.type = proto.op_type(), .attrs = read_attributes(proto, scope.call, tensors_)}};
  node.origins = {node.name};
  for (const std::string& input : proto.input())
    node.inputs.push_back(input.empty() ? kNone : scope.find(input));
  for (const std::string& output : proto.output())
    node.outputs.push_back(output.empty() ? kNone : 0);
  return node;
}

FunctionSite Importer::function_site() {
  return {
      .graph = now_->graph,
      .inference = now_->inference,
      .node_name = [this](const std::string& stem) { return unique_part_name(stem); },
      .value_name = [this](const std::string& stem) { return unique_value_name(stem); },
      .add_bytes = [this](std::size_t bytes,
                          const std::string& node) { budget_.add_bytes(bytes, "node " + node); },
      .shared = now_->shared,
      .texts = &texts_,
      .text_values = &now_->texts,
      .small = &now_->small};
}

FunctionCall Importer::function_call(const onnx::NodeProto& proto, Scope& scope) {
  return {function_site(), call_node(proto, scope)};
}

/// A node that the engine knows as several others.
void Importer::import_parts(const onnx::NodeProto& proto, const Function& function, Scope& scope) {
  // What is not ONNX's own has one version, and models that do not say so run elsewhere.
  if (function.domain.empty() && !scope.opsets.contains(""))
    fail_node(proto, "belongs to operator set '', which the model does not import");
  const Node node = call_node(proto, scope);
  FunctionCall call(function_site(), node);
  try {
    function.expand(call);
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    fail_node(proto, error.what());
  }
  for (std::size_t i = call.inputs_asked_for(); i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNone)
      fail_node(proto, "has an input " + std::to_string(i) + ", which this engine does not know");
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const auto given = call.given().find(static_cast<std::size_t>(i));
    if (given == call.given().end())
      fail_node(proto,
                "has an output " + std::to_string(i) + ", which this engine does not compute");
    scope.values[proto.output(i)] = given->second;
  }
}

ValueId Importer::declare(const std::string& name, Scope& scope) {
  TensorDesc desc{.shape = kUnknownRankShape};
  const bool is_main = scope.parent == nullptr && scope.prefix.empty();
  if (const auto found = declared_.find(name); is_main && found != declared_.end())
    desc = found->second;
  const ValueId id = now_->graph.add_value(unique_value_name(scope.prefix + name), desc);
  scope.values[name] = id;
  return id;
}

std::string Importer::unique_value_name(const std::string& name) {
  budget_.add_value("value '" + name + "'");
  std::string unique = name;
  while (!value_names_.insert(unique).second)
    unique = name + "_" + std::to_string(1 + ++repeated_[name]);
  budget_.add_name(unique);
  return unique;
}

/// Of a node that stands for a part of another.
std::string Importer::unique_part_name(const std::string& stem) {
  budget_.add_node("node " + stem);
  std::string unique = stem;
  while (!node_names_.insert(unique).second) unique = stem + "_" + std::to_string(++made_up_[stem]);
  budget_.add_name(unique);
  return unique;
}

std::string Importer::unique_node_name(const onnx::NodeProto& proto, const Scope& scope) {
  const std::string base = scope.prefix + (proto.name().empty() ? proto.op_type() : proto.name());
  std::string unique = base;
  if (proto.name().empty()) unique += "_" + std::to_string(made_up_[base]++);
  while (!node_names_.insert(unique).second) unique = base + "_" + std::to_string(made_up_[base]++);
  budget_.add_name(unique);
  return unique;
}

}  // namespace aoe::graph
