// onednn_lrn: oneDNN's local response normalization across channels.
#include "compiler/onednn/onednn_impl.h"
#include "compiler/plain_task.h"

namespace aoe::compiler {
namespace {

class OneDnnLrn final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_lrn"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    constexpr double kChannelsLast = 0.15, kOther = 0.07;  // measured on a Zen 5 core
    return onednn_estimate_ns(task, soc, flops(task),
                              format.inputs[0] == Format::kNHWC ? kChannelsLast : kOther);
  }

  Result<void> accepts(const Task& task) const override {
    if (auto plain = supports_plain(task, {"LRN"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    const std::int64_t size = task.op.attrs.get_int("size", 1);
    if (size % 2 == 0)
      return Unexpected("size " + std::to_string(size) + ", oneDNN's windows are odd");
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {plain_format(task, "NC1HWC0", Format::kNC1HWC0),
            plain_format(task, "NHWC", Format::kNHWC), plain_format(task, "ND", Format::kND)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    OneDnnDraft draft(task, format, soc, "lrn");
    nlohmann::json& params = draft.params();
    params["algorithm"] = "lrn_across_channels";
    params["size"] = task.op.attrs.get_int("size", 1);
    params["alpha"] = task.op.attrs.get_float("alpha", 1e-4f);
    params["beta"] = task.op.attrs.get_float("beta", 0.75f);
    params["k"] = task.op.attrs.get_float("bias", 1.0f);
    draft.input("src", 0);
    draft.output("dst");
    return draft;
  }
};

}  // namespace

void register_onednn_lrn(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnLrn>());
}

}  // namespace aoe::compiler
