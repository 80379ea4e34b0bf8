// Reading the bodies of If, Loop and Scan: graphs of their own.
//
// A body sees what lies around the node: constants and values known already become constants of it, anything else an
// input behind its own ones. Values that a loop carries start with the shapes that they are given; a dimension that the
// body changes is unknown in a second reading of the body.
#include <algorithm>

#include "base/error.h"
#include "graph/import/function_call.h"
#include "graph/import/onnx_body_plan.h"
#include "graph/rewrite.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {

TensorDesc joined(const TensorDesc& a, const TensorDesc& b, const std::string& what) {
  if (!has_known_rank(a) || !has_known_rank(b))
    throw NothingInCommon{{"the rank of " + what + " is known only when it runs"}};
  if (a.dtype != b.dtype) throw NothingInCommon{{what + " changes its type"}};
  if (a.shape.size() != b.shape.size()) throw NothingInCommon{{what + " changes its rank"}};
  TensorDesc both = a;
  for (std::size_t i = 0; i < both.shape.size(); ++i)
    if (a.shape[i] != b.shape[i]) both.shape[i] = kUnknownDim;
  return both;
}

/// One reading of one body.
class Importer::BodyReader {
 public:
  BodyReader(Importer& importer, const onnx::NodeProto& proto, const onnx::GraphProto& body,
             Scope& scope)
      : importer_(importer),
        outside_(*importer.now_),
        proto_(proto),
        body_(body),
        scope_(scope),
        inner_(importer.inner_scope(proto, body, scope)),
        plan_{.captures = {},
              .built = std::make_unique<Building>(importer.evaluation_),
              .lengths = {}} {
    inner_.parent = nullptr;
    inner_.prefix = scope.prefix + (proto.name().empty() ? proto.op_type() : proto.name()) + "/";
    graph().name = inner_.prefix;
  }

  BodyPlan read(const std::vector<TensorDesc>& inputs, const Packing& packing) {
    for (std::size_t i = 0; i < inputs.size(); ++i) add_own_input(i, inputs[i], packing);
    for (const std::string& name : free_names(body_))
      if (!inner_.knows(name)) see(name);
    struct Return {
      Importer& importer;
      Building* outside;
      ~Return() { importer.now_ = outside; }
    } const back{importer_, importer_.now_};
    importer_.now_ = plan_.built.get();
    if (proto_.op_type() == "Loop") widen_counter();
    importer_.import_body(body_, inner_);
    for (const auto& output : body_.output()) give(output.name(), packing);
    return std::move(plan_);
  }

 private:
  Graph& graph() { return plan_.built->graph; }

  ValueId add_input(const std::string& name, const TensorDesc& desc) {
    if (desc.dtype == DataType::kUndefined || !has_known_rank(desc))
      throw NotExpressible{"its body reads '" + name + "', whose rank is known only when it runs"};
    graph().inputs.push_back(
        graph().add_value(importer_.unique_value_name(inner_.prefix + name), desc));
    return graph().inputs.back();
  }

  void add_own_input(std::size_t i, const TensorDesc& desc, const Packing& packing) {
    const std::string& name = body_.input(static_cast<int>(i)).name();
    const ValueId id = add_input(name, desc);
    if (const auto sequence = packing.inputs.find(i); sequence != packing.inputs.end())
      inner_.compounds[name] = {.packed = id, .item = sequence->second};
    else
      inner_.values[name] = id;
    if (packing.texts.contains(i)) plan_.built->texts.insert(id);
  }

  /// Old exporters declare a Loop's counter and condition as tensors of one element, and their bodies squeeze them.
  void widen_counter() {
    for (int i = 0; i < 2; ++i) {
      const onnx::TypeProto& type = body_.input(i).type();
      if (type.tensor_type().shape().dim_size() != 1) continue;
      ValueId& value = inner_.values.at(body_.input(i).name());
      FunctionCall call(importer_.function_site(), {.name = inner_.prefix + body_.input(i).name()});
      value = call.op("Reshape", {Term{&call, value}, call.ints({1})}).id;
    }
  }

