// LinearAttention: heads whose keys and values are summed up in a matrix, token by token, instead of being kept.
#include <cmath>

#include "base/size.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

enum LinearInput : std::size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct Sizes {
  std::int64_t batch, tokens, heads, kv_heads, key, value;
  std::int64_t state() const { return key * value; }
};

std::int64_t head_size(const Shape& shape, std::int64_t heads, const std::string& what) {
  if (shape[2] % heads != 0)
    fail_model(what + " " + to_string(shape) + " for " + std::to_string(heads) + " heads");
  return shape[2] / heads;
}

Sizes sizes_of(const Attrs& attrs, const Shape& query, const Shape& key, const Shape& value) {
  const std::int64_t heads = attrs.get_int("q_num_heads", 0),
                     kv_heads = attrs.get_int("kv_num_heads", 0);
  if (heads % kv_heads != 0)
    fail_model(std::to_string(heads) + " heads cannot share " + std::to_string(kv_heads));
  const Sizes sizes{query[0],
                    query[1],
                    heads,
                    kv_heads,
                    head_size(query, heads, "query"),
                    head_size(value, kv_heads, "value")};
  check_same_shape(key, {sizes.batch, sizes.tokens, kv_heads * sizes.key}, "key");
  check_same_shape(value, {sizes.batch, sizes.tokens, value[2]}, "value");
  return sizes;
}

struct Rule {
  bool decays, corrects;
};

