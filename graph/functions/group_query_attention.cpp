// GroupQueryAttention of com.microsoft: a decoder's step over a cache of keys and values.
//
// Where the cache has room (its length is that of past and present alike), new keys are written behind those that are
// valid, seqlens_k[b] + 1 of image b in all; where past grows by the new tokens, they follow the past.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/import/attention_function.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

enum GroupQueryInput : std::size_t {
  kQuery,
  kKey,
  kValue,
  kPastKeys,
  kPastValues,
  kTokenLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kScoreBias,
  kSink
};

struct SharedHeads {
  Term q, k, v;
};

SharedHeads heads_of(FunctionCall& call) {
  const std::int64_t heads = call.count_attr("num_heads"),
                     kv_heads = call.count_attr("kv_num_heads");
  const Term query = call.input(kQuery);
  if (call.has(kKey))
    return {split_heads(query, heads), split_heads(call.input(kKey), kv_heads),
            split_heads(call.input(kValue), kv_heads)};
  const std::int64_t size = call.dim(query, 2) / (heads + 2 * kv_heads);  // all in one row
  const std::int64_t q = heads * size, kv = kv_heads * size;
  return {split_heads(call.slice(query, 2, 0, q), heads),
          split_heads(call.slice(query, 2, q, q + kv), kv_heads),
          split_heads(call.slice(query, 2, q + kv, q + 2 * kv), kv_heads)};
}

/// Where the new tokens stand, and how long the cache is behind them.
struct Place {
  Term begin;                   ///< int64 (batch)
  std::int64_t tokens, length;  ///< new ones, and of present; kAnyLength: only a run can tell
};

constexpr std::int64_t kAnyLength = -1;

std::int64_t length_of(FunctionCall& call, Term value) {
  return call.is_open(value, 2) ? kAnyLength : call.dim(value, 2);
}

/// Queries, keys and values are of the same.
std::int64_t tokens_of(FunctionCall& call, const SharedHeads& heads) {
  std::int64_t tokens = kAnyLength;
  for (const Term& rows : {heads.q, heads.k, heads.v}) {
    const std::int64_t own = length_of(call, rows);
    if (own == kAnyLength) continue;
    if (tokens != kAnyLength && tokens != own)
      reference::fail_model("queries, keys and values are of " + std::to_string(tokens) + " and " +
                            std::to_string(own) + " tokens");
    tokens = own;
  }
  return tokens;
}

/// int64 [1]: how many tokens there are with the new ones.
Term total_of(FunctionCall& call) {
  return call.cast(call.reshape(call.input(kTotal), {1}), DataType::kInt64);
}

Term at_least_zero(FunctionCall& call, Term value) {
  return call.op("Max", {value, call.number(0, DataType::kInt64)});
}

Place place_of_any_length(FunctionCall& call, Term q, Term lengths) {
  const Term tokens = call.size_along(q, 2);
  const Term begin = at_least_zero(call, lengths + 1 - tokens);
  const Term is_first_prompt = call.op("Equal", {total_of(call), tokens});
  return {call.op("Where", {is_first_prompt, call.number(0, DataType::kInt64), begin}), kAnyLength,
          kAnyLength};
}

Place place_of(FunctionCall& call, const SharedHeads& heads, std::int64_t past_length) {
  const Term lengths = call.cast(call.reshape(call.input(kTokenLengths), {-1}), DataType::kInt64);
  const std::int64_t tokens = tokens_of(call, heads);
  const bool is_known = tokens != kAnyLength && call.known(call.input(kTotal)) != nullptr;
  // The first prompt may be shorter than its row: what counts is where it begins.
  if (past_length == 0)
    return {lengths * 0.0, tokens,
            is_known ? std::max(tokens, call.known_int(call.input(kTotal))) : tokens};
  if (!is_known || past_length == kAnyLength) return place_of_any_length(call, heads.q, lengths);
  const std::int64_t length = std::max(past_length, call.known_int(call.input(kTotal)));
  if (length == tokens) return {lengths * 0.0, tokens, length};
  return {lengths + static_cast<double>(1 - tokens), tokens, length};
}

Term positions_of(FunctionCall& call, const Place& place, Term q) {
  if (call.has(kPositions)) return call.input(kPositions);
  return call.reshape(place.begin, {-1, 1}) + call.reshape(call.places_along(q, 2), {1, -1});
}

void rotate(FunctionCall& call, SharedHeads& heads, Term positions) {
  const bool is_interleaved = call.attrs().get_int("rotary_interleaved", 0) != 0;
  const auto angles = [&](GroupQueryInput table) {
    return call.op("Gather", {call.input(table), positions});
  };
  const Term cos = angles(kCos), sin = angles(kSin);
  heads.q = rotate_pairs(heads.q, cos, sin, is_interleaved);
  heads.k = rotate_pairs(heads.k, cos, sin, is_interleaved);
}

