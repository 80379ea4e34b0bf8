// One function for each family of operators: draws fitting inputs and attributes and adds the node.
#include <algorithm>
#include <numeric>

#include "tests/robustness/model_draw.h"

namespace aoe::tests {
namespace {

using reference::Attrs;
using Id = ModelDraw::Id;
using Strings = std::vector<std::string>;
using Types = std::vector<DataType>;
constexpr Id kAbsent = ModelDraw::kAbsent;

const Types kFloats = {DataType::kFloat, DataType::kFloat,  DataType::kFloat,
                       DataType::kFloat, DataType::kDouble, DataType::kFloat16};
const Types kNumbers = {DataType::kFloat, DataType::kFloat, DataType::kFloat,
                        DataType::kInt64, DataType::kInt32, DataType::kDouble};
const Types kAny = {DataType::kFloat, DataType::kFloat, DataType::kFloat, DataType::kInt64,
                    DataType::kInt32, DataType::kBool,  DataType::kUint8, DataType::kInt8};

/// Types that an operator of this kind takes: one of them each time, so that what is there fits often.
Types one_of(ModelDraw& d, const Types& types) {
  return {d.pick(types)};
}

Ints distinct_axes(ModelDraw& d, std::size_t rank) {
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = rank; i > 1; --i)
    std::swap(axes[i - 1], axes[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(i)))]);
  if (rank > 0)
    axes.resize(static_cast<std::size_t>(d.between(1, static_cast<std::int64_t>(rank))));
  for (std::int64_t& axis : axes)
    if (d.one_in(2)) axis -= static_cast<std::int64_t>(rank);
  return axes;
}

// ---- elementwise ----

void add_unary(ModelDraw& d) {
  static const Strings kSmooth = {"Sigmoid", "Tanh",      "Erf",       "Sin",        "Cos", "Atan",
                                  "Asinh",   "Softplus",  "Softsign",  "Mish",       "Elu", "Celu",
                                  "Selu",    "LeakyRelu", "HardSwish", "HardSigmoid"};
  static const Strings kExactly = {"Relu", "Abs", "Neg", "Identity"};
  static const Strings kJumps = {"Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink"};
  static const Strings kOpen = {"Exp",  "Log",  "Sqrt", "Reciprocal", "Tan",  "Asin",
                                "Acos", "Sinh", "Cosh", "Acosh",      "Atanh"};
  switch (d.below(5)) {
    case 0:
    case 1:
      return void(d.add(d.pick(kSmooth), {d.value({.types = one_of(d, kFloats)})}));
    case 2:
      return void(d.add(d.pick(kExactly), {d.value({.types = one_of(d, kFloats)})}, {}, 1,
                        Exactness::kExact));
    case 3:
      return void(
          d.add(d.pick(kJumps), {d.value({.types = one_of(d, kFloats), .is_exact = true})}));
    default:
      return void(d.add(d.pick(kOpen), {d.value({.types = one_of(d, kFloats), .is_exact = true})},
                        {}, 1, Exactness::kWild));
  }
}

void add_binary(ModelDraw& d) {
  static const Strings kExactly = {"Add", "Sub", "Max", "Min"};
  const Id a = d.value({.types = one_of(d, kNumbers)});
  const Id b = d.one_in(3) ? d.value({.types = {d.dtype_of(a)}})
                           : d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  const std::vector<Id> inputs = d.one_in(2) ? std::vector{a, b} : std::vector{b, a};
  switch (d.below(6)) {
    case 0:
      return void(d.add("Mul", inputs));
    case 1:
      if (!is_floating(d.dtype_of(a))) {
        const Id divisor = d.numbers(d.dtype_of(a), d.broadcastable(d.shape_of(a)), 1, 3);
        return void(d.add("Div", {a, divisor}, {}, 1, Exactness::kExact));
      }
      return void(d.add("Div", inputs, {}, 1, Exactness::kWild));
    case 2:
      return void(d.add("PRelu", {a, b}));
    case 3:
      return void(d.add(d.pick(Strings{"Sum", "Mean"}), inputs));
    default:
      return void(d.add(d.pick(kExactly), inputs, {}, 1, Exactness::kExact));
  }
}

