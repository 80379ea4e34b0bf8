// Moves, and what a model makes of shapes and constants.
#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

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

}  // namespace

std::vector<NodeDrawer> move_drawers() {
  return {add_transpose, add_reshape,        add_squeeze,  add_flatten, add_concat, add_concat,
          add_split,     add_slice,          add_slice,    add_pad,     add_expand, add_gather,
          add_scatter,   add_depth_to_space, add_odd_move, add_made};
}

}  // namespace aoe::tests
