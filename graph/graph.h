// The graph: values and nodes after ONNX import. Knows shapes, types and constants; knows no
// hardware and no file format of its own. Passes (graph/passes.h) rewrite it in place.
//
//   Graph g = import_onnx("model.onnx", {});   // graph/onnx_import.h
//   run_passes(g, {});
//   for (NodeId id : g.topological_order()) ...
//
// What always holds (and verify() checks behind every pass): names of values and of live nodes are
// unique, every graph output is produced by a node and given out once, a constant has no producer.
// Ids are indices that stay valid until compact(). Not thread-safe for writing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "reference/op.h"

namespace aoe::graph {

using ValueId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr std::int32_t kNone = -1;  ///< absent optional input, or no producer

/// The shape of a value of which not even the rank is known before the run (a Reshape to a computed
/// shape, unless the model declares the result). Its dtype may be kUndefined then. Whatever reads
/// it is inferred when the step runs.
inline const Shape kUnknownRankShape = {-2};
bool has_known_rank(const TensorDesc& desc);

struct Value {
  std::string name;         ///< the ONNX name; unique
  TensorDesc desc;          ///< logical shape; format is ND until the compiler chooses one
  ConstantPtr constant;     ///< set for initializers and folded values
  NodeId producer = kNone;  ///< kNone for graph inputs and constants
};

struct Node {
  std::string name;  ///< ONNX node name; made up as "<Type>_<n>" where the model has none; unique
  reference::OpCall op;
  std::vector<ValueId> inputs;   ///< kNone = absent
  std::vector<ValueId> outputs;  ///< kNone = nobody wants it
  std::vector<std::string>
      origins;           ///< names of all ONNX nodes that were fused into this one, in order
  /// The Format in which the compiler shall store what the node makes, and take what it reads of
  /// nodes that keep the same one. A wish: where no Impl offers that, it changes nothing.
  std::optional<Format> kept_format = {};
  bool is_dead = false;  ///< removed; skipped everywhere, dropped by compact()
};

class Graph {
 public:
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  ///< in the model's order, initializers excluded
  std::vector<ValueId> outputs;

  ValueId add_value(std::string value_name, TensorDesc desc, ConstantPtr constant = nullptr);
  /// Appends a node and makes it the producer of its outputs.
  NodeId add_node(Node node);
  void remove_node(NodeId id);  ///< its outputs lose their producer

  std::vector<NodeId> consumers(
      ValueId value) const;  ///< live nodes that read it, each once, ascending
  bool is_output(ValueId value) const;
  /// Every reader of `from` (graph outputs included) reads `to` instead.
  void replace_uses(ValueId from, ValueId to);
  /// Live nodes, producers before consumers, part by part (parts.h), otherwise in insertion order.
  /// Throws Error(kModel) on a cycle.
  std::vector<NodeId> topological_order() const;
  /// Drops dead nodes and unused values; ids change.
  void compact();
  /// Stable text, one line per node: for golden tests and dumps.
  std::string to_text() const;
};

}  // namespace aoe::graph
