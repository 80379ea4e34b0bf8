// Operators of com.microsoft, which the import takes apart.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

/// Of at least one, whatever the model is.
std::int64_t some(ModelDraw& d, std::int64_t most) {
  return std::max<std::int64_t>(1, d.dim(most));
}

void add_inverse(ModelDraw& d) {
  const std::int64_t n = some(d, 9);
  const Shape shape = d.one_in(2) ? Shape{n, n} : Shape{d.dim(3), n, n};
  const DataType dtype = d.pick(kFloats);
  d.add_contributed("Inverse", {d.fresh(dtype, shape)}, {}, {{.dtype = dtype, .shape = shape}},
                    Exactness::kWild);
}

void add_murmur_hash(ModelDraw& d) {
  static const Types kKeys = {DataType::kFloat, DataType::kDouble, DataType::kInt32,
                              DataType::kInt64, DataType::kUint32, DataType::kUint64};
  const Id x = d.value({.types = one_of(d, kKeys), .is_exact = true});
  Attrs attrs;
  const bool is_positive = d.one_in(2);
  attrs.set("positive", std::int64_t{is_positive});
  if (d.one_in(2)) attrs.set("seed", d.between(0, 1000));
  const DataType dtype = is_positive ? DataType::kUint32 : DataType::kInt32;
  d.add_contributed("MurmurHash3", {x}, attrs, {{.dtype = dtype, .shape = d.shape_of(x)}},
                    Exactness::kExact);
}

void add_matmul_integer16(ModelDraw& d) {
  const std::int64_t m = d.dim(9), k = d.dim(17), n = d.dim(9);
  const auto factor = [&](const Shape& shape) {
    return d.one_in(2) ? d.numbers(DataType::kInt16, shape, -32768, 32767)
                       : d.numbers(DataType::kUint16, shape, 0, 65535);
  };
  const Id a = factor(d.one_in(2) ? Shape{m, k} : Shape{d.dim(3), m, k}), b = factor({k, n});
  Shape y = d.shape_of(a);
  y.back() = n;
  const bool is_unsigned = d.dtype_of(a) == DataType::kUint16 && d.dtype_of(b) == DataType::kUint16;
  d.add_contributed("MatMulInteger16", {a, b}, {},
                    {{.dtype = is_unsigned ? DataType::kUint32 : DataType::kInt32, .shape = y}},
                    Exactness::kExact);
}

void add_ngram_repeat_block(ModelDraw& d) {
  const std::int64_t batch = some(d, 3), tokens = some(d, 17), words = d.between(2, 9);
  Attrs attrs;
  attrs.set("ngram_size", d.between(1, 4));
  const Id list =
      d.one_in(2) ? d.fresh(DataType::kInt64, {batch, tokens}, false)
                  : d.numbers(DataType::kInt64, {batch, tokens}, 0, static_cast<double>(words - 1));
  d.add_contributed("NGramRepeatBlock", {list, d.fresh(DataType::kFloat, {batch, words})}, attrs,
                    {{.dtype = DataType::kFloat, .shape = {batch, words}}}, Exactness::kWild);
}

void add_maxpool_with_mask(ModelDraw& d) {
  const Id x = d.value({.min_rank = 3, .max_rank = 5});
  const Shape shape = d.shape_of(x);
  Shape mask = shape, y = shape;
  mask[0] = mask[1] = 1;
  Ints kernel, strides, begins, ends;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    kernel.push_back(d.between(1, 3));
    strides.push_back(d.between(1, 2));
    begins.push_back(d.below(kernel.back()));
    ends.push_back(d.below(kernel.back()));
    const std::int64_t size = shape[i] + begins.back() + ends.back();
    if (shape[i] == 0 || size < kernel.back()) return;
    y[i] = (size - kernel.back()) / strides.back() + 1;
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  Attrs attrs;
  attrs.set("kernel_shape", kernel);
  attrs.set("strides", strides);
  attrs.set("pads", begins);
  // What no element counts for is the lowest number.
  const bool is_full = d.one_in(2);
  const Id counts =
      is_full ? d.numbers(DataType::kInt32, mask, 1, 1) : d.fresh(DataType::kInt32, mask);
  d.add_contributed("MaxpoolWithMask", {x, counts}, attrs,
                    {{.dtype = DataType::kFloat, .shape = y}},
                    is_full ? Exactness::kClose : Exactness::kWild);
}

