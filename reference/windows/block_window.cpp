// See block_window.h.
#include "reference/windows/block_window.h"

#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {

Window block_window_of(const Attrs& attrs, const Shape& image,
                       const std::vector<std::int64_t>& block) {
  if (image.size() != block.size())
    fail_model("image_shape " + to_string(image) + " and block_shape " + to_string(block) +
               " differ in rank");
  check_not_negative(image, "image_shape");
  check_not_negative(block, "block_shape");
  Shape with_channels = {1, 1};
  with_channels.insert(with_channels.end(), image.begin(), image.end());
  return window_of(attrs, with_channels, block);
}

Shape unpooled_shape(const Attrs& attrs, const Shape& x) {
  const auto kernel = attrs.get_ints("kernel_shape");
  const Window window = transposed_window_of(attrs, x, kernel);
  Shape shape = {x[0], x[1]};
  for (std::size_t i = window.axes.size() - window.rank; i < window.axes.size(); ++i)
    shape.push_back(window.axes[i].input);
  return shape;
}

}  // namespace aoe::reference
