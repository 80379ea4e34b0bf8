// Attention written in operators of ONNX.
#include "graph/attention_function.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace aoe::graph {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

reference::Attrs with_axis(std::int64_t axis) {
  reference::Attrs attrs;
  attrs.set("axis", axis);
  return attrs;
}

bool sees(const KeyRange& range, std::int64_t token_place, std::int64_t key) {
  return (!range.is_causal || key <= token_place) &&
         (range.left < 0 || key >= token_place - range.left) &&
         (range.right < 0 || key <= token_place + range.right);
}

Term less_or_equal(Term a, Term b) {
  return a.call->op("LessOrEqual", {a, b});
}

Term places(FunctionCall& call, std::int64_t count) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) list[static_cast<std::size_t>(i)] = i;
  return call.ints(list);
}

/// Query heads that share keys are rows of one product.
Term by_key_heads(Term value, std::int64_t kv_heads, std::int64_t rows) {
  FunctionCall& call = *value.call;
  return call.reshape(value, {0, kv_heads, rows, call.dim(value, -1)});
}

}  // namespace

Term split_heads(Term value, std::int64_t heads) {
  FunctionCall& call = *value.call;
  const std::int64_t hidden = call.dim(value, 2);
  if (heads <= 0 || hidden % heads != 0)
    throw Error(ExitCode::kModel, "rows of " + std::to_string(hidden) +
                                      " elements do not divide into " + std::to_string(heads) +
                                      " heads");
  return call.transpose(call.reshape(value, {0, 0, heads, hidden / heads}), {0, 2, 1, 3});
}

Term merge_heads(Term value) {
  FunctionCall& call = *value.call;
  const std::int64_t hidden = call.dim(value, 1) * call.dim(value, 3);
  return call.reshape(call.transpose(value, {0, 2, 1, 3}), {0, 0, hidden});
}

AttentionOutput attend(FunctionCall& call, const AttentionInput& in) {
  const std::int64_t heads = call.dim(in.q, 1), kv_heads = call.dim(in.k, 1);
  if (kv_heads <= 0 || heads % kv_heads != 0)
    throw Error(ExitCode::kModel, std::to_string(heads) + " heads cannot share " +
                                      std::to_string(kv_heads) + " heads of keys");
  const bool shares = heads != kv_heads;
  const std::int64_t rows = shares ? heads / kv_heads * call.dim(in.q, 2) : 0;
  const Term q = shares ? by_key_heads(in.q, kv_heads, rows) : in.q;
  AttentionOutput out;
  out.scores = call.matmul(q, call.transpose(in.k, {0, 1, 3, 2})) * in.scale;
  if (shares) out.scores = call.reshape(out.scores, {0, heads, -1, call.dim(in.k, 2)});
  out.capped =
      in.softcap > 0 ? call.op("Tanh", {out.scores * (1 / in.softcap)}) * in.softcap : out.scores;
  out.biased = in.bias ? out.capped + *in.bias : out.capped;
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
  const Term weights = shares ? by_key_heads(softmax, kv_heads, rows) : softmax;
  Term y = call.matmul(weights, in.v);
  if (shares) y = call.reshape(y, {0, heads, -1, call.dim(in.v, 3)});
  out.y = without_blind_rows(y);
  out.probabilities = [=] { return without_blind_rows(softmax); };
  return out;
}

Term range_bias(FunctionCall& call, const KeyRange& range, std::int64_t tokens, std::int64_t keys,
                std::int64_t offset, DataType dtype) {
  constexpr std::int64_t kMostConstant = std::int64_t{1} << 22;  // 16 MB in the om
  if (keys > 0 && tokens > kMostConstant / keys)
    return range_bias(call, range, tokens, keys, call.ints({offset}), dtype);
  std::vector<float> bias;
  for (std::int64_t i = 0; i < tokens; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      bias.push_back(sees(range, i + offset, j) ? 0.0f : static_cast<float>(kMinusInfinity));
  return call.cast(call.floats({tokens, keys}, bias), dtype);
}

Term range_bias(FunctionCall& call, const KeyRange& range, std::int64_t tokens, std::int64_t keys,
                Term offsets, DataType dtype) {
  const Term token =
      call.reshape(offsets, {-1, 1, 1, 1}) + call.reshape(places(call, tokens), {1, 1, tokens, 1});
  const Term key = call.reshape(places(call, keys), {1, 1, 1, keys});
  std::optional<Term> allowed;
  const auto also = [&](Term condition) {
    allowed = allowed ? call.op("And", {*allowed, condition}) : condition;
  };
  if (range.is_causal) also(less_or_equal(key, token));
  if (range.left >= 0) also(less_or_equal(token, key + static_cast<double>(range.left)));
  if (range.right >= 0) also(less_or_equal(key, token + static_cast<double>(range.right)));
  return bias_of_mask(*allowed, dtype, kMinusInfinity);
}

Term bias_of_mask(Term mask, DataType dtype, double otherwise) {
  FunctionCall& call = *mask.call;
  return call.op("Where", {mask, call.number(0, dtype), call.number(otherwise, dtype)});
}

Term bias_of_lengths(Term lengths, std::int64_t keys, DataType dtype, double otherwise) {
  FunctionCall& call = *lengths.call;
  const Term key = call.reshape(places(call, keys), {1, 1, 1, keys});
  const Term length = call.reshape(call.cast(lengths, DataType::kInt64), {-1, 1, 1, 1});
  return bias_of_mask(call.op("Less", {key, length}), dtype, otherwise);
}

Term rotate_pairs(Term x, Term cos, Term sin, bool is_interleaved) {
  FunctionCall& call = *x.call;
  const std::int64_t size = call.dim(x, 3), pairs = call.dim(cos, 2), turned = 2 * pairs;
  if (turned > size)
    throw Error(ExitCode::kModel, std::to_string(pairs) + " angles are too many for heads of " +
                                      std::to_string(size) + " elements");
  const Term head = turned == size ? x : call.slice(x, 3, 0, turned);
  const auto per_head = [&](Term angles) { return call.op("Unsqueeze", {angles, call.ints({1})}); };
  const Term c = per_head(cos), s = per_head(sin);
  const Term a = is_interleaved ? call.slice(head, 3, 0, turned, 2) : call.slice(head, 3, 0, pairs);
  const Term b =
      is_interleaved ? call.slice(head, 3, 1, turned, 2) : call.slice(head, 3, pairs, turned);
  const Term real = a * c - b * s, imaginary = a * s + b * c;
  Term rotated;
  if (is_interleaved) {
    const auto last = [&](Term part) { return call.op("Unsqueeze", {part, call.ints({4})}); };
    rotated = call.reshape(call.concat({last(real), last(imaginary)}, 4), {0, 0, 0, turned});
  } else {
    rotated = call.concat({real, imaginary}, 3);
  }
  return turned == size ? rotated : call.concat({rotated, call.slice(x, 3, turned, size)}, 3);
}

}  // namespace aoe::graph
