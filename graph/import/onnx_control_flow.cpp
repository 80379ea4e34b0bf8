// Importing If, Loop and Scan that only a run can decide: nodes with bodies (onnx_bodies.cpp).
#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "graph/import/onnx_body_plan.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool is_true(const ConstantPtr& value) {
  return value && value->desc().dtype == DataType::kBool && value->size_bytes() == 1 &&
         *static_cast<const unsigned char*>(value->data()) != 0;
}

/// The value that nodes which pass it on have taken from.
ValueId origin_of(const Graph& graph, ValueId value) {
  for (;;) {
    const NodeId producer = graph.values[value].producer;
    if (producer == kNone || !is_type(graph.nodes[producer], "Identity")) return value;
    value = graph.nodes[producer].inputs[0];
  }
}

std::size_t axis_at(const std::vector<std::int64_t>& axes, std::size_t i, std::size_t rank,
                    const onnx::NodeProto& proto) {
  std::int64_t axis = i < axes.size() ? axes[i] : 0;
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
    fail_node(proto, "scans along an axis that is not there");
  return static_cast<std::size_t>(axis);
}

/// What a node collects of an output of its body, one a trip.
TensorDesc collected(TensorDesc each, std::size_t axis, std::int64_t trips) {
  each.shape.insert(each.shape.begin() + static_cast<std::ptrdiff_t>(axis), trips);
  return each;
}

const TensorDesc& with_known_rank(const TensorDesc& desc, const std::string& what) {
  if (has_known_rank(desc)) return desc;
  throw NotExpressible{"the rank of what it " + what + " is known only when it runs"};
}

}  // namespace

/// Types and shapes of the outputs are settled; inputs of the bodies that lie around the node follow its own.
void Importer::add_control_node(const onnx::NodeProto& proto, std::vector<BodyPlan> plans,
                                const std::vector<TensorDesc>& outputs, Scope& scope,
                                const std::vector<ValueId>& carried) {
  if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
  Node node = call_node(proto, scope);
  std::ranges::copy(carried, node.inputs.end() - std::ssize(carried));
  const reference::OpDef* def = reference::ops().find_onnx("", proto.op_type());
  node.op.type = def->type;
  node.op.version = def->versions.back();
  std::vector<std::int64_t> counts;
  for (BodyPlan& plan : plans) {
    counts.push_back(static_cast<std::int64_t>(plan.captures.size()));
    node.inputs.insert(node.inputs.end(), plan.captures.begin(), plan.captures.end());
    node.bodies.push_back(std::make_shared<const Graph>(std::move(plan.built->graph)));
  }
  node.op.attrs.set("captures", counts);
  node.outputs.clear();
  const std::set<std::size_t> texts = std::move(plans.front().texts);
  // The first output of a Loop's body is no output of the Loop.
  const std::size_t first = node.bodies.front()->outputs.size() - outputs.size();
  const auto give = [&](ValueId id) {
    const std::size_t i = node.outputs.size();
    if (id != kNone) now_->graph.values[id].desc = outputs[i];
    if (id != kNone && texts.contains(first + i)) now_->texts.insert(id);
    node.outputs.push_back(id);
    return id;
  };
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    const std::optional<std::size_t> length = plans.front().lengths[static_cast<std::size_t>(i)];
    if (!length) {
      give(name.empty() ? kNone : declare(name, scope));
      continue;
    }
    std::vector<ValueId> items;
    for (std::size_t item = 0; item < *length; ++item)
      items.push_back(give(now_->graph.add_value(unique_value_name(scope.prefix + name), {})));
    if (!name.empty()) scope.compounds[name].items = std::move(items);
  }
  now_->graph.add_node(std::move(node));
}

