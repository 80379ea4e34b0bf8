// AffineGrid: the places of an image's pixels, between -1 and 1, turned by a matrix.
#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "graph/import/function_call.h"

namespace aoe::graph {
namespace {

float place(std::int64_t i, std::int64_t size, bool align_corners) {
  if (align_corners)
    return size == 1 ? -1.0f
                     : static_cast<float>(-1 + 2 * static_cast<double>(i) /
                                                   static_cast<double>(size - 1));
  return static_cast<float>((2 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1);
}

/// One row (x, y, 1) or (x, y, z, 1) for each pixel; the last size runs fastest and is x.
std::vector<float> homogeneous_places(const std::vector<std::int64_t>& sizes, bool align_corners) {
  std::vector<float> rows;
  std::vector<std::int64_t> at(sizes.size(), 0);
  for (std::int64_t left = element_count(sizes); left > 0; --left) {
    for (std::size_t axis = sizes.size(); axis-- > 0;)
      rows.push_back(place(at[axis], sizes[axis], align_corners));
    rows.push_back(1);
    for (std::size_t axis = sizes.size(); axis-- > 0 && ++at[axis] == sizes[axis];) at[axis] = 0;
  }
  return rows;
}

/// Sizes that only a run can tell: the places along each axis, repeated along the others.
void affine_grid_of_computed_size(FunctionCall& call) {
  const Term size = call.cast(call.input(1), DataType::kInt64);
  const std::int64_t axes = call.dim(size, 0) - 2;
  if (axes != 2 && axes != 3)
    throw Error(ExitCode::kModel,
                "size has " + std::to_string(axes + 2) + " elements, expected 4 or 5");
  const bool align_corners = call.attrs().get_int("align_corners", 0) != 0;
  const auto number = [&](std::int64_t value) {
    return call.number(static_cast<double>(value), DataType::kInt64);
  };
  const Term image = call.slice(size, 0, 2, axes + 2);
  const Term shape = call.concat({image, call.ints({1})}, 0);
  std::vector<Term> columns;
  for (std::int64_t axis = axes; axis-- > 0;) {
    const Term length = call.reshape(call.slice(image, 0, axis, axis + 1), {});
    const Term steps =
        call.cast(call.op("Range", {number(0), length, number(1)}), DataType::kFloat);
    const Term many = call.cast(length, DataType::kFloat);
    const Term one = call.number(1, DataType::kFloat);
    const Term places = align_corners ? steps * 2 / call.op("Max", {many - one, one}) - one
                                      : (steps * 2 + one) / many - one;
    std::vector<std::int64_t> along(static_cast<std::size_t>(axes) + 1, 1);
    along[static_cast<std::size_t>(axis)] = -1;
    columns.push_back(call.op("Expand", {call.reshape(places, along), shape}));
  }
  columns.push_back(call.op("Expand", {call.floats({1}, {1}), shape}));
  const Term theta = call.input(0);
  const Term places =
      call.cast(call.reshape(call.concat(columns, -1), {1, -1, axes + 1}), call.dtype(theta));
  const Term grid = call.matmul(places, call.transpose(theta, {0, 2, 1}));
  const Term whole = call.concat({call.slice(size, 0, 0, 1), image, call.ints({axes})}, 0);
  call.give(0, call.op("Reshape", {grid, whole}));
}

void expand_affine_grid(FunctionCall& call) {
  if (!call.known(call.input(1))) return affine_grid_of_computed_size(call);
  const std::vector<std::int64_t> size = call.known_ints(call.input(1));
  if (size.size() != 4 && size.size() != 5)
    throw Error(ExitCode::kModel,
                "size has " + std::to_string(size.size()) + " elements, expected 4 or 5");
  const std::vector<std::int64_t> image(size.begin() + 2, size.end());
  if (std::ranges::any_of(size, [](std::int64_t each) { return each < 1; }))
    throw Error(ExitCode::kModel, "size has an element below 1");
  check_size({.dtype = DataType::kFloat, .shape = image}, "size");
  constexpr std::int64_t kMostPixels = std::int64_t{1}
                                       << 26;  // their places are constants of the model
  if (element_count(image) > kMostPixels) throw NotExpressible{"its image is " + to_string(image)};
  const auto axes = static_cast<std::int64_t>(image.size());
  const std::int64_t pixels = element_count(image);
  const Term theta = call.input(0);
  const bool align_corners = call.attrs().get_int("align_corners", 0) != 0;
  const Term places =
      call.cast(call.floats({1, pixels, axes + 1}, homogeneous_places(image, align_corners)),
                call.dtype(theta));
  std::vector<std::int64_t> shape = {size[0]};
  shape.insert(shape.end(), image.begin(), image.end());
  shape.push_back(axes);
  call.give(0, call.reshape(call.matmul(places, call.transpose(theta, {0, 2, 1})), shape));
}

}  // namespace

void register_affine_grid(FunctionRegistry& registry) {
  registry.add({"", "AffineGrid", expand_affine_grid});
}

}  // namespace aoe::graph
