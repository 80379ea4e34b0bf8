// SparseAttention of com.microsoft: causal attention over a cache of which each head sees some blocks of keys, as a list
// of blocks for each block of tokens says.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/import/attention_function.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

enum SparseInput : std::size_t {
  kSparseQuery,
  kSparseKey,
  kSparseValue,
  kSparsePastKey,
  kSparsePastValue,
  kRowBegins,
  kColumns,
  kTotalLength,
  kKeyLengths,
  kCosines,
  kSines
};

/// 0 where a block of tokens sees a key of a layout, the lowest number elsewhere: (layouts, blocks, keys).
Term layout_bias(FunctionCall& call, std::int64_t size, std::int64_t keys) {
  const std::vector<std::int64_t> begins = call.known_ints(call.input(kRowBegins)),
                                  columns = call.known_ints(call.input(kColumns));
  if (call.rank(call.input(kRowBegins)) != 2 || call.rank(call.input(kColumns)) != 2)
    reference::fail_model("its blocks are not lists for each layout");
  const std::int64_t layouts = call.dim(call.input(kRowBegins), 0),
                     blocks = call.dim(call.input(kRowBegins), 1) - 1,
                     most = call.dim(call.input(kColumns), 1);
  constexpr std::int64_t kMostConstant = std::int64_t{1} << 26;
  if (layouts < 1 || blocks < 1 || call.dim(call.input(kColumns), 0) != layouts ||
      keys > blocks * size)
    reference::fail_model("its blocks do not cover its cache of " + std::to_string(keys));
  if (keys > kMostConstant / (layouts * blocks)) throw NotExpressible{"its blocks are too many"};
  std::vector<float> bias(static_cast<std::size_t>(layouts * blocks * keys),
                          std::numeric_limits<float>::lowest());
  for (std::int64_t row = 0; row < layouts * blocks; ++row) {
    const std::int64_t layout = row / blocks, block = row % blocks;
    const auto* range = &begins[static_cast<std::size_t>(layout * (blocks + 1) + block)];
    if (range[0] < 0 || range[1] > most)
      reference::fail_model("its lists of blocks end behind what it has");
    for (std::int64_t i = range[0]; i < range[1]; ++i) {
      const std::int64_t column = columns[static_cast<std::size_t>(layout * most + i)];
      if (column < 0 || column >= blocks)
        reference::fail_model("it has no block " + std::to_string(column));
      for (std::int64_t key = column * size; key < std::min((column + 1) * size, keys); ++key)
        bias[static_cast<std::size_t>(row * keys + key)] = 0;
    }
  }
  return call.floats({layouts, blocks, keys}, bias);
}

/// (batch, heads, tokens, keys): head h has layout h % layouts.
Term bias_of_blocks(FunctionCall& call, Term positions, std::int64_t heads, std::int64_t keys) {
  const std::int64_t size = call.attrs().get_int("sparse_block_size", 0);
  constexpr std::int64_t kLargest = 1 << 20;
  if (size < 1 || size > kLargest)
    reference::fail_model("its sparse_block_size is " + std::to_string(size));
  const Term layouts = layout_bias(call, size, keys);
  const std::int64_t count = call.dim(layouts, 0);
  if (heads % count != 0)
    reference::fail_model(std::to_string(heads) + " heads for " + std::to_string(count) +
                          " layouts");
  const Term rows = call.op("Gather", {layouts, positions / call.ints({size})}, with_axis(1));
  const Term by_layout = call.transpose(rows, {1, 0, 2, 3});
  return heads == count ? by_layout
                        : call.op("Tile", {by_layout, call.ints({1, heads / count, 1, 1})});
}

/// The new token's heads, rotated where the node says so.
struct SparseHeads {
  Term q, k, v;
};

SparseHeads sparse_heads(FunctionCall& call, std::int64_t heads, std::int64_t kv_heads) {
  const Term query = call.input(kSparseQuery);
  if (call.has(kSparseKey))
    return {split_heads(query, heads), split_heads(call.input(kSparseKey), kv_heads),
            split_heads(call.input(kSparseValue), kv_heads)};
  const std::int64_t size = call.dim(query, 2) / (heads + 2 * kv_heads), q = heads * size,
                     kv = kv_heads * size;
  return {split_heads(call.slice(query, 2, 0, q), heads),
          split_heads(call.slice(query, 2, q, q + kv), kv_heads),
          split_heads(call.slice(query, 2, q + kv, q + 2 * kv), kv_heads)};
}

/// Where the first new token of each image stands, int64 (batch): at 0 when there is nothing before it.
Term first_places(FunctionCall& call, std::int64_t tokens) {
  const auto ints = [&](std::size_t i) {
    return call.reshape(call.cast(call.input(i), DataType::kInt64), {-1});
  };
  const Term none = call.ints({0}), count = call.ints({tokens});
  const Term is_prompt = call.op("Equal", {ints(kTotalLength), count});
  return call.op("Where", {is_prompt, none, ints(kKeyLengths) - count});
}

void expand_sparse_attention(FunctionCall& call) {
  const auto& attrs = call.attrs();
  const std::int64_t count = call.count_attr("num_heads"),
                     kv_count = call.count_attr("kv_num_heads");
  SparseHeads heads = sparse_heads(call, count, kv_count);
  const std::int64_t tokens = call.dim(heads.q, 2), batch = call.dim(heads.q, 0),
                     keys = call.dim(call.input(kSparsePastKey), 2);
  const Term begins = call.op("Expand", {first_places(call, tokens), call.ints({batch})});
  const Term positions =
      call.reshape(begins, {-1, 1}) + call.reshape(call.numbered(tokens), {1, tokens});
  const bool has_angles = call.has(kCosines) && call.has(kSines);
  if (attrs.get_int("do_rotary", 0) != 0) {
    if (!has_angles) reference::fail_model("it rotates its heads and has no angles");
    const bool is_interleaved = attrs.get_int("rotary_interleaved", 0) != 0;
    const Term cos = call.op("Gather", {call.input(kCosines), positions}),
               sin = call.op("Gather", {call.input(kSines), positions});
    heads.q = rotate_pairs(heads.q, cos, sin, is_interleaved);
    heads.k = rotate_pairs(heads.k, cos, sin, is_interleaved);
  }
  const reference::Attrs axis = with_axis(2);
  AttentionInput in{
      .q = heads.q,
      .k = call.op("TensorScatter", {call.input(kSparsePastKey), heads.k, begins}, axis),
      .v = call.op("TensorScatter", {call.input(kSparsePastValue), heads.v, begins}, axis)};
  const DataType dtype = call.dtype(heads.q);
  in.bias = range_bias(call, {.is_causal = true}, tokens, keys, begins, dtype) +
            call.cast(bias_of_blocks(call, positions, count, keys), dtype);
  const auto scale = static_cast<double>(attrs.get_float("scale", 0));
  in.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(call.dim(heads.q, 3)));
  call.give(0, merge_heads(attend(call, in).y));
  if (call.wants(1)) call.give(1, in.k);
  if (call.wants(2)) call.give(2, in.v);
}

}  // namespace

void register_sparse_attention(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "SparseAttention", expand_sparse_attention});
}

}  // namespace aoe::graph
