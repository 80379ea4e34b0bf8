// Col2Im of float32: each plane adds up its own columns, a row of an image at a time.
#include <algorithm>

#include "native/kernel.h"
#include "native/windows/columns.h"
#include "reference/fail.h"
#include "reference/tensors/widen.h"
#include "reference/windows/block_window.h"

namespace aoe::native {
namespace {

void run_col2im(const Run& run) {
  const Tensor& output = run.output(0);
  if (output.data == nullptr) return;
  const Shape& shape = output.desc.shape;
  const reference::Window blocks = reference::block_window_of(
      run.attrs, Shape(shape.begin() + 2, shape.end()), reference::to_int64s(run.inputs[2]));
  const std::int64_t per_tap = blocks.output_elements(), taps = blocks.kernel_elements();
  if (run.inputs[0].elements() != shape[0] * shape[1] * taps * per_tap)
    reference::fail_model(to_string(run.shape(0)) + " are not the columns of " + to_string(shape));
  const auto* x = run.inputs[0].as<float>();
  run.threads.share(shape[0] * shape[1], static_cast<double>(per_tap * taps) / 4,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t plane = begin; plane < end; ++plane) {
                        float* image = output.as<float>() + plane * blocks.input_elements();
                        std::fill_n(image, blocks.input_elements(), 0.0f);
                        for (std::int64_t k = 0; k < taps; ++k)
                          add_tap(blocks, k, x + (plane * taps + k) * per_tap, image);
                      }
                    });
}

}  // namespace

void register_col2im(KernelRegistry& registry) {
  registry.add({.type = "Col2im", .supports = takes_floats(1), .run = run_col2im});
}

}  // namespace aoe::native
