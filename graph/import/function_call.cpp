// The registry, and how the parts of a call come into the graph.
#include "graph/import/function_call.h"

#include <algorithm>
#include <numeric>

#include "all_functions.inc"
#include "base/check.h"
#include "base/error.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {

void FunctionRegistry::add(Function function) {
  const auto key = std::pair(function.domain, function.type);
  AOE_CHECK(functions_.emplace(key, std::move(function)).second, key.second + " is defined twice");
}

const Function* FunctionRegistry::find(const std::string& domain, const std::string& type) const {
  const auto found = functions_.find({domain, type});
  return found == functions_.end() ? nullptr : &found->second;
}

std::vector<const Function*> FunctionRegistry::all() const {
  std::vector<const Function*> list;
  for (const auto& [key, function] : functions_) list.push_back(&function);
  return list;
}

const FunctionRegistry& functions() {
  static const FunctionRegistry registry = [] {
    FunctionRegistry filled;
    register_all_functions(filled);
    return filled;
  }();
  return registry;
}

Term operator+(Term a, Term b) {
  return a.call->op("Add", {a, b});
}
Term operator-(Term a, Term b) {
  return a.call->op("Sub", {a, b});
}
Term operator*(Term a, Term b) {
  return a.call->op("Mul", {a, b});
}
Term operator/(Term a, Term b) {
  return a.call->op("Div", {a, b});
}
Term operator+(Term a, double b) {
  return b == 0 ? a : a + a.call->number(b, a.call->dtype(a));
}
Term operator*(Term a, double b) {
  return b == 1 ? a : a * a.call->number(b, a.call->dtype(a));
}

std::int64_t FunctionCall::count_attr(const std::string& name) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const std::int64_t count = attrs().get_int(name, 0);
  if (count < 1 || count > kMost)
    throw Error(
        ExitCode::kModel,
        "its " + name + " is " + std::to_string(count) + ", needs 1 to " + std::to_string(kMost),
        "node " + node_.name);
  return count;
}

bool FunctionCall::has(std::size_t input) const {
  inputs_asked_for_ = std::max(inputs_asked_for_, input + 1);
  return input < node_.inputs.size() && node_.inputs[input] != kNone;
}

Term FunctionCall::input(std::size_t i) {
  if (!has(i))
    throw Error(ExitCode::kModel, "has no input " + std::to_string(i), "node " + node_.name);
  return {this, node_.inputs[i]};
}

bool FunctionCall::wants(std::size_t output) const {
  return output < node_.outputs.size() && node_.outputs[output] != kNone;
}

void FunctionCall::give(std::size_t output, Term value) {
  given_[output] = value.id;
}

std::vector<std::int64_t> FunctionCall::places(const std::vector<std::string>& texts) {
  if (site_.texts == nullptr) throw NotExpressible{"it knows texts"};
  return site_.texts->places_of(texts);
}

bool FunctionCall::is_text(Term value) const {
  return site_.text_values != nullptr && site_.text_values->contains(value.id);
}

void FunctionCall::mark_as_text(Term value) {
  AOE_CHECK(site_.text_values != nullptr, "texts where there are none");
  site_.text_values->insert(value.id);
}

bool FunctionCall::is_small(Term value) const {
  return site_.small != nullptr && site_.small->contains(value.id);
}

const Shape& FunctionCall::shape(Term value) const {
  const TensorDesc& desc = site_.graph.values[value.id].desc;
  if (!has_known_rank(desc))
    throw NotExpressible{"the rank of an input is known only when it runs"};
  return desc.shape;
}

std::int64_t FunctionCall::dim_if_known(Term value, std::int64_t axis) const {
  const Shape& dims = shape(value);
  const auto at = axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis;
  if (at < 0 || at >= static_cast<std::int64_t>(dims.size()))
    throw Error(
        ExitCode::kModel,
        "an input has the shape " + to_string(dims) + ", which has no axis " + std::to_string(axis),
        "node " + node_.name);
  return dims[static_cast<std::size_t>(at)];
}

std::int64_t FunctionCall::dim(Term value, std::int64_t axis) const {
  if (is_open(value, axis))
    throw NotExpressible{"a dimension that it is taken apart by is known only when it runs"};
  return dim_if_known(value, axis);
}

bool FunctionCall::is_open(Term value, std::int64_t axis) const {
  return dim_if_known(value, axis) < 0;
}