void Importer::import_runtime_if(const onnx::NodeProto& proto, Scope& scope) {
  const onnx::GraphProto *then_branch = subgraph(proto, "then_branch"),
                         *else_branch = subgraph(proto, "else_branch");
  for (const onnx::GraphProto* branch : {then_branch, else_branch})
    if (branch == nullptr || branch->output_size() != proto.output_size())
      fail_node(proto, "has no branch with its outputs");
  std::string why_no_then, why_no_else;
  const auto build = [&](const Packing& packing) {
    return std::pair(build_branch(proto, *then_branch, scope, packing, why_no_then),
                     build_branch(proto, *else_branch, scope, packing, why_no_else));
  };
  auto [then_plan, else_plan] = build({});
  Packing packing;
  if (then_plan && else_plan && unsupported_count_ == 0) {
    packing = then_plan->packing_with(*else_plan);
    if (!packing.outputs.empty() || !packing.optionals.empty())
      std::tie(then_plan, else_plan) = build(packing);
  }
  if (!then_plan && !else_plan) throw Error(ExitCode::kModel, why_no_then);
  if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
  if (!then_plan) then_plan = refusing_branch(*else_plan, why_no_then);
  if (!else_plan) else_plan = refusing_branch(*then_plan, why_no_else);
  if (packing.optionals.empty() && !(then_plan->optionals.empty() && else_plan->optionals.empty()))
    throw NotExpressible{"one of its branches cannot run, the other gives an empty optional"};
  const std::string why = why_no_then + why_no_else;
  if (!why.empty())
    logger("graph")->warn(
        "node {}: a branch cannot run, and ends a run that takes it; --input_value for the input "
        "that decides leaves it out: {}",
        describe(proto), why);
  std::vector<BodyPlan> plans;
  plans.push_back(std::move(*then_plan));
  plans.push_back(std::move(*else_plan));
  if (plans[0].lengths != plans[1].lengths)
    throw NotExpressible{"its branches give a sequence and a tensor"};
  if (plans[0].texts != plans[1].texts) throw NotExpressible{"its branches give texts and numbers"};
  std::vector<TensorDesc> outputs;
  for (int i = 0; i < proto.output_size(); ++i)
    for (std::size_t left = plans[0].lengths[static_cast<std::size_t>(i)].value_or(1); left > 0;
         --left)
      outputs.push_back(joined(plans[0].output(outputs.size()), plans[1].output(outputs.size()),
                               "output '" + proto.output(i) + "' of its branches"));
  ItemsByPlace packed = plans[0].packed;
  for (auto& [output, item] : packed) item = joined_item(item, plans[1].packed.at(output));
  add_control_node(proto, std::move(plans), outputs, scope);
  bind_packed(proto, packed, scope);
  for (const std::size_t i : packing.optionals)
    if (const std::string& name = proto.output(static_cast<int>(i)); !name.empty())
      scope.compounds.at(name).is_sequence = false;
}

/// Outputs of a node that are packed sequences, and no tensors.
void Importer::bind_packed(const onnx::NodeProto& proto, const ItemsByPlace& outputs,
                           Scope& scope) {
  for (const auto& [output, item] : outputs) {
    const std::string& name = proto.output(static_cast<int>(output));
    if (name.empty() || unsupported_count_ > 0) continue;
    scope.compounds[name] = {.packed = scope.values.at(name), .item = item};
    scope.values.erase(name);
  }
}

