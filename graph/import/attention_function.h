// Scaled dot-product attention of heads as ONNX operators, in the form that fuse_attention finds; what the attention
// operators of ONNX and of com.microsoft have in common.
#pragma once

#include <optional>

#include "graph/import/function_call.h"

namespace aoe::graph {

/// (batch, tokens, heads * size) -> (batch, tokens, heads, size)
Term heads_of_rows(Term value, std::int64_t heads);
/// (batch, tokens, heads * size) -> (batch, heads, tokens, size)
Term split_heads(Term value, std::int64_t heads);
/// and back
Term merge_heads(Term value);

struct AttentionInput {
  Term q;                    ///< (batch, heads, tokens, size)
  Term k, v;                 ///< (batch, kv_heads, keys, size): heads are a multiple of kv_heads
  std::optional<Term> bias;  ///< added to the scores; broadcasts to (batch, heads, tokens, keys)
  double scale = 1;          ///< of the scores
  double softcap = 0;        ///< 0: none
  bool may_mask_all_keys = false;  ///< a row whose bias is -inf throughout gives zeros, not NaN
  DataType softmax_type = DataType::kUndefined;  ///< kUndefined: that of q
};

struct AttentionOutput {
  Term y;                               ///< (batch, heads, tokens, size of v)
  Term scores, capped, biased;          ///< (batch, heads, tokens, keys), before the softmax
  std::function<Term()> probabilities;  ///< behind it; made where it is wanted
};

/// The usual scale, 1 by the root of a head's size. Where only a run can tell that, q is scaled here.
double scale_by_size(FunctionCall& call, Term& q);

AttentionOutput attend(FunctionCall& call, const AttentionInput& in);

/// Which keys a token may see: those up to `offset` places behind its own, and within the windows (-1: unbounded).
struct KeyRange {
  bool is_causal = false;
  std::int64_t left = -1, right = -1;
  bool is_bounded() const { return is_causal || left >= 0 || right >= 0; }
};

/// 0 where token i of `tokens` may see key j of `keys`, -inf elsewhere; (tokens, keys). The place of token 0 among the
/// keys is `offset`.
Term range_bias(FunctionCall& call, const KeyRange& range, std::int64_t tokens, std::int64_t keys,
                std::int64_t offset, DataType dtype);
/// The same for an offset each image of the batch has of its own, int64 (batch): (batch, 1, tokens, keys).
Term range_bias(FunctionCall& call, const KeyRange& range, std::int64_t tokens, std::int64_t keys,
                Term offsets, DataType dtype);
/// The same for the tokens of q behind `past`, int64 [1], and the keys of k, both along axis 2, how many only a run can tell.
Term range_bias(FunctionCall& call, const KeyRange& range, Term q, Term k, Term past);
/// `there` where the bool is true, `otherwise` elsewhere.
Term bias_of_mask(Term mask, DataType dtype, double otherwise, double there = 0);
/// `there` for the first lengths[b] of the keys of k (axis 2), `otherwise` behind them; lengths int32 or int64 (batch):
/// (batch, 1, 1, keys).
Term bias_of_lengths(Term lengths, Term k, DataType dtype, double otherwise, double there = 0);

/// The rotation of pairs of elements: x (batch, heads, tokens, size), or (batch, tokens, heads, size) where heads are axis 2; cos
/// and sin (batch or 1, tokens, pairs); elements behind the first 2 * pairs stay. `is_interleaved`: pairs are neighbours, not
/// half a row apart.
Term rotate_pairs(Term x, Term cos, Term sin, bool is_interleaved, std::int64_t heads_axis = 1);

}  // namespace aoe::graph
