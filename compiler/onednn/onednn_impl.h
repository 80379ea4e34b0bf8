// OneDnnImpl: an Impl that is one draft: what a library primitive needs is said once, and oneDNN itself is asked where it
// applies. It has no Schedule: oneDNN chooses its own.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/onednn/onednn_params.h"

namespace aoe::compiler {

class OneDnnImpl : public Impl {
 public:
  /// Maxima pass over NaN, those of a Relu behind the operator among them; a row of a Softmax with NaN in it is zeros.
  NotFinite not_finite(const Task&) const override { return NotFinite::kOpen; }
  Result<void> supports(const Task& task, const Soc& soc) const final;
  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const final;
  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const final;

 protected:
  /// "No" says what about the task oneDNN's primitive cannot express; asked before everything else. Types, static shapes
  /// and the number of outputs are checked behind it.
  virtual Result<void> accepts(const Task& task) const = 0;
  /// Of a task that was accepted, before oneDNN is asked about them.
  virtual std::vector<FormatChoice> candidates(const Task& task) const = 0;
  virtual Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                                    const Soc& soc) const = 0;
  virtual double estimate_ns(const Task& task, const FormatChoice& format,
                             const Soc& soc) const = 0;

 private:
  class DraftedPlan;

  Result<void> probe(const Task& task, const FormatChoice& format, const Soc& soc) const;
};

}  // namespace aoe::compiler