DataType FunctionCall::dtype(Term value) const {
  const DataType dtype = site_.graph.values[value.id].desc.dtype;
  if (dtype == DataType::kUndefined)
    throw NotExpressible{"the element type of an input is known only when it runs"};
  return dtype;
}

ConstantPtr FunctionCall::known(Term value) const {
  return site_.inference.known_value(value.id);
}

std::vector<std::int64_t> FunctionCall::known_ints(Term value) const {
  const ConstantPtr constant = known(value);
  if (!constant) throw NotExpressible{"sizes that it is given are known only when it runs"};
  const DataType type = constant->desc().dtype;
  if (type != DataType::kInt32 && type != DataType::kInt64)
    throw Error(ExitCode::kModel,
                "an input is " + to_string(constant->desc()) + ", needs int32 or int64",
                "node " + node_.name);
  return to_ints(*constant);
}

std::int64_t FunctionCall::known_int(Term value) const {
  const std::vector<std::int64_t> numbers = known_ints(value);
  if (numbers.size() != 1)
    throw Error(ExitCode::kModel,
                "an input has " + std::to_string(numbers.size()) + " numbers, needs one",
                "node " + node_.name);
  return numbers.front();
}

Node FunctionCall::part(const std::string& onnx_type, const std::vector<Term>& inputs,
                        reference::Attrs attrs) {
  Node node{.name = site_.node_name(node_.name + "/" + onnx_type),
            .op = {.type = onnx_type, .attrs = std::move(attrs)},
            .origins = node_.origins};
  for (const Term& input : inputs) node.inputs.push_back(input.id);
  while (!node.inputs.empty() && node.inputs.back() == kNone) node.inputs.pop_back();
  return node;
}

Term FunctionCall::op(const std::string& onnx_type, const std::vector<Term>& inputs,
                      reference::Attrs attrs) {
  return ops(onnx_type, inputs, std::move(attrs), 1).front();
}

std::vector<Term> FunctionCall::ops(const std::string& onnx_type, const std::vector<Term>& inputs,
                                    reference::Attrs attrs, std::size_t outputs) {
  std::vector<Term> results;
  Node node = part(onnx_type, inputs, std::move(attrs));
  if (const Function* function = functions().find("", onnx_type)) {
    node.outputs.assign(outputs, 0);
    FunctionCall inner(site_, node);
    function->expand(inner);
    for (std::size_t i = 0; i < outputs; ++i) results.push_back({this, inner.given().at(i)});
    return results;
  }
  const reference::OpDef* def = reference::ops().find_onnx("", onnx_type);
  if (def == nullptr) def = reference::ops().find(onnx_type);
  AOE_CHECK(def != nullptr, "there is no operator " + onnx_type);
  node.op.type = def->type;
  node.op.version = def->versions.back();
  for (std::size_t i = 0; i < outputs; ++i) {
    const std::string stem = node.name + (outputs > 1 ? ":" + std::to_string(i) : "");
    node.outputs.push_back(
        site_.graph.add_value(site_.value_name(stem), {.shape = kUnknownRankShape}));
    results.push_back({this, node.outputs.back()});
  }
  if (def->kind == reference::OpKind::kMove && !inputs.empty() && is_text(inputs.front()))
    for (const Term& result : results) mark_as_text(result);
  site_.inference.infer_node(site_.graph.add_node(std::move(node)));
  return results;
}

Term FunctionCall::constant(ConstantPtr value) {
  site_.add_bytes(value->size_bytes(), node_.name);
  return counted_constant(std::move(value));
}

Term FunctionCall::counted_constant(ConstantPtr value) {
  const TensorDesc desc = value->desc();
  const std::string name = site_.value_name(node_.name + "/constant");
  return {this, site_.graph.add_value(name, desc, std::move(value))};
}

Term FunctionCall::number(double value, DataType dtype) {
  const TensorDesc desc{.dtype = DataType::kDouble};
  const auto given = std::make_shared<Constant>(desc, &value);
  auto scalar = std::make_shared<Constant>(TensorDesc{.dtype = dtype});
  const Tensor from = given->view(), to = {scalar->desc(), scalar->mutable_data()};
  reference::Attrs attrs;
  attrs.set("to", reference::onnx_number(dtype));
  reference::run(call_of("Cast", attrs), std::span(&from, 1), std::span(&to, 1));
  return constant(std::move(scalar));
}

Term FunctionCall::ints(const std::vector<std::int64_t>& values) {
  const TensorDesc desc{.dtype = DataType::kInt64,
                        .shape = {static_cast<std::int64_t>(values.size())}};
  return constant(std::make_shared<Constant>(desc, values.data()));
}

