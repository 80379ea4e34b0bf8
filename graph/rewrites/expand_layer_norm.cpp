// expand_layer_norm: undoes the fusion of one layer normalisation: two means and the arithmetic
// between them, elementwise nodes in one walk where passes would have them so. These are more walks
// over memory, but the elementwise ones are cut for all cores, where fused kernels give a row to
// one.
#include <algorithm>

#include "graph/elementwise_group.h"
#include "graph/pieces.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"
#include "reference/axes.h"
#include "reference/broadcast.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kFewRows = 1;  ///< leave cores idle, however few there are
/// Elements. On two cores (Zen 5) the pieces took 1.2 to 2 times as long as the fused kernel with
/// one such row, and 1.6 to 5 times with shorter or more rows: it takes more cores to win.
constexpr std::int64_t kLongRow = 256 << 10;
/// What goes away of the node's time there, at a guess.
constexpr double kExpectedShare = 0.02;

enum Input : std::size_t { kX, kScale, kShift };

std::size_t axis_of(const Graph& graph, const Node& norm) {
  return reference::normalize_axis(norm.op.attrs.get_int("axis", -1),
                                   shape_of(graph, norm.inputs[kX]).size());
}

Result<void> can_expand(const Graph& graph, const Node& node) {
  if (node.is_dead || !is_type(node, "LayerNorm")) return Unexpected("no layer normalisation");
  if (!gives_one_result(node)) return Unexpected("its mean or deviation is wanted, too");
  const TensorDesc& x = graph.values[node.inputs[kX]].desc;
  if (x.dtype != DataType::kFloat || !is_static(x.shape) || x.shape.empty() ||
      element_count(x.shape) == 0)
    return Unexpected("needs float32 elements of known shape, has " + to_string(x));
  for (const Input input : {kScale, kShift})
    if (has_input(node, input) &&
        (dtype_of(graph, node.inputs[input]) != DataType::kFloat ||
         !reference::broadcasts_to(shape_of(graph, node.inputs[input]), x.shape)))
      return Unexpected("its parameter is " + to_string(graph.values[node.inputs[input]].desc) +
                        ", which does not broadcast to " + to_string(x));
  return {};
}

double expected_share(const Graph& graph, const Node& norm) {
  const Shape& shape = shape_of(graph, norm.inputs[kX]);
  const std::size_t axis = axis_of(graph, norm);
  const bool leaves_cores_idle = reference::dim_product(shape, 0, axis) <= kFewRows &&
                                 reference::dim_product(shape, axis, shape.size()) >= kLongRow;
  return leaves_cores_idle ? kExpectedShare : 0;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order())
    if (can_expand(graph, graph.nodes[id]))
      places.push_back({.nodes = {id}, .expected_share = expected_share(graph, graph.nodes[id])});
  return places;
}

/// fuse_layer_norm puts ones where a model has no scale.
bool is_all_ones(const ConstantPtr& constant) {
  return constant && std::ranges::all_of(to_doubles(*constant), [](double x) { return x == 1; });
}

class Expansion {
 public:
  Expansion(Graph& graph, NodeId norm)
      : graph_(graph),
        shape_(shape_of(graph, graph.nodes[norm].inputs[kX])),
        statistics_(shape_),
        pieces_(graph, norm) {
    std::vector<std::int64_t> axes;
    for (std::size_t d = axis_of(graph, pieces_.whole()); d < shape_.size(); ++d) {
      axes.push_back(static_cast<std::int64_t>(d));
      statistics_[d] = 1;
    }
    axes_ = add_ints(graph, pieces_.whole().name + "_axes", axes);
  }

  void write() {
    const ValueId x = pieces_.whole().inputs[kX];
    const ValueId distance = add("distance", "Sub", {x, mean("mean", x)}, shape_);
    const ValueId deviation =
        add_deviation(mean("variance", add("squares", "Mul", {distance, distance}, shape_)));
    add_result(distance, deviation);
  }

 private:
  ValueId add(const std::string& what, const std::string& type, std::vector<ValueId> inputs,
              const Shape& shape) {
    return pieces_.add(what, call_of(type), std::move(inputs), shape);
  }

  ValueId mean(const std::string& what, ValueId of) {
    return add(what, "ReduceMean", {of, axes_}, statistics_);
  }

  ValueId add_deviation(ValueId variance) {
    const double epsilon = pieces_.whole().op.attrs.get_float("epsilon", 1e-5f);
    const ValueId constant = add_floats(graph_, pieces_.whole().name + "_epsilon", {}, {epsilon});
    const ValueId sum = add("variance_plus_epsilon", "Add", {variance, constant}, statistics_);
    const ValueId deviation = add("deviation", "Sqrt", {sum}, statistics_);
    fuse({sum, deviation});
    return deviation;
  }

  void add_result(ValueId distance, ValueId deviation) {
    const Node& norm = pieces_.whole();
    std::vector<ValueId> chain = {add("normalised", "Div", {distance, deviation}, shape_)};
    if (!is_all_ones(constant_input(graph_, norm, kScale)))
      chain.push_back(add("scaled", "Mul", {chain.back(), norm.inputs[kScale]}, shape_));
    if (has_input(norm, kShift))
      chain.push_back(add("shifted", "Add", {chain.back(), norm.inputs[kShift]}, shape_));
    if (chain.size() > 1) fuse(chain);
    pieces_.finish(chain.back());
  }

  void fuse(const std::vector<ValueId>& results) {
    std::vector<NodeId> steps;
    for (const ValueId result : results) steps.push_back(graph_.values[result].producer);
    fuse_steps(graph_, kNone, steps);
  }

  Graph& graph_;
  const Shape shape_;
  Shape statistics_;  ///< of one number for each row
  Pieces pieces_;
  ValueId axes_ = kNone;  ///< that a row runs through
};

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.size() != 1) return Unexpected("names other than one node");
  if (auto can = can_expand(graph, graph.nodes[nodes[0]]); !can) return can;
  Expansion(graph, nodes[0]).write();
  return {};
}

}  // namespace

void register_expand_layer_norm(RewriteRegistry& registry) {
  registry.add({.kind = "expand_layer_norm", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
