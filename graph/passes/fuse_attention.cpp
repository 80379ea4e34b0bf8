// fuse_attention: attention as exporters write it (attention_pattern.h) becomes one FlashAttentionScore.
//
// q, k and v are read where their Transposes, Reshapes, Slices and scalings read them, and y is written where the
// Transpose behind it writes, so that none of these remain.
#include "graph/analysis/attention_pattern.h"
#include "graph/analysis/attention_views.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool fuse(Graph& graph, NodeId second, AttentionReplacer& replacer) {
  const auto pattern = attention_at(graph, second, AttentionSizes::kKnown);
  if (!pattern) return false;
  const Node &first = graph.nodes[pattern->first()], &product = graph.nodes[second];
  AttentionOperands operands = {.query = first.inputs[0],
                                .key = first.inputs[1],
                                .value = product.inputs[1],
                                .scores = first.outputs[0],
                                .product = product.outputs[0],
                                .mask = pattern->mask,
                                .mask_shape = pattern->mask_shape,
                                .scale = pattern->scale};
  const bool has_where = pattern->condition != kNone;
  if (has_where) operands.mask = pattern->condition;
  auto call = attention_call(graph, operands);
  if (!call) return false;
  if (has_where) call->inputs[3] = replacer.mask_of(call->inputs[3], *pattern);
  call->shape.mask_mode = pattern->mode;
  const bool has_mask = operands.mask != kNone;
  replacer.replace(*pattern, call->absorbed,
                   {operands.query, operands.key, operands.value, operands.mask},
                   {.op = call_of("FlashAttentionScore", to_attrs(call->shape, has_mask)),
                    .inputs = call->inputs,
                    .outputs = {call->output}});
  return true;
}

}  // namespace

bool fuse_attention(Graph& graph) {
  AttentionReplacer replacer(graph);
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    if (!graph.nodes[id].is_dead) changed |= fuse(graph, id, replacer);
  return changed;
}

}  // namespace aoe::graph
