// widen_floats: what a model computes in float16 or bfloat16 is computed in float32, for which there are fast kernels.
// Constants are widened here; what enters, leaves, or goes through an operator that is left as it is (one with bodies, one
// that takes the bits apart) is converted once. Casts of the model that round go on rounding.
//
// What only moves elements goes on doing so in the type they have where that is less work: where it takes few of many, as
// rows of a table, or where nothing but moves follows up to an output.
//
// Which operators may be widened is not listed: one is, when inference gives the same shapes for float32 inputs, and
// float32 where it gave 16 bits. Results that stay 16 bits wide, because an attribute says so, are converted behind it.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/shape_inference.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"

namespace aoe::graph {
namespace {

bool is_short(DataType dtype) {
  return dtype == DataType::kFloat16 || dtype == DataType::kBFloat16;
}

ConstantPtr widened(const Constant& constant) {
  TensorDesc desc = constant.desc();
  desc.dtype = DataType::kFloat;
  const std::vector<float> values = reference::read_as<float>(constant.view());
  return std::make_shared<Constant>(desc, values.data());
}

reference::OpCall cast_to(DataType dtype) {
  reference::Attrs attrs;
  attrs.set("to", reference::onnx_number(dtype));
  return call_of("Cast", std::move(attrs));
}

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph), inference_(graph) {}

  void run() {
    find_only_moved();
    for (const NodeId id : graph_.topological_order()) {
      if (!touches_short(graph_.nodes[id]))
        inference_.infer_node(id);
      else if (moves_as_stored(graph_.nodes[id]))
        keep(id);
      else if (is_type(graph_.nodes[id], "Cast"))
        cast(id);
      else if (!widen(id))
        keep(id);
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) give_out(i);
    std::erase_if(conversions_, [&](NodeId id) { return remove_unread(id); });
  }

  /// Of the model's values, those that are float32 now.
  std::size_t count() const { return stored_.size(); }
  bool has_changed() const { return count() > 0 || !conversions_.empty(); }

 private:
  bool touches_short(const Node& node) const {
    const auto is_of_them = [&](ValueId value) {
      return value != kNone && (is_short(dtype_of(graph_, value)) || stored_.contains(value));
    };
    return std::ranges::any_of(node.inputs, is_of_them) ||
           std::ranges::any_of(node.outputs, is_of_them);
  }

  /// Elements change their place, and nothing is added up.
  static bool only_moves(const Node& node) {
    const std::string reduction =
        node.op.body == nullptr ? node.op.attrs.get_string("reduction", "none") : "";
    return reduction == "none" && node.op.type != "Col2im" &&
           reference::is_kind(node.op.type, reference::OpKind::kMove);
  }

  /// Values that are given out, and that nobody but moves of such values reads.
  void find_only_moved() {
    const std::vector<NodeId> order = graph_.topological_order();
    const auto is_carried_on = [&](ValueId value) {
      const auto moves_on = [&](NodeId reader) {
        const Node& node = graph_.nodes[reader];
        return only_moves(node) && std::ranges::all_of(node.outputs, [&](ValueId output) {
                 return output == kNone || only_moved_.contains(output);
               });
      };
      const auto& readers = graph_.consumers(value);
      return (graph_.is_output(value) || !readers.empty()) &&
             std::ranges::all_of(readers, moves_on);
    };
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      for (const ValueId output : graph_.nodes[*id].outputs)
        if (output != kNone && is_carried_on(output)) only_moved_.insert(output);
  }

  bool moves_as_stored(const Node& node) const {
    if (!only_moves(node) || !is_known(node)) return false;
    const auto is_wide = [&](ValueId value) { return value != kNone && stored_.contains(value); };
    if (std::ranges::any_of(node.inputs, is_wide)) return false;
    const auto present = [&](auto&& f) {
      return std::ranges::all_of(node.outputs, [&](ValueId id) { return id == kNone || f(id); });
    };
    if (present([&](ValueId id) { return only_moved_.contains(id); })) return true;
    // Elements that are taken, of those that there are.
    constexpr std::int64_t kFew = 2;
    const Shape& all = graph_.values[node.inputs[0]].desc.shape;
    return is_static(all) && present([&](ValueId id) {
             const Shape& taken = graph_.values[id].desc.shape;
             return is_static(taken) && element_count(taken) * kFew <= element_count(all);
           });
  }

  /// What lacks a rank is inferred when it runs, and nothing can be said of it before.
  bool is_known(const Node& node) const {
    const auto has_desc = [&](ValueId value) {
      return value == kNone || (has_known_rank(graph_.values[value].desc) &&
                                dtype_of(graph_, value) != DataType::kUndefined);
    };
    return std::ranges::all_of(node.inputs, has_desc) &&
           std::ranges::all_of(node.outputs, has_desc);
  }

  /// All types are cast as they are. One that the model did not round there is not rounded.
  void cast(NodeId id) {
    const ValueId from = graph_.nodes[id].inputs[0], to = graph_.nodes[id].outputs[0];
    const DataType type = dtype_of(graph_, to);
    const auto was = stored_.find(from);
    if (was != stored_.end() && was->second == type) {
      graph_.edit(id)->op = cast_to(DataType::kFloat);
      stored_[to] = type;
    } else if (was == stored_.end() && type == DataType::kFloat) {
      wide_.try_emplace(from, to);
    }
    inference_.infer_node(id);
  }

