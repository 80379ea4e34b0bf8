// Products, windows, recurrences, bytes.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

void add_matmul(ModelDraw& d) {
  const Id a = d.value({.types = one_of(d, kFloats), .min_rank = 1, .max_rank = 5});
  const Shape left = d.shape_of(a);
  if (left.size() == 2 && d.one_in(2)) {
    Attrs attrs;
    const bool transposes_a = d.one_in(3), transposes_b = d.one_in(2);
    if (transposes_a) attrs.set("transA", std::int64_t{1});
    if (transposes_b) attrs.set("transB", std::int64_t{1});
    if (d.one_in(3)) attrs.set("alpha", 0.5f), attrs.set("beta", 0.25f);
    const std::int64_t k = left[transposes_a ? 0 : 1], m = left[transposes_a ? 1 : 0], n = d.dim();
    std::vector<Id> inputs = {a, d.fresh(d.dtype_of(a), transposes_b ? Shape{n, k} : Shape{k, n})};
    if (d.one_in(2)) inputs.push_back(d.fresh(d.dtype_of(a), d.broadcastable({m, n})));
    return void(d.add("Gemm", inputs, attrs));
  }
  Shape right = {left.back(), d.dim()};
  if (d.one_in(4)) right.pop_back();
  if (left.size() > 2 && right.size() == 2 && d.one_in(2))
    right.insert(right.begin(), left.begin(), left.end() - 2);
  d.add("MatMul", {a, d.fresh(d.dtype_of(a), right, d.one_in(2))});
}

