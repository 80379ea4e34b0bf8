// What networks have less often: grids, regions, spectra, scatters that add up, products of bytes, sequences, normalisation and attention
// of new opsets.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

void add_grid_sample(ModelDraw& d) {
  if (d.opset() < 16) return;
  const bool is_new = d.opset() >= 20;
  const std::int64_t batch = d.dim(3);
  const Id x = d.fresh(DataType::kFloat, {batch, d.dim(5), d.between(1, 7), d.between(1, 7)});
  const Id grid = d.fresh(DataType::kFloat, {batch, d.dim(6), d.dim(6), 2});
  Attrs attrs;
  attrs.set("mode", d.one_in(2) ? std::string(is_new ? "linear" : "bilinear")
                                : std::string(is_new ? "cubic" : "bicubic"));
  attrs.set("padding_mode", d.pick(Strings{"zeros", "border", "reflection"}));
  attrs.set("align_corners", d.below(2));
  d.add("GridSample", {x, grid}, attrs);
}

void add_roi_align(ModelDraw& d) {
  if (d.opset() < 10) return;
  const std::int64_t batch = d.between(1, 3), regions = d.dim(4);
  const Id x = d.fresh(DataType::kFloat, {batch, d.dim(5), d.between(1, 9), d.between(1, 9)});
  Attrs attrs;
  attrs.set("output_height", d.between(1, 4));
  attrs.set("output_width", d.between(1, 4));
  attrs.set("sampling_ratio", d.between(0, 3));
  attrs.set("spatial_scale", d.one_in(2) ? 1.0f : 0.5f);
  d.add("RoiAlign",
        {x, d.numbers(DataType::kFloat, {regions, 4}, 0, 9),
         d.numbers(DataType::kInt64, {regions}, 0, static_cast<double>(batch - 1))},
        attrs, 1, Exactness::kWild);
}

void add_dft(ModelDraw& d) {
  if (d.opset() < 17) return;
  Shape shape = d.shape(2, 4);
  shape.back() = d.between(1, 2);
  const auto axes = std::ssize(shape) - 1;
  const std::int64_t axis = d.below(axes);
  Attrs attrs;
  if (d.one_in(3)) attrs.set("inverse", std::int64_t{1});
  if (shape.back() == 1 && d.one_in(2)) attrs.set("onesided", std::int64_t{1});
  std::vector<Id> inputs = {d.fresh(DataType::kFloat, shape)};
  inputs.push_back(d.one_in(2)
                       ? kAbsent
                       : d.numbers(DataType::kInt64, {}, 1, static_cast<double>(d.dim(40) + 1)));
  if (d.opset() >= 20)
    inputs.push_back(d.scalar(DataType::kInt64, static_cast<double>(axis)));
  else
    attrs.set("axis", axis);
  d.add("DFT", inputs, attrs);
}

/// Several updates of one place in any order: sums of integers, extremes.
void add_reducing_scatter(ModelDraw& d) {
  if (d.opset() < 18) return;
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1, .max_rank = 4});
  const Shape shape = d.shape_of(x);
  if (element_count(shape) == 0) return;
  Attrs attrs;
  attrs.set("reduction", d.pick(Strings{"add", "max", "min"}));
  const bool by_rows = d.one_in(2);
  Shape of = shape;
  of[0] = d.dim(8);
  const Id updates = d.fresh(d.dtype_of(x), of);
  const double last = static_cast<double>(shape[0]) - 1;
  if (by_rows)
    return void(
        d.add("ScatterND", {x, d.numbers(DataType::kInt64, {of[0], 1}, 0, last), updates}, attrs));
  attrs.set("axis", std::int64_t{0});
  d.add("ScatterElements", {x, d.numbers(DataType::kInt64, of, -last - 1, last), updates}, attrs);
}

void add_batched_gather(ModelDraw& d) {
  if (d.opset() < 12) return;
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 2, .max_rank = 5});
  const Shape& shape = d.shape_of(x);
  if (shape[1] == 0) return;
  Attrs attrs;
  attrs.set("batch_dims", std::int64_t{1});
  const double dim = static_cast<double>(shape[1]);
  const Id list = d.numbers(DataType::kInt64, {shape[0], d.dim(6), 1}, -dim, dim - 1);
  d.add("GatherND", {x, list}, attrs, 1, Exactness::kExact);
}

