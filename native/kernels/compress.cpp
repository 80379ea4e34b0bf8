// Compress: the places that count, then their elements.
#include <algorithm>
#include <vector>

#include "native/kernel.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

/// Without branches, which nobody could predict.
std::vector<std::int64_t> kept_places(const Tensor& condition) {
  const std::int64_t length = condition.elements();
  const auto* flags = condition.as<std::uint8_t>();
  std::vector<std::int64_t> places(static_cast<std::size_t>(length) + 1);
  std::size_t count = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    places[count] = i;
    count += flags[i] != 0 ? 1 : 0;
  }
  places.resize(count);
  return places;
}

void run_compress(const Run& run) {
  const Tensor& x = run.inputs[0];
  Shape shape = run.shape(0);
  reference::AxisView view{1, element_count(shape), 1};
  std::size_t axis = 0;
  if (run.attrs.has("axis")) {
    axis = reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size());
    view = reference::view_axis(shape, axis);
  } else {
    shape = {0};
  }
  const std::vector<std::int64_t> places = kept_places(run.inputs[1]);
  if (!places.empty() && places.back() >= view.dim)
    reference::fail_model("the condition keeps element " + std::to_string(places.back()) + " of " +
                          std::to_string(view.dim));
  const std::int64_t count = std::ssize(places);
  shape[axis] = count;
  const Tensor y = run.make(0, shape);
  if (y.data == nullptr || y.elements() == 0) return;
  reference::visit_word(x.desc.dtype, [&]<typename Word>() {
    run.threads.share(view.outer * count, 2 + static_cast<double>(view.inner) / 8,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          const std::int64_t place = places[static_cast<std::size_t>(i % count)];
                          const Word* from =
                              x.as<Word>() + (i / count * view.dim + place) * view.inner;
                          if (view.inner == 1)
                            y.as<Word>()[i] = *from;
                          else
                            std::copy_n(from, view.inner, y.as<Word>() + i * view.inner);
                        }
                      });
  });
}

}  // namespace

void register_compress(KernelRegistry& registry) {
  registry.add(
      {.type = "Compress", .supports = takes_all, .run = run_compress, .makes_shapes = true});
}

}  // namespace aoe::native
