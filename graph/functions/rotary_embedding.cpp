// RotaryEmbedding, ONNX's and com.microsoft's: the same rotation with its inputs in another order.
#include "base/error.h"
#include "graph/attention_function.h"

namespace aoe::graph {
namespace {

/// Rows of the tables of angles: (batch, tokens, pairs).
Term at_positions(Term table, Term positions) {
  return table.call->op("Gather", {table, positions});
}

/// x is (batch, heads, tokens, size) or (batch, tokens, heads * size), and so is the result.
void give_rotated(FunctionCall& call, Term x, std::int64_t heads, Term cos, Term sin) {
  const bool is_flat = call.rank(x) == 3;
  if (is_flat && heads <= 0)
    throw Error(ExitCode::kModel, "of rows that are not cut into heads it needs num_heads");
  const std::int64_t turned = call.attrs().get_int("rotary_embedding_dim", 0);
  if (turned > 0 && call.dim(cos, -1) * 2 != turned)
    throw Error(ExitCode::kModel, "has " + std::to_string(call.dim(cos, -1)) +
                                      " angles for rotary_embedding_dim " + std::to_string(turned));
  const Term y = rotate_pairs(is_flat ? split_heads(x, heads) : x, cos, sin,
                              call.attrs().get_int("interleaved", 0) != 0);
  call.give(0, is_flat ? merge_heads(y) : y);
}

void expand_rotary_embedding(FunctionCall& call) {
  const auto angles = [&](std::size_t i) {
    return call.has(3) ? at_positions(call.input(i), call.input(3)) : call.input(i);
  };
  give_rotated(call, call.input(0), call.attrs().get_int("num_heads", 0), angles(1), angles(2));
}

/// Position ids are (batch, tokens), or (1): where the first token stands.
Term positions_of(FunctionCall& call, std::int64_t tokens) {
  const Term ids = call.input(1);
  if (call.rank(ids) == 2) return ids;
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < tokens; ++i) steps.push_back(i);
  return call.op("Add", {call.reshape(ids, {1, 1}), call.reshape(call.ints(steps), {1, tokens})});
}

void expand_microsoft(FunctionCall& call) {
  if (call.attrs().get_int("is_packed_batching", 0) != 0)
    throw NotExpressible{"its batches are packed"};
  if (call.attrs().get_float("scale", 1) != 1) throw NotExpressible{"it has a scale"};
  const Term x = call.input(0), cos = call.input(2);
  const bool is_flat = call.rank(x) == 3;
  std::int64_t heads = call.attrs().get_int("num_heads", 0);
  if (is_flat && heads == 0) heads = call.dim(x, 2) / (2 * call.dim(cos, 1));
  const Term positions = positions_of(call, call.dim(x, is_flat ? 1 : 2));
  give_rotated(call, x, heads, at_positions(cos, positions),
               at_positions(call.input(3), positions));
}

}  // namespace

void register_rotary_embedding(FunctionRegistry& registry) {
  registry.add({"", "RotaryEmbedding", expand_rotary_embedding});
  registry.add({kMicrosoft, "RotaryEmbedding", expand_microsoft});
}

}  // namespace aoe::graph
