// onednn_reorder: oneDNN's reorder primitive, for conversions of images between Formats.
#include "compiler/onednn/onednn_impl.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

class OneDnnReorder final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_reorder"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    // Shares of the bandwidth as measured on a Zen 5 core: whole blocks of channels are its fast case.
    constexpr double kBlocked = 0.8, kOther = 0.3;
    const bool is_blocked =
        (format.inputs[0] == Format::kNC1HWC0 || format.outputs[0] == Format::kNC1HWC0) &&
        task.in(0).shape[1] >= soc.vector_lanes();
    const Traffic traffic = stored_traffic(task, format, soc);
    return onednn_launch_ns(soc) + copy_ns(soc, traffic.read_bytes, traffic.written_bytes) /
                                       (is_blocked ? kBlocked : kOther);
  }

  Result<void> accepts(const Task& task) const override {
    if (auto plain = supports_plain(task, {"TransData"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    return {};
  }

  std::vector<FormatChoice> candidates(const Task&) const override {
    constexpr Format kFormats[] = {Format::kND, Format::kNHWC, Format::kNC1HWC0};
    std::vector<FormatChoice> choices;
    for (const Format from : kFormats)
      for (const Format to : kFormats)
        if (from != to)
          choices.push_back(
              {std::string(aoe::name(from)) + "_" + std::string(aoe::name(to)), {from}, {to}});
    return choices;
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    OneDnnDraft draft(task, format, soc, "reorder");
    draft.input("src", 0);
    draft.output("dst");
    return draft;
  }
};

}  // namespace

void register_onednn_reorder(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnReorder>());
}

}  // namespace aoe::compiler
