// See onednn_impl.h.
#include "compiler/onednn/onednn_impl.h"

namespace aoe::compiler {

Result<void> OneDnnImpl::probe(const Task& task, const FormatChoice& format, const Soc& soc) const {
  const Result<OneDnnDraft> made = draft(task, format, soc);
  if (!made) return Unexpected(made.error());
  const auto choices = made->probe();
  return choices ? Result<void>() : Unexpected(choices.error());
}

Result<void> OneDnnImpl::supports(const Task& task, const Soc& soc) const {
  if (Result<void> accepted = accepts(task); !accepted) return accepted;
  if (Result<void> general = supports_onednn(task, soc); !general) return general;
  std::string reason;
  for (const FormatChoice& format : candidates(task)) {
    const Result<void> possible = probe(task, format, soc);
    if (possible) return {};
    reason = possible.error();
  }
  return Unexpected(reason);
}

std::vector<FormatChoice> OneDnnImpl::formats(const Task& task, const Soc& soc) const {
  std::vector<FormatChoice> possible = candidates(task);
  std::erase_if(possible,
                [&](const FormatChoice& format) { return !probe(task, format, soc).has_value(); });
  return possible;
}

class OneDnnImpl::DraftedPlan final : public Plan {
 public:
  DraftedPlan(const OneDnnImpl& impl, const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc), impl_(impl) {}

  Features features(const Schedule&) const override {
    const double bytes = bytes_moved(task());
    return {{"flops", flops(task())}, {"bytes", bytes}, {"intensity", flops(task()) / bytes}};
  }
  double estimate_ns(const Schedule&) const override {
    return impl_.estimate_ns(task(), format(), soc());
  }
  Kernel build(const Schedule&) const override {
    return impl_.draft(task(), format(), soc()).value().finish();
  }

 private:
  const OneDnnImpl& impl_;
};

std::unique_ptr<Plan> OneDnnImpl::plan(const Task& task, const FormatChoice& format,
                                       const Soc& soc) const {
  return std::make_unique<DraftedPlan>(*this, task, format, soc);
}

}  // namespace aoe::compiler
