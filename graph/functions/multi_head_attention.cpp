// MultiHeadAttention, Attention and QAttention of com.microsoft: as exporters of transformers fuse them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/import/attention_function.h"
#include "graph/import/quantized_terms.h"

namespace aoe::graph {
namespace {

struct Heads {
  Term q, k, v;  ///< (batch, heads, tokens, size)
};

double scale_of(FunctionCall& call, Term& q) {
  const auto given = static_cast<double>(call.attrs().get_float("scale", 0));
  return given != 0 ? given : scale_by_size(call, q);
}

/// 0 for the keys of each image up to its length, or where twice as many numbers say so from its begin to its end; which,
/// only a run can tell.
Term bias_of_ends(FunctionCall& call, Term mask, const Heads& heads, double masked) {
  const DataType dtype = call.dtype(heads.q);
  const Term batch = call.size_along(heads.q, 0), twice = batch + batch, none = call.ints({0});
  const Term ends = call.op("Slice", {mask, none, batch, none});
  const Term room = call.op("Pad", {mask, call.concat({none, batch}, 0)});
  const Term begins = call.op(
      "Where", {call.op("Equal", {call.size_along(mask, 0), twice}),
                call.op("Slice", {room, batch, twice, none}), call.number(0, call.dtype(mask))});
  return call.op("Min", {bias_of_lengths(ends, heads.k, dtype, masked),
                         bias_of_lengths(begins, heads.k, dtype, 0, masked)});
}

/// Input `i` of rank 1: lengths of the images, or where each ends and behind all of these where each begins, or lengths
/// and behind them where queries and keys of packed images begin, which nobody reads who has them apart; of rank 2 or 3: what
/// may be attended, not 0; of rank 4 the same for a text of any length, of which this is the newest part.
Term padding_bias(FunctionCall& call, std::size_t i, const Heads& heads) {
  const Term mask = call.input(i);
  const DataType dtype = call.dtype(heads.q);
  const auto masked = static_cast<double>(call.attrs().get_float("mask_filter_value", -10000));
  const std::int64_t rank = call.rank(mask);
  if (rank == 1 && (call.is_open(heads.q, 0) || call.is_open(mask, 0)))
    return bias_of_ends(call, mask, heads, masked);
  if (rank == 1) {
    const std::int64_t batch = call.dim(heads.q, 0);
    const std::int64_t count = call.dim(mask, 0);
    if (count != batch && count != 2 * batch && count != 3 * batch + 2)
      throw Error(ExitCode::kModel,
                  "its mask has " + std::to_string(count) + " elements, a batch of " +
                      std::to_string(batch) + " needs " + std::to_string(batch) + ", " +
                      std::to_string(2 * batch) + " or " + std::to_string(3 * batch + 2));
    const Term keys = heads.k;
    if (count != 2 * batch)
      return bias_of_lengths(call.slice(mask, 0, 0, batch), keys, dtype, masked);
    const Term begins = call.slice(mask, 0, batch, 2 * batch);
    return call.op("Min", {bias_of_lengths(call.slice(mask, 0, 0, batch), keys, dtype, masked),
                           bias_of_lengths(begins, keys, dtype, 0, masked)});
  }
  if (rank > 4) throw NotExpressible{"its mask has rank " + std::to_string(rank)};
  if (rank == 4) {
    const Term keys = call.size_along(heads.k, 2);
    const Term rows =
        call.op("Slice", {mask, keys - call.size_along(heads.q, 2), keys, call.ints({2})});
    const Term part = call.op("Slice", {rows, call.ints({0}), keys, call.ints({3})});
    return bias_of_mask(call.cast(part, DataType::kBool), dtype, masked);
  }
  const Term is_kept = call.cast(mask, DataType::kBool);
  const Term rows = call.op("Unsqueeze", {is_kept, rank == 2 ? call.ints({1, 2}) : call.ints({1})});
  return bias_of_mask(rows, dtype, masked);
}

/// What the mask, the caller's own bias and the order of tokens, behind `past` others, int64 [1], add to the scores.
std::optional<Term> bias_of(FunctionCall& call, const Heads& heads, std::size_t mask,
                            std::size_t added, Term past) {
  std::optional<Term> bias;
  const auto add = [&](Term more) { bias = bias ? *bias + more : more; };
  if (call.has(mask)) add(padding_bias(call, mask, heads));
  if (call.has(added)) add(call.input(added));
  if (call.attrs().get_int("unidirectional", 0) != 0)
    add(range_bias(call, {.is_causal = true}, heads.q, heads.k, past));
  return bias;
}

/// Heads of a value of three axes, or heads that it has already.
Term as_heads(FunctionCall& call, Term value, std::int64_t heads) {
  return call.rank(value) == 4 ? value : split_heads(value, heads);
}

/// (batch, tokens, heads, parts, size): its part, as heads.
Term packed_part(FunctionCall& call, Term packed, std::int64_t part) {
  const Term one = call.op("Squeeze", {call.slice(packed, 3, part, part + 1), call.ints({3})});
  return call.transpose(one, {0, 2, 1, 3});
}

/// The biases of queries, keys and values stand in one row.
Term with_bias(FunctionCall& call, Term value, std::int64_t& begin) {
  if (!call.has(3)) return value;
  const std::int64_t size = call.dim(value, 2);
  begin += size;
  return value + call.slice(call.input(3), 0, begin - size, begin);
}

Heads heads_of(FunctionCall& call, std::int64_t heads) {
  const Term query = call.input(0);
  if (call.rank(query) == 5) {
    if (call.has(3)) throw NotExpressible{"its packed queries have a bias"};
    return {packed_part(call, query, 0), packed_part(call, query, 1), packed_part(call, query, 2)};
  }
  std::int64_t begin = 0;
  const Term q = split_heads(with_bias(call, query, begin), heads);
  const Term key = call.input(1);
  if (call.rank(key) == 5) {
    if (call.has(3)) throw NotExpressible{"its packed keys have a bias"};
    return {q, packed_part(call, key, 0), packed_part(call, key, 1)};
  }
  if (call.rank(key) == 4) return {q, key, call.input(2)};
  const Term k = split_heads(with_bias(call, key, begin), heads);
  return {q, k,
          as_heads(
              call,
              call.rank(call.input(2)) == 4 ? call.input(2) : with_bias(call, call.input(2), begin),
              heads)};
}

void give_attention(FunctionCall& call, const Heads& heads, const std::optional<Term>& bias) {
  Term q = heads.q;
  const double scale = scale_of(call, q);
  const AttentionOutput out =
      attend(call, {.q = q, .k = heads.k, .v = heads.v, .bias = bias, .scale = scale});
  call.give(0, merge_heads(out.y));
  if (call.wants(3)) call.give(3, out.biased);
}

void expand_multi_head(FunctionCall& call) {
  if (call.has(8) || call.has(9)) throw NotExpressible{"its past lies in a shared buffer"};
  Heads heads = heads_of(call, call.attrs().get_int("num_heads", 0));
  if (call.has(6)) heads.k = call.concat({call.input(6), heads.k}, 2);
  if (call.has(7)) heads.v = call.concat({call.input(7), heads.v}, 2);
  const Term past = call.has(6) ? call.size_along(call.input(6), 2) : call.ints({0});
  give_attention(call, heads, bias_of(call, heads, 4, 5, past));
  if (call.wants(1)) call.give(1, heads.k);
  if (call.wants(2)) call.give(2, heads.v);
}

/// (2, batch, heads, tokens, size): keys or values of what came before.
Term past_part(FunctionCall& call, Term past, std::int64_t part) {
  return call.op("Squeeze", {call.slice(past, 0, part, part + 1), call.ints({0})});
}

/// Where the optional inputs of Attention and QAttention stand; kNowhere: it has none of the kind.
struct AttentionSlots {
  std::size_t bias, mask, past, added;
};
constexpr std::size_t kNowhere = 1000;

/// `all`: queries, keys and values in one row, without their biases.
void give_projected(FunctionCall& call, Term all, const AttentionSlots& slots) {
  if (call.attrs().get_int("do_rotary", 0) != 0) throw NotExpressible{"it rotates its heads"};
  const std::int64_t count = call.attrs().get_int("num_heads", 0);
  if (call.has(slots.bias)) all = all + call.input(slots.bias);
  const std::int64_t third = call.dim(all, 2) / 3;
  const std::vector<std::int64_t> sizes =
      call.attrs().get_ints("qkv_hidden_sizes", {third, third, third});
  const auto is_too_large = [&](std::int64_t size) { return size < 0 || size > call.dim(all, 2); };
  if (sizes.size() != 3 || std::ranges::any_of(sizes, is_too_large) ||
      sizes[0] + sizes[1] + sizes[2] != call.dim(all, 2))
    throw Error(ExitCode::kModel, "qkv_hidden_sizes do not divide the rows of its weights");
  std::int64_t end = 0;
  const auto next = [&](std::int64_t size) {
    end += size;
    return split_heads(call.slice(all, 2, end - size, end), count);
  };
  Heads heads;
  heads.q = next(sizes[0]);
  heads.k = next(sizes[1]);
  heads.v = next(sizes[2]);
  if (call.has(slots.past)) {
    const Term past = call.input(slots.past);
    heads.k = call.concat({past_part(call, past, 0), heads.k}, 2);
    heads.v = call.concat({past_part(call, past, 1), heads.v}, 2);
  }
  const Term past =
      call.has(slots.past) ? call.size_along(call.input(slots.past), 3) : call.ints({0});
  give_attention(call, heads, bias_of(call, heads, slots.mask, slots.added, past));
  if (!call.wants(1)) return;
  const auto first = [&](Term part) { return call.op("Unsqueeze", {part, call.ints({0})}); };
  call.give(1, call.concat({first(heads.k), first(heads.v)}, 0));
}

void expand_attention(FunctionCall& call) {
  if (call.has(6)) throw NotExpressible{"its past lies in a shared buffer"};
  give_projected(call, call.matmul(call.input(0), call.input(1)),
                 {.bias = 2, .mask = 3, .past = 4, .added = 5});
}

void expand_quantised_attention(FunctionCall& call) {
  const Term all = product(call, {call.input(0), call.input(3), optional_input(call, 6)},
                           {call.input(1), call.input(4), optional_input(call, 7)});
  give_projected(call, all, {.bias = 2, .mask = 5, .past = 8, .added = kNowhere});
}

}  // namespace

void register_multi_head_attention(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MultiHeadAttention", expand_multi_head});
  registry.add({kMicrosoft, "Attention", expand_attention});
  registry.add({kMicrosoft, "QAttention", expand_quantised_attention});
}

}  // namespace aoe::graph
