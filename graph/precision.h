// Precision: which operators compute in less than float32, or may. The permission to use less is an attribute of the node, so that a task
// that has it is another task than the one without: the bank keeps their strategies apart.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "reference/op.h"

namespace aoe::graph {

/// Nodes that multiply a float32 tensor by a constant matrix (MatMulV2, Gemm), and convolutions over two axes, of one group of 8
/// channels or more, with constant weights. All else keeps float32: normalisations, softmax and
/// activations lose more than they win.
std::vector<NodeId> bf16_candidates(const Graph& graph);

/// Lets the operator round its factors to bfloat16; its sums stay float32.
void allow_bf16(Node& node);
bool allows_bf16(const reference::OpCall& op);
/// Besides: lets it compute in float16, sums of short blocks included; these add up in float32.
void allow_fp16(Node& node);
bool allows_fp16(const reference::OpCall& op);

/// Operators that may be carried out by other sums than their plain ones: Winograd's and Strassen's algorithms, fewer bits.
bool has_faster_sums(const reference::OpCall& op);
/// Asks for the plain sums in float32, whoever makes a chain of the node later (--op_select_implmode=high_precision).
void ask_high_precision(Node& node);
/// Of the operator, or of a member of the chain.
bool is_high_precision(const reference::OpCall& op);

/// No lower precision for this node, whatever is allowed for all (--keep_dtype). A note to choose_bf16(), to be forgotten behind it: it would
/// make another task of the node.
void keep_dtype(Node& node);
void forget_kept_dtypes(Graph& graph);

/// Does the graph multiply bytes? kBytePass makes such products of quantised operators (the QDQ and QLinear forms); in a graph
/// that it left out, the same model is computed in float32 between Dequantize and Quantize.
bool has_byte_products(const Graph& graph);
inline constexpr const char* kBytePass = "fuse_quantized";

}  // namespace aoe::graph
