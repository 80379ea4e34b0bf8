// Task: one distinct piece of tuning work: an op, or several that are one node, with shapes, dtypes and attributes.
#pragma once

#include <string>
#include <vector>

#include "bank/strategy.h"
#include "base/tensor.h"
#include "compiler/soc.h"
#include "graph/graph.h"
#include "reference/op.h"

namespace aoe::compiler {

struct TaskInput {
  TensorDesc desc;       ///< logical; format kND. dtype kUndefined = absent
  ConstantPtr constant;  ///< weights and parameters known at compile time; nullptr for activations
  bool is_present() const { return desc.dtype != DataType::kUndefined; }
  Tensor tensor() const { return constant ? constant->view() : Tensor{desc, nullptr}; }
};

struct Task {
  reference::OpCall op;  ///< with all that is fused behind it
  std::vector<TaskInput> inputs;
  std::vector<TensorDesc> outputs;

  /// What the others are fused behind; the op itself where that is nothing, or nothing is fused.
  const reference::OpCall& anchor() const { return reference::anchor(op); }
  /// The first of the inputs are its own, the rest is read behind it.
  std::size_t anchor_inputs() const { return reference::anchor_inputs(op, inputs.size()); }
  const TensorDesc& in(std::size_t i) const { return inputs[i].desc; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].is_present(); }
  const TensorDesc& out(std::size_t i = 0) const { return outputs[i]; }
  bool is_static() const;
  /// The inputs, with values where they are constants.
  std::vector<Tensor> tensors() const;
};

Task task_of(const graph::Graph& graph, graph::NodeId node);

/// The canonical identity. Values of constants enter only where they are parameters rather than weights: integers, and
/// floats of a single element.
bank::TaskKey key_of(const Task& task, const Soc& soc);

/// Floating-point operations (a multiply-add counts two) and the bytes that must be moved at least once.
double flops(const Task& task);
double bytes_moved(const Task& task);
/// How many products an element of the outputs sums up, 1 at least: what errors of rounding grow with. Of a recurrence it is those
/// of all steps, since each goes on with the errors of the one before (a GRU of 17 steps over 20 values was off by 57 ulp).
double reduction_length(const Task& task);
/// The same of what makes so many elements by so many flops, without a recurrence.
double reduction_length(double flops, double elements);

/// A graph that holds just this task, fed by random inputs of fixed seed where constants are missing: what a worker compiles and measures.
graph::Graph graph_of(const Task& task);

}  // namespace aoe::compiler