void add_comparison(ModelDraw& d) {
  if (d.one_in(4)) {
    const Id a = d.value({.types = {DataType::kBool}});
    if (d.one_in(3)) return void(d.add("Not", {a}, {}, 1, Exactness::kExact));
    const Id b = d.fresh(DataType::kBool, d.broadcastable(d.shape_of(a)));
    return void(d.add(d.pick(Strings{"And", "Or", "Xor"}), {a, b}, {}, 1, Exactness::kExact));
  }
  const Id a = d.value({.types = one_of(d, kNumbers), .is_exact = true});
  if (d.one_in(6)) return void(d.add("IsNaN", {a}, {}, 1, Exactness::kExact));
  const Id b = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  static const Strings kAll = {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  d.add(d.pick(kAll), {a, b}, {}, 1, Exactness::kExact);
}

void add_where(ModelDraw& d) {
  const Id a = d.value({.types = one_of(d, kAny)});
  const Id b = d.fresh(d.dtype_of(a), d.broadcastable(d.shape_of(a)));
  const Id condition = d.fresh(DataType::kBool, d.broadcastable(d.shape_of(a)));
  d.add("Where", {condition, a, b}, {}, 1, Exactness::kExact);
}

void add_clip(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kNumbers)});
  const DataType dtype = d.dtype_of(x);
  Attrs attrs;
  std::vector<Id> inputs = {x};
  if (d.opset() < 11) {
    attrs.set("min", -0.5f), attrs.set("max", 1.0f);
  } else {
    inputs.push_back(d.one_in(3) ? kAbsent : d.numbers(dtype, {}, 0, 0));
    inputs.push_back(d.one_in(3)   ? kAbsent
                     : d.one_in(3) ? d.fresh(dtype, {}, false)
                                   : d.numbers(dtype, {}, 1, 1));
  }
  d.add("Clip", inputs, attrs, 1, Exactness::kExact);
}

void add_cast(ModelDraw& d) {
  Attrs attrs;
  attrs.set("to", d.pick(Ints{1, 1, 2, 3, 6, 7, 9, 10, 11}));
  d.add("Cast", {d.value({.types = one_of(d, kAny), .is_exact = true})}, attrs, 1,
        Exactness::kExact);
}

// ---- along axes ----

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

// ---- moves ----

void add_transpose(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny)});
  Ints perm(d.shape_of(x).size());
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = perm.size(); i > 1; --i)
    std::swap(perm[i - 1], perm[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(i)))]);
  Attrs attrs;
  if (!d.one_in(4)) attrs.set("perm", perm);
  d.add("Transpose", {x}, attrs, 1, Exactness::kExact);
}

void add_reshape(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny)});
  const Shape& shape = d.shape_of(x);
  Ints target = shape;
  switch (d.below(4)) {
    case 0:
      target = {-1};
      break;
    case 1:
      target.insert(target.begin() + d.between(0, std::ssize(target)), 1);
      break;
    case 2:  // two neighbours become one
      if (target.size() >= 2) {
        const auto at = static_cast<std::size_t>(d.below(std::ssize(target) - 1));
        target[at] *= target[at + 1];
        target.erase(target.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
      break;
    default:  // one becomes two
      for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] % 2 != 0 || target[i] == 0) continue;
        target[i] /= 2;
        target.insert(target.begin() + static_cast<std::ptrdiff_t>(i), 2);
        break;
      }
  }
  Attrs attrs;
  if (d.opset() >= 14 && d.one_in(3)) attrs.set("allowzero", std::int64_t{1});
  d.add("Reshape", {x, d.ints(target)}, attrs, 1, Exactness::kExact);
}