  /// The body's own value for one around the node.
  ValueId capture(const std::string& name, ValueId outside) {
    const auto [at, is_new] = captured_.try_emplace(outside, kNone);
    if (!is_new) return at->second;
    if (const ConstantPtr known = outside_.inference.known_value(outside)) {
      at->second = graph().add_value(importer_.unique_value_name(inner_.prefix + name),
                                     known->desc(), known);
      if (const auto small = outside_.small.find(outside); small != outside_.small.end())
        plan_.built->small[at->second] = small->second;
    } else {
      at->second = add_input(name, outside_.graph.values[outside].desc);
      plan_.captures.push_back(outside);
    }
    if (outside_.texts.contains(outside)) plan_.built->texts.insert(at->second);
    return at->second;
  }

  /// What a name means that the body reads and does not make.
  void see(const std::string& name) {
    if (const Compound* compound = scope_.find_compound(name)) {
      Compound& own = inner_.compounds[name] = *compound;
      importer_.budget_.add_items(own.items.size(), "node " + describe(proto_));
      std::vector<ValueId> items = own.items.list();
      for (ValueId& item : items) item = capture(name, item);
      own.items = std::move(items);
      if (own.packed != kNone) own.packed = capture(name, own.packed);
      return;
    }
    const ValueId outside = scope_.find(name);
    if (outside == kNone)
      fail_node(proto_, "has a body that reads '" + name + "', which nothing produces");
    inner_.values[name] = capture(name, outside);
  }

  void give(const std::string& name, const Packing& packing) {
    const ValueId id = inner_.find(name);
    const Compound* compound = inner_.find_compound(name);
    const std::size_t number = plan_.lengths.size();
    if (packing.optionals.contains(number)) return give_optional(id, compound, name);
    if (compound != nullptr && !compound->is_sequence) {
      plan_.optionals.insert(number);
      plan_.lengths.emplace_back();
      return;
    }
    if (compound != nullptr && (compound->packed != kNone || packing.outputs.contains(number))) {
      const Compound sequence = importer_.packed(proto_, *compound, inner_);
      plan_.packed[number] = sequence.item;
      give_value(sequence.packed, name);
      plan_.lengths.emplace_back();
    } else if (id != kNone) {
      give_value(id, name);
      plan_.lengths.emplace_back();
    } else if (compound == nullptr) {
      fail_node(proto_, "has a body whose output '" + name + "' nothing produces");
    } else {
      for (const ValueId item : compound->items) give_value(item, name);
      plan_.lengths.emplace_back(compound->items.size());
    }
  }

  /// As a packed sequence of one item or none.
  void give_optional(ValueId id, const Compound* compound, const std::string& name) {
    if (compound != nullptr && compound->is_sequence)
      throw NotExpressible{"its body gives an optional that holds a sequence"};
    Compound held;
    if (compound != nullptr && compound->packed != kNone)
      held = {.packed = compound->packed, .item = compound->item};
    else if (id != kNone)
      held.items = std::vector{id};
    const Compound sequence = importer_.packed(proto_, held, inner_);
    plan_.packed[plan_.lengths.size()] = sequence.item;
    give_value(sequence.packed, name);
    plan_.lengths.emplace_back();
  }

  void give_value(ValueId id, const std::string& name) {
    const Building& built = *plan_.built;
    if (built.small.contains(id)) throw NotExpressible{"its body gives a tensor of a small type"};
    if (graph().values[id].producer == kNone || graph().is_output(id))
      id = importer_.through_identity(id, inner_.prefix + name + "_out");
    if (built.texts.contains(id)) plan_.texts.insert(graph().outputs.size());
    graph().outputs.push_back(id);
  }

  Importer& importer_;
  const Building& outside_;
  const onnx::NodeProto& proto_;
  const onnx::GraphProto& body_;
  Scope& scope_;
  Scope inner_;
  BodyPlan plan_;
  std::map<ValueId, ValueId> captured_;
};

Importer::BodyPlan Importer::build_body(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                                        const std::vector<TensorDesc>& inputs, Scope& scope,
                                        const Packing& packing) {
  return BodyReader(*this, proto, body, scope).read(inputs, packing);
}

