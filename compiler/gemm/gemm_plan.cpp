// Schedules of a matrix product.
#include "compiler/gemm/gemm_plan.h"

#include <algorithm>

#include "compiler/emit/cache_sets.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/tile_block.h"

namespace aoe::compiler {
namespace {

/// Splitting the sum pays where outputs are few for the threads and the sum is long: the partial sums go through memory.
std::vector<std::int64_t> k_splits(const GemmCut& cut, const Soc& soc) {
  constexpr std::int64_t kLongSum = 512, kFewBlocks = 16;
  const MatMulShape& s = cut.shape();
  const std::int64_t blocks = s.batch() * ceil_div(s.m, 8) * ceil_div(s.n, 2 * cut.lanes());
  std::vector<std::int64_t> splits = {1};
  const bool is_float32 = cut.element_type() == DataType::kFloat;  // as the workspace is
  if (!is_float32 || cut.is_rounded() || soc.threads == 1 || s.k < kLongSum ||
      blocks > kFewBlocks * soc.threads)
    return splits;
  for (std::int64_t n = 2; n <= 4 * soc.threads && s.k / n >= kLongSum / 4; n *= 2)
    if (s.k % n == 0) splits.push_back(n);
  return splits;
}

GemmCut any_cut(const Task& task, const Soc& soc, GemmPrecision precision) {
  const DataType type = task.in(0).dtype;
  const int lanes = soc.target->vector_bytes() / static_cast<int>(size_bytes(type));
  return GemmCut(matmul_shape(task).value(), task.inputs[1].constant != nullptr, lanes, {},
                 precision, type);
}

/// Of tiles, whose steps are whole ones.
TilingAxes<GemmTiling> tile_axes(const GemmCut& cut) {
  const MatMulShape& s = cut.shape();
  std::vector<std::int64_t> k_blocks = {0}, unrolled;
  for (const std::int64_t k : {64, 128, 256, 512, 1024, 2048})
    if (k < cut.k_steps()) k_blocks.push_back(k);
  for (const std::int64_t k : {16, 32, 64})
    if (cut.k_steps() % k == 0) unrolled.push_back(k);
  return {{"m_block", &GemmTiling::m_block, least_blocks(s.m, TileBlock::kMostRows)},
          {"n_vectors", &GemmTiling::n_vectors,
           up_to(ceil_div(s.n, cut.lanes()), {1, TileBlock::kMostVectors})},
          {"k_unroll", &GemmTiling::k_unroll, unrolled},
          {"k_block", &GemmTiling::k_block, k_blocks},
          {"m_tile", &GemmTiling::m_tile, powers_of_two(std::min<std::int64_t>(64, s.m))},
          {"n_tile", &GemmTiling::n_tile, powers_of_two(std::min<std::int64_t>(64, cut.panels()))},
          {"rows_outer", &GemmTiling::rows_outer, {0, 1}},
          {"prefetch", &GemmTiling::prefetch, {0, 16, 32, 64}}};
}

TilingAxes<GemmTiling> gemm_axes(const GemmCut& cut, const Soc& soc) {
  const MatMulShape& s = cut.shape();
  if (cut.has_tiles()) return tile_axes(cut);
  std::vector<std::int64_t> vectors, k_blocks = {0}, prefetches = {0}, panels = {0};
  for (const std::int64_t v : {1, 2, 3, 4, 6, 8, 12}) {
    const bool is_least = v == (cut.is_fp16() ? 2 : 1);
    if (cut.is_fp16() && v % 2 != 0) continue;
    if (is_least || (v - 1) * cut.lanes() < s.n) vectors.push_back(v);
  }
  for (const std::int64_t k : {64, 128, 256, 512, 1024, 2048}) {
    const bool is_short = k <= kFloat16Steps;
    if (k < cut.k_steps() && (cut.is_fp16() ? is_short : k > 64)) k_blocks.push_back(k);
  }
  if (cut.is_packed() && s.m <= 8) prefetches = {0, 8, 16, 32};
  if (cut.is_packed() && s.m > 8) panels = {0, 1, 2};
  return {
      {"m_block", &GemmTiling::m_block, least_blocks(s.m, soc.vector_registers() - 2)},
      {"n_vectors", &GemmTiling::n_vectors, vectors},
      {"k_unroll", &GemmTiling::k_unroll, powers_of_two(std::min<std::int64_t>(16, cut.k_steps()))},
      {"k_block", &GemmTiling::k_block, k_blocks},
      {"m_tile", &GemmTiling::m_tile, powers_of_two(std::min<std::int64_t>(64, s.m))},
      {"n_tile", &GemmTiling::n_tile, powers_of_two(std::min<std::int64_t>(64, cut.panels()))},
      {"rows_outer", &GemmTiling::rows_outer, {0, 1}},
      {"prefetch", &GemmTiling::prefetch, prefetches},
      {"prefetch_panel", &GemmTiling::prefetch_panel, panels},
      {"k_splits", &GemmTiling::k_splits, k_splits(cut, soc)}};
}

}  // namespace

GemmPlan::GemmPlan(const Task& task, const Soc& soc, GemmPrecision precision)
    : RetiledPlan(task, dense_format(task), soc, any_cut(task, soc, precision), gemm_axes) {
}

bool GemmPlan::fits(const GemmCut& cut) const {
  constexpr std::int64_t kMaxBodyFmas =
      4096;  // written out: beyond, code leaves the instruction cache
  const GemmTiling& t = cut.tiling();
  if (cut.registers() > soc().vector_registers()) return false;
  if (t.m_tile > cut.row_blocks() || t.n_tile > cut.panels()) return false;
  if (t.k_block != 0 && t.k_block % t.k_unroll != 0) return false;
  if (cut.has_tiles()) return t.k_unroll % TileBlock::kLanes == 0;
  if (cut.is_fp16() && cut.k_per_tile() > kFloat16Steps) return false;
  if ((t.prefetch != 0 || t.prefetch_panel != 0) && !cut.is_packed()) return false;
  if (cut.splits_k() && (cut.is_rounded() || t.k_block != 0 || cut.k_steps() % t.k_splits != 0))
    return false;
  return cut.body_fmas() <= kMaxBodyFmas;
}

double GemmPlan::cycles(const GemmCut& cut) const {
  return shared(cut.core_cycles(), cut);
}

GemmTiling GemmPlan::best() const {
  if (any().has_tiles()) return parallel_tiles(k_tile(tile_block()));
  GemmTiling best = register_block();
  best.prefetch_panel = tilings().values(&GemmTiling::prefetch_panel).back();
  return parallel_tiles(k_tile(best));
}

/// The register block with the fewest cycles whose rows stay in L1, unrolled as far as its code stays small. Sums in float16
/// are short from the start.
GemmTiling GemmPlan::register_block() const {
  const bool is_cut = any().is_fp16() && any().k_steps() > kFloat16Steps;
  const MatrixLayout& a = any().shape().a;
  const std::int64_t stride = a.column == 1 ? a.row * any().element_bytes() : 0;
  const GemmTiling best =
      fewest_cycles_in_l1(tilings().all({.k_block = is_cut ? kFloat16Steps : 0},
                                        {&GemmTiling::m_block, &GemmTiling::n_vectors}),
                          stride, [](const GemmTiling& t) { return t.m_block; });
  return tilings().with_last(best, &GemmTiling::k_unroll, [&](const GemmTiling& t) {
    return t.m_block * t.n_vectors * t.k_unroll <= kGoodBodyFmas && is_legal(t);
  });
}

/// The block with the fewest cycles, over all of k: on an Emerald Rapids core parts of k of 256 to 512, which L1 holds, took 1.05 to 1.2
/// times as long, and fetching ahead 1.1 times (128x768 by 768x3072, 1024x1024 by 1024x1024).
GemmTiling GemmPlan::tile_block() const {
  return fewest_cycles(tilings().all({.k_unroll = TileBlock::kLanes},
                                     {&GemmTiling::m_block, &GemmTiling::n_vectors}));
}

/// The longest part of k for which a panel takes no more than a quarter of L2, when rows pass over it repeatedly.
GemmTiling GemmPlan::k_tile(const GemmTiling& block) const {
  const GemmCut whole = cut(block);
  const std::int64_t step_bytes = whole.element_bytes() * whole.panel_columns(),
                     limit = soc().l2_bytes / 4;
  if (whole.shape().m <= block.m_block || whole.k_steps() * step_bytes <= limit) return block;
  const GemmTiling longest = tilings().with_last(
      block, &GemmTiling::k_block,
      [&](const GemmTiling& t) { return t.k_block != 0 && t.k_block * step_bytes <= limit; });
  return is_legal(longest) ? longest : block;
}

/// A pair of panels meets all rows before the next one: weights come from memory, and come once. Against the other
/// order, 197x768 by 768x2304 took 1.34 instead of 1.87 ms.
GemmTiling GemmPlan::parallel_tiles(GemmTiling best) const {
  constexpr std::int64_t kPair = 2;
  const std::int64_t k = cut(best).k_per_tile();
  const auto is_good = [&](const GemmTiling& t) {
    const bool fits_l2 = any().element_bytes() * t.m_tile * t.m_block * k <= soc().l2_bytes / 2;
    return t.n_tile <= kPair && fits_l2 && cut(t).parallel_extent() >= 4 * soc().threads &&
           is_legal(t);
  };
  best = tilings().with_last(best, &GemmTiling::n_tile, is_good);
  best = tilings().with_last(best, &GemmTiling::m_tile, is_good);
  if (do_rows_leave_l3()) best.rows_outer = 1;
  return best;
}

/// Rows that other cores and the weights do not leave in L3 come from memory for each pair of panels: 4096x512 by 512x2048 took 141 ms in
/// place of 96 (Zen 3), 1576x768 by 768x3072 the same in both orders.
bool GemmPlan::do_rows_leave_l3() const {
  const MatMulShape& s = any().shape();
  return any().element_bytes() * s.batch() * s.m * s.k > soc().l3_bytes / 4;
}

Features GemmPlan::features_of(const GemmCut& cut) const {
  const GemmTiling& t = cut.tiling();
  const auto k = static_cast<double>(cut.k_per_tile());
  const double bytes = bytes_moved(task());
  const auto element = static_cast<double>(cut.element_bytes());
  const double panel = element * k * static_cast<double>(cut.panel_columns() * t.n_tile);
  const double rows = element * k * static_cast<double>(t.m_block * t.m_tile);
  return {{"flops", flops(task())},
          {"bytes", bytes},
          {"intensity", flops(task()) / bytes},
          {"core_cycles", cut.core_cycles()},
          {"lane_use", flops(task()) / (4.0 * cut.lanes() * cut.core_cycles())},
          {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
          {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
          {"panel_per_l1", panel / static_cast<double>(soc().l1d_bytes)},
          {"panel_per_l2", panel / static_cast<double>(soc().l2_bytes)},
          {"rows_per_l2", rows / static_cast<double>(soc().l2_bytes)},
          {"k_tiles", static_cast<double>(cut.k_tiles())},
          {"k_splits", static_cast<double>(t.k_splits)},
          {"rows_outer", static_cast<double>(t.rows_outer)},
          {"prefetch", static_cast<double>(t.prefetch)},
          {"prefetch_panel", static_cast<double>(t.prefetch_panel)},
          {"body_fmas", static_cast<double>(cut.body_fmas())},
          {"iterations", static_cast<double>(cut.parallel_extent())},
          {"balance", parallel_balance(soc(), cut.parallel_extent())}};
}

double GemmPlan::estimate_of(const GemmCut& cut) const {
  // Measured 0.97 of the peak, 0.94 in blocks of few rows, as oneDNN; block_cycles() already counts what loads cost, a little
  // too much. What is equal goes to us: a step of oneDNN makes the whole model wait for OpenMP's team.
  constexpr double kEfficiency = 1.08;
  // The rows of a large B that is not packed share sets of L2 as they do of L1, so that no panel of many stays there: 0.71 of the
  // peak at 4096x4096, on Zen 4, where rows of odd numbers of lines give 0.86.
  constexpr double kPassedOverEfficiency = 0.8;
  const MatMulShape& s = cut.shape();
  const bool is_lost = !cut.is_packed() && s.m > cut.tiling().m_block &&
                       s.k * s.n * cut.element_bytes() > soc().l2_bytes &&
                       do_rows_collide(soc(), s.b.row * cut.element_bytes(), cut.k_per_tile());
  const double efficiency = cut.has_tiles() ? TileBlock::kEfficiency
                            : cut.is_bf16() ? kEfficiency / pair_dot_cost(soc())
                                            : kEfficiency * (is_lost ? kPassedOverEfficiency : 1);
  return launch_ns(soc()) + shared(std::max(cycles_ns(cut.core_cycles(), efficiency),
                                            memory_ns(soc(), bytes_moved(task()))),
                                   cut);
}

Kernel GemmPlan::kernel_of(const GemmCut& cut) const {
  return build_gemm(task(), cut);
}

}  // namespace aoe::compiler