void add_squeeze(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .max_rank = 7});
  const Shape& shape = d.shape_of(x);
  const bool is_squeeze = d.one_in(2);
  Ints axes;
  if (is_squeeze) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 1 && !d.one_in(3)) axes.push_back(static_cast<std::int64_t>(i));
  } else {
    axes = {d.axis(shape.size() + 1)};
  }
  const std::string type = is_squeeze ? "Squeeze" : "Unsqueeze";
  if (d.opset() >= 13)
    return void(d.add(type, axes.empty() ? std::vector{x} : std::vector{x, d.ints(axes)}, {}, 1,
                      Exactness::kExact));
  Attrs attrs;
  if (!axes.empty()) attrs.set("axes", axes);
  d.add(type, {x}, attrs, 1, Exactness::kExact);
}

void add_flatten(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny)});
  const auto rank = std::ssize(d.shape_of(x));
  Attrs attrs;
  attrs.set("axis", d.between(-rank, rank));
  d.add("Flatten", {x}, attrs, 1, Exactness::kExact);
}

void add_concat(ModelDraw& d) {
  const Id first = d.value({.types = one_of(d, kAny), .min_rank = 1});
  const Shape shape = d.shape_of(first);
  const std::int64_t axis = d.axis(shape.size());
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
  std::vector<Id> parts = {first};
  for (std::int64_t more = d.below(4); more > 0; --more) {
    Shape part = shape;
    part[at] = d.dim(8);
    parts.push_back(d.one_in(4) ? d.pick(parts) : d.fresh(d.dtype_of(first), part));
  }
  Attrs attrs;
  attrs.set("axis", axis);
  d.add("Concat", parts, attrs, 1, Exactness::kExact);
}

void add_split(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 1});
  const Shape& shape = d.shape_of(x);
  const std::int64_t axis = d.axis(shape.size());
  std::int64_t rest = shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
  Ints sizes;
  for (std::int64_t parts = d.between(1, 3); parts > 1; --parts) {
    sizes.push_back(d.between(0, rest));
    rest -= sizes.back();
  }
  sizes.push_back(rest);
  Attrs attrs;
  attrs.set("axis", axis);
  std::vector<Id> inputs = {x};
  if (d.opset() >= 13)
    inputs.push_back(d.ints(sizes));
  else
    attrs.set("split", sizes);
  d.add("Split", inputs, attrs, sizes.size(), Exactness::kExact);
}

void add_slice(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 1});
  const Shape shape = d.shape_of(x);
  const Ints axes = distinct_axes(d, shape.size());
  Ints starts, ends, steps;
  for (const std::int64_t axis : axes) {
    const std::int64_t dim =
        shape[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
    starts.push_back(d.between(-dim - 1, dim + 1));
    ends.push_back(d.one_in(3) ? INT64_MAX : d.between(-dim - 1, dim + 1));
    steps.push_back(d.one_in(3) ? d.pick(Ints{-1, 2, 3, -2}) : 1);
  }
  if (d.opset() >= 10)
    return void(d.add("Slice", {x, d.ints(starts), d.ints(ends), d.ints(axes), d.ints(steps)}, {},
                      1, Exactness::kExact));
  Attrs attrs;
  attrs.set("starts", starts), attrs.set("ends", ends), attrs.set("axes", axes);
  d.add("Slice", {x}, attrs, 1, Exactness::kExact);
}

void add_pad(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny)});
  const std::size_t rank = d.shape_of(x).size();
  Ints pads;
  for (std::size_t i = 0; i < 2 * rank; ++i) pads.push_back(d.one_in(3) ? d.between(-1, 3) : 0);
  Attrs attrs;
  attrs.set("mode", d.one_in(2) ? std::string("constant") : d.pick(Strings{"edge", "reflect"}));
  if (d.opset() < 11) {
    attrs.set("pads", pads);
    return void(d.add("Pad", {x}, attrs, 1, Exactness::kExact));
  }
  std::vector<Id> inputs = {x, d.ints(pads)};
  if (d.one_in(2)) inputs.push_back(d.numbers(d.dtype_of(x), {}, 1, 1));
  d.add("Pad", inputs, attrs, 1, Exactness::kExact);
}

