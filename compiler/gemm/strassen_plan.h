// StrassenPlan: the Schedules of a product by Strassen's algorithm, whatever its operands are: what the Impls of it share.
#pragma once

#include "compiler/gemm/strassen_nest.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {

/// "No" where a half would be empty.
Result<void> supports_strassen(const MatMulShape& shape, const Soc& soc);

class StrassenPlan final : public TiledPlan<GemmTiling, StrassenCut> {
 public:
  using MakeOperands = std::function<std::shared_ptr<StrassenOperands>(const StrassenCut&)>;
  StrassenPlan(const Task& task, const FormatChoice& format, const Soc& soc,
               const MatMulShape& shape, MakeOperands operands);

 private:
  StrassenCut cut(const GemmTiling& tiling) const override;
  bool fits(const StrassenCut& cut) const override;
  double cycles(const StrassenCut& cut) const override;
  GemmTiling best() const override;
  Features features_of(const StrassenCut& cut) const override;
  double estimate_of(const StrassenCut& cut) const override;
  Kernel kernel_of(const StrassenCut& cut) const override;

  MatMulShape shape_;
  MakeOperands operands_;
};

}  // namespace aoe::compiler