/// A branch, or nothing and why it contradicts itself: models have branches for inputs of other shapes, which no run with
/// these takes.
std::optional<Importer::BodyPlan> Importer::build_branch(const onnx::NodeProto& proto,
                                                         const onnx::GraphProto& branch,
                                                         Scope& scope, const Packing& packing,
                                                         std::string& why_not) {
  const std::size_t checked = checked_.size(), unsupported = unsupported_count_;
  try {
    return build_body(proto, branch, {}, scope, packing);
  } catch (const ImportBudget::Exceeded&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kModel || unsupported_count_ > unsupported) throw;
    why_not = error.what();
  }
  for (std::size_t i = checked; i < checked_.size(); ++i) checked_[i].problem.clear();
  return std::nullopt;
}

/// In the place of such a branch: a run that takes it ends with the reason.
Importer::BodyPlan Importer::refusing_branch(const BodyPlan& other, const std::string& why) {
  BodyPlan plan{.captures = {},
                .built = std::make_unique<Building>(evaluation_),
                .lengths = other.lengths,
                .packed = other.packed,
                .texts = other.texts};
  Graph& graph = plan.built->graph;
  Node node{.name = unique_part_name("Assert"), .op = call_of("Assert")};
  std::vector<std::int64_t> dtypes, ranks, dims;
  for (std::size_t i = 0; i < other.built->graph.outputs.size(); ++i) {
    TensorDesc desc = other.output(i);
    if (!has_known_rank(desc)) throw NotExpressible{"a branch cannot run: " + why};
    for (std::int64_t& dim : desc.shape) dim = std::max<std::int64_t>(dim, 0);  // nobody gets it
    dtypes.push_back(reference::onnx_number(desc.dtype));
    ranks.push_back(std::ssize(desc.shape));
    dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
    node.outputs.push_back(graph.add_value(unique_value_name("Assert_output"), desc));
  }
  graph.outputs = node.outputs;
  node.op.attrs.set("why", why);
  node.op.attrs.set("dtypes", dtypes);
  node.op.attrs.set("ranks", ranks);
  node.op.attrs.set("dims", dims);
  graph.add_node(std::move(node));
  return plan;
}

/// Reads the body until what it carries from input `first` on keeps its shape, widening `inputs`.
Importer::BodyPlan Importer::settle_body(const onnx::NodeProto& proto, const onnx::GraphProto& body,
                                         std::vector<TensorDesc>& inputs, std::size_t first,
                                         std::size_t count, std::size_t first_output, Scope& scope,
                                         Packing packing) {
  for (;;) {
    BodyPlan plan = build_body(proto, body, inputs, scope, packing);
    if (unsupported_count_ > 0) return plan;
    if (plan.gives_sequence()) throw NotExpressible{"its body gives a sequence"};
    if (!plan.optionals.empty())
      throw NotExpressible{"its body gives an optional that may hold nothing"};
    bool is_settled = true;
    for (std::size_t i = 0; i < count; ++i) {
      TensorDesc& in = inputs[first + i];
      const std::string& name = body.input(static_cast<int>(first + i)).name();
      const TensorDesc both =
          joined(in, plan.output(first_output + i), "'" + name + "', which it carries,");
      is_settled = is_settled && both.shape == in.shape;
      in.shape = both.shape;
      if (packing.texts.contains(first + i) != plan.texts.contains(first_output + i))
        throw NotExpressible{"'" + name + "', which it carries, is texts and numbers"};
      const auto sequence = packing.inputs.find(first + i);
      const auto given = plan.packed.find(first_output + i);
      if ((sequence == packing.inputs.end()) != (given == plan.packed.end()))
        throw NotExpressible{"'" + name + "', which it carries, is a sequence and a tensor"};
      if (given == plan.packed.end()) continue;
      const auto item = joined_item(sequence->second, given->second);
      is_settled = is_settled && item == sequence->second;
      sequence->second = item;
    }
    if (is_settled) return plan;
  }
}

}  // namespace aoe::graph
