// DecoderMaskedMultiHeadAttention of com.microsoft: one new token over a cache that has room for more than is valid.
#include <cmath>
#include <limits>

#include "graph/import/attention_function.h"
#include "graph/import/quantized_terms.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

enum DecoderInput : std::size_t {
  kToken,
  kNewKey,
  kNewValue,
  kKeyMask,
  kAdded,
  kOldKeys,
  kOldValues,
  kPastLength,
  kBeams,
  kCacheIndirection,
  kHeadBias
};

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Queries, keys or values, number `which`, of the new token, with their part of the bias.
Term projected(FunctionCall& call, std::int64_t which, std::int64_t heads) {
  const Term query = call.input(kToken);
  const bool is_packed = !call.has(kNewKey);
  const std::int64_t hidden = call.dim(query, 2) / (is_packed ? 3 : 1);
  Term value = is_packed ? call.slice(query, 2, which * hidden, (which + 1) * hidden)
                         : call.input(static_cast<std::size_t>(which));
  if (call.has(kHeadBias))
    value = value + call.slice(call.input(kHeadBias), 0, which * hidden, (which + 1) * hidden);
  return split_heads(value, heads);
}

/// With room for keys that are not there yet, which what hides them must be at least as long as.
Term up_to(FunctionCall& call, Term value, std::int64_t keys) {
  const std::int64_t missing = keys - call.dim(value, -1);
  if (missing < 0) return call.slice(value, call.rank(value) - 1, 0, keys);
  if (missing == 0) return value;
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * call.rank(value)), 0);
  pads.back() = missing;
  return call.op("Pad", {value, call.ints(pads)});
}

/// The cache as each row's beam sees it, which had other rows before the new token: of each position the indirection says
/// which of the beams of its sample.
Term seen_by_beams(FunctionCall& call, Term cache, Term past) {
  const std::int64_t rows = call.dim(cache, 0), heads = call.dim(cache, 1),
                     room = call.dim(cache, 2);
  if (call.dim(call.input(kCacheIndirection), -1) != room)
    reference::fail_model("its cache_indirection has another length than its cache");
  const Term beams = call.reshape(call.cast(call.input(kBeams), DataType::kInt64), {1});
  const Term own = call.reshape(call.numbered(rows), {rows, 1}), position = call.numbered(room);
  const Term then =
      own / beams * beams +
      call.cast(call.reshape(call.input(kCacheIndirection), {rows, room}), DataType::kInt64);
  const Term row = call.op("Where", {call.op("Less", {position, past}), then, own});
  const Term place = call.reshape(row, {rows, 1, room}) * static_cast<double>(heads * room) +
                     call.reshape(call.numbered(heads * room), {heads, room});
  return call.op("Gather", {call.reshape(cache, {-1, call.dim(cache, 3)}), place}, with_axis(0));
}

void expand_decoder_masked_attention(FunctionCall& call) {
  const std::int64_t heads = call.count_attr("num_heads");
  if (call.rank(call.input(kToken)) != 3 || call.dim(call.input(kToken), 1) != 1)
    reference::fail_model("it needs one token of three axes");
  const bool is_cross = call.has(kNewKey) && call.rank(call.input(kNewKey)) == 4;
  AttentionInput in{.q = projected(call, 0, heads), .k = {}, .v = {}};
  std::optional<Term> bias, past;
  const auto add = [&](Term more) { bias = bias ? *bias + more : more; };
  if (is_cross) {
    in.k = call.input(kNewKey);
    in.v = call.input(kNewValue);
  } else {
    if (!call.has(kOldKeys) || call.attrs().get_int("past_present_share_buffer", 0) == 0)
      throw NotExpressible{"its past lies in no shared buffer"};
    past = call.reshape(call.cast(call.input(kPastLength), DataType::kInt64), {1});
    const Term begins = call.op("Expand", {*past, call.slice(call.op("Shape", {in.q}), 0, 0, 1)});
    const reference::Attrs attrs = with_axis(2);
    const auto present = [&](std::size_t old, std::int64_t which) {
      return call.op("TensorScatter", {call.input(old), projected(call, which, heads), begins},
                     attrs);
    };
    in.k = present(kOldKeys, 1);
    in.v = present(kOldValues, 2);
    add(bias_of_lengths(*past + 1.0, in.k, call.dtype(in.q), kNever));
  }
  const std::int64_t keys = call.dim(in.k, 2);
  if (call.has(kKeyMask)) {
    const Term mask = call.input(kKeyMask);
    if (call.rank(mask) != 2) throw NotExpressible{"its mask is not one of keys"};
    const Term is_kept = call.cast(up_to(call, mask, keys), DataType::kBool);
    const auto masked = static_cast<double>(call.attrs().get_float("mask_filter_value", -10000));
    add(bias_of_mask(call.op("Unsqueeze", {is_kept, call.ints({1, 2})}), call.dtype(in.q), masked));
  }
  if (call.has(kAdded)) add(up_to(call, call.input(kAdded), keys));
  in.bias = bias;
  const auto scale = static_cast<double>(call.attrs().get_float("scale", 0));
  in.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(call.dim(in.q, 3)));
  if (call.wants(1)) call.give(1, in.k);
  if (call.wants(2)) call.give(2, in.v);
  if (call.has(kCacheIndirection) && !is_cross) {
    in.k = seen_by_beams(call, in.k, *past);
    in.v = seen_by_beams(call, in.v, *past);
  }
  const AttentionOutput out = attend(call, in);
  call.give(0, merge_heads(out.y));
  if (!call.wants(3)) return;
  if (!is_cross) throw NotExpressible{"its scores are as many as its tokens so far"};
  call.give(3, out.biased);
}

}  // namespace

void register_decoder_masked_attention(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "DecoderMaskedMultiHeadAttention", expand_decoder_masked_attention});
}

}  // namespace aoe::graph
