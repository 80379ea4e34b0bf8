// Schedules of Strassen's product.
#include "compiler/gemm/strassen_schedule.h"

#include <algorithm>
#include <limits>

#include "compiler/integer_math.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas = 8192;  ///< written out per kernel, all seven products
constexpr std::int64_t kGoodBodyFmas = 128;  ///< of one block: enough to hide the loop around it
constexpr std::int64_t kGoodTileBytes = 128 << 10;

bool is_legal(const StrassenPlan& plan, const Soc& soc) {
  return plan.half().panels() % plan.tiling().n_tile == 0 &&
         plan.half().registers() <= soc.vector_registers && plan.body_fmas() <= kMaxBodyFmas;
}

/// As many panels as the sums of B of one product fit `kGoodTileBytes`, without leaving a thread idle for it.
GemmTiling with_panels(const MatMulShape& shape, const ScheduleSpace& space, const Soc& soc,
                       const GemmTiling& tiling) {
  GemmTiling best = tiling;
  const StrassenPlan one(shape, soc.vector_lanes, tiling);
  for (const std::int64_t panels : space.axes[4].values) {
    GemmTiling t = tiling;
    t.n_tile = panels;
    const StrassenPlan plan(shape, soc.vector_lanes, t);
    const std::int64_t bytes = panels * plan.half_k() * plan.half().panel_columns() * 4;
    if (!is_legal(plan, soc) || bytes > kGoodTileBytes) continue;
    const double balance = parallel_balance(soc, plan.parallel_extent());
    if (balance >= parallel_balance(soc, one.parallel_extent())) best = t;
  }
  return best;
}

/// The register block with the fewest cycles, unrolled as far as its code stays small. Weights come from memory, so the
/// next are fetched while these are used.
Schedule heuristic(const MatMulShape& shape, const ScheduleSpace& space, const Soc& soc) {
  GemmTiling best;
  double fewest = std::numeric_limits<double>::infinity();
  for (const std::int64_t m : space.axes[0].values) {
    for (const std::int64_t v : space.axes[1].values) {
      const GemmTiling t{.m_block = m, .n_vectors = v, .prefetch_panel = 2};
      const StrassenPlan plan(shape, soc.vector_lanes, t);
      if (!is_legal(plan, soc)) continue;
      const double cycles = plan.core_cycles() / parallel_balance(soc, plan.parallel_extent());
      if (cycles >= fewest * 0.999) continue;
      fewest = cycles;
      best = t;
    }
  }
  for (const std::int64_t unroll : space.axes[2].values) {
    GemmTiling t = best;
    t.k_unroll = unroll;
    const bool is_small = t.m_block * t.n_vectors * unroll <= kGoodBodyFmas;
    if (is_small && is_legal(StrassenPlan(shape, soc.vector_lanes, t), soc)) best = t;
  }
  best = with_panels(shape, space, soc, best);
  return {{"m_block", best.m_block},   {"n_vectors", best.n_vectors},
          {"k_unroll", best.k_unroll}, {"prefetch_panel", best.prefetch_panel},
          {"n_tile", best.n_tile},     {"k_block", best.k_block}};
}

}  // namespace

Result<void> supports_strassen(const MatMulShape& shape, const Soc& soc) {
  const std::int64_t least = 2 * soc.vector_lanes;
  if (shape.m >= 2 && shape.n >= least && shape.k >= least) return {};
  return Unexpected(to_string(shape) + " leaves halves empty");
}

ScheduleSpace strassen_space(const MatMulShape& shape, const Soc& soc) {
  const StrassenPlan plan(shape, soc.vector_lanes, {});
  std::vector<std::int64_t> rows, vectors;
  const std::int64_t most = std::min<std::int64_t>(plan.half_m(), soc.vector_registers - 2);
  for (std::int64_t r = 1; r <= most; ++r)
    if (ceil_div(plan.half_m(), ceil_div(plan.half_m(), r)) == r) rows.push_back(r);
  for (const std::int64_t v : {1, 2, 3, 4, 6})
    if (v * soc.vector_lanes <= plan.half_n()) vectors.push_back(v);
  std::vector<std::int64_t> k_blocks = {0};
  for (const std::int64_t tiles : {2, 3, 4, 6, 8})
    if (plan.half_k() % (tiles * soc.vector_lanes) == 0) k_blocks.push_back(plan.half_k() / tiles);
  ScheduleSpace space;
  space.axes = {{"m_block", rows},
                {"n_vectors", vectors},
                {"k_unroll", {1, 2, 4, 8}},
                {"prefetch_panel", {0, 1, 2}},
                {"n_tile", {1, 2, 3, 4, 6, 8}},
                {"k_block", k_blocks}};
  space.is_legal = [=](const Schedule& schedule) {
    return is_legal(StrassenPlan(shape, soc.vector_lanes, GemmTiling::from(schedule)), soc);
  };
  space.heuristic = heuristic(shape, space, soc);
  return space;
}

Features strassen_features(const StrassenPlan& plan, double flops, double bytes, const Soc& soc) {
  const GemmTiling& t = plan.tiling();
  const auto l2 = static_cast<double>(soc.l2_bytes);
  return {{"flops", flops},
          {"bytes", bytes},
          {"core_cycles", plan.core_cycles()},
          {"registers", static_cast<double>(plan.half().registers()) / soc.vector_registers},
          {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
          {"a_per_l2", 4.0 * static_cast<double>(plan.a_elements()) / l2},
          {"c_per_l2", 4.0 * static_cast<double>(plan.c_elements()) / l2},
          {"prefetch_panel", static_cast<double>(t.prefetch_panel)},
          {"body_fmas", static_cast<double>(plan.body_fmas())},
          {"balance", parallel_balance(soc, plan.parallel_extent())}};
}

double strassen_estimate_ns(const StrassenPlan& plan, double bytes, const Soc& soc) {
  constexpr double kEfficiency = 1.05;  // as gemm_packed's
  const double compute = compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, kEfficiency);
  const std::int64_t more = plan.b_elements() - plan.shape().n * plan.shape().k;
  return 2 * launch_ns(soc) +
         std::max(compute, memory_ns(soc, bytes + 4.0 * static_cast<double>(more))) /
             parallel_balance(soc, plan.parallel_extent());
}

}  // namespace aoe::compiler
