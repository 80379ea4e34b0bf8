// Attention of ONNX, opset 23 to 25: heads that share keys, caches, masks, windows, soft caps.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/import/attention_function.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

enum Input : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
enum Output : std::size_t { kY, kPresentKey, kPresentValue, kScores };

/// The mask as something to add: bools by -inf, one that is too short goes on with -inf.
Term mask_bias(FunctionCall& call, Term mask, Term k, DataType dtype) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const bool is_bool = call.dtype(mask) == DataType::kBool;
  Term bias = is_bool ? bias_of_mask(mask, dtype, kNever) : call.cast(mask, dtype);
  if (!call.is_open(k, 2) && !call.is_open(mask, -1) && call.dim(k, 2) <= call.dim(mask, -1))
    return bias;
  const Term missing =
      call.op("Max", {call.size_along(k, 2) - call.size_along(mask, -1), call.ints({0})});
  const std::vector<std::int64_t> others(static_cast<std::size_t>(2 * call.rank(mask) - 1), 0);
  return call.op("Pad",
                 {bias, call.concat({call.ints(others), missing}, 0), call.number(kNever, dtype)});
}

KeyRange range_of(const reference::Attrs& attrs) {
  return {.is_causal = attrs.get_int("is_causal", 0) != 0,
          .left = attrs.get_int("left_window_size", -1),
          .right = attrs.get_int("right_window_size", -1)};
}

/// All that is added to the scores; nothing where nothing is.
std::optional<Term> bias_of(FunctionCall& call, Term q, Term k) {
  const DataType dtype = call.dtype(q);
  std::optional<Term> bias;
  const auto add = [&](Term more) { bias = bias ? *bias + more : more; };
  if (call.has(kMask)) add(mask_bias(call, call.input(kMask), k, dtype));
  const KeyRange range = range_of(call.attrs());
  if (range.is_bounded() && call.has(kLengths) && !call.has(kPastKey)) {
    add(range_bias(call, range, q, k, call.input(kLengths) - call.size_along(q, 2)));
  } else if (range.is_bounded()) {
    const bool has_past = call.has(kPastKey);
    add(range_bias(call, range, q, k,
                   has_past ? call.size_along(call.input(kPastKey), 2) : call.ints({0})));
  }
  if (call.has(kLengths))
    add(bias_of_lengths(call.input(kLengths), k, dtype, -std::numeric_limits<double>::infinity()));
  return bias;
}

void give_scores(FunctionCall& call, const AttentionOutput& out) {
  switch (call.attrs().get_int("qk_matmul_output_mode", 0)) {
    case 0:
      return call.give(kScores, out.scores);
    case 1:
      return call.give(kScores, out.capped);
    case 2:
      return call.give(kScores, out.biased);
    case 3:
      return call.give(kScores, out.probabilities());
    default:
      throw Error(ExitCode::kModel, "qk_matmul_output_mode is none of 0 to 3");
  }
}

void expand_attention(FunctionCall& call) {
  const bool is_flat = call.rank(call.input(kQ)) == 3;
  const auto heads_of = [&](Term value, const char* heads) {
    return is_flat ? split_heads(value, call.attrs().get_int(heads, 0)) : value;
  };
  AttentionInput in{.q = heads_of(call.input(kQ), "q_num_heads"),
                    .k = heads_of(call.input(kK), "kv_num_heads"),
                    .v = heads_of(call.input(kV), "kv_num_heads")};
  if (call.has(kPastKey) != call.has(kPastValue))
    throw Error(ExitCode::kModel, "has a past of keys or of values, not of both");
  if (call.has(kPastKey)) in.k = call.concat({call.input(kPastKey), in.k}, 2);
  if (call.has(kPastValue)) in.v = call.concat({call.input(kPastValue), in.v}, 2);
  in.scale = call.attrs().has("scale") ? static_cast<double>(call.attrs().get_float("scale", 1))
                                       : scale_by_size(call, in.q);
  in.softcap = static_cast<double>(call.attrs().get_float("softcap", 0));
  if (call.attrs().has("softmax_precision"))
    in.softmax_type = reference::data_type_from_onnx(call.attrs().get_int("softmax_precision", 1));
  in.bias = bias_of(call, in.q, in.k);
  // A causal row sees its own key; only a mask, a length or a window behind the keys can hide them all.
  in.may_mask_all_keys =
      in.bias && !call.known(*in.bias) &&
      (call.has(kMask) || call.has(kLengths) || range_of(call.attrs()).left >= 0);
  const AttentionOutput out = attend(call, in);
  call.give(kY, is_flat ? merge_heads(out.y) : out.y);
  if (call.wants(kPresentKey)) call.give(kPresentKey, in.k);
  if (call.wants(kPresentValue)) call.give(kPresentValue, in.v);
  if (call.wants(kScores)) give_scores(call, out);
}

}  // namespace

void register_attention(FunctionRegistry& registry) {
  registry.add({"", "Attention", expand_attention});
}

}  // namespace aoe::graph