void add_crop_and_resize(ModelDraw& d) {
  const Id x = d.value({.min_rank = 4, .max_rank = 4});
  const Shape shape = d.shape_of(x);
  if (element_count(shape) == 0) return;
  const std::int64_t boxes = d.dim(5), height = d.between(1, 5), width = d.between(1, 5);
  Attrs attrs;
  // A box may end where an image does, and a pixel lie between two: both jump.
  const bool jumps = d.one_in(2);
  if (jumps) attrs.set("mode", d.pick(Strings{"nearest", "bilinear"}));
  if (d.one_in(2)) attrs.set("extrapolation_value", 0.5f);
  const std::vector<Id> inputs = {
      x, d.numbers(DataType::kFloat, {boxes, 4}, jumps ? -0.3 : 0.1, jumps ? 1.3 : 0.9),
      d.numbers(DataType::kInt32, {boxes}, 0, static_cast<double>(shape[0] - 1)),
      d.one_in(2) ? d.ints({height, width}) : d.numbers(DataType::kInt32, {2}, 3, 3)};
  const bool is_three = d.dtype_of(inputs[3]) == DataType::kInt32;
  const Shape y = {boxes, shape[1], is_three ? 3 : height, is_three ? 3 : width};
  d.add_contributed("CropAndResize", inputs, attrs, {{.dtype = DataType::kFloat, .shape = y}},
                    jumps ? Exactness::kWild : Exactness::kClose);
}

void add_matmul_bnb4(ModelDraw& d) {
  const Id a = d.value({.min_rank = 1, .max_rank = 4});
  Shape y = d.shape_of(a);
  const std::int64_t k = y.back(), n = some(d, 17), block = d.pick(Ints{16, 32, 64});
  if (k == 0) return;
  y.back() = n;
  Attrs attrs;
  attrs.set("K", k);
  attrs.set("N", n);
  attrs.set("block_size", block);
  attrs.set("quant_type", d.below(2));
  const Id bytes = d.numbers(DataType::kUint8, {(n * k + 1) / 2}, 0, 255),
           scales = d.numbers(DataType::kFloat, {(n * k + block - 1) / block}, 0.1, 2);
  d.add_contributed("MatMulBnb4", {a, bytes, scales}, attrs,
                    {{.dtype = DataType::kFloat, .shape = y}});
}

void add_mixture_of_experts(ModelDraw& d) {
  const std::int64_t tokens = d.dim(9), hidden = some(d, 9), inner = some(d, 9),
                     experts = d.between(1, 5);
  Attrs attrs;
  attrs.set("k", d.between(1, experts));
  attrs.set("activation_type", d.pick(Strings{"relu", "gelu", "silu", "identity"}));
  attrs.set("normalize_routing_weights", d.below(2));
  const auto weights = [&](const Shape& shape) {
    return d.numbers(DataType::kFloat, shape, -0.5, 0.5);
  };
  const bool has_bias = d.one_in(2);
  const std::vector<Id> inputs = {
      d.fresh(DataType::kFloat, {tokens, hidden}), d.fresh(DataType::kFloat, {tokens, experts}),
      weights({experts, inner, hidden}),           has_bias ? weights({experts, inner}) : kAbsent,
      weights({experts, hidden, inner}),           has_bias ? weights({experts, hidden}) : kAbsent};
  d.add_contributed("MoE", inputs, attrs, {{.dtype = DataType::kFloat, .shape = {tokens, hidden}}});
}

void add_unfold(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1, .max_rank = 5});
  Shape y = d.shape_of(x);
  const std::int64_t axis = d.axis(y.size());
  std::int64_t& dim = y[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(y) : axis)];
  if (dim == 0) return;
  const std::int64_t size = d.between(1, std::min<std::int64_t>(dim, 4)), step = d.between(1, 3);
  Attrs attrs;
  attrs.set("dim", axis);
  attrs.set("size", size);
  attrs.set("step", step);
  dim = (dim - size) / step + 1;
  y.push_back(size);
  d.add_contributed("UnfoldTensor", {x}, attrs, {{.dtype = d.dtype_of(x), .shape = y}},
                    Exactness::kExact);
}

