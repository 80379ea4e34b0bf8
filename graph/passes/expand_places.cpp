// expand_places: Trilu and OneHot, which select by where an element stands, become a comparison of places and a SelectV2, which
// are one kernel of generated code.
#include "graph/import/function_call.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/tensors/axes.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24;  ///< a constant of 128 MB

/// Column c of row r is on diagonal c - r.
void expand_trilu(FunctionCall& call) {
  const Term x = call.input(0);
  const std::int64_t rows = call.dim(x, -2), columns = call.dim(x, -1);
  if (rows > kMostPlaces || columns > kMostPlaces) throw NotExpressible{"it has too many places"};
  const Term row = call.reshape(call.numbered(rows), {rows, 1}), column = call.numbered(columns);
  const auto limit = [&](std::int64_t diagonal) {
    return call.number(static_cast<double>(diagonal), DataType::kInt64);
  };
  Term on_diagonal = row;
  if (call.has(1)) {
    const Term k = call.op("Min", {call.reshape(call.input(1), {}), limit(columns + 1)});
    on_diagonal = row + call.op("Max", {k, limit(-rows - 1)});
  }
  const bool is_upper = call.attrs().get_int("upper", 1) != 0;
  const Term stays = call.op(is_upper ? "GreaterOrEqual" : "LessOrEqual", {column, on_diagonal});
  call.give(0, call.op("Where", {stays, x, call.number(0, call.dtype(x))}));
}

/// `depth`: of the new axis. An index below 0 counts from its end.
void expand_one_hot(FunctionCall& call, std::int64_t depth) {
  if (depth > kMostPlaces) throw NotExpressible{"it has too many places"};
  const auto rank = static_cast<std::size_t>(call.rank(call.input(0))) + 1;
  const std::size_t axis = reference::normalize_axis(call.attrs().get_int("axis", -1), rank);
  const Term given = call.op("Unsqueeze", {call.cast(call.input(0), DataType::kInt64),
                                           call.ints({static_cast<std::int64_t>(axis)})});
  const Term is_from_end = call.op("Less", {given, call.number(0, DataType::kInt64)});
  const Term index = call.op("Where", {is_from_end, given + static_cast<double>(depth), given});
  std::vector<std::int64_t> along(rank, 1);
  along[axis] = depth;
  const Term is_on = call.op("Equal", {index, call.reshape(call.numbered(depth), along)});
  const Term values = call.input(2);
  call.give(0, call.op("Where", {is_on, call.slice(values, 0, 1, 2), call.slice(values, 0, 0, 1)}));
}

bool expand_places_at(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  const bool is_trilu = is_type(node, "Trilu");
  if ((!is_trilu && !is_type(node, "OneHot")) || node.outputs[0] == kNone) return false;
  const Shape result = shape_of(graph, node.outputs[0]);
  if (!is_static(shape_of(graph, node.inputs[0])) || !is_static(result) ||
      element_count(result) == 0)
    return false;
  return replace_by_parts(graph, id, [&](FunctionCall& call) {
    if (is_trilu) return expand_trilu(call);
    const std::int64_t axis = node.op.attrs.get_int("axis", -1);
    expand_one_hot(call, result[reference::normalize_axis(axis, result.size())]);
  });
}

}  // namespace

bool expand_places(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= expand_places_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
