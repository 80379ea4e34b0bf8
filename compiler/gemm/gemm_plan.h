// GemmPlan: the Schedules of a matrix product in dense layout; of `gemm_packed`, and of Impls whose kernels multiply matrices
// in a stage.
#pragma once

#include "compiler/gemm/gemm_nest.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {

class GemmPlan final : public RetiledPlan<GemmTiling, GemmCut> {
 public:
  explicit GemmPlan(const Task& task, const Soc& soc,
                    GemmPrecision precision = GemmPrecision::kFloat32);

  std::vector<std::string> packing_axes() const override { return {"n_vectors", "k_block"}; }

 private:
  bool fits(const GemmCut& cut) const override;
  double cycles(const GemmCut& cut) const override;
  GemmTiling best() const override;
  Features features_of(const GemmCut& cut) const override;
  double estimate_of(const GemmCut& cut) const override;
  Kernel kernel_of(const GemmCut& cut) const override;

  GemmTiling register_block() const;
  GemmTiling tile_block() const;
  GemmTiling k_tile(const GemmTiling& block) const;
  bool do_rows_leave_l3() const;
  GemmTiling parallel_tiles(GemmTiling best) const;
};

}  // namespace aoe::compiler
