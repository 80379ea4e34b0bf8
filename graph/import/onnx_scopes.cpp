// Where names are looked up, and what is read in a scope of its own: a branch of If, a body, a call of a model-local function.
#include "base/error.h"
#include "graph/import/onnx_importer.h"

namespace aoe::graph {
namespace {

/// Functions may call functions, but not themselves; a model that does is stopped here.
constexpr int kDeepestCall = 64;

}  // namespace

const onnx::GraphProto* subgraph(const onnx::NodeProto& proto, const std::string& name) {
  for (const auto& attribute : proto.attribute())
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  return nullptr;
}

ValueId Importer::Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent)
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return found->second;
  return kNone;
}

const Importer::Compound* Importer::Scope::find_compound(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    if (scope->values.contains(name)) return nullptr;
    if (const auto found = scope->compounds.find(name); found != scope->compounds.end())
      return &found->second;
  }
  return nullptr;
}

bool Importer::Scope::bind(const std::string& name, const std::string& from, const Scope& other) {
  if (const Compound* compound = other.find_compound(from)) {
    compounds[name] = Compound(*compound);
    return true;
  }
  const ValueId value = other.find(from);
  if (value != kNone) values[name] = value;
  return value != kNone;
}

void Importer::import_branch(const onnx::NodeProto& proto, Scope& scope) {
  const ValueId condition = proto.input_size() == 1 ? scope.find(proto.input(0)) : kNone;
  const ConstantPtr value = condition == kNone ? nullptr : now_->inference.known_value(condition);
  if (!value || value->desc().dtype != DataType::kBool || value->size_bytes() != 1)
    return import_runtime_if(proto, scope);
  const bool is_true = *static_cast<const unsigned char*>(value->data()) != 0;
  const onnx::GraphProto* branch = subgraph(proto, is_true ? "then_branch" : "else_branch");
  if (branch == nullptr || branch->output_size() < proto.output_size())
    fail_node(proto, "has no branch with its outputs");
  Scope inner = inner_scope(proto, *branch, scope);
  import_body(*branch, inner);
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& result = branch->output(i).name();
    if (!inner.knows(result))
      fail_node(proto, "has a branch whose output '" + result + "' nothing produces");
    if (!proto.output(i).empty()) scope.bind(proto.output(i), result, inner);
  }
}

Importer::Scope Importer::inner_scope(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                                      const Scope& scope) {
  if (scope.depth >= kDeepestCall) fail_node(proto, "is nested too deeply");
  budget_.add_bytes(body.SpaceUsedLong(), "node " + describe(proto));
  return scope.nested();
}

void Importer::import_body(const onnx::GraphProto& body, Scope& inner) {
  for (const onnx::TensorProto& tensor : body.initializer())
    import_initializer(tensor.name(), tensors_.read(tensor), tensor.data_type(), inner);
  import_sparse_initializers(body, inner);
  import_nodes(body.node(), inner);
}

void Importer::import_call(const onnx::NodeProto& proto, const onnx::FunctionProto& function,
                           Scope& scope) {
  if (scope.depth >= kDeepestCall)
    fail_node(proto, "calls functions too deeply; does one call itself?");
  budget_.add_bytes(bytes_of(function), "node " + describe(proto));
  Scope body;
  body.prefix = unique_node_name(proto, scope) + "/";
  body.opsets = opsets_of(function.opset_import());
  if (body.opsets.empty()) body.opsets = scope.opsets;
  body.depth = scope.depth + 1;
  for (const auto& attribute : proto.attribute())
    if (const onnx::AttributeProto* resolved = resolve(attribute, scope.call))
      body.call[attribute.name()] = resolved;
  for (int i = 0; i < function.input_size(); ++i) {
    const bool is_given = i < proto.input_size() && !proto.input(i).empty();
    if (is_given) body.bind(function.input(i), proto.input(i), scope);
  }
  // An input that the call leaves out is no name in the body: its readers read "".
  for (const std::string& input : function.input())
    if (!body.knows(input)) body.absent.insert(input);
  import_nodes(function.node(), body);
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    if (i >= function.output_size() || !scope.bind(proto.output(i), function.output(i), body))
      fail_node(proto, "calls a function that does not produce its output " + std::to_string(i));
  }
}

std::size_t Importer::bytes_of(const onnx::FunctionProto& function) {
  const auto [at, is_new] = function_bytes_.try_emplace(&function, 0);
  if (is_new) at->second = function.SpaceUsedLong();
  return at->second;
}

}  // namespace aoe::graph