Term FunctionCall::numbered(std::int64_t count) {
  const TensorDesc desc{.dtype = DataType::kInt64, .shape = {count}};
  site_.add_bytes(storage_bytes(desc), node_.name);  // before there are as many
  auto list = std::make_shared<Constant>(desc);
  auto* to = static_cast<std::int64_t*>(list->mutable_data());
  std::iota(to, to + count, std::int64_t{0});
  return counted_constant(std::move(list));
}

Term FunctionCall::size_along(Term value, std::int64_t axis) {
  if (!is_open(value, axis)) return ints({dim(value, axis)});
  const std::int64_t at = axis < 0 ? axis + rank(value) : axis;
  return slice(op("Shape", {value}), 0, at, at + 1);
}

Term FunctionCall::places_along(Term value, std::int64_t axis) {
  if (!is_open(value, axis)) return numbered(dim(value, axis));
  const Term size = op("Squeeze", {size_along(value, axis), ints({0})});
  return op("Range", {number(0, DataType::kInt64), size, number(1, DataType::kInt64)});
}

Term FunctionCall::floats(const Shape& shape, const std::vector<float>& values) {
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = shape};
  AOE_CHECK(element_count(shape) == static_cast<std::int64_t>(values.size()),
            "floats of another shape");
  return constant(std::make_shared<Constant>(desc, values.data()));
}

Term FunctionCall::shared(const std::string& key, const std::function<Term()>& make) {
  const auto made = site_.shared.find(key);
  if (made != site_.shared.end()) return {this, made->second};
  const Term term = make();
  site_.shared[key] = term.id;
  return term;
}

Term FunctionCall::reals(DataType dtype, const Shape& shape, const std::vector<double>& values) {
  AOE_CHECK(element_count(shape) == static_cast<std::int64_t>(values.size()),
            "numbers of another shape");
  const TensorDesc desc{.dtype = dtype, .shape = shape};
  if (dtype == DataType::kDouble) return constant(std::make_shared<Constant>(desc, values.data()));
  AOE_CHECK(dtype == DataType::kFloat, "reals() of " + std::string(name(dtype)));
  return floats(shape, {values.begin(), values.end()});
}

Term FunctionCall::cast(Term value, DataType to) {
  if (dtype(value) == to) return value;
  reference::Attrs attrs;
  attrs.set("to", reference::onnx_number(to));
  return op("Cast", {value}, attrs);
}

Term FunctionCall::reshape(Term value, const std::vector<std::int64_t>& dims) {
  return op("Reshape", {value, ints(dims)});
}

Term FunctionCall::transpose(Term value, const std::vector<std::int64_t>& perm) {
  reference::Attrs attrs;
  attrs.set("perm", perm);
  return op("Transpose", {value}, attrs);
}

Term FunctionCall::slice(Term value, std::int64_t axis, std::int64_t begin, std::int64_t end,
                         std::int64_t step) {
  return op("Slice", {value, ints({begin}), ints({end}), ints({axis}), ints({step})});
}

Term FunctionCall::concat(const std::vector<Term>& parts, std::int64_t axis) {
  if (parts.size() == 1) return parts.front();
  return op("Concat", parts, with_axis(axis));
}

reference::Attrs with_axis(std::int64_t axis) {
  reference::Attrs attrs;
  attrs.set("axis", axis);
  return attrs;
}

bool replace_by_parts(Graph& graph, NodeId id, const std::function<void(FunctionCall&)>& expand) {
  const Node node = graph.nodes[id];
  auto part = static_cast<NodeId>(graph.nodes.size());
  ShapeInference inference(graph);
  const auto unused = [&](const std::string& stem) { return graph.unused_name(stem); };
  std::map<std::string, ValueId> shared;
  FunctionCall call(
      {graph, inference, unused, unused, [](std::size_t, const std::string&) {}, shared}, node);
  try {
    expand(call);
  } catch (const NotExpressible&) {  // it stays what it is
    for (; part < static_cast<NodeId>(graph.nodes.size()); ++part) graph.remove_node(part);
    return false;
  }
  graph.remove_node(id);
  for (const auto& [output, value] : call.given()) {
    const ValueId to = node.outputs[output];
    graph.add_node({.name = output == 0 ? node.name : graph.values[to].name,
                    .op = call_of("Identity"),
                    .inputs = {value},
                    .outputs = {to},
                    .origins = node.origins});
  }
  return true;
}

}  // namespace aoe::graph
