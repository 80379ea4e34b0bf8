// onednn_pool: oneDNN's pooling primitive, MaxPoolV3 and AvgPoolV2 of images.
#include <algorithm>

#include "compiler/conv/pool_window.h"
#include "compiler/onednn/onednn_impl.h"
#include "compiler/plain_task.h"

namespace aoe::compiler {
namespace {

/// Input that the windows reach for behind the last row or column; ceil_mode makes it more than the explicit padding.
std::int64_t needed_padding(const reference::WindowAxis& axis) {
  return axis.tap(axis.output - 1, axis.kernel - 1) + 1 - axis.input;
}

std::int64_t padding_end(const reference::WindowAxis& axis) {
  return std::max(axis.pad_end, needed_padding(axis));
}

class OneDnnPool final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_pool"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    // Shares of the peak as measured on a Zen 5 core. In dense layout it was fast for small images, and hundreds of times
    // slower for a large one: only a measurement may choose that.
    constexpr double kVector = 0.14, kDense = 0.001;
    const double efficiency = format.inputs[0] == Format::kND ? kDense : kVector;
    return onednn_estimate_ns(task, soc, flops(task), efficiency);
  }

  Result<void> accepts(const Task& task) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    const Result<PoolWindow> window = pool_window(task);
    if (!window) return Unexpected(window.error());
    const auto reaches_over = [](const reference::WindowAxis& axis) {
      return needed_padding(axis) > axis.pad_end;
    };
    if (window->counts_padding && (reaches_over(window->height()) || reaches_over(window->width())))
      return Unexpected("counts the padding, and ceil_mode reaches beyond it");
    // oneDNN takes the lowest float for the maximum of nothing, and divides by nothing for its average.
    if (!window->counts_padding && has_empty_window(*window))
      return Unexpected("a window lies in the padding as a whole");
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {plain_format(task, "NC1HWC0", Format::kNC1HWC0),
            plain_format(task, "NHWC", Format::kNHWC), plain_format(task, "ND", Format::kND)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    const PoolWindow window = pool_window(task).value();
    const reference::WindowAxis &h = window.height(), &w = window.width();
    OneDnnDraft draft(task, format, soc, "pooling");
    nlohmann::json& params = draft.params();
    params["algorithm"] = window.is_max           ? "pooling_max"
                          : window.counts_padding ? "pooling_avg_include_padding"
                                                  : "pooling_avg_exclude_padding";
    params["kernel"] = {h.kernel, w.kernel};
    params["strides"] = {h.stride, w.stride};
    params["dilations"] = {h.dilation - 1, w.dilation - 1};  // oneDNN counts the gaps
    params["padding_l"] = {h.pad_begin, w.pad_begin};
    params["padding_r"] = {padding_end(h), padding_end(w)};
    draft.input("src", 0);
    draft.output("dst");
    return draft;
  }
};

}  // namespace

void register_onednn_pool(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnPool>());
}

}  // namespace aoe::compiler
