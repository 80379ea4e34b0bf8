// Attention written in operators of ONNX.
#include "graph/import/attention_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/size.h"

namespace aoe::graph {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Windows that reach far beyond all keys, of any length, without sums that overflow.
KeyRange within_reach(KeyRange range) {
  range.left = std::min(range.left, kMostBytes);
  range.right = std::min(range.right, kMostBytes);
  return range;
}

bool sees(const KeyRange& range, std::int64_t token_place, std::int64_t key) {
  return (!range.is_causal || key <= token_place) &&
         (range.left < 0 || key >= token_place - range.left) &&
         (range.right < 0 || key <= token_place + range.right);
}

Term less_or_equal(Term a, Term b) {
  return a.call->op("LessOrEqual", {a, b});
}

/// How heads that share keys are multiplied with them.
struct Sharing {
  std::int64_t heads, kv_heads;  ///< 0: only a run can tell, whether they share any as well
  /// As rows of one product; else each head reads the keys where they lie, which the fused kernel can do alone.
  bool is_by_rows;

  bool is_needed() const { return heads == 0 || heads != kv_heads; }
  bool is_by_group() const { return is_needed() && !is_by_rows; }
  std::int64_t group() const { return heads / kv_heads; }
};

Sharing sharing_of(FunctionCall& call, const AttentionInput& in) {
  if (call.is_open(in.q, 1) || call.is_open(in.k, 1)) return {0, 0, true};
  const Sharing sharing = {.heads = call.dim(in.q, 1),
                           .kv_heads = call.dim(in.k, 1),
                           .is_by_rows = in.softcap > 0 || call.is_open(in.q, 3) ||
                                         call.dtype(in.q) != DataType::kFloat};
  if (sharing.kv_heads <= 0 || sharing.heads % sharing.kv_heads != 0)
    throw Error(ExitCode::kModel, std::to_string(sharing.heads) + " heads cannot share " +
                                      std::to_string(sharing.kv_heads) + " heads of keys");
  return sharing;
}

/// (batch, heads, ...) to (batch, kv_heads, group, ...); a bias of one head is one of each group.
Term by_group(Term value, const Sharing& sharing) {
  FunctionCall& call = *value.call;
  Shape dims = call.shape(value);
  if (dims.size() < 4) return value;
  if (dims[1] == 1) return call.op("Unsqueeze", {value, call.ints({1})});
  dims[0] = 0;
  dims[1] = sharing.kv_heads;
  dims.insert(dims.begin() + 2, sharing.group());
  if (dims[3] >= 0 || dims[4] >= 0) return call.reshape(value, dims);
  const Term heads = call.ints({0, sharing.kv_heads, sharing.group()});
  return call.op(
      "Reshape",
      {value, call.concat({heads, call.size_along(value, 2), call.size_along(value, 3)}, 0)});
}

/// Query heads that share keys are rows of one product, of `heads`, or where that is 0 as many as `like` has.
Term by_heads(Term value, std::int64_t heads, Term like) {
  FunctionCall& call = *value.call;
  constexpr std::int64_t kHeads = 1;
  const std::int64_t last = call.rank(value) - 1;
  if (heads > 0 && !call.is_open(value, last))
    return call.reshape(value, {0, heads, -1, call.dim(value, last)});
  const Term count = heads > 0 ? call.ints({heads}) : call.size_along(like, kHeads);
  return call.op(
      "Reshape",
      {value,
       call.concat({call.ints({0}), count, call.ints({-1}), call.size_along(value, last)}, 0)});
}

/// 0 where a token may see a key, -inf elsewhere: (offsets, 1, tokens, keys), all int64 of one axis.
Term bias_of_places(const KeyRange& range, Term tokens, Term keys, Term offsets, DataType dtype) {
  FunctionCall& call = *tokens.call;
  const Term token = call.reshape(offsets, {-1, 1, 1, 1}) + call.reshape(tokens, {1, 1, -1, 1});
  const Term key = call.reshape(keys, {1, 1, 1, -1});
  std::optional<Term> allowed;
  const auto also = [&](Term condition) {
    allowed = allowed ? call.op("And", {*allowed, condition}) : condition;
  };
  if (range.is_causal) also(less_or_equal(key, token));
  if (range.left >= 0) also(less_or_equal(token, key + static_cast<double>(range.left)));
  if (range.right >= 0) also(less_or_equal(key, token + static_cast<double>(range.right)));
  return bias_of_mask(*allowed, dtype, kMinusInfinity);
}

}  // namespace