void Importer::import_loop(const onnx::NodeProto& proto, Scope& scope) {
  const onnx::GraphProto* body = subgraph(proto, "body");
  if (body == nullptr || body->input_size() < 2 || proto.input_size() != body->input_size() ||
      body->output_size() < body->input_size() - 1 || proto.output_size() > body->output_size() - 1)
    fail_node(proto, "has no body with its inputs and outputs");
  Packing packing;
  for (int i = 2; i < proto.input_size(); ++i)
    if (scope.find_compound(proto.input(i)) != nullptr) {
      packing.inputs[static_cast<std::size_t>(i)];
      packing.outputs.insert(static_cast<std::size_t>(i - 1));
    }
  if (!packing.inputs.empty()) {
    try {
      return import_unrolled_loop(proto, *body, scope);
    } catch (const NotExpressible&) {  // its trips are counted when it runs
    }
  }
  const auto carried = static_cast<std::size_t>(body->input_size() - 2);
  const std::vector<ValueId> starts_with = carried_values(proto, packing, scope);
  std::vector<TensorDesc> inputs = {{.dtype = DataType::kInt64}, {.dtype = DataType::kBool}};
  for (const ValueId value : starts_with) inputs.push_back(now_->graph.values[value].desc);
  std::vector<BodyPlan> plans;
  try {
    plans.push_back(settle_body(proto, *body, inputs, 2, carried, 1, scope, packing));
  } catch (const NothingInCommon& why) {
    try {
      return import_unrolled_loop(proto, *body, scope);
    } catch (const NotExpressible&) {  // its trips are counted when it runs
      throw NotExpressible{why.reason};
    }
  }
  if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
  const BodyPlan& plan = plans.front();
  const std::int64_t trips = known_trips(proto, plan, scope);
  std::vector<TensorDesc> outputs(inputs.begin() + 2, inputs.end());
  for (std::size_t i = 1 + carried; i < plan.built->graph.outputs.size(); ++i)
    outputs.push_back(collected(with_known_rank(plan.output(i), "collects"), 0, trips));
  ItemsByPlace sequences;
  for (const auto& [output, item] : plan.packed) {
    if (output > carried) throw NotExpressible{"it collects sequences"};
    if (output <= static_cast<std::size_t>(proto.output_size())) sequences[output - 1] = item;
  }
  add_control_node(proto, std::move(plans), outputs, scope, starts_with);
  bind_packed(proto, sequences, scope);
}

/// What a Loop starts with; `packing` is told which of it are sequences and texts.
std::vector<ValueId> Importer::carried_values(const onnx::NodeProto& proto, Packing& packing,
                                              Scope& scope) {
  std::vector<ValueId> values;
  for (int i = 2; i < proto.input_size(); ++i) {
    ValueId value = scope.find(proto.input(i));
    if (const Compound* compound = scope.find_compound(proto.input(i))) {
      const Compound sequence = packed(proto, *compound, scope);
      packing.inputs[static_cast<std::size_t>(i)] = sequence.item;
      value = sequence.packed;
    }
    if (value == kNone) throw NotExpressible{"what it carries is no tensor"};
    if (now_->texts.contains(value)) packing.texts.insert(static_cast<std::size_t>(i));
    values.push_back(value);
  }
  return values;
}

/// Of a Loop; kUnknownDim where a run counts them.
std::int64_t Importer::known_trips(const onnx::NodeProto& proto, const BodyPlan& plan,
                                   const Scope& scope) const {
  const auto known_input = [&](int i) {
    const ValueId value = proto.input(i).empty() ? kNone : scope.find(proto.input(i));
    return value == kNone ? nullptr : now_->inference.known_value(value);
  };
  const ValueId goes_on = origin_of(plan.built->graph, plan.built->graph.outputs[0]);
  const bool starts = proto.input(1).empty() || is_true(known_input(1));
  const bool is_counted = starts && (goes_on == plan.built->graph.inputs[1] ||
                                     is_true(plan.built->inference.known_value(goes_on)));
  const ConstantPtr count = known_input(0);
  if (!count || !is_counted || count->desc().dtype != DataType::kInt64 ||
      element_count(count->desc().shape) != 1)
    return kUnknownDim;
  return std::max<std::int64_t>(0, to_ints(*count).front());
}

void Importer::import_scan(const onnx::NodeProto& proto, Scope& scope) {
  if (scope.opset_of("") < 9) return import_batched_scan(proto, scope);
  import_one_scan(proto, scope);
}