Term present_of_any_length(FunctionCall& call, std::size_t past, Term rows, const Place& place) {
  const Term cache = call.input(past);
  const Term missing = at_least_zero(call, total_of(call) - call.size_along(cache, 2));
  const Term pads = call.concat({call.ints({0, 0, 0, 0, 0, 0}), missing, call.ints({0})}, 0);
  return call.op("TensorScatter", {call.op("Pad", {cache, pads}), rows, place.begin}, with_axis(2));
}

/// The cache with the new rows at their place.
Term present(FunctionCall& call, std::size_t past, Term rows, const Place& place,
             std::int64_t past_length) {
  if (past_length == 0 && place.length == place.tokens) return rows;
  if (place.length == kAnyLength) return present_of_any_length(call, past, rows, place);
  Term cache = past_length > 0 ? call.input(past) : rows;
  if (const std::int64_t missing = place.length - (past_length > 0 ? past_length : place.tokens);
      missing > 0)
    cache = call.op("Pad", {cache, call.ints({0, 0, 0, 0, 0, 0, missing, 0})});
  if (past_length == 0) return cache;
  return call.op("TensorScatter", {cache, rows, place.begin}, with_axis(2));
}

/// With a zero more at the end of an axis.
Term longer(Term value, std::int64_t axis) {
  const std::int64_t rank = value.call->rank(value);
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
  pads[static_cast<std::size_t>(rank + axis)] = 1;
  return value.call->op("Pad", {value, value.call->ints(pads)});
}

/// One more term in the sums of the softmax, of each head or of 0, is a key of zeros whose bias is that, and whose value
/// is nothing.
void add_sink(FunctionCall& call, AttentionInput& in) {
  const std::int64_t heads = call.dim(in.q, 1);
  const Term keys = call.size_along(in.k, 2);
  in.k = longer(in.k, 2);
  in.v = longer(in.v, 2);
  in.bias = longer(*in.bias, call.rank(*in.bias) - 1);
  if (!call.has(kSink)) return;
  const Shape& sinks = call.shape(call.input(kSink));
  if (is_static(sinks) && element_count(sinks) != heads)
    throw Error(ExitCode::kModel, "its head_sink is " + to_string(sinks) +
                                      ", needs one number for each of " + std::to_string(heads) +
                                      " heads");
  const Term sink = call.reshape(call.cast(call.input(kSink), call.dtype(in.q)), {1, heads, 1, 1});
  const Term pads = call.concat({call.ints({0, 0, 0}), keys, call.ints({0, 0, 0, 0})}, 0);
  in.bias = *in.bias + call.op("Pad", {sink, pads});
}

void refuse_what_is_not_known(FunctionCall& call) {
  if (call.attrs().get_string("k_quant_type", "NONE") != "NONE" ||
      call.attrs().get_string("v_quant_type", "NONE") != "NONE")
    throw NotExpressible{"its cache is quantised"};
}

void expand_group_query_attention(FunctionCall& call) {
  refuse_what_is_not_known(call);
  SharedHeads heads = heads_of(call);
  const std::int64_t past_length = call.has(kPastKeys) ? length_of(call, call.input(kPastKeys)) : 0;
  const Place place = place_of(call, heads, past_length);
  if (call.attrs().get_int("do_rotary", 0) != 0)
    rotate(call, heads, positions_of(call, place, heads.q));
  const Term keys = present(call, kPastKeys, heads.k, place, past_length);
  const Term values = present(call, kPastValues, heads.v, place, past_length);
  const std::int64_t window = call.attrs().get_int("local_window_size", -1);
  AttentionInput in{.q = heads.q, .k = keys, .v = values};
  in.bias = range_bias(call, {.is_causal = true, .left = window > 0 ? window - 1 : -1}, heads.q,
                       keys, place.begin);
  if (call.has(kScoreBias)) in.bias = *in.bias + call.input(kScoreBias);
  if (call.has(kSink) || call.attrs().get_int("smooth_softmax", 0) > 0) add_sink(call, in);
  const auto scale = static_cast<double>(call.attrs().get_float("scale", 0));
  in.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(call.dim(heads.q, 3)));
  in.softcap = static_cast<double>(call.attrs().get_float("softcap", 0));
  call.give(0, merge_heads(attend(call, in).y));
  if (call.wants(1)) call.give(1, keys);
  if (call.wants(2)) call.give(2, values);
}

}  // namespace

void register_group_query_attention(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "GroupQueryAttention", expand_group_query_attention});
}

}  // namespace aoe::graph