Term heads_of_rows(Term value, std::int64_t heads) {
  FunctionCall& call = *value.call;
  const bool is_open = call.is_open(value, 2);
  const std::int64_t hidden = is_open ? 0 : call.dim(value, 2);
  if (heads <= 0 || hidden % heads != 0)
    throw Error(ExitCode::kModel, "rows of " + std::to_string(hidden) +
                                      " elements do not divide into " + std::to_string(heads) +
                                      " heads");
  const std::int64_t size = is_open ? -1 : hidden / heads;
  return call.reshape(value, {0, 0, heads, size});
}

Term split_heads(Term value, std::int64_t heads) {
  return value.call->transpose(heads_of_rows(value, heads), {0, 2, 1, 3});
}

Term merge_heads(Term value) {
  FunctionCall& call = *value.call;
  const bool is_open = call.is_open(value, 1) || call.is_open(value, 3);
  const std::int64_t hidden = is_open ? -1 : call.dim(value, 1) * call.dim(value, 3);
  return call.reshape(call.transpose(value, {0, 2, 1, 3}), {0, 0, hidden});
}

double scale_by_size(FunctionCall& call, Term& q) {
  if (!call.is_open(q, 3)) return 1 / std::sqrt(static_cast<double>(call.dim(q, 3)));
  q = q / call.op("Sqrt", {call.cast(call.size_along(q, 3), call.dtype(q))});
  return 1;
}

AttentionOutput attend(FunctionCall& call, const AttentionInput& in) {
  const Sharing sharing = sharing_of(call, in);
  const bool is_by_group = sharing.is_by_group(), is_by_rows = sharing.is_needed() && !is_by_group;
  const auto shared = [&](Term value) {
    return is_by_group ? call.op("Unsqueeze", {value, call.ints({2})}) : value;
  };
  const auto of_all_heads = [sharing, q = in.q](Term value) {
    return by_heads(value, sharing.heads, q);
  };
  const auto by_key_heads = [&](Term value) { return by_heads(value, sharing.kv_heads, in.k); };
  const Term q = is_by_group ? by_group(in.q, sharing) : is_by_rows ? by_key_heads(in.q) : in.q;
  AttentionOutput out;
  const Term columns = call.transpose(in.k, {0, 1, 3, 2});
  out.scores = call.matmul(q, shared(columns)) * in.scale;
  if (is_by_rows) out.scores = of_all_heads(out.scores);
  out.capped =
      in.softcap > 0 ? call.op("Tanh", {out.scores * (1 / in.softcap)}) * in.softcap : out.scores;
  const bool is_bias_by_group = in.bias && is_by_group;
  const std::optional<Term> bias = is_bias_by_group ? by_group(*in.bias, sharing) : in.bias;
  out.biased = bias ? out.capped + *bias : out.capped;
  const DataType dtype = call.dtype(in.q);
  const DataType inner = in.softmax_type == DataType::kUndefined ? dtype : in.softmax_type;
  const Term softmax =
      call.cast(call.op("Softmax", {call.cast(out.biased, inner)}, with_axis(-1)), dtype);
  // The mask of rows that see nothing stands behind the second product, so that the fused kernel still fits in front.
  std::optional<Term> sees_none;
  if (in.may_mask_all_keys && in.bias) {
    reference::Attrs keep;
    keep.set("keepdims", std::int64_t{1});
    const Term most = call.op("ReduceMax", {*in.bias, call.ints({-1})}, keep);
    sees_none = call.op("Equal", {most, call.number(kMinusInfinity, call.dtype(most))});
  }
  const auto without_blind_rows = [&call, sees_none, dtype](Term value) {
    return sees_none ? call.op("Where", {*sees_none, call.number(0, dtype), value}) : value;
  };
  const Term weights = is_by_rows ? by_key_heads(softmax) : softmax;
  const Term y = call.matmul(weights, shared(in.v));
  out.y = without_blind_rows(sharing.is_needed() ? of_all_heads(y) : y);
  out.probabilities = [=] {
    return without_blind_rows(is_by_group ? of_all_heads(softmax) : softmax);
  };
  if (is_by_group)
    for (Term* scores : {&out.scores, &out.capped, &out.biased}) *scores = of_all_heads(*scores);
  return out;
}

