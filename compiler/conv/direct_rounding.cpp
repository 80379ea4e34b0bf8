#include "compiler/conv/direct_rounding.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

/// The input as it lies, as pairs of bfloat16 in the workspace: neighbours in memory are neighbouring channels.
loopnest::Function round_input(const Task& task, const DirectCut& cut, std::int64_t pairs,
                               std::size_t constants) {
  constexpr std::int64_t kVectors = 128;  // in an iteration
  Builder builder("round_input");
  const KernelBuffers buffers = declare_direct(builder, task, cut, constants);
  const std::int64_t lanes = cut.lanes(), chunk = kVectors * lanes;
  const auto write = [&](Int at, std::optional<Int> low, std::optional<Int> high,
                         std::optional<Int> active) {
    const loopnest::Buffer x = *buffers.inputs[0];
    const Vec first = builder.load(x, 2 * at, cut.lanes(), low);
    const Vec second = builder.load(x, 2 * at + lanes, cut.lanes(), high);
    builder.store(*buffers.workspace, at, convert(first, second, Type::kBfloat16), active);
  };
  builder.parallel(ceil_div(pairs, chunk), [&](Int p) {
    const std::int64_t whole = pairs / lanes * lanes, rest = pairs - whole;
    const Int begin = p * chunk, end = min(begin + chunk, Int(whole));
    builder.loop("pairs", begin, end, lanes, [&](Int at) { write(at, {}, {}, {}); });
    if (rest == 0) return;
    builder.if_(Int(pairs) <= begin + chunk, [&] {
      write(whole, Int(std::min(2 * rest, lanes)), Int(std::max<std::int64_t>(2 * rest - lanes, 0)),
            Int(rest));
    });
  });
  return builder.finish();
}

/// The windows' rows as pairs in the workspace, [image][pair][row of outputs][column]: of channel c and row h of the window
/// those in place c * kernel_height + h.
loopnest::Function round_rows(const Task& task, const DirectCut& cut, std::size_t constants) {
  Builder builder("round_rows");
  const KernelBuffers buffers = declare_direct(builder, task, cut, constants);
  const ConvShape& made = cut.shape();
  const ConvShape window = conv_shape(task).value();
  const ImageLayout in = image_layout(task.in(0).shape, Format::kNCHW, cut.lanes());
  const std::int64_t rows = window.in_channels * window.kernel_height;
  /// Of one place, in one row of outputs; zeros outside the image and behind the last place.
  const auto load = [&](std::int64_t place, Int image, Int row, Int column, std::int64_t count) {
    if (place >= rows) return loopnest::splat(0.0f, cut.lanes());
    const std::int64_t channel = place / window.kernel_height, h = place % window.kernel_height;
    const Int y = row * window.stride_height + (h * window.dilation_height - window.pad_top);
    const Int is_inside =
        max(min(y + 1, 1), 0) * max(min(Int(window.in_height) - y, Int(1)), Int(0));
    const Int at = image * in.batch + channel * in.channel + y * in.row + column;
    return builder.load(*buffers.inputs[0], at, cut.lanes(), is_inside * count);
  };
  builder.parallel(window.batch * window.out_height, [&](Int p) {
    const Int image = p / window.out_height, row = p % window.out_height;
    for (std::int64_t pair = 0; pair < made.in_channels; ++pair) {
      loopnest::vector_loop(
          builder, "column", window.in_width, cut.lanes(),
          [&](Int column, std::optional<Int> active) {
            const std::int64_t count = active ? *active->constant() : cut.lanes();
            const std::vector<Vec> both = {load(2 * pair, image, row, column, count),
                                           load(2 * pair + 1, image, row, column, count)};
            const Int to =
                ((image * made.in_channels + pair) * made.in_height + row) * made.in_width;
            builder.store(*buffers.workspace, to + column,
                          convert(interleave(both, 0), interleave(both, 1), Type::kBfloat16),
                          active);
          });
    }
  });
  return builder.finish();
}

}  // namespace

KernelBuffers declare_direct(Builder& builder, const Task& task, const DirectCut& cut,
                             std::size_t constants) {
  const Elements pairs = words_of(DataType::kBFloat16);
  std::vector<Elements> types(constants);
  if (cut.is_bf16()) types.front() = pairs;
  return declare_buffers(builder, task, types, cut.is_bf16(), pairs);
}

std::int64_t rounded_elements(const Task& task, const DirectCut& cut) {
  if (cut.rows_are_channels()) return static_cast<std::int64_t>(cut.shape().input_elements());
  const Shape& x = task.in(0).shape;
  const std::int64_t channels =
      cut.in_format() == Format::kNC1HWC0 ? round_up(x[1], cut.lanes()) : x[1];
  return x[0] * channels * x[2] * x[3] / 2;
}

loopnest::Function round_direct_input(const Task& task, const DirectCut& cut,
                                      std::size_t constants) {
  return cut.rows_are_channels() ? round_rows(task, cut, constants)
                                 : round_input(task, cut, rounded_elements(task, cut), constants);
}

}  // namespace aoe::compiler
