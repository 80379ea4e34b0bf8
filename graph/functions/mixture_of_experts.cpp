// MoE and QMoE of com.microsoft: each token goes through the k experts that its router scores highest. All experts see all
// tokens, and what a token did not choose counts nothing: for a few large products rather than many small ones.
#include <cmath>
#include <limits>
#include <optional>

#include "graph/import/function_call.h"
#include "reference/fail.h"
#include "reference/products/packed_weights.h"

namespace aoe::graph {
namespace {

using reference::PackedWeights;

/// What both operators say by attributes, and by the shapes of the weights of the second layer.
struct Experts {
  std::int64_t count, hidden, inner;
  std::string activation;
  bool is_gated() const { return activation == "swiglu"; }
  std::int64_t first_rows() const { return is_gated() ? 2 * inner : inner; }
};

/// Weights may lie as (experts, columns, rows) in older models, with their elements in the same order.
Experts experts_of(FunctionCall& call, Term second, std::int64_t per_byte) {
  if (call.attrs().get_int("use_sparse_mixer", 0) != 0) throw NotExpressible{"its mixer is sparse"};
  const Term x = call.input(0), scores = call.input(1);
  if (call.rank(scores) != 2 || call.rank(second) != 3 || (call.rank(x) != 2 && call.rank(x) != 3))
    reference::fail_model("needs rows, scores of two axes and weights of three");
  Experts experts{.count = call.dim(scores, 1),
                  .hidden = call.dim(x, -1),
                  .inner = 0,
                  .activation = call.attrs().get_string("activation_type", "relu")};
  const std::int64_t size = call.dim(second, 1) * call.dim(second, 2) * per_byte;
  const std::int64_t k = call.attrs().get_int("k", 1);
  constexpr std::int64_t kMostExperts = 1024;
  if (experts.count < 1 || experts.hidden < 1 || size < 1 || size % experts.hidden != 0 ||
      call.dim(second, 0) != experts.count || k < 1 || k > experts.count)
    reference::fail_model("its weights do not fit its rows and scores, or k its experts");
  if (experts.count > kMostExperts) throw NotExpressible{"its experts are too many"};
  experts.inner = size / experts.hidden;
  if (experts.is_gated() && call.attrs().get_int("swiglu_fusion", 0) != 1)
    throw NotExpressible{"its gates do not stand between what they gate (swiglu_fusion=1)"};
  return experts;
}

/// (experts, tokens, 1): how much of each expert a token takes, mostly nothing.
Term shares_of_experts(FunctionCall& call, const Experts& experts, bool is_normalised) {
  const Term scores = call.cast(call.input(1), DataType::kFloat);
  const std::int64_t k = call.attrs().get_int("k", 1);
  const Term all = call.op("Softmax", {scores}, with_axis(-1));
  const std::vector<Term> best = call.ops("TopK", {all, call.ints({k})}, with_axis(-1), 2);
  Term share = best[0];
  if (call.has(14))  // router_weights of QMoE
    share = call.op("GatherElements", {call.cast(call.input(14), DataType::kFloat), best[1]},
                    with_axis(1));
  if (is_normalised) share = share / call.op("ReduceSum", {share, call.ints({-1})});
  const Term nothing =
      call.op("Expand", {call.number(0, DataType::kFloat), call.op("Shape", {all})});
  const Term shares = call.op("ScatterElements", {nothing, best[1], share}, with_axis(1));
  return call.reshape(call.transpose(shares, {1, 0}), {experts.count, -1, 1});
}

/// Rows of a layer's results, at the last axis. A gate and what it gates stand beside each other.
Term activated(FunctionCall& call, const Experts& experts, Term x) {
  const std::string& type = experts.activation;
  if (type == "identity") return x;
  if (type == "relu") return call.op("Relu", {x});
  if (type == "silu") return call.op("Swish", {x});
  reference::Attrs attrs;
  if (type == "gelu") {
    attrs.set("approximate", std::string("tanh"));
    return call.op("Gelu", {x}, attrs);
  }
  if (type != "swiglu") reference::fail_model("its activation_type is '" + type + "'");
  const std::int64_t axis = call.rank(x) - 1, size = 2 * experts.inner;
  Term gate = call.slice(x, axis, 0, size, 2), value = call.slice(x, axis, 1, size, 2);
  const float limit =
      call.attrs().get_float("swiglu_limit", std::numeric_limits<float>::infinity());
  if (std::isfinite(limit)) {
    const auto number = [&](float bound) {
      return call.number(static_cast<double>(bound), DataType::kFloat);
    };
    gate = call.op("Min", {gate, number(limit)});
    value = call.op("Clip", {value, number(-limit), number(limit)});
  }
  attrs.set("alpha", call.attrs().get_float("activation_alpha", 1));
  const auto beta = static_cast<double>(call.attrs().get_float("activation_beta", 0));
  return call.op("Swish", {gate}, attrs) * (value + beta);
}

Term rows_of_tokens(FunctionCall& call, const Experts& experts) {
  return call.reshape(call.cast(call.input(0), DataType::kFloat), {-1, experts.hidden});
}

void give_tokens(FunctionCall& call, Term rows) {
  const Term x = call.input(0);
  const Term y = call.op("Reshape", {rows, call.op("Shape", {x})});
  call.give(0, call.cast(y, call.dtype(x)));
}

/// One of the two layers of all experts: x (experts or 1, tokens, columns).
Term layer(FunctionCall& call, Term x, std::size_t weights, const Shape& shape) {
  if (element_count(call.shape(call.input(weights))) != element_count(shape))
    reference::fail_model("its weights are " + to_string(call.shape(call.input(weights))) +
                          ", its rows and scores need " + to_string(shape));
  const Term by_row = call.cast(call.reshape(call.input(weights), shape), DataType::kFloat);
  const Term y = call.matmul(x, call.transpose(by_row, {0, 2, 1}));
  if (!call.has(weights + 1)) return y;
  const Term bias = call.cast(call.input(weights + 1), DataType::kFloat);
  return y + call.reshape(bias, {shape[0], 1, shape[1]});
}

void expand_moe(FunctionCall& call) {
  if (call.has(6) || call.has(7)) throw NotExpressible{"it has a third layer"};
  const Experts experts = experts_of(call, call.input(4), 1);
  const Term x = call.op("Unsqueeze", {rows_of_tokens(call, experts), call.ints({0})});
  const Term first = layer(call, x, 2, {experts.count, experts.first_rows(), experts.hidden});
  const Term second = layer(call, activated(call, experts, first), 4,
                            {experts.count, experts.hidden, experts.inner});
  const bool is_normalised = call.attrs().get_int("normalize_routing_weights", 0) != 0;
  reference::Attrs drop;
  drop.set("keepdims", std::int64_t{0});
  const Term y = second * shares_of_experts(call, experts, is_normalised);
  give_tokens(call, call.op("ReduceSum", {y, call.ints({0})}, drop));
}

/// A layer of QMoE, whose tensors have one part for each expert.
struct PackedLayer {
  PackedWeights packing;  ///< of one expert
  Term weights, scales, zeros, bias;
};

/// Input `i`, of which each expert has a part of `shape`; absent() where it is left out.
Term by_expert(FunctionCall& call, const Experts& experts, std::size_t i, Shape shape) {
  if (!call.has(i)) return call.absent();
  shape.insert(shape.begin(), experts.count);
  if (element_count(call.shape(call.input(i))) != element_count(shape))
    reference::fail_model("input " + std::to_string(i) + " is " +
                          to_string(call.shape(call.input(i))) + ", needs " + to_string(shape));
  return call.reshape(call.input(i), shape);
}

/// Its weights are input `first`; scales and a bias follow.
PackedLayer packed_layer(FunctionCall& call, const Experts& experts, std::size_t first,
                         std::size_t zeros, std::int64_t rows, std::int64_t columns) {
  const std::int64_t block = call.attrs().get_int("block_size", 0);
  // One scale for a row: that of all its blocks, as large as whole ones can be.
  const PackedWeights w{.n = rows,
                        .k = columns,
                        .bits = call.attrs().get_int("expert_weight_bits", 4),
                        .block = block > 0 ? block : (columns & -columns)};
  if (!PackedWeights::is_block(w.block) || columns % w.block != 0)
    throw NotExpressible{"its rows are not whole blocks of a power of two from 16 on"};
  if (call.has(zeros) && (block <= 0 || w.blocks() < 2))
    throw NotExpressible{"it has zero points of whole rows"};
  Term scales = by_expert(call, experts, first + 1, {w.n, block > 0 ? w.blocks() : 1});
  if (block <= 0) scales = call.op("Expand", {scales, call.ints({1, 1, w.blocks()})});
  return {.packing = w,
          .weights = by_expert(call, experts, first, {w.n, w.blocks(), w.block_bytes()}),
          .scales = scales,
          .zeros = by_expert(call, experts, zeros, {w.n, w.zero_row_bytes()}),
          .bias = by_expert(call, experts, first + 2, {w.n})};
}

Term of_expert(FunctionCall& call, Term all, std::int64_t e) {
  if (all.id == kNone) return all;
  return call.op("Squeeze", {call.slice(all, 0, e, e + 1), call.ints({0})});
}

/// What expert `e` makes of rows.
Term run_packed(FunctionCall& call, const PackedLayer& layer, Term x, std::int64_t e) {
  const auto floats = [&](Term all) {
    return all.id == kNone ? all : call.cast(of_expert(call, all, e), DataType::kFloat);
  };
  reference::Attrs attrs;
  attrs.set("bits", layer.packing.bits);
  attrs.set("block_size", layer.packing.block);
  return call.op("WeightQuantBatchMatmulV2",
                 {x, of_expert(call, layer.weights, e), floats(layer.scales),
                  of_expert(call, layer.zeros, e), floats(layer.bias)},
                 attrs);
}

void expand_quantised_moe(FunctionCall& call) {
  for (const std::size_t third : {8, 9, 10, 13})
    if (call.has(third)) throw NotExpressible{"it has a third layer"};
  for (std::size_t i = 15; i < 21; ++i)
    if (call.has(i)) throw NotExpressible{"it has scales of other kinds"};
  const std::int64_t bits = call.attrs().get_int("expert_weight_bits", 4);
  if (!PackedWeights::are_bits(bits))
    throw NotExpressible{"its weights have " + std::to_string(bits) + " bits"};
  if (call.attrs().get_string("quant_type", "int") != "int")
    throw NotExpressible{"its weights are not integers"};
  const Experts experts = experts_of(call, call.input(5), 8 / bits);
  const PackedLayer first =
      packed_layer(call, experts, 2, 11, experts.first_rows(), experts.hidden);
  const PackedLayer second = packed_layer(call, experts, 5, 12, experts.hidden, experts.inner);
  const bool is_normalised =
      !call.has(14) || call.attrs().get_int("normalize_routing_weights", 0) != 0;
  const Term x = rows_of_tokens(call, experts),
             shares = shares_of_experts(call, experts, is_normalised);
  if (!call.has(3) || !call.has(6)) reference::fail_model("its weights have no scales");
  std::optional<Term> sum;
  for (std::int64_t e = 0; e < experts.count; ++e) {
    const Term inner = activated(call, experts, run_packed(call, first, x, e));
    const Term y = run_packed(call, second, inner, e) * of_expert(call, shares, e);
    sum = sum ? *sum + y : y;
  }
  give_tokens(call, *sum);
}

}  // namespace

void register_mixture_of_experts(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MoE", expand_moe});
  registry.add({kMicrosoft, "QMoE", expand_quantised_moe});
}

}  // namespace aoe::graph