Rule rule_of(const Attrs& attrs) {
  const std::string rule = attrs.get_string("update_rule", "gated_delta");
  return {rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"};
}

std::vector<TensorDesc> infer_linear_attention(const InferContext& ctx) {
  for (const std::size_t i : {kQuery, kKey, kValue})
    if (!is_static(ctx.shape(i))) {
      Shape unknown(3, kUnknownDim), state(4, kUnknownDim);
      return {{.dtype = ctx.dtype(kQuery), .shape = unknown},
              {.dtype = ctx.dtype(kQuery), .shape = state}};
    }
  const Sizes s = sizes_of(ctx.attrs, ctx.shape(kQuery), ctx.shape(kKey), ctx.shape(kValue));
  const Rule rule = rule_of(ctx.attrs);
  if (rule.decays != ctx.has_input(kDecay))
    fail_model(rule.decays ? "lacks its decay" : "has a decay that its update_rule does not use");
  if (rule.corrects != ctx.has_input(kBeta))
    fail_model(rule.corrects ? "lacks its beta" : "has a beta that its update_rule does not use");
  const auto check_gate = [&](std::size_t i, std::int64_t one, std::int64_t other) {
    const std::int64_t last = ctx.shape(i)[2];
    check_same_shape(ctx.shape(i), {s.batch, s.tokens, last == one ? one : other},
                     i == kDecay ? "decay" : "beta");
  };
  if (rule.decays) check_gate(kDecay, s.kv_heads, s.kv_heads * s.key);
  if (rule.corrects) check_gate(kBeta, 1, s.kv_heads);
  const Shape state = {s.batch, s.kv_heads, s.key, s.value};
  if (ctx.has_input(kPast)) check_same_shape(ctx.shape(kPast), state, "past_state");
  return {{.dtype = ctx.dtype(kQuery), .shape = {s.batch, s.tokens, s.heads * s.value}},
          {.dtype = ctx.dtype(ctx.has_input(kPast) ? kPast : kQuery), .shape = state}};
}

class LinearAttention {
 public:
  explicit LinearAttention(const OpContext& ctx)
      : s_(sizes_of(ctx.attrs, ctx.inputs[kQuery].desc.shape, ctx.inputs[kKey].desc.shape,
                    ctx.inputs[kValue].desc.shape)),
        query_(to_doubles(ctx.inputs[kQuery])),
        key_(to_doubles(ctx.inputs[kKey])),
        value_(to_doubles(ctx.inputs[kValue])),
        scale_(static_cast<double>(ctx.attrs.get_float("scale", 0))) {
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(s_.key));
    if (ctx.has_input(kDecay)) decay_ = to_doubles(ctx.inputs[kDecay]);
    if (ctx.has_input(kBeta)) beta_ = to_doubles(ctx.inputs[kBeta]);
    state.resize(static_cast<std::size_t>(s_.batch * s_.kv_heads * s_.state()), 0);
    if (ctx.has_input(kPast)) state = to_doubles(ctx.inputs[kPast]);
    output.resize(static_cast<std::size_t>(s_.batch * s_.tokens * s_.heads * s_.value));
  }

  void run() {
    for (std::int64_t b = 0; b < s_.batch; ++b)
      for (std::int64_t t = 0; t < s_.tokens; ++t)
        for (std::int64_t head = 0; head < s_.kv_heads; ++head) step(b * s_.tokens + t, b, head);
  }

  std::vector<double> output, state;

 private:
  void step(std::int64_t row, std::int64_t b, std::int64_t head) {
    double* matrix = state.data() + (b * s_.kv_heads + head) * s_.state();
    const double* key = key_.data() + (row * s_.kv_heads + head) * s_.key;
    const double* value = value_.data() + (row * s_.kv_heads + head) * s_.value;
    const double beta = beta_.empty() ? 1 : gate(beta_, row, head);
    for (std::int64_t i = 0; i < s_.key && !decay_.empty(); ++i)
      for (std::int64_t j = 0; j < s_.value; ++j)
        matrix[i * s_.value + j] *= std::exp(decay(row, head, i));
    for (std::int64_t j = 0; j < s_.value; ++j) {
      double stored = 0;
      for (std::int64_t i = 0; i < s_.key && !beta_.empty(); ++i)
        stored += matrix[i * s_.value + j] * key[i];
      for (std::int64_t i = 0; i < s_.key; ++i)
        matrix[i * s_.value + j] += beta * key[i] * (value[j] - stored);
    }
    const std::int64_t sharers = s_.heads / s_.kv_heads;
    for (std::int64_t q = head * sharers; q < (head + 1) * sharers; ++q) read(row, q, matrix);
  }

  void read(std::int64_t row, std::int64_t head, const double* matrix) {
    const double* query = query_.data() + (row * s_.heads + head) * s_.key;
    double* out = output.data() + (row * s_.heads + head) * s_.value;
    for (std::int64_t j = 0; j < s_.value; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < s_.key; ++i) sum += query[i] * matrix[i * s_.value + j];
      out[j] = scale_ * sum;
    }
  }

  /// One for each head, or one for all.
  double gate(const std::vector<double>& gates, std::int64_t row, std::int64_t head) const {
    const std::int64_t width = std::ssize(gates) / (s_.batch * s_.tokens);
    return gates[static_cast<std::size_t>(row * width + (width == 1 ? 0 : head))];
  }

  double decay(std::int64_t row, std::int64_t head, std::int64_t i) const {
    const std::int64_t width = std::ssize(decay_) / (s_.batch * s_.tokens);
    return decay_[static_cast<std::size_t>(row * width +
                                           (width == s_.kv_heads ? head : head * s_.key + i))];
  }

  const Sizes s_;
  std::vector<double> query_, key_, value_, decay_, beta_;
  double scale_;
};

void compute_linear_attention(const OpContext& ctx) {
  LinearAttention attention(ctx);
  attention.run();
  if (ctx.has_output(0)) from_doubles(attention.output, ctx.outputs[0]);
  if (ctx.has_output(1)) from_doubles(attention.state, ctx.outputs[1]);
}

}  // namespace

void register_linear_attention(OpRegistry& registry) {
  registry.add({.type = "LinearAttention",
                .versions = {27},
                .signature = {"f1:3 f1:3 f1:3 f?:4 f1?:3 f1?:3",
                              "chunk_size=1.. !kv_num_heads=1.. !q_num_heads=1.. scale=float "
                              "update_rule=linear|gated|delta|gated_delta"},
                .kind = OpKind::kRecurrence,
                .infer = infer_linear_attention,
                .compute = compute_linear_attention,
                .min_inputs = 3});
}

}  // namespace aoe::reference
