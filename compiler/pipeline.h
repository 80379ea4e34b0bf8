// The one way from a model to an om, for aoe, atc, the tuning library and benchmarks:
//
//   PreparedModel model = prepare(source, {.soc = soc, .graph_bank = &graph_bank});   // read, simplify, rewrite, lower
//   Compilation c = compile(model, {.soc = soc, .strategies = &op_bank});             // tasks, strategies, Formats, code
//   write_file_atomically("m.om", om_model(std::move(c.om), model.gears).file().pieces());    // gear_split.h
//
// What is measured in time stays above: aoe searches the strategies of a PreparedModel (tuner/).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/model_source.h"

namespace aoe::compiler {

struct Preparation {
  Soc soc;
  int compile_threads = 1;
  const bank::StrategySource* graph_bank = nullptr;  ///< nullptr: no subgraph is rewritten
  bool keeps_exact = false;                          ///< fills in PreparedModel::exact
  /// By name: the errors of lower precision are measured on them, on random ones where there are none.
  std::map<std::string, ConstantPtr> inputs = {};
  /// Told the graph behind the passes, before the bank and the choice of bfloat16; may throw.
  std::function<void(const graph::Graph&)> on_simplified = {};
};

struct PreparedModel {
  graph::Graph graph;
  Gears gears;                             ///< empty without gears
  std::vector<AppliedSubgraph> subgraphs;  ///< what the graph bank has rewritten
  std::optional<graph::Graph> exact;       ///< the same in float32, when `graph` is not
};

/// Reads the model, once; runs the passes that the source wants, those of its precision included; applies the graph bank;
/// chooses what computes in bfloat16. Throws as import_onnx() does.
PreparedModel prepare(const ModelSource& source, const Preparation& options);

/// The source in float32, with none of its precision modes.
ModelSource in_float32(ModelSource source);

/// options.subgraphs are the model's.
Compilation compile(const PreparedModel& model, CompileOptions options);
/// The same, at the least memory: takes the model's graph.
Compilation compile(PreparedModel&& model, CompileOptions options);

}  // namespace aoe::compiler
