// compiler/impls/reference.cpp: the floor. Every op, in dense row-major layout, by its plainest
// implementation.
#include "compiler/impl.h"

namespace aoe::compiler {
namespace {

/// Plain loops with double accumulators: far from what the core can do, so that any other Impl is
/// preferred.
constexpr double kReferenceNsPerFlop = 1.0;
constexpr double kReferenceNsPerByte = 1.0;
constexpr double kCallNs = 3000;

class ReferencePlan final : public Plan {
 public:
  using Plan::Plan;

  Features features(const Schedule&) const override {
    return {{"flops", flops(task())}, {"bytes", bytes_moved(task())}};
  }

  double estimate_ns(const Schedule&) const override {
    return kCallNs + kReferenceNsPerFlop * flops(task()) +
           kReferenceNsPerByte * bytes_moved(task());
  }

  Kernel build(const Schedule&) const override { return kernel_for("reference"); }
};

class Reference final : public ImplBy<ReferencePlan> {
 public:
  std::string_view name() const override { return "reference"; }

  Result<void> supports(const Task&, const Soc&) const override { return {}; }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    if (task.op.type == "TransData") return conversions(task);
    return {dense_format(task)};
  }

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
};

}  // namespace

void register_reference(ImplRegistry& registry) {
  registry.add(std::make_unique<Reference>());
}

}  // namespace aoe::compiler