void add_expand(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .max_rank = 5});
  Ints target = d.shape_of(x);
  if (d.one_in(2)) {
    for (std::int64_t& repeat : target) repeat = d.one_in(2) ? 1 : d.between(0, 3);
    return void(d.add("Tile", {x, d.ints(target)}, {}, 1, Exactness::kExact));
  }
  for (std::int64_t& dim : target)
    if (dim == 1) dim = d.between(1, 4);
  if (d.one_in(3)) target.insert(target.begin(), d.between(0, 3));
  d.add("Expand", {x, d.ints(target)}, {}, 1, Exactness::kExact);
}

void add_gather(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 1});
  const Shape shape = d.shape_of(x);
  const std::int64_t axis = d.axis(shape.size());
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
  const std::int64_t dim = shape[at];
  const DataType dtype = d.pick(Types{DataType::kInt64, DataType::kInt32});
  const auto indices = [&](const Shape& of) {  // an input is 0 and 1
    if (dim >= 2 && d.one_in(3)) return d.fresh(dtype, of, false);
    return d.numbers(dtype, of, -static_cast<double>(dim), static_cast<double>(dim) - 1);
  };
  Attrs attrs;
  switch (d.below(3)) {
    case 0: {
      Shape of = shape;
      of[at] = dim == 0 ? 0 : d.dim(8);
      attrs.set("axis", axis);
      return void(d.add("GatherElements", {x, indices(of)}, attrs, 1, Exactness::kExact));
    }
    case 1: {
      if (shape[0] == 0) return;
      const Id list = d.numbers(DataType::kInt64, {d.dim(8), 1}, -static_cast<double>(shape[0]),
                                static_cast<double>(shape[0]) - 1);
      return void(d.add("GatherND", {x, list}, {}, 1, Exactness::kExact));
    }
    default: {
      const Shape of = dim == 0 ? Shape{0} : d.shape(0, 2);
      attrs.set("axis", axis);
      return void(d.add("Gather", {x, indices(of)}, attrs, 1, Exactness::kExact));
    }
  }
}

void add_scatter(ModelDraw& d) {
  if (d.opset() < 11) return;
  const Id x = d.value({.types = one_of(d, kNumbers), .min_rank = 1});
  const Shape shape = d.shape_of(x);
  if (element_count(shape) == 0) return;
  if (d.one_in(2)) {
    const std::int64_t rows = d.below(std::min<std::int64_t>(shape[0], 3) + 1);
    Ints list(static_cast<std::size_t>(rows));
    std::iota(list.begin(), list.end(), 0);
    Shape updates = shape;
    updates[0] = rows;
    const Id indices = d.ints(list, {rows, 1});
    return void(d.add("ScatterND", {x, indices, d.fresh(d.dtype_of(x), updates)}, {}, 1,
                      Exactness::kExact));
  }
  Attrs attrs;
  attrs.set("axis", std::int64_t{0});
  Shape of = shape;
  of[0] = 1;
  const Id indices = d.numbers(DataType::kInt64, of, 0, static_cast<double>(shape[0]) - 1);
  d.add("ScatterElements", {x, indices, d.fresh(d.dtype_of(x), of)}, attrs, 1, Exactness::kExact);
}

void add_depth_to_space(ModelDraw& d) {
  const std::int64_t block = d.between(1, 3);
  Attrs attrs;
  attrs.set("blocksize", block);
  if (d.one_in(2)) {
    const Shape shape = {d.dim(2), d.between(0, 4) * block * block, d.dim(5), d.dim(5)};
    if (d.opset() >= 11) attrs.set("mode", d.pick(Strings{"DCR", "CRD"}));
    return void(
        d.add("DepthToSpace", {d.fresh(DataType::kFloat, shape)}, attrs, 1, Exactness::kExact));
  }
  const Shape shape = {d.dim(2), d.dim(5), d.between(0, 4) * block, d.between(1, 4) * block};
  d.add("SpaceToDepth", {d.fresh(DataType::kFloat, shape)}, attrs, 1, Exactness::kExact);
}

