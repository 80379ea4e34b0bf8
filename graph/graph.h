// The graph: values and nodes after ONNX import. Knows shapes, types and constants; knows no
// hardware and no file format of its own. Passes (graph/passes.h) rewrite it in place.
//
//   Graph g = import_onnx("model.onnx", {});   // graph/import/onnx_import.h
//   run_passes(g, {});
//   for (NodeId id : g.topological_order()) ...
//
// What always holds (and verify() checks behind every pass): names of values and of live nodes are
// unique, every graph output is produced by a node and given out once, a constant has no producer.
// Who reads a value, and whether a name is taken, costs no walk over the graph. Ids are indices that stay valid until compact(). Not thread-safe for writing.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/tensor.h"
#include "base/texts.h"
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

class Graph;

struct Node {
  std::string name;  ///< ONNX node name; made up as "<Type>_<n>" where the model has none; unique
  reference::OpCall op;
  std::vector<ValueId> inputs;   ///< kNone = absent
  std::vector<ValueId> outputs;  ///< kNone = nobody wants it
  std::vector<std::string>
      origins;  ///< names of all ONNX nodes that were fused into this one, in order
  /// The Format in which the compiler shall store what the node makes, and take what it reads of
  /// nodes that keep the same one. A wish: where no Impl offers that, it changes nothing.
  std::optional<Format> kept_format = {};
  /// What If, Loop and Scan run: the branches, or the one body; of MapSlices a body for each length of parts, which reads what the
  /// node reads (graph/passes/map_slices.cpp). Inputs of another body that it takes from around the node come
  /// last, and the node reads their values behind its own inputs, body by body; attribute "captures" counts them for
  /// each (graph/import/onnx_control_flow.cpp). Shared by copies of the graph, so never changed in place.
  std::vector<std::shared_ptr<const Graph>> bodies = {};
  bool is_dead = false;  ///< removed; skipped everywhere, dropped by compact()
};

/// A node that is being changed: `graph.edit(id)->inputs[0] = x;`. Until it is gone, consumers() does
/// not count the node among the readers.
class NodeEdit {
 public:
  NodeEdit(Graph& graph, NodeId id);
  ~NodeEdit();
  NodeEdit(const NodeEdit&) = delete;
  NodeEdit& operator=(const NodeEdit&) = delete;

  Node* operator->() const;
  Node& operator*() const { return *operator->(); }

 private:
  Graph& graph_;
  const NodeId id_;
};

/// A count that any thread may add to, roughly; copies begin anew.
class VisitCount {
 public:
  VisitCount() = default;
  VisitCount(const VisitCount&) {}
  VisitCount& operator=(const VisitCount&) { return *this; }
  void add(std::uint64_t count) { count_.store(total() + count, std::memory_order_relaxed); }
  std::uint64_t total() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_ = 0;
};

/// The nodes of a graph by id, to be read; Graph::edit() changes them.
class NodeList {
 public:
  const Node& operator[](std::size_t id) const {
    visits_.add(1);
    return list_[id];
  }
  const Node& front() const { return (*this)[0]; }
  const Node& back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  auto begin() const {
    visits_.add(size());
    return list_.begin();
  }
  auto end() const { return list_.end(); }

  /// How many nodes have been looked at, each walk over all counted as all: the work that tests see grow.
  std::uint64_t visits() const { return visits_.total(); }

 private:
  friend class Graph;
  friend class NodeEdit;
  std::vector<Node> list_;
  mutable VisitCount visits_;
};

/// What a graph gives out, in the model's order.
class OutputList {
 public:
  OutputList() = default;
  OutputList(const std::vector<ValueId>& list) { *this = list; }
  OutputList& operator=(const std::vector<ValueId>& list);
  operator const std::vector<ValueId>&() const { return list_; }

  ValueId operator[](std::size_t i) const { return list_[i]; }
  ValueId front() const { return list_.front(); }
  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool contains(ValueId value) const { return counts_.contains(value); }
  bool operator==(const OutputList& other) const { return list_ == other.list_; }

  void push_back(ValueId value);
  void clear() { *this = std::vector<ValueId>(); }
  void set(std::size_t i, ValueId value);  ///< in the place of what is the i-th
  void replace(ValueId from, ValueId to);

 private:
  std::vector<ValueId> list_;
  std::unordered_map<ValueId, int> counts_;
};

class Graph {
 public:
  std::string name;
  std::vector<Value> values;  ///< add_value() adds, rename() renames
  NodeList nodes;
  std::vector<ValueId> inputs;  ///< in the model's order, initializers excluded
  OutputList outputs;
  Texts texts;  ///< what an imported model's numbers stand for

  ValueId add_value(std::string value_name, TensorDesc desc, ConstantPtr constant = nullptr);
  void rename(ValueId value, std::string value_name);
  /// `stem`, or the first of stem_2, stem_3, ... that no value is named.
  std::string unused_name(const std::string& stem);

  /// Appends a node and makes it the producer of its outputs.
  NodeId add_node(Node node);
  void remove_node(NodeId id);  ///< its outputs lose their producer
  NodeEdit edit(NodeId id) { return {*this, id}; }

  /// Live nodes that read it, each once, ascending; until the next change.
  const std::vector<NodeId>& consumers(ValueId value) const { return readers_[value]; }
  bool is_output(ValueId value) const { return outputs.contains(value); }
  /// Every reader of `from` (graph outputs included) reads `to` instead.
  void replace_uses(ValueId from, ValueId to);
  /// Live nodes, producers before consumers, part by part (parts.h), otherwise in insertion order.
  /// Throws Error(kModel) on a cycle.
  std::vector<NodeId> topological_order() const;
  /// Drops dead nodes and unused values; ids change.
  void compact();
  /// Stable text, one line per node: for golden tests and dumps.
  std::string to_text() const;

  // ---- changes that may be taken back (apply_plan()) ----

  /// From here on the graph remembers what nodes and outputs were before.
  void begin_changes();
  /// Nodes that were changed, removed or added since, ascending.
  std::vector<NodeId> changed_nodes() const;
  void keep_changes() { changes_.reset(); }
  /// As before begin_changes(), except for what was changed of values that were there then.
  void take_back_changes();

 private:
  friend class NodeEdit;
  struct Changes {
    std::size_t node_count, value_count;
    std::map<NodeId, Node> nodes;  ///< as they were
    OutputList outputs;
  };

  void remember(NodeId id);
  void add_reads(NodeId id);
  void drop_reads(NodeId id);

  std::vector<std::vector<NodeId>> readers_;  ///< by value
  /// Every name of a value, with the number that unused_name() tries next behind it.
  std::unordered_map<std::string, int> names_;
  std::optional<Changes> changes_;
};

inline NodeEdit::NodeEdit(Graph& graph, NodeId id) : graph_(graph), id_(id) {
  graph_.remember(id_);
  graph_.drop_reads(id_);
}
inline NodeEdit::~NodeEdit() {
  graph_.add_reads(id_);
}
inline Node* NodeEdit::operator->() const {
  return &graph_.nodes.list_[id_];
}

}  // namespace aoe::graph
