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
};

}  // namespace aoe::compiler
