// MaxpoolWithMask of com.microsoft: along the last axis a window ends where the mask is 0. The first element of an image
// counts in any case, as it does in ONNX Runtime, but for images of one axis.
#include <limits>
#include <optional>

#include "graph/import/function_call.h"
#include "reference/fail.h"
#include "reference/windows/window.h"

namespace aoe::graph {
namespace {

using reference::Window;
using reference::WindowAxis;

constexpr double kLowest = -static_cast<double>(std::numeric_limits<float>::max());

Window mask_pool_window(const FunctionCall& call, Term x) {
  const auto& attrs = call.attrs();
  const std::string pad = attrs.get_string("auto_pad", "NOTSET");
  if (pad != "NOTSET" && pad != "VALID") throw NotExpressible{"its auto_pad is " + pad};
  if (attrs.get_int("ceil_mode", 0) != 0) throw NotExpressible{"its ceil_mode is not 0"};
  const Window window = reference::window_of(attrs, call.shape(x), attrs.get_ints("kernel_shape"));
  for (const WindowAxis& axis : window.axes) {
    if (axis.dilation != 1) throw NotExpressible{"its windows are dilated"};
    for (const std::int64_t side : {axis.pad_begin, axis.pad_end})
      if (axis.kernel < 1 || side < 0 || side >= axis.kernel)
        reference::fail_model("its kernel must be at least 1, pads less than it");
  }
  return window;
}

/// Whether an element counts: the mask is not 0, or it is the first of several axes.
Term counted_elements(FunctionCall& call, Term x, Term mask) {
  const std::int64_t rank = call.rank(x);
  if (call.rank(mask) != rank) reference::fail_model("its mask has another rank than its input");
  // ONNX Runtime reads several masks at places that no documentation has.
  if (call.dim(mask, 0) != 1 || call.dim(mask, 1) != 1)
    throw NotExpressible{"its mask is not one for all images and channels"};
  for (std::int64_t axis = 2; axis < rank; ++axis)
    if (call.dim(mask, axis) != call.dim(x, axis))
      reference::fail_model("its mask has another size than its input");
  const Term is_set = call.cast(mask, DataType::kBool);
  if (rank == 3) return is_set;
  std::optional<Term> is_first;
  for (std::int64_t axis = 2; axis < rank; ++axis) {
    std::vector<std::int64_t> along(static_cast<std::size_t>(rank - axis), 1);
    along[0] = -1;
    const Term is_zero =
        call.op("Equal", {call.reshape(call.numbered(call.dim(x, axis)), along), call.ints({0})});
    is_first = is_first ? call.op("And", {*is_first, is_zero}) : is_zero;
  }
  return call.op("Or", {is_set, *is_first});
}

/// The largest of each window along the last axis, up to where an element does not count.
Term largest_along_rows(FunctionCall& call, Term x, Term counts, const WindowAxis& window) {
  const std::int64_t axis = call.rank(x) - 1;
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * axis + 2), 0);
  pads[static_cast<std::size_t>(axis)] = window.pad_begin;
  pads.back() = window.pad_end;
  const Term lowest = call.number(kLowest, DataType::kFloat);
  if (window.pad_begin + window.pad_end > 0) {
    x = call.op("Pad", {x, call.ints(pads), lowest});
    counts = call.op("Pad", {counts, call.ints(pads), call.number(1, DataType::kBool)});
  }
  const std::int64_t span = (window.output - 1) * window.stride + 1;
  Term most = lowest;
  for (std::int64_t i = window.kernel; i-- > 0;) {
    const auto part = [&](Term value) {
      return call.slice(value, axis, i, i + span, window.stride);
    };
    most = call.op("Where", {part(counts), call.op("Max", {part(x), most}), lowest});
  }
  return most;
}

void expand_max_pool_with_mask(FunctionCall& call) {
  const Term x = call.input(0);
  const std::int64_t rank = call.rank(x);
  if (rank < 3 || rank > 5) reference::fail_model("needs an input of three to five axes");
  if (call.dtype(x) != DataType::kFloat) throw NotExpressible{"its input is not float32"};
  const Window window = mask_pool_window(call, x);
  constexpr std::int64_t kMostSteps = 64;  // each is a comparison of its own
  if (window.width().kernel > kMostSteps) throw NotExpressible{"its windows are too wide"};
  const Term rows =
      largest_along_rows(call, x, counted_elements(call, x, call.input(1)), window.width());
  if (rank == 3) return call.give(0, rows);
  const std::size_t axes = window.rank;
  std::vector<std::int64_t> kernel(axes, 1), strides(axes, 1), pads(2 * axes, 0);
  for (std::size_t i = 0; i + 1 < axes; ++i) {  // along the last axis it is done
    const WindowAxis& axis = window.axes[window.axes.size() - axes + i];
    kernel[i] = axis.kernel;
    strides[i] = axis.stride;
    pads[i] = axis.pad_begin;
    pads[axes + i] = axis.pad_end;
  }
  reference::Attrs attrs;
  attrs.set("kernel_shape", kernel);
  attrs.set("strides", strides);
  attrs.set("pads", pads);
  call.give(0, call.op("MaxPool", {rows}, attrs));
}

}  // namespace

void register_max_pool_with_mask(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MaxpoolWithMask", expand_max_pool_with_mask});
}

}  // namespace aoe::graph
