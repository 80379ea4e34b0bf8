// The compiler: Graph + strategies -> om. Chooses an Impl, Format and Schedule for every node (bank strategy, else
// heuristic default), Formats for the whole model with TransData where they differ, builds the kernels, plans memory.
//
//   graph::Graph g = graph::import_onnx("m.onnx", {});
//   graph::run_passes(g, {});
//   Compilation c = compile(g, {.soc = detect_soc(), .strategies = &bank});
//   write_file_atomically("m.om", c.om.serialize());
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "bank/strategy.h"
#include "compiler/cut_off.h"
#include "compiler/impl.h"
#include "compiler/lowering/graph_strategies.h"
#include "compiler/lowering/near_strategies.h"
#include "compiler/soc.h"
#include "graph/graph.h"
#include "runtime/om/om.h"

namespace aoe::compiler {

/// How each node was compiled; also stored in the om's tuning section.
struct NodeReport {
  graph::NodeId id = graph::kNone;
  std::string node;
  std::vector<std::string> op_types;
  std::string repo_key;
  std::string impl;
  std::string format;
  Schedule schedule;
  bool bank_hit = false;
  std::string near =
      {};  ///< the repo_key of the task whose strategy it got, for want of one of its own
};

struct CompileOptions {
  Soc soc;
  const bank::StrategySource* strategies = nullptr;  ///< nullptr: heuristic defaults only
  const NearSource* near = nullptr;  ///< asked for tasks that `strategies` does not know
  int compile_threads = 1;
  bool reuse_memory = true;  ///< `--disable_reuse_memory` turns it off
  /// Fixes the candidate of a node by name; used by the tuner to measure one. Wins over strategies.
  std::map<std::string, Candidate> fixed;
  /// How a graph of the same nodes for other sizes was compiled (a body for longer parts): where a default costs no more than a
  /// little for it, weights are packed as there, so that an om has them once.
  const std::vector<NodeReport>* packed_as = nullptr;
  /// Of a body: its om has no weights, and Compilation::weights says how the om around it gets them.
  bool leaves_weights = false;
  /// Values, by name, whose conversion from or to ND counts nothing when Formats are chosen: inputs
  /// and outputs of a subgraph that is compiled alone. In the model they need not be ND.
  std::set<std::string> free_borders = {};
  /// What apply_graph_strategies() has done to the graph; for the om's tuning section.
  std::vector<AppliedSubgraph> subgraphs = {};
  /// Told every generated function, under its name in the om's code section; for dumps.
  std::function<void(const loopnest::Function&)> on_kernel;
  IsCutOff is_cut_off = {};  ///< ends it with CutOff
};

/// What a step of the om runs: a node of the graph, or the conversion of a value that the compiler put in.
struct StepSource {
  graph::NodeId node = graph::kNone;
  graph::ValueId converted = graph::kNone;
};

struct Compilation {
  runtime::Om om;
  std::vector<NodeReport> nodes;
  std::vector<StepSource> steps;  ///< by step of the om
  std::vector<PackedConstant> weights =
      {};  ///< left ones: of tensors that are lent (runtime/om/om_bodies.h)
  int bank_hits() const;
};

/// Throws Error(kModel) naming the node when something cannot be compiled.
Compilation compile(const graph::Graph& graph, const CompileOptions& options);
/// The same; each constant that nobody else holds is given back as soon as it is packed.
Compilation compile(graph::Graph&& graph, const CompileOptions& options);

}  // namespace aoe::compiler
