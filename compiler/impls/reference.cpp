// compiler/impls/reference.cpp: the floor. Every op, in dense row-major layout, by its plainest
// implementation.
#include "compiler/impl.h"

namespace aoe::compiler {
namespace {

/// Plain loops with double accumulators: far from what the core can do, so that any other Impl is
/// preferred.
constexpr double kNsPerFlop = 1.0;
constexpr double kNsPerByte = 1.0;
constexpr double kCallNs = 2000;

class Reference final : public Impl {
 public:
  std::string_view name() const override { return "reference"; }

  Result<void> supports(const Task&, const Soc&) const override { return {}; }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    if (task.op.type == "TransData") return conversions(task);
    FormatChoice choice{.name = "ND"};
    for (const TaskInput& input : task.inputs)
      choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
    for (const TensorDesc& output : task.outputs)
      choice.outputs.push_back(output.dtype == DataType::kUndefined ? Format::kUndefined
                                                                    : Format::kND);
    return {choice};
  }

  ScheduleSpace space(const Task&, const FormatChoice&, const Soc&) const override { return {}; }

  /// The one op that reads and writes Formats other than ND.
  static std::vector<FormatChoice> conversions(const Task& task) {
    constexpr Format kImageFormats[] = {Format::kND, Format::kNHWC, Format::kNC1HWC0};
    std::vector<FormatChoice> choices;
    if (task.in(0).shape.size() < 3) return {{"ND", {Format::kND}, {Format::kND}}};
    for (const Format from : kImageFormats)
      for (const Format to : kImageFormats)
        if (from != to)
          choices.push_back(
              {std::string(aoe::name(from)) + "_to_" + std::string(aoe::name(to)), {from}, {to}});
    return choices;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule&,
                    const Soc&) const override {
    return {{"flops", flops(task)}, {"bytes", bytes_moved(task)}};
  }

  double estimate_ns(const Task& task, const FormatChoice&, const Soc&) const override {
    return kCallNs + kNsPerFlop * flops(task) + kNsPerByte * bytes_moved(task);
  }

  Kernel build(const Task&, const FormatChoice&, const Schedule&, const Soc&) const override {
    return {.kind = KernelKind::kReference};
  }
};

}  // namespace

void register_reference(ImplRegistry& registry) {
  registry.add(std::make_unique<Reference>());
}

}  // namespace aoe::compiler
