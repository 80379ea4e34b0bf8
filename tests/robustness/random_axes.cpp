// What goes along axes: reductions, searches, normalisations.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

void add_reduction(ModelDraw& d) {
  static const Strings kAll = {"ReduceSum",    "ReduceMean",      "ReduceMax",  "ReduceMin",
                               "ReduceL1",     "ReduceSumSquare", "ReduceProd", "ReduceL2",
                               "ReduceLogSum", "ReduceLogSumExp"};
  const std::string& type = d.pick(kAll);
  const bool is_wild = type.starts_with("ReduceLog") || type == "ReduceL2" || type == "ReduceProd";
  const Id x = d.value({.types = one_of(d, kNumbers), .is_exact = is_wild});
  Attrs attrs;
  attrs.set("keepdims", d.below(2));
  std::vector<Id> inputs = {x};
  const std::size_t rank = d.shape_of(x).size();
  const Ints axes = d.one_in(4) ? Ints{} : distinct_axes(d, rank);
  if (d.opset() >= 18 || (type == "ReduceSum" && d.opset() >= 13)) {
    if (!axes.empty() || d.one_in(2)) inputs.push_back(d.ints(axes));
    if (d.one_in(3)) attrs.set("noop_with_empty_axes", d.below(2));
  } else if (!axes.empty()) {
    attrs.set("axes", axes);
  }
  const bool is_void = element_count(d.shape_of(x)) == 0;  // the largest of nothing is infinite
  d.add(type, inputs, attrs, 1, is_void || is_wild ? Exactness::kWild : Exactness::kClose);
}

void add_arg_max(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1, .is_exact = true});
  Attrs attrs;
  attrs.set("axis", d.axis(d.shape_of(x).size()));
  attrs.set("keepdims", d.below(2));
  if (d.one_in(3) && d.opset() >= 12) attrs.set("select_last_index", d.below(2));
  d.add(d.pick(Strings{"ArgMax", "ArgMin"}), {x}, attrs, 1, Exactness::kExact);
}

void add_top_k(ModelDraw& d) {
  if (d.opset() < 11) return;
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1, .is_exact = true});
  const std::int64_t axis = d.axis(d.shape_of(x).size());
  const Shape& shape = d.shape_of(x);
  const std::int64_t dim =
      shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
  Attrs attrs;
  attrs.set("axis", axis);
  attrs.set("largest", d.below(2));
  d.add("TopK", {x, d.ints({d.between(0, dim)})}, attrs, 2, Exactness::kExact);
}

void add_cumsum(ModelDraw& d) {
  if (d.opset() < 11) return;
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1});
  Attrs attrs;
  attrs.set("exclusive", d.below(2));
  attrs.set("reverse", d.below(2));
  d.add("CumSum",
        {x, d.scalar(DataType::kInt64, static_cast<double>(d.axis(d.shape_of(x).size())))}, attrs);
}

void add_softmax(ModelDraw& d) {
  const std::string type = d.pick(Strings{"Softmax", "Softmax", "LogSoftmax", "Hardmax"});
  const Id x = d.value({.types = one_of(d, kFloats), .min_rank = 1, .is_exact = type == "Hardmax"});
  Attrs attrs;
  if (!d.one_in(3)) attrs.set("axis", d.axis(d.shape_of(x).size()));
  d.add(type, {x}, attrs);
}

/// Differences of close numbers are divided by their size: what was rounded before may jump.
void add_normalization(ModelDraw& d) {
  const Id x = d.value({.min_rank = 1, .max_rank = 5, .is_exact = true});
  const Shape shape = d.shape_of(x);
  const auto channel = [&] { return d.numbers(DataType::kFloat, {shape[1]}, 0.5, 1.5); };
  Attrs attrs;
  const std::int64_t kind = d.below(shape.size() < 2 ? 2 : 7);
  switch (kind) {
    case 0: {
      const std::int64_t axis = d.axis(shape.size());
      attrs.set("axis", axis);
      const auto first = static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
      const Shape normalized(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
      const Id scale = d.numbers(DataType::kFloat, normalized, 0.5, 1.5);
      d.add("LayerNormalization",
            d.one_in(2) ? std::vector{x, scale}
                        : std::vector{x, scale, d.fresh(DataType::kFloat, normalized)},
            attrs, static_cast<std::size_t>(d.one_in(4) ? 3 : 1), Exactness::kWild);
      return;
    }
    case 1:
      attrs.set("axis", d.axis(shape.size()));
      attrs.set("p", d.between(1, 2));
      return void(d.add("LpNormalization", {x}, attrs, 1, Exactness::kWild));
    case 2:
      return void(
          d.add("InstanceNormalization", {x, channel(), channel()}, {}, 1, Exactness::kWild));
    case 3:
      attrs.set("size", d.between(1, 6));
      return void(d.add("LRN", {x}, attrs));
    case 4: {
      Ints axes = distinct_axes(d, shape.size());
      attrs.set("axes", axes);
      return void(d.add("MeanVarianceNormalization", {x}, attrs, 1, Exactness::kWild));
    }
    case 5: {
      const std::int64_t groups = shape[1] % 2 == 0 && shape[1] > 0 ? 2 : 1;
      attrs.set("num_groups", groups);
      const Shape parameters = {d.opset() >= 21 ? shape[1] : groups};
      d.add("GroupNormalization",
            {x, d.numbers(DataType::kFloat, parameters, 0.5, 1.5),
             d.numbers(DataType::kFloat, parameters, 0.5, 1.5)},
            attrs, 1, Exactness::kWild);
      return;
    }
    default:
      return void(
          d.add("BatchNormalization", {x, channel(), channel(), channel(), channel()}, attrs));
  }
}

}  // namespace

std::vector<NodeDrawer> axis_drawers() {
  return {add_reduction, add_reduction, add_arg_max,      add_top_k,
          add_cumsum,    add_softmax,   add_normalization};
}

}  // namespace aoe::tests
