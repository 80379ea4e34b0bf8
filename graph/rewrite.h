// The moves that passes are made of: looking at a node's surroundings, and replacing nodes without
// losing names. Internal to graph/.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

// ---- looking ----

bool is_type(const Node& node, std::string_view type);  ///< the type, and nothing fused behind it
const Shape& shape_of(const Graph& graph, ValueId value);
DataType dtype_of(const Graph& graph, ValueId value);
/// The constant of the node's i-th input; nullptr when it is absent or computed.
ConstantPtr constant_input(const Graph& graph, const Node& node, std::size_t i);
bool is_float_constant(const Graph& graph, const Node& node, std::size_t i);  ///< of float32
bool has_input(const Node& node, std::size_t i);
/// How many of the inputs are the anchor's, and not read behind it.
std::size_t anchor_input_count(const Node& node);
/// The producer if it is a live node of this type; kNone otherwise.
NodeId producer_of_type(const Graph& graph, ValueId value, std::string_view type);
/// The one node that reads the value; kNone when several do, none does, or the graph gives it out.
NodeId sole_consumer(const Graph& graph, ValueId value);
/// True for a float32 constant of one element with this value.
bool is_scalar(const ConstantPtr& constant, float value);
/// All elements as double (float32 and float64) or as int64 (int32 and int64).
std::vector<double> to_doubles(const Constant& constant);
std::vector<std::int64_t> to_ints(const Constant& constant);
/// Integers that are an attribute in old opsets and a constant input in new ones; false when they
/// are neither.
bool ints_of(const Graph& graph, const Node& node, const std::string& attribute, std::size_t input,
             std::vector<std::int64_t>& ints);

/// Whether every integer that the attribute has, if there is one, is `value`.
bool is_all(const Node& node, const std::string& attribute, std::int64_t value);
/// Weights of a convolution, [out][in][row][column], as the right factor of a product: [in, row, column][out].
ConstantPtr as_right_factor(const Constant& weights);

/// The elementwise functions that follow the value, each the only one to read what the one before makes. What else they read is one
/// number.
std::vector<NodeId> functions_behind(const Graph& graph, ValueId value);

// ---- changing ----

/// A call of the newest version of an operator.
reference::OpCall call_of(const std::string& type, reference::Attrs attrs = {});
/// Values with a name of their own, derived from `stem`.
ValueId add_constant(Graph& graph, const std::string& stem, ConstantPtr constant);
ValueId add_ints(Graph& graph, const std::string& stem, const std::vector<std::int64_t>& ints);
ValueId add_floats(Graph& graph, const std::string& stem, const Shape& shape,
                   const std::vector<double>& values);
ValueId add_intermediate(Graph& graph, const std::string& stem, TensorDesc desc);

/// Takes a node out whose output 0 equals `replacement`. A graph output keeps its name: then the
/// replacement's producer takes it over. False, with nothing changed, when that is not possible (an
/// input given out directly, say).
bool bypass(Graph& graph, NodeId id, ValueId replacement);
/// Puts `node` in the place of the `old` nodes: it gets the id of the last, the name of the first
/// and the origins of all, in order, and produces `node.outputs`. It keeps the Format that all of
/// them keep, unless it keeps another one.
NodeId replace_nodes(Graph& graph, std::vector<NodeId> old, Node node);
/// Adds nodes each of which reads what the one before it makes. All make a value of `desc` in place of the one that they name, whose name it
/// has with `suffix`; that of the last one is the result.
ValueId add_row(Graph& graph, std::vector<Node> row, const TensorDesc& desc,
                const std::string& suffix);
/// A node without a name whose body has these as steps, in topological order, and that reads what none of them makes. Only
/// what the last one makes is seen from outside. Inputs of an anchor, which is the first, stay where they are.
Node fused_node(const Graph& graph, const std::vector<NodeId>& nodes, bool has_anchor);

}  // namespace aoe::graph
