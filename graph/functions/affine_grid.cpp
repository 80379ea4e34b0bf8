// AffineGrid: the places of an image's pixels, between -1 and 1, turned by a matrix.
#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "graph/function_call.h"

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

void expand(FunctionCall& call) {
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
  registry.add({"", "AffineGrid", expand});
}

}  // namespace aoe::graph