void add_byte_product(ModelDraw& d) {
  if (d.opset() < 10) return;
  const Types kBytes = {DataType::kUint8, DataType::kInt8};
  const DataType left = d.pick(kBytes), right = d.pick(kBytes);
  const auto bytes = [&](DataType dtype, const Shape& shape, bool is_constant) {
    return is_constant ? d.numbers(dtype, shape, dtype == DataType::kInt8 ? -128 : 0, 127)
                       : d.fresh(dtype, shape, false);
  };
  if (d.one_in(2)) {
    const std::int64_t m = d.dim(17), k = d.dim(), n = d.dim(17);
    const Id a = bytes(left, d.one_in(3) ? Shape{d.dim(3), m, k} : Shape{m, k}, false);
    const Id b = bytes(right, {k, n}, !d.one_in(3));
    std::vector<Id> inputs = {a, b};
    if (d.one_in(2)) inputs.push_back(d.numbers(left, {}, 0, 3));
    if (inputs.size() == 3 && d.one_in(2))
      inputs.push_back(d.numbers(right, d.one_in(2) ? Shape{} : Shape{n}, 0, 3));
    return void(d.add("MatMulInteger", inputs, {}, 1, Exactness::kExact));
  }
  const std::int64_t channels = d.between(1, 9);
  const Id x = bytes(left, {d.dim(3), channels, d.between(1, 9), d.between(1, 9)}, false);
  const Id w = bytes(right, {d.between(1, 17), channels, 1, d.between(1, 3)}, true);
  std::vector<Id> inputs = {x, w};
  if (d.one_in(2)) inputs.push_back(d.numbers(left, {}, 0, 3));
  Attrs attrs;
  if (d.one_in(2)) attrs.set("pads", Ints{0, 1, 0, 1});
  d.add("ConvInteger", inputs, attrs, 1, Exactness::kExact);
}

/// Split into a list and taken from it, or put together again.
void add_sequence(ModelDraw& d) {
  if (d.opset() < 11) return;
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 1, .max_rank = 5});
  const Shape shape = d.shape_of(x);
  const DataType dtype = d.dtype_of(x);
  const auto axis = static_cast<std::size_t>(d.below(std::ssize(shape)));
  if (shape[axis] == 0) return;
  const std::int64_t rows = d.between(1, shape[axis]);
  Attrs along;
  along.set("axis", static_cast<std::int64_t>(axis));
  const Id list = d.add_sequence("SplitToSequence", {x, d.ints({rows}, {})}, along);
  if (shape[axis] % rows == 0 && d.one_in(3)) {  // all of one shape
    Attrs stacked;
    stacked.set("axis", std::int64_t{0});
    stacked.set("new_axis", std::int64_t{1});
    Shape whole = shape;
    whole[axis] = rows;
    whole.insert(whole.begin(), shape[axis] / rows);
    return d.add_composite("", "ConcatFromSequence", {list}, stacked,
                           {{.dtype = dtype, .shape = whole}}, Exactness::kExact);
  }
  if (d.one_in(2))
    return d.add_composite("", "ConcatFromSequence", {list}, along,
                           {{.dtype = dtype, .shape = shape}}, Exactness::kExact);
  const std::int64_t parts = (shape[axis] + rows - 1) / rows;
  const std::int64_t at = d.below(parts);
  Shape part = shape;
  part[axis] = std::min(rows, shape[axis] - at * rows);
  d.add_composite("", "SequenceAt", {list, d.ints({d.one_in(2) ? at : at - parts}, {})}, {},
                  {{.dtype = dtype, .shape = part}}, Exactness::kExact);
}

void add_new_normalization(ModelDraw& d) {
  if (d.opset() < 23) return;
  const Id x = d.value({.min_rank = 1, .max_rank = 5, .is_exact = true});
  const Shape shape = d.shape_of(x);
  const std::int64_t axis = d.axis(shape.size());
  const auto first = static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
  const Shape normalized(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
  Attrs attrs;
  attrs.set("axis", axis);
  d.add_composite("", "RMSNormalization", {x, d.numbers(DataType::kFloat, normalized, 0.5, 1.5)},
                  attrs, {{.dtype = DataType::kFloat, .shape = shape}}, Exactness::kWild);
}

void add_attention(ModelDraw& d) {
  if (d.opset() < 23) return;
  const std::int64_t batch = d.between(1, 3), keys_heads = d.between(1, 2),
                     heads = keys_heads * d.between(1, 2), queries = d.between(1, 7),
                     keys = d.between(1, 17), size = d.between(1, 17), values = d.between(1, 17);
  Attrs attrs;
  if (d.one_in(3)) attrs.set("is_causal", std::int64_t{1});
  if (d.one_in(3)) attrs.set("softcap", 2.0f);
  if (d.one_in(3)) attrs.set("scale", 0.25f);
  std::vector<Id> inputs = {d.fresh(DataType::kFloat, {batch, heads, queries, size}, false),
                            d.fresh(DataType::kFloat, {batch, keys_heads, keys, size}),
                            d.fresh(DataType::kFloat, {batch, keys_heads, keys, values})};
  if (d.one_in(3)) inputs.push_back(d.fresh(DataType::kFloat, {queries, keys}));
  d.add_composite("", "Attention", inputs, attrs,
                  {{.dtype = DataType::kFloat, .shape = {batch, heads, queries, values}}},
                  Exactness::kClose);
}

}  // namespace

std::vector<NodeDrawer> other_drawers() {
  return {add_grid_sample,       add_roi_align,    add_dft,          add_reducing_scatter,
          add_batched_gather,    add_byte_product, add_byte_product, add_sequence,
          add_new_normalization, add_attention};
}

}  // namespace aoe::tests