  bool widen(NodeId id) {
    const Node before = graph_.nodes[id];
    if (!before.bodies.empty() || !is_known(before)) return false;
    std::vector<TensorDesc> descs;
    for (const ValueId output : before.outputs)
      descs.push_back(output == kNone ? TensorDesc{} : graph_.values[output].desc);
    read_wide(id);
    if (infers_wide(id, descs)) {
      for (std::size_t i = 0; i < descs.size(); ++i)
        if (before.outputs[i] != kNone && descs[i].dtype != dtype_of(graph_, before.outputs[i]))
          stored_[before.outputs[i]] = descs[i].dtype;
      return true;
    }
    *graph_.edit(id) = before;
    for (std::size_t i = 0; i < descs.size(); ++i)
      if (before.outputs[i] != kNone) graph_.values[before.outputs[i]].desc = descs[i];
    return false;
  }

  void read_wide(NodeId id) {
    std::vector<ValueId> inputs = graph_.nodes[id].inputs;
    for (ValueId& input : inputs)
      if (input != kNone) input = wide(input);
    graph_.edit(id)->inputs = inputs;
  }

  /// Whether the node gives what it gave, or the same in float32.
  bool infers_wide(NodeId id, const std::vector<TensorDesc>& descs) {
    const std::vector<ValueId> outputs = graph_.nodes[id].outputs;
    const auto each = [&](auto&& f) {
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] != kNone && !f(graph_.values[outputs[i]].desc, descs[i])) return false;
      return true;
    };
    each([](TensorDesc& now, const TensorDesc&) {
      now.dtype = DataType::kUndefined;  // stays where nothing can be inferred
      return true;
    });
    try {
      inference_.infer_node(id);
    } catch (const Error&) {
      return false;
    }
    return each([](const TensorDesc& now, const TensorDesc& then) {
      return now.shape == then.shape &&
             (now.dtype == then.dtype || (now.dtype == DataType::kFloat && is_short(then.dtype)));
    });
  }

  /// It reads what it read before.
  void keep(NodeId id) {
    std::vector<ValueId> inputs = graph_.nodes[id].inputs;
    for (ValueId& input : inputs)
      if (input != kNone) input = as_stored(input);
    graph_.edit(id)->inputs = inputs;
    inference_.infer_node(id);
  }

  /// A graph output keeps its name and type.
  void give_out(std::size_t place) {
    const ValueId value = graph_.outputs[place], stored = as_stored(value);
    if (stored == value) return;
    const std::string name = graph_.values[value].name;
    graph_.rename(value, graph_.unused_name(name + "_float32"));
    graph_.rename(stored, name);
    graph_.outputs.set(place, stored);
  }

  ValueId wide(ValueId value) {
    if (!is_short(dtype_of(graph_, value))) return value;
    const auto [at, is_new] = wide_.try_emplace(value, kNone);
    if (!is_new) return at->second;
    const Value from = graph_.values[value];
    if (from.constant) {
      at->second = add_constant(graph_, from.name + "_float32", widened(*from.constant));
      return at->second;
    }
    const NodeId cast = producer_of_type(graph_, value, "Cast");
    const ValueId exact = cast == kNone ? kNone : graph_.nodes[cast].inputs[0];
    const bool is_rounding = from.desc.dtype == DataType::kFloat16 && exact != kNone &&
                             dtype_of(graph_, exact) == DataType::kFloat;
    at->second = is_rounding
                     ? convert(from.name, call_of("RoundToFloat16"), exact, DataType::kFloat)
                     : convert(from.name, cast_to(DataType::kFloat), value, DataType::kFloat);
    return at->second;
  }

  ValueId as_stored(ValueId value) {
    const auto was = stored_.find(value);
    if (was == stored_.end()) return value;
    const auto [at, is_new] = narrow_.try_emplace(value, kNone);
    if (is_new) {
      const std::string name = graph_.values[value].name;
      at->second = convert(name, cast_to(was->second), value, was->second);
    }
    return at->second;
  }

  ValueId convert(const std::string& name, reference::OpCall op, ValueId from, DataType dtype) {
    TensorDesc desc = graph_.values[from].desc;
    desc.dtype = dtype;
    const ValueId to =
        add_intermediate(graph_, name + "_" + std::string(aoe::name(dtype)), std::move(desc));
    const NodeId id = graph_.add_node(
        {.name = graph_.values[to].name, .op = std::move(op), .inputs = {from}, .outputs = {to}});
    inference_.infer_node(id);
    conversions_.push_back(id);
    return to;
  }

  /// Of an operator that could not be widened after all.
  bool remove_unread(NodeId id) {
    const ValueId to = graph_.nodes[id].outputs[0];
    if (graph_.is_output(to) || !graph_.consumers(to).empty()) return false;
    graph_.remove_node(id);
    return true;
  }

  Graph& graph_;
  ShapeInference inference_;
  std::map<ValueId, DataType> stored_;        ///< the types that values of float32 had in the model
  std::map<ValueId, ValueId> wide_, narrow_;  ///< the same value in another type
  std::set<ValueId> only_moved_;              ///< see find_only_moved()
  std::vector<NodeId> conversions_;           ///< that were put in
};

}  // namespace

bool widen_floats(Graph& graph) {
  if (std::ranges::none_of(graph.values, [](const Value& v) { return is_short(v.desc.dtype); }))
    return false;
  Widener widener(graph);
  widener.run();
  if (widener.count() > 0)
    logger("graph")->info("{}: {} values of float16 or bfloat16 are computed in float32",
                          graph.name, widener.count());
  return widener.has_changed();
}

}  // namespace aoe::graph