/// Kernel, strides, dilations and pads that fit most inputs.
Attrs window_attrs(ModelDraw& d, std::size_t rank, bool has_dilations) {
  Attrs attrs;
  Ints strides, dilations, pads;
  for (std::size_t i = 0; i < rank; ++i) {
    strides.push_back(d.one_in(3) ? d.between(2, 3) : 1);
    dilations.push_back(d.one_in(5) ? 2 : 1);
  }
  for (std::size_t i = 0; i < 2 * rank; ++i) pads.push_back(d.one_in(2) ? 0 : 1);
  if (d.one_in(2)) attrs.set("strides", strides);
  if (has_dilations && d.one_in(3)) attrs.set("dilations", dilations);
  if (d.one_in(5))
    attrs.set("auto_pad", d.pick(Strings{"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else if (!d.one_in(3))
    attrs.set("pads", pads);
  return attrs;
}

void add_convolution(ModelDraw& d) {
  const Id x = d.value({.min_rank = 3, .max_rank = d.one_in(4) ? 5 : 4});
  const Shape shape = d.shape_of(x);
  const std::int64_t channels = shape[1];
  const bool is_transposed = d.one_in(5);
  const std::int64_t groups = channels > 0 && d.one_in(4) ? (d.one_in(2) ? channels : 1) : 1;
  const std::int64_t filters = std::max<std::int64_t>(1, d.dim(17)) * groups;
  Shape weights = is_transposed ? Shape{channels, filters / groups}
                                : Shape{filters, channels / std::max<std::int64_t>(groups, 1)};
  for (std::size_t i = 2; i < shape.size(); ++i)
    weights.push_back(d.one_in(2) ? 1 : d.between(2, 3));
  Attrs attrs = window_attrs(d, shape.size() - 2, true);
  if (groups > 1) attrs.set("group", groups);
  std::vector<Id> inputs = {x, d.fresh(DataType::kFloat, weights, !d.one_in(4))};
  if (d.one_in(2)) inputs.push_back(d.fresh(DataType::kFloat, {filters}, !d.one_in(4)));
  d.add(is_transposed ? "ConvTranspose" : "Conv", inputs, attrs);
}

void add_pooling(ModelDraw& d) {
  const Id x = d.value({.min_rank = 3, .max_rank = d.one_in(4) ? 5 : 4});
  const std::size_t rank = d.shape_of(x).size() - 2;
  if (d.one_in(4)) {
    const bool is_void = element_count(d.shape_of(x)) == 0;
    return void(d.add(d.pick(Strings{"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}), {x},
                      {}, 1, is_void ? Exactness::kWild : Exactness::kClose));
  }
  const std::string type = d.pick(Strings{"MaxPool", "AveragePool", "LpPool"});
  Attrs attrs = window_attrs(d, rank, type == "MaxPool" && d.opset() >= 10);
  Ints kernel;
  for (std::size_t i = 0; i < rank; ++i) kernel.push_back(d.between(1, 3));
  attrs.set("kernel_shape", kernel);
  if (d.one_in(4) && type != "LpPool" && d.opset() >= 10) attrs.set("ceil_mode", std::int64_t{1});
  if (type == "AveragePool" && d.one_in(2)) attrs.set("count_include_pad", std::int64_t{1});
  d.add(type, {x}, attrs);
}

void add_resize(ModelDraw& d) {
  if (d.opset() < 11) return;
  const Id x = d.value({.min_rank = 1, .max_rank = 5});
  const Shape shape = d.shape_of(x);
  if (element_count(shape) == 0) return;
  std::vector<float> scales;
  for (std::size_t i = 0; i < shape.size(); ++i)
    scales.push_back(i < 2 || d.one_in(2) ? 1.0f : d.one_in(2) ? 2.0f : 0.5f);
  Attrs attrs;
  attrs.set("mode", d.pick(Strings{"nearest", "linear", "cubic"}));
  static const Strings kCoordinates = {"half_pixel", "asymmetric", "align_corners",
                                       "pytorch_half_pixel"};
  attrs.set("coordinate_transformation_mode", d.pick(kCoordinates));
  if (d.one_in(2)) {
    const TensorDesc desc{.dtype = DataType::kFloat, .shape = {std::ssize(scales)}};
    const Id list = d.constant(std::make_shared<Constant>(desc, scales.data()));
    return void(d.add("Resize", {x, kAbsent, list}, attrs));
  }
  Ints sizes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    sizes.push_back(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(scales[i] * static_cast<float>(shape[i]))));
  d.add("Resize", {x, kAbsent, kAbsent, d.ints(sizes)}, attrs);
}

void add_recurrent(ModelDraw& d) {
  const std::int64_t steps = d.dim(5), batch = d.dim(3),
                     input = std::max<std::int64_t>(1, d.dim(9)), hidden = d.between(1, 9);
  const std::string type = d.pick(Strings{"LSTM", "GRU", "RNN"});
  const std::int64_t gates = type == "LSTM" ? 4 : type == "GRU" ? 3 : 1;
  const std::string direction = d.pick(Strings{"forward", "reverse", "bidirectional"});
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  Attrs attrs;
  attrs.set("hidden_size", hidden);
  attrs.set("direction", direction);
  const auto weights = [&](const Shape& shape) {
    return d.numbers(DataType::kFloat, shape, -0.5, 0.5);
  };
  std::vector<Id> inputs = {d.fresh(DataType::kFloat, {steps, batch, input}),
                            weights({directions, gates * hidden, input}),
                            weights({directions, gates * hidden, hidden})};
  if (d.one_in(2)) inputs.push_back(weights({directions, 2 * gates * hidden}));
  d.add(type, inputs, attrs, static_cast<std::size_t>(d.between(1, 2)));
}

void add_quantization(ModelDraw& d) {
  if (d.opset() < 13) return;
  const Id scale = d.scalar(DataType::kFloat, 0.25);
  if (d.one_in(2)) {
    const DataType dtype = d.pick(Types{DataType::kUint8, DataType::kInt8});
    return void(
        d.add("DequantizeLinear", {d.value({.types = {dtype}}), scale, d.scalar(dtype, 1)}));
  }
  d.add("QuantizeLinear",
        {d.value({.is_exact = true}), scale,
         d.scalar(d.pick(Types{DataType::kUint8, DataType::kInt8}), 1)},
        {}, 1, Exactness::kExact);
}

void add_einsum(ModelDraw& d) {
  if (d.opset() < 12) return;
  const std::int64_t i = d.dim(9), j = d.dim(9), k = d.dim(9), b = d.dim(3);
  const auto tensor = [&](const Shape& shape) { return d.fresh(DataType::kFloat, shape); };
  Attrs attrs;
  switch (d.below(6)) {
    case 0:
      attrs.set("equation", std::string("ij,jk->ik"));
      return void(d.add("Einsum", {tensor({i, j}), tensor({j, k})}, attrs));
    case 1:
      attrs.set("equation", std::string("bij,bkj->bik"));
      return void(d.add("Einsum", {tensor({b, i, j}), tensor({b, k, j})}, attrs));
    case 2:
      attrs.set("equation", std::string("ii->i"));
      return void(d.add("Einsum", {tensor({i, i})}, attrs));
    case 3:
      attrs.set("equation", std::string("bijk,ick->icbj"));
      return void(d.add("Einsum", {tensor({b, i, j, k}), tensor({i, d.dim(3), k})}, attrs));
    case 4:
      attrs.set("equation", std::string("ij,jk,kb->ib"));
      return void(d.add("Einsum", {tensor({i, j}), tensor({j, k}), tensor({k, b})}, attrs));
    default:
      attrs.set("equation", std::string("ij->"));
      return void(d.add("Einsum", {tensor({i, j})}, attrs));
  }
}

}  // namespace

std::vector<NodeDrawer> product_drawers() {
  return {add_matmul, add_matmul,    add_convolution,  add_convolution, add_pooling,
          add_resize, add_recurrent, add_quantization, add_einsum};
}

}  // namespace aoe::tests
