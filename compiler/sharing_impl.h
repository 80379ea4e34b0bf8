// SharingImpl: what all Impls that run nothing have in common: their outputs lie in their input, or
// their inputs in their output, so there is no Schedule to choose and no time to estimate.
#pragma once

#include "compiler/impl.h"

namespace aoe::compiler {

class SharingPlan final : public Plan {
 public:
  SharingPlan(const Task& task, const FormatChoice& format, const Soc& soc, Kernel::Sharing sharing)
      : Plan(task, format, soc), sharing_(std::move(sharing)) {}

  Features features(const Schedule&) const override { return {}; }
  double estimate_ns(const Schedule&) const override {
    constexpr double kNoTimeNs = 1;
    return kNoTimeNs;
  }
  Kernel build(const Schedule&) const override {
    Kernel kernel = kernel_for("none");
    kernel.sharing = sharing_;
    return kernel;
  }

 private:
  Kernel::Sharing sharing_;
};

class SharingImpl : public Impl {
 public:
  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const final {
    return std::make_unique<SharingPlan>(task, format, soc, sharing(task, format, soc));
  }

 protected:
  virtual Kernel::Sharing sharing(const Task& task, const FormatChoice& format,
                                  const Soc& soc) const = 0;

  /// Input 0 and all its pieces in one Format; the other inputs say where to cut.
  static FormatChoice pieces_in(const Task& task, Format format) {
    FormatChoice choice{.name = std::string(aoe::name(format)),
                        .inputs = std::vector<Format>(task.inputs.size(), Format::kND),
                        .outputs = std::vector<Format>(task.outputs.size(), format)};
    choice.inputs[0] = format;
    return choice;
  }
};

}  // namespace aoe::compiler
