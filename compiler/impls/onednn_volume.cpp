// onednn_volume: oneDNN's convolution primitive for three spatial axes, on plain arrays.
#include "compiler/onednn/onednn_impl.h"

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

class OneDnnVolume final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_volume"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kOfPeak = 0.4;  // volumes are unfolded into the columns of a matrix product
    return onednn_estimate_ns(task, soc, flops(task), kOfPeak);
  }

  Result<void> accepts(const Task& task) const override {
    if (task.op.type != "Conv2D")
      return Unexpected(reference::type_name(task.op) + " is not what it computes");
    if (task.in(0).shape.size() != 5) return Unexpected("not a volume: " + to_string(task.in(0)));
    if (!task.inputs[1].constant) return Unexpected("weights are not constant");
    if (has_bias(task) && !task.inputs[2].constant) return Unexpected("bias is not constant");
    if (element_count(task.in(1).shape) == 0) return Unexpected("no weights");
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {dense_format(task)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    using Axis = reference::WindowAxis;
    const reference::Window window = window_of(task);
    OneDnnDraft draft(task, format, soc, "convolution");
    nlohmann::json& params = draft.params();
    params["algorithm"] = "convolution_direct";
    params["strides"] = of_axes(window, [](const Axis& axis) { return axis.stride; });
    params["dilations"] =  // oneDNN counts the gaps
        of_axes(window, [](const Axis& axis) { return axis.dilation - 1; });
    params["padding_l"] = of_axes(window, [](const Axis& axis) { return axis.pad_begin; });
    params["padding_r"] = of_axes(window, [](const Axis& axis) { return axis.pad_end; });
    draft.input("src", 0);
    draft.output("dst");
    add_weights(draft, task);
    if (has_bias(task)) {
      draft.params()["bias"] = onednn_dense({task.in(1).shape[0]});
      draft.plain_constant("bias", 2);
    }
    return draft;
  }
};

}  // namespace

void register_onednn_volume(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnVolume>());
}

}  // namespace aoe::compiler
