// FlashAttentionScore and FusedInferAttentionScore: softmax(scale * query * key^T, masked) * value, for all heads at once; what the graph
// passes fuse_attention and fuse_open_attention make of attention in pieces. See reference/products/attention.h and
// attention_tensors.h, where only a run knows sizes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/products/attention.h"
#include "reference/products/attention_tensors.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kMask = kAttentionMask;

void check_inside(const InferContext& context, const AttentionShape& s, std::size_t input,
                  const MatrixView& view, std::int64_t rows, std::int64_t columns) {
  const std::int64_t elements = element_count(context.shape(input));
  const std::int64_t reached = elements_reached(view, s, rows, columns);
  if (elements != kUnknownDim && reached > elements)
    fail_model("input " + std::to_string(input) + " of shape " + to_string(context.shape(input)) +
               " ends before element " + std::to_string(reached) + " of its view");
}

std::vector<TensorDesc> infer_attention(const InferContext& context) {
  const bool has_mask = context.has_input(kMask);
  const AttentionShape s = attention_shape(context.attrs, has_mask);
  check_inside(context, s, 0, s.query, s.queries, s.depth);
  check_inside(context, s, 1, s.key, s.keys, s.depth);
  check_inside(context, s, 2, s.value, s.keys, s.value_depth);
  if (has_mask) check_inside(context, s, kMask, s.mask, s.queries, s.keys);
  return {{.dtype = context.dtype(0), .shape = s.output_shape}};
}

using Doubles = std::vector<double>;

double at(const Doubles& elements, std::int64_t index) {
  return elements[static_cast<std::size_t>(index)];
}

/// Where the matrices of one batch begin.
struct Origins {
  std::int64_t query, key, value, mask, output;
};

class Attention {
 public:
  Attention(const OpContext& context, const AttentionShape& shape)
      : s_(shape),
        query_(to_doubles(context.inputs[0])),
        key_(to_doubles(context.inputs[1])),
        value_(to_doubles(context.inputs[2])),
        output_(static_cast<std::size_t>(element_count(s_.output_shape))) {
    if (context.has_input(kMask)) mask_ = to_doubles(context.inputs[kMask]);
  }

  Doubles compute() {
    for (std::int64_t b = 0; b < s_.batches(); ++b) {
      const Origins from = {origin(s_.query, b), origin(s_.key, b), origin(s_.value, b),
                            mask_.empty() ? 0 : origin(s_.mask, b), origin(s_.output, b)};
      for (std::int64_t q = 0; q < s_.queries; ++q) write_row(from, q, weights(from, q));
    }
    return std::move(output_);
  }

 private:
  std::int64_t origin(const MatrixView& view, std::int64_t batch) const {
    std::int64_t offset = view.offset;
    for (std::size_t d = s_.batch.size(); d-- > 0; batch /= s_.batch[d])
      offset += batch % s_.batch[d] * view.batch[d];
    return offset;
  }

  /// In float32 from the product on: a mask of the lowest float makes all that it hides equal only when sums are rounded.
  double score(const Origins& from, std::int64_t q, std::int64_t k) const {
    double product = 0;
    for (std::int64_t d = 0; d < s_.depth; ++d)
      product += at(query_, from.query + q * s_.query.row + d * s_.query.column) *
                 at(key_, from.key + k * s_.key.row + d * s_.key.column);
    const auto score = static_cast<float>(product * double{s_.scale});
    if (mask_.empty()) return score;
    const auto mask =
        static_cast<float>(at(mask_, from.mask + q * s_.mask.row + k * s_.mask.column));
    return s_.mask_mode == MaskMode::kAdd ? score + mask : std::min(score, mask);
  }

  /// The softmax of one query's scores.
  Doubles weights(const Origins& from, std::int64_t q) const {
    Doubles weights;
    for (std::int64_t k = 0; k < s_.keys; ++k) weights.push_back(score(from, q, k));
    if (weights.empty()) return weights;
    const double largest = *std::ranges::max_element(weights);
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (double& weight : weights) weight /= sum;
    return weights;
  }

  void write_row(const Origins& from, std::int64_t q, const Doubles& weights) {
    for (std::int64_t d = 0; d < s_.value_depth; ++d) {
      double sum = 0;
      for (std::int64_t k = 0; k < s_.keys; ++k)
        sum += at(weights, k) * at(value_, from.value + k * s_.value.row + d * s_.value.column);
      output_[static_cast<std::size_t>(from.output + q * s_.output.row + d * s_.output.column)] =
          sum;
    }
  }

  const AttentionShape s_;
  const Doubles query_, key_, value_;
  Doubles mask_;  ///< empty: none
  Doubles output_;
};

std::vector<TensorDesc> infer_open(const InferContext& context) {
  return {{.dtype = context.dtype(0),
           .shape = attention_tensors(context.attrs, context.inputs).output}};
}

AttentionShape open_shape(const Attrs& attrs, const auto& inputs) {
  return attention_shape(attrs, attention_tensors(attrs, inputs));
}

/// Two products, and the softmax between them.
double attention_flops(const AttentionShape& s) {
  const auto scores = static_cast<double>(s.batches() * s.queries * s.keys);
  return scores * (2.0 * static_cast<double>(s.depth + s.value_depth) + 5.0);
}

}  // namespace

void register_flash_attention_score(OpRegistry& registry) {
  registry.add(
      {.type = "FlashAttentionScore",
       .onnx_type = "",
       .kind = OpKind::kProduct,
       .infer = infer_attention,
       .compute =
           [](const OpContext& context) {
             const AttentionShape s = attention_shape(context.attrs, context.has_input(kMask));
             from_doubles(Attention(context, s).compute(), context.outputs[0]);
           },
       .flops =
           [](const CostContext& cost) {
             return attention_flops(attention_shape(cost.attrs, cost.input_elements(kMask) > 0));
           },
       .min_inputs = 3,
       .factors = 3,
       .first_input_may_be_constant = true});
  registry.add({.type = "FusedInferAttentionScore",
                .onnx_type = "",
                .kind = OpKind::kProduct,
                .infer = infer_open,
                .compute =
                    [](const OpContext& context) {
                      const AttentionShape s = open_shape(context.attrs, context.inputs);
                      from_doubles(Attention(context, s).compute(), context.outputs[0]);
                    },
                .flops =
                    [](const CostContext& cost) {
                      return attention_flops(open_shape(cost.attrs, cost.inputs));
                    },
                .min_inputs = 3,
                .factors = 3,
                .first_input_may_be_constant = true});
}

}  // namespace aoe::reference
