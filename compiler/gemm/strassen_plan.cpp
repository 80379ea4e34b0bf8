// Schedules of Strassen's product.
#include "compiler/gemm/strassen_plan.h"

#include <algorithm>

#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

TilingAxes<GemmTiling> strassen_axes(const StrassenCut& cut, const Soc& soc) {
  using T = GemmTiling;
  std::vector<std::int64_t> vectors, k_blocks = {0};
  for (const std::int64_t v : {1, 2, 3, 4, 6})
    if (v * soc.vector_lanes() <= cut.half_n()) vectors.push_back(v);
  for (const std::int64_t tiles : {2, 3, 4, 6, 8})
    if (cut.half_k() % (tiles * soc.vector_lanes()) == 0) k_blocks.push_back(cut.half_k() / tiles);
  return {{"m_block", &T::m_block, least_blocks(cut.half_m(), soc.vector_registers() - 2)},
          {"n_vectors", &T::n_vectors, vectors},
          {"k_unroll", &T::k_unroll, {1, 2, 4, 8}},
          {"prefetch_panel", &T::prefetch_panel, {0, 1, 2}},
          {"n_tile", &T::n_tile, {1, 2, 3, 4, 6, 8}},
          {"k_block", &T::k_block, k_blocks}};
}

}  // namespace

Result<void> supports_strassen(const MatMulShape& shape, const Soc& soc) {
  const std::int64_t least = 2 * soc.vector_lanes();
  if (shape.m >= 2 && shape.n >= least && shape.k >= least) return {};
  return Unexpected(to_string(shape) + " leaves halves empty");
}

StrassenPlan::StrassenPlan(const Task& task, const FormatChoice& format, const Soc& soc,
                           const MatMulShape& shape, MakeOperands operands)
    : TiledPlan(task, format, soc, strassen_axes({shape, soc.vector_lanes(), {}}, soc)),
      shape_(shape),
      operands_(std::move(operands)) {
}

StrassenCut StrassenPlan::cut(const GemmTiling& tiling) const {
  return StrassenCut(shape_, soc().vector_lanes(), tiling);
}

bool StrassenPlan::fits(const StrassenCut& cut) const {
  constexpr std::int64_t kMaxBodyFmas = 8192;  // written out per kernel, all seven products
  return cut.half().panels() % cut.tiling().n_tile == 0 &&
         cut.half().registers() <= soc().vector_registers() && cut.body_fmas() <= kMaxBodyFmas;
}

double StrassenPlan::cycles(const StrassenCut& cut) const {
  return shared(cut.core_cycles(), cut);
}

/// The register block with the fewest cycles, unrolled as far as its code stays small. Weights come from memory, so the
/// next are fetched while these are used. Then as many panels as the sums of B of one product fit `kGoodTileBytes`,
/// without leaving a thread idle for it.
GemmTiling StrassenPlan::best() const {
  using T = GemmTiling;
  constexpr std::int64_t kGoodTileBytes = 128 << 10;
  T best = fewest_cycles_in_l1(tilings().all({.prefetch_panel = 2}, {&T::m_block, &T::n_vectors}),
                               cut({}).k_per_tile() * std::int64_t{sizeof(float)},
                               [](const T& t) { return t.m_block; });
  best = tilings().with_last(best, &T::k_unroll, [&](const T& t) {
    return t.m_block * t.n_vectors * t.k_unroll <= kGoodBodyFmas && is_legal(t);
  });
  const double balance = parallel_balance(soc(), cut(best).parallel_extent());
  return tilings().with_last(best, &T::n_tile, [&](const T& t) {
    const StrassenCut tiled = cut(t);
    const std::int64_t bytes = t.n_tile * tiled.half_k() * tiled.half().panel_columns() * 4;
    return fits(tiled) && bytes <= kGoodTileBytes &&
           parallel_balance(soc(), tiled.parallel_extent()) >= balance;
  });
}

Features StrassenPlan::features_of(const StrassenCut& cut) const {
  const GemmTiling& t = cut.tiling();
  const auto l2 = static_cast<double>(soc().l2_bytes);
  return {{"flops", flops(task())},
          {"bytes", bytes_moved(task())},
          {"core_cycles", cut.core_cycles()},
          {"registers", static_cast<double>(cut.half().registers()) / soc().vector_registers()},
          {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
          {"a_per_l2", 4.0 * static_cast<double>(cut.a_elements()) / l2},
          {"c_per_l2", 4.0 * static_cast<double>(cut.c_elements()) / l2},
          {"prefetch_panel", static_cast<double>(t.prefetch_panel)},
          {"body_fmas", static_cast<double>(cut.body_fmas())},
          {"balance", parallel_balance(soc(), cut.parallel_extent())}};
}

double StrassenPlan::estimate_of(const StrassenCut& cut) const {
  constexpr double kEfficiency = 1.05;  // as gemm_packed's
  const std::int64_t more = cut.b_elements() - shape_.n * shape_.k;
  const double memory = memory_ns(soc(), bytes_moved(task()) + 4.0 * static_cast<double>(more));
  return 2 * launch_ns(soc()) +
         shared(std::max(cycles_ns(cut.core_cycles(), kEfficiency), memory), cut);
}

Kernel StrassenPlan::kernel_of(const StrassenCut& cut) const {
  return build_strassen(task(), cut, operands_(cut));
}

}  // namespace aoe::compiler