void add_distances(ModelDraw& d) {
  const std::int64_t m = d.dim(9), n = d.dim(9), k = some(d, 17);
  const bool has_roots = d.one_in(4);
  Attrs attrs;
  attrs.set("metric", std::string(has_roots ? "euclidean" : "sqeuclidean"));
  d.add_contributed("CDist", {d.fresh(DataType::kFloat, {m, k}), d.fresh(DataType::kFloat, {n, k})},
                    attrs, {{.dtype = DataType::kFloat, .shape = {m, n}}},
                    has_roots ? Exactness::kWild : Exactness::kClose);
}

void add_causal_convolution(ModelDraw& d) {
  const std::int64_t batch = some(d, 3), channels = some(d, 17), tokens = some(d, 9),
                     kernel = d.between(1, 4), dilation = d.between(1, 2),
                     before = (kernel - 1) * dilation;
  const bool is_last = d.one_in(2);
  const auto images = [&](std::int64_t length) {
    return is_last ? Shape{batch, length, channels} : Shape{batch, channels, length};
  };
  Attrs attrs;
  attrs.set("dilation", dilation);
  attrs.set("channels_last", std::int64_t{is_last});
  if (d.one_in(2)) attrs.set("activation", d.pick(Strings{"silu", "swish", "none"}));
  const std::vector<Id> inputs = {
      d.fresh(DataType::kFloat, images(tokens)),
      d.fresh(DataType::kFloat, {channels, 1, kernel}, !d.one_in(4)),
      d.one_in(2) ? d.fresh(DataType::kFloat, {channels}) : kAbsent,
      d.one_in(2) ? d.fresh(DataType::kFloat, images(before)) : kAbsent};
  d.add_contributed("CausalConvWithState", inputs, attrs,
                    {{.dtype = DataType::kFloat, .shape = images(tokens)},
                     {.dtype = DataType::kFloat, .shape = images(before)}});
}

void add_group_query_attention(ModelDraw& d) {
  const std::int64_t batch = some(d, 3), tokens = some(d, 5), kv_heads = d.between(1, 2),
                     heads = kv_heads * d.between(1, 2), size = d.pick(Ints{4, 8, 16});
  Attrs attrs;
  attrs.set("num_heads", heads);
  attrs.set("kv_num_heads", kv_heads);
  const auto rows = [&](std::int64_t count) {
    return d.fresh(DataType::kFloat, {batch, tokens, count * size}, false);
  };
  const Id total =
      d.numbers(DataType::kInt32, {}, static_cast<double>(tokens), static_cast<double>(tokens));
  std::vector<Id> inputs = {rows(heads), rows(kv_heads), rows(kv_heads),
                            kAbsent,     kAbsent,        d.fresh(DataType::kInt32, {batch}),
                            total};
  if (d.one_in(3)) attrs.set("local_window_size", d.between(1, 4));
  if (d.one_in(3)) attrs.set("softcap", 3.0f);
  if (d.one_in(3)) attrs.set("smooth_softmax", std::int64_t{1});
  if (d.one_in(3)) {
    inputs.resize(11, kAbsent);
    inputs.push_back(d.fresh(DataType::kFloat, {heads}));
  }
  const TensorDesc present{.dtype = DataType::kFloat, .shape = {batch, kv_heads, tokens, size}};
  d.add_contributed(
      "GroupQueryAttention", inputs, attrs,
      {{.dtype = DataType::kFloat, .shape = {batch, tokens, heads * size}}, present, present});
}

}  // namespace

std::vector<NodeDrawer> contributed_drawers() {
  return {add_inverse,
          add_murmur_hash,
          add_matmul_integer16,
          add_ngram_repeat_block,
          add_maxpool_with_mask,
          add_crop_and_resize,
          add_matmul_bnb4,
          add_mixture_of_experts,
          add_unfold,
          add_distances,
          add_causal_convolution,
          add_group_query_attention};
}

}  // namespace aoe::tests