Term range_bias(FunctionCall& call, const KeyRange& given, std::int64_t tokens, std::int64_t keys,
                std::int64_t offset, DataType dtype) {
  const KeyRange range = within_reach(given);
  constexpr std::int64_t kMostConstant = std::int64_t{1} << 22;  // 16 MB in the om
  if (keys > 0 && tokens > kMostConstant / keys)
    return range_bias(call, range, tokens, keys, call.ints({offset}), dtype);
  const std::string key = fmt::format("range_bias {} {} {} {} {} {} {}", range.is_causal,
                                      range.left, range.right, tokens, keys, offset, name(dtype));
  return call.shared(key, [&] {
    std::vector<float> bias;
    for (std::int64_t i = 0; keys > 0 && i < tokens; ++i)
      for (std::int64_t j = 0; j < keys; ++j)
        bias.push_back(sees(range, i + offset, j) ? 0.0f : static_cast<float>(kMinusInfinity));
    return call.cast(call.floats({tokens, keys}, bias), dtype);
  });
}

Term range_bias(FunctionCall& call, const KeyRange& range, std::int64_t tokens, std::int64_t keys,
                Term offsets, DataType dtype) {
  return bias_of_places(within_reach(range), call.numbered(tokens), call.numbered(keys), offsets,
                        dtype);
}

Term range_bias(FunctionCall& call, const KeyRange& range, Term q, Term k, Term past) {
  const DataType dtype = call.dtype(q);
  const ConstantPtr known_past = call.known(past);
  const bool is_one = known_past && element_count(known_past->desc().shape) == 1;
  if (is_one && !call.is_open(q, 2) && !call.is_open(k, 2))
    return range_bias(call, range, call.dim(q, 2), call.dim(k, 2), call.known_int(past), dtype);
  return bias_of_places(within_reach(range), call.places_along(q, 2), call.places_along(k, 2), past,
                        dtype);
}

Term bias_of_mask(Term mask, DataType dtype, double otherwise, double there) {
  FunctionCall& call = *mask.call;
  return call.op("Where", {mask, call.number(there, dtype), call.number(otherwise, dtype)});
}

Term bias_of_lengths(Term lengths, Term k, DataType dtype, double otherwise, double there) {
  FunctionCall& call = *lengths.call;
  const Term key = call.reshape(call.places_along(k, 2), {1, 1, 1, -1});
  const Term length = call.reshape(call.cast(lengths, DataType::kInt64), {-1, 1, 1, 1});
  return bias_of_mask(call.op("Less", {key, length}), dtype, otherwise, there);
}

Term rotate_pairs(Term x, Term cos, Term sin, bool is_interleaved, std::int64_t heads_axis) {
  FunctionCall& call = *x.call;
  // Of heads whose size only a run can tell all elements have angles.
  if (call.is_open(x, 3) && !call.is_open(cos, 2))
    x = call.reshape(x, {0, 0, 0, 2 * call.dim(cos, 2)});
  reference::Attrs attrs;
  attrs.set("heads_axis", heads_axis);
  attrs.set("interleaved", std::int64_t{is_interleaved});
  return call.op("RotaryMul", {x, cos, sin}, attrs);
}

}  // namespace aoe::graph
