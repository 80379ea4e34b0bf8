// onednn_softmax: oneDNN's softmax primitive.
#include "compiler/onednn/onednn_impl.h"
#include "compiler/plain_task.h"

namespace aoe::compiler {
namespace {

class OneDnnSoftmax final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_softmax"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kEfficiency = 0.06, kRowNs = 13;  // measured on a Zen 5 core
    return onednn_estimate_ns(task, soc, flops(task), kEfficiency) +
           kRowNs * static_cast<double>(softmax_view(task).outer) / soc.threads;
  }

  Result<void> accepts(const Task& task) const override {
    if (auto plain = supports_plain(task, {"SoftmaxV2", "LogSoftmaxV2"}); !plain) return plain;
    if (task.op.type == "LogSoftmaxV2")
      return Unexpected("oneDNN's logarithm is off by 3e-6, which results near 0 show");
    if (softmax_view(task).inner != 1)
      return Unexpected("the axis is not contiguous: oneDNN has only reference code for it");
    return {};
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {plain_format(task, "ND", Format::kND)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    const reference::AxisView view = softmax_view(task);
    const Shape dims = {view.outer, view.dim};
    OneDnnDraft draft(task, format, soc, "softmax");
    draft.params()["algorithm"] = "softmax_accurate";
    draft.params()["axis"] = 1;
    draft.input("src", 0, onednn_dense(dims));
    draft.output("dst", 0, onednn_dense(dims));
    return draft;
  }
};

}  // namespace

void register_onednn_softmax(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnSoftmax>());
}

}  // namespace aoe::compiler
