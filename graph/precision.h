// Precision: which operators may compute in less than float32. The permission is an attribute of the node, so that a task
// that has it is another task than the one without: the bank keeps their strategies apart.
#pragma once

#include "graph/graph.h"
#include "reference/op.h"

namespace aoe::graph {

/// Lets every operator that sums products of float32 tensors (MatMulV2, Gemm) round its factors to bfloat16; sums stay
/// float32. Returns how many. All else keeps float32: normalisations, softmax and activations lose more than they win.
int allow_bf16(Graph& graph);

/// Has the operator that permission?
bool allows_bf16(const reference::OpCall& op);

}  // namespace aoe::graph