/// Scan of opset 8: all that goes in and out has a batch in front, each is scanned on its own.
void Importer::import_batched_scan(const onnx::NodeProto& proto, Scope& scope) {
  if (proto.input_size() < 2 || proto.input(1).empty()) fail_node(proto, "scans nothing");
  if (!proto.input(0).empty()) throw NotExpressible{"its sequences differ in length"};
  FunctionCall call = function_call(proto, scope);
  const std::int64_t batch = call.dim(call.input(1), 0);
  if (batch < 1) fail_node(proto, "has an empty batch");
  std::vector<std::vector<Term>> results(static_cast<std::size_t>(proto.output_size()));
  for (std::int64_t b = 0; b < batch; ++b) {
    Scope inner = scope.nested();
    onnx::NodeProto one = proto;
    one.clear_input();
    for (auto& attribute : *one.mutable_attribute())
      if (attribute.name() == "directions") attribute.set_name("scan_input_directions");
    for (int i = 1; i < proto.input_size(); ++i) {
      const Term whole = call.input(static_cast<std::size_t>(i));
      if (call.dim(whole, 0) != batch) fail_node(proto, "has inputs of different batches");
      const Term row = call.op("Squeeze", {call.slice(whole, 0, b, b + 1), call.ints({0})});
      const std::string name = unique_value_name(proto.input(i));
      inner.values[name] = row.id;
      one.add_input(name);
    }
    import_one_scan(one, inner);
    if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
    for (int i = 0; i < proto.output_size(); ++i)
      if (!proto.output(i).empty())
        results[static_cast<std::size_t>(i)].push_back(
            call.op("Unsqueeze", {Term{&call, inner.values.at(proto.output(i))}, call.ints({0})}));
  }
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      scope.values[proto.output(i)] = call.concat(results[static_cast<std::size_t>(i)], 0).id;
}

void Importer::import_one_scan(const onnx::NodeProto& proto, Scope& scope) {
  const onnx::GraphProto* body = subgraph(proto, "body");
  const reference::Attrs attrs = read_attributes(proto, scope.call, tensors_);
  const std::int64_t scans = attrs.get_int("num_scan_inputs", 0);
  if (body == nullptr || scans < 1 || scans > proto.input_size() ||
      body->input_size() != proto.input_size() ||
      body->output_size() < proto.input_size() - static_cast<int>(scans) ||
      proto.output_size() > body->output_size())
    fail_node(proto, "has no body with its inputs and outputs");
  const auto states = static_cast<std::size_t>(proto.input_size() - scans);
  std::vector<TensorDesc> inputs;
  Packing packing;
  std::int64_t trips = kUnknownDim;
  for (int i = 0; i < proto.input_size(); ++i) {
    const ValueId value = scope.find(proto.input(i));
    if (value == kNone) throw NotExpressible{"what it reads is no tensor"};
    if (now_->texts.contains(value)) packing.texts.insert(static_cast<std::size_t>(i));
    TensorDesc desc = with_known_rank(now_->graph.values[value].desc, "scans");
    if (const auto scan = static_cast<std::size_t>(i); scan >= states) {
      const std::size_t axis =
          axis_at(attrs.get_ints("scan_input_axes"), scan - states, desc.shape.size(), proto);
      if (desc.shape[axis] != kUnknownDim) trips = desc.shape[axis];
      desc.shape.erase(desc.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    inputs.push_back(std::move(desc));
  }
  std::vector<BodyPlan> plans;
  plans.push_back(settle_body(proto, *body, inputs, 0, states, 0, scope, packing));
  if (unsupported_count_ > 0) return bind_unknown_outputs(proto, scope);
  std::vector<TensorDesc> outputs(inputs.begin(),
                                  inputs.begin() + static_cast<std::ptrdiff_t>(states));
  for (std::size_t i = states; i < plans.front().built->graph.outputs.size(); ++i) {
    const TensorDesc& each = with_known_rank(plans.front().output(i), "collects");
    const std::size_t axis =
        axis_at(attrs.get_ints("scan_output_axes"), i - states, each.shape.size() + 1, proto);
    outputs.push_back(collected(each, axis, trips));
  }
  add_control_node(proto, std::move(plans), outputs, scope);
}

}  // namespace aoe::graph
