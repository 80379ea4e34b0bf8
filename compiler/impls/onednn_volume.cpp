// onednn_volume: oneDNN's convolution primitive for three spatial axes, of plain arrays. In blocks of channels it is several
// times as fast, and worth the two stages that bring the arrays into these and back; the library itself unfolds plain ones.
#include "compiler/emit/integer_math.h"
#include "compiler/onednn/onednn_impl.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

reference::Window window_of(const Task& task) {
  return reference::window_of(task.op.type, task.op.attrs, task.in(0).shape, task.in(1).shape)
      .value();
}

template <typename Number>
Shape of_axes(const reference::Window& window, Number number) {
  Shape numbers;
  for (const reference::WindowAxis& axis : window.axes) numbers.push_back(number(axis));
  return numbers;
}

/// ONNX weights: M, C/group, kd, kh, kw.
void add_weights(OneDnnDraft& draft, const Task& task) {
  Shape dims = task.in(1).shape;
  const std::int64_t groups = task.op.attrs.get_int("group", 1);
  if (groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  Shape strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * dims[d + 1];
  draft.weights("weights", dims, onednn_strided(dims, strides), draft.packed_input(1));
}

bool has_bias(const Task& task) {
  return task.anchor_inputs() > 2 && task.inputs[2].is_present();
}

constexpr const char* kBlocked = "blocked";

bool is_depthwise(const Task& task) {
  return task.in(0).shape[1] == task.op.attrs.get_int("group", 1) &&
         task.out().shape[1] == task.in(0).shape[1];
}

/// Fewer channels would be mostly padding; the library reads them where they lie.
bool is_input_blocked(const Task& task, const Soc& soc) {
  if (is_depthwise(task)) return task.in(0).shape[1] >= soc.vector_lanes() / 2;
  return task.in(0).shape[1] / task.op.attrs.get_int("group", 1) >= soc.vector_lanes() / 2;
}

/// A volume in blocks of as many channels as a vector has lanes.
struct BlockedVolume {
  BlockedVolume(const Shape& shape, const Soc& soc)
      : desc(onednn_dense(shape)),
        bytes(sizeof(float) * static_cast<std::size_t>(element_count(shape) / shape[1] *
                                                       round_up(shape[1], soc.vector_lanes()))) {
    desc["tag"] = "aBcde" + std::to_string(soc.vector_lanes()) + "b";
  }
  nlohmann::json desc;
  std::size_t bytes;
};

class OneDnnVolume final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_volume"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    constexpr double kOfPeak = 0.6, kOfPeakUnfolded = 0.1;
    if (format.name != kBlocked) return onednn_estimate_ns(task, soc, flops(task), kOfPeakUnfolded);
    return onednn_estimate_ns(task, soc, flops(task) * padding_waste(task, soc), kOfPeak) +
           2 * onednn_launch_ns(soc) + memory_ns(soc, 2 * bytes_moved(task));
  }

  Result<void> accepts(const Task& task) const override {
    if (task.op.type != "Conv2D")
      return Unexpected(reference::type_name(task.op) + " is not what it computes");
    if (task.in(0).shape.size() != 5) return Unexpected("not a volume: " + to_string(task.in(0)));
    if (!task.inputs[1].constant) return Unexpected("weights are not constant");
    if (element_count(task.in(1).shape) == 0) return Unexpected("no weights");
    if (task.in(1).shape[1] == 1 && task.in(1).shape[0] == task.op.attrs.get_int("group", 1))
      return Unexpected("depthwise, which the library computes plainly");
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    FormatChoice blocked = dense_format(task);
    blocked.name = kBlocked;
    return {std::move(blocked), dense_format(task)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    if (format.name != kBlocked) {
      OneDnnDraft draft(task, format, soc, "convolution");
      draft.input("src", 0);
      add_convolution(draft, task);
      draft.output("dst");
      return draft;
    }
    const bool is_reordered = is_input_blocked(task, soc);
    OneDnnDraft draft(task, format, soc, is_reordered ? "reorder" : "convolution");
    draft.input("src", 0);
    if (is_reordered) {
      const BlockedVolume volume(task.in(0).shape, soc);
      draft.temporary("dst", volume.desc, volume.bytes);
      draft.then("convolution", "src");
    }
    add_convolution(draft, task);
    const BlockedVolume volume(task.out().shape, soc);
    draft.temporary("dst", volume.desc, volume.bytes);
    draft.then("reorder", "src");
    draft.output("dst");
    return draft;
  }

 private:
  static double padding_waste(const Task& task, const Soc& soc) {
    const auto waste = [&](std::int64_t channels) {
      return static_cast<double>(round_up(channels, soc.vector_lanes())) /
             static_cast<double>(channels);
    };
    return waste(task.out().shape[1]) *
           (is_input_blocked(task, soc) ? waste(task.in(0).shape[1]) : 1.0);
  }

  /// What the convolution is, and its weights.
  static void add_convolution(OneDnnDraft& draft, const Task& task) {
    using Axis = reference::WindowAxis;
    const reference::Window window = window_of(task);
    nlohmann::json& params = draft.params();
    params["algorithm"] = "convolution_direct";
    params["strides"] = of_axes(window, [](const Axis& axis) { return axis.stride; });
    params["dilations"] =  // oneDNN counts the gaps
        of_axes(window, [](const Axis& axis) { return axis.dilation - 1; });
    params["padding_l"] = of_axes(window, [](const Axis& axis) { return axis.pad_begin; });
    params["padding_r"] = of_axes(window, [](const Axis& axis) { return axis.pad_end; });
    add_weights(draft, task);
    if (has_bias(task)) draft.any_input("bias", 2, onednn_dense({task.in(1).shape[0]}));
  }
};

}  // namespace

void register_onednn_volume(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnVolume>());
}

}  // namespace aoe::compiler
