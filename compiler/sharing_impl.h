// SharingImpl: what all Impls that run nothing have in common: their outputs lie in their input, or
// their inputs in their output, so there is no Schedule to choose and no time to estimate.
#pragma once

#include "compiler/impl.h"

namespace aoe::compiler {

class SharingImpl : public Impl {
 public:
  ScheduleSpace space(const Task&, const FormatChoice&, const Soc&) const final { return {}; }
  Features features(const Task&, const FormatChoice&, const Schedule&, const Soc&) const final {
    return {};
  }
  double estimate_ns(const Task&, const FormatChoice&, const Soc&) const final {
    constexpr double kNoTimeNs = 1;
    return kNoTimeNs;
  }

 protected:
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