void add_odd_move(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny), .min_rank = 2});
  Attrs attrs;
  switch (d.below(5)) {
    case 0: {
      attrs.set("upper", d.below(2));
      return void(d.add("Trilu", {x}, attrs, 1, Exactness::kExact));
    }
    case 1: {
      const Shape& shape = d.shape_of(x);
      const Id lengths = d.numbers(DataType::kInt64, {shape[1]}, 0, static_cast<double>(shape[0]));
      return void(d.add("ReverseSequence", {x, lengths}, attrs, 1, Exactness::kExact));
    }
    case 2: {
      const Id indices = d.value({.types = {DataType::kInt64}, .max_rank = 3, .is_exact = true});
      attrs.set("axis", d.axis(d.shape_of(indices).size() + 1));
      return void(d.add("OneHot",
                        {indices, d.scalar(DataType::kInt64, static_cast<double>(d.between(1, 4))),
                         d.numbers(DataType::kFloat, {2}, 0, 1)},
                        attrs, 1, Exactness::kExact));
    }
    case 3: {
      const Id condition = d.fresh(DataType::kBool, {std::min<std::int64_t>(d.shape_of(x)[0], 3)});
      attrs.set("axis", std::int64_t{0});
      return void(d.add("Compress", {x, condition}, attrs, 1, Exactness::kExact));
    }
    default:
      return void(d.add("NonZero", {d.value({.types = one_of(d, kAny), .is_exact = true})}, {}, 1,
                        Exactness::kExact));
  }
}

/// What a model computes of shapes, and constants that it makes itself.
void add_made(ModelDraw& d) {
  const Id x = d.value({.types = one_of(d, kAny)});
  switch (d.below(5)) {
    case 0:
      return void(d.add("Shape", {x}, {}, 1, Exactness::kExact));
    case 1:
      return void(d.add("Size", {x}, {}, 1, Exactness::kExact));
    case 2:
      return void(d.add("ConstantOfShape", {d.ints(d.shape(0, 4))}, {}, 1, Exactness::kExact));
    case 3:
      if (d.opset() < 11) return;
      return void(
          d.add("Range",
                {d.numbers(DataType::kInt64, {}, 0, 3), d.numbers(DataType::kInt64, {}, 0, 9),
                 d.numbers(DataType::kInt64, {}, 1, 2)},
                {}, 1, Exactness::kExact));
    default: {
      const Id matrix = d.value({.types = one_of(d, kNumbers), .min_rank = 2, .max_rank = 2});
      return void(d.add("EyeLike", {matrix}, {}, 1, Exactness::kExact));
    }
  }
}

// ---- products and windows ----

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
  switch (d.below(4)) {
    case 0:
      attrs.set("equation", std::string("ij,jk->ik"));
      return void(d.add("Einsum", {tensor({i, j}), tensor({j, k})}, attrs));
    case 1:
      attrs.set("equation", std::string("bij,bkj->bik"));
      return void(d.add("Einsum", {tensor({b, i, j}), tensor({b, k, j})}, attrs));
    case 2:
      attrs.set("equation", std::string("ii->i"));
      return void(d.add("Einsum", {tensor({i, i})}, attrs));
    default:
      attrs.set("equation", std::string("ij->"));
      return void(d.add("Einsum", {tensor({i, j})}, attrs));
  }
}

}  // namespace

void add_random_node(ModelDraw& draw) {
  using Family = void (*)(ModelDraw&);
  static const std::vector<Family> kFamilies = {
      add_unary,     add_unary,   add_binary,    add_binary,         add_comparison,
      add_where,     add_clip,    add_cast,      add_reduction,      add_reduction,
      add_arg_max,   add_top_k,   add_cumsum,    add_softmax,        add_normalization,
      add_transpose, add_reshape, add_squeeze,   add_flatten,        add_concat,
      add_concat,    add_split,   add_slice,     add_slice,          add_pad,
      add_expand,    add_gather,  add_scatter,   add_depth_to_space, add_odd_move,
      add_made,      add_matmul,  add_matmul,    add_convolution,    add_convolution,
      add_pooling,   add_resize,  add_recurrent, add_quantization,   add_einsum};
  draw.pick(kFamilies)(draw);
}

}  // namespace aoe::tests
