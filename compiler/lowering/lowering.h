// Lowering: the graph as a list of steps with a candidate each and a Format for every tensor, conversions included.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/impl.h"

namespace aoe::compiler {

struct LoweredTensor {
  std::string name;
  TensorDesc desc;       ///< with its chosen Format
  ConstantPtr constant;  ///< set for constants; they stay ND
  int model_input = -1;  ///< index among the model's inputs
  graph::ValueId value = graph::kNone;
  Memory memory = Memory::kHost;
};

struct LoweredStep {
  std::string name;
  StepSource source;
  std::vector<std::string> origins;
  Task task;
  Candidate candidate;
  std::vector<int> inputs;               ///< tensor ids, constants included; -1 = absent
  std::vector<int> outputs;              ///< -1 = nobody wants it
  std::vector<Compilation> bodies = {};  ///< of control flow; they leave their weights
};

struct Lowered {
  std::vector<LoweredTensor> tensors;
  std::vector<LoweredStep> steps;  ///< in running order
  std::vector<int> inputs;         ///< tensor ids
  std::vector<int> outputs;
  std::vector<NodeReport> reports;  ///< one per node of the graph
};

/// Picks a candidate for every node and a Format for every tensor. Throws Error(kModel) naming a node that no Impl takes.
Lowered lower_graph(const graph::Graph& graph, const CompileOptions& options);

}  // namespace aoe::compiler
