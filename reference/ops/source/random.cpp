// RandomNormal, RandomUniform (and their Like forms), Bernoulli, Multinomial. With a seed attribute a call repeats its
// numbers; they are not those of any other runtime.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "reference/elements/doubles.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/random_numbers.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

RandomNumbers numbers_of(const Attrs& attrs) {
  if (!attrs.has("seed")) return RandomNumbers::fresh();
  return RandomNumbers(std::bit_cast<std::uint32_t>(attrs.get_float("seed", 0)));
}

void compute_normal(const OpContext& context) {
  const RandomNumbers numbers = numbers_of(context.attrs);
  const double mean = context.attrs.get_float("mean", 0),
               scale = context.attrs.get_float("scale", 1);
  std::vector<double> values = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for (std::int64_t i = 0; double& value : values) value = numbers.normal(i++) * scale + mean;
  from_doubles(values, context.outputs[0]);
}

void compute_uniform(const OpContext& context) {
  const RandomNumbers numbers = numbers_of(context.attrs);
  const double low = context.attrs.get_float("low", 0), high = context.attrs.get_float("high", 1);
  std::vector<double> values = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for (std::int64_t i = 0; double& value : values)
    value = numbers.uniform(i++) * (high - low) + low;
  from_doubles(values, context.outputs[0]);
}

DataType dtype_or(const Attrs& attrs, DataType fallback) {
  return attrs.has("dtype") ? data_type_from_onnx(attrs.get_int("dtype", 1)) : fallback;
}

void check_bounds(const Attrs& attrs) {
  const float low = attrs.get_float("low", 0), high = attrs.get_float("high", 1);
  if (!(low <= high))
    fail_model("low is " + std::to_string(low) + ", high is " + std::to_string(high));
}

std::vector<TensorDesc> infer_from_shape(const InferContext& context) {
  check_bounds(context.attrs);
  return {{.dtype = dtype_or(context.attrs, DataType::kFloat),
           .shape = context.attrs.get_ints("shape")}};
}

std::vector<TensorDesc> infer_like(const InferContext& context) {
  check_bounds(context.attrs);
  return {{.dtype = dtype_or(context.attrs, context.dtype(0)), .shape = context.shape(0)}};
}

/// Each input element is the probability of a one.
void compute_bernoulli(const OpContext& context) {
  const RandomNumbers numbers = numbers_of(context.attrs);
  auto values = to_doubles(context.inputs[0]);
  for (std::int64_t i = 0; double& value : values) value = numbers.uniform(i++) < value ? 1 : 0;
  from_doubles(values, context.outputs[0]);
}

std::vector<TensorDesc> infer_multinomial(const InferContext& context) {
  if (context.shape(0).size() != 2) {
    fail_model("input " + to_string(context.shape(0)) + ", needs batch x classes");
  }
  return {{.dtype = dtype_or(context.attrs, DataType::kInt32),
           .shape = {context.shape(0)[0], context.attrs.get_int("sample_size", 1)}}};
}

/// Each row holds unnormalised log probabilities; draws class indices.
void compute_multinomial(const OpContext& context) {
  const RandomNumbers numbers = numbers_of(context.attrs);
  const Shape& shape = context.inputs[0].desc.shape;
  auto sums = to_doubles(context.inputs[0]);
  std::vector<std::int64_t> samples;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const auto begin = sums.begin() + row * shape[1], end = begin + shape[1];
    std::transform_inclusive_scan(begin, end, begin, std::plus<>(),
                                  [](double x) { return std::exp(x); });
    for (std::int64_t i = 0; i < context.outputs[0].desc.shape[1]; ++i) {
      const double drawn = numbers.uniform(std::ssize(samples)) * (begin == end ? 0 : end[-1]);
      const auto found = std::upper_bound(begin, end, drawn);
      // Sums that are no numbers are above nothing.
      samples.push_back(found == end ? std::max<std::int64_t>(shape[1] - 1, 0) : found - begin);
    }
  }
  from_int64s(samples, context.outputs[0]);
}

OpDef random_op(const std::string& type, OpSignature signature, int version, InferFn infer_fn,
                ComputeFn compute, std::size_t min_inputs) {
  return {.type = type,
          .versions = {version},
          .signature = std::move(signature),
          .kind = OpKind::kSource,
          .infer = std::move(infer_fn),
          .compute = std::move(compute),
          .is_deterministic = false,
          .min_inputs = min_inputs};
}

}  // namespace

void register_random(OpRegistry& registry) {
  registry.add(random_op("RandomNormal",
                         {"", "dtype=1.. mean=float scale=float:0.. seed=float !shape=ints:0.."}, 1,
                         infer_from_shape, compute_normal, 0));
  registry.add(random_op("RandomUniform",
                         {"", "dtype=1.. low=float high=float seed=float !shape=ints:0.."}, 1,
                         infer_from_shape, compute_uniform, 0));
  registry.add(random_op("RandomNormalLike",
                         {"a", "dtype=1.. mean=float scale=float:0.. seed=float"}, 1, infer_like,
                         compute_normal, 1));
  registry.add(random_op("RandomUniformLike", {"a", "dtype=1.. low=float high=float seed=float"}, 1,
                         infer_like, compute_uniform, 1));
  registry.add(
      random_op("Bernoulli", {"f", "dtype=1.. seed=float"}, 15, infer_like, compute_bernoulli, 1));
  registry.add(random_op("Multinomial", {"f:2", "dtype=1.. sample_size=1.. seed=float"}, 7,
                         infer_multinomial, compute_multinomial, 1));
}

}  // namespace aoe::reference
