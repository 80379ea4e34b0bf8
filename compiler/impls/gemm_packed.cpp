// gemm_packed, gemm_bf16, gemm_fp16: generated matrix products, MatMulV2 and Gemm. A constant B is packed into panels that are read
// in order: strong for matrix-vector products, few rows, batches of small matrices and fused epilogues. gemm_bf16 rounds both factors to bfloat16, gemm_fp16
// to float16 with short sums in it, where the graph allows it and the machine has the instructions.
// The nest: compiler/gemm/gemm_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/gemm/gemm_nest.h"
#include "compiler/gemm/matrix_store.h"
#include "compiler/integer_math.h"
#include "compiler/roofline.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas =
    4096;  ///< written out per kernel: beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyFmas = 128;  ///< enough to hide the loop around it

bool is_legal(const GemmPlan& plan, const Soc& soc) {
  const GemmTiling& t = plan.tiling();
  if (plan.registers() > soc.vector_registers) return false;
  if (t.m_tile > plan.row_blocks() || t.n_tile > plan.panels()) return false;
  if (t.k_block != 0 && t.k_block % t.k_unroll != 0) return false;
  if (plan.is_fp16() && plan.k_per_tile() > kFloat16Steps) return false;
  if ((t.prefetch != 0 || t.prefetch_panel != 0) && !plan.is_packed()) return false;
  if (plan.splits_k() && (plan.is_rounded() || t.k_block != 0 || plan.k_steps() % t.k_splits != 0))
    return false;
  return plan.body_fmas() <= kMaxBodyFmas;
}

/// Splitting the sum pays where outputs are few for the threads and the sum is long: the partial sums go through memory.
std::vector<std::int64_t> k_splits(const GemmPlan& plan, const Soc& soc) {
  constexpr std::int64_t kLongSum = 512, kFewBlocks = 16;
  const MatMulShape& s = plan.shape();
  const std::int64_t blocks = s.batch() * ceil_div(s.m, 8) * ceil_div(s.n, 2 * plan.lanes());
  std::vector<std::int64_t> splits = {1};
  if (plan.is_rounded() || soc.threads == 1 || s.k < kLongSum || blocks > kFewBlocks * soc.threads)
    return splits;
  for (std::int64_t n = 2; n <= 4 * soc.threads && s.k / n >= kLongSum / 4; n *= 2)
    if (s.k % n == 0) splits.push_back(n);
  return splits;
}

/// What rounding needs beyond what every product does.
Result<void> supports_rounding(const Task& task, const MatMulShape& shape) {
  if (task.inputs[1].constant == nullptr || !shape.is_b_shared()) {
    return Unexpected("the second factor is not one constant matrix");
  }
  if (shape.batch() != 1) return Unexpected("batches that do not fold into rows");
  if (shape.a.column != 1) return Unexpected("transA");
  return {};
}

class GemmPacked final : public Impl {
 public:
  explicit GemmPacked(GemmPrecision precision) : precision_(precision) {}

  std::string_view name() const override {
    switch (precision_) {
      case GemmPrecision::kBFloat16:
        return "gemm_bf16";
      case GemmPrecision::kFloat16:
        return "gemm_fp16";
      case GemmPrecision::kFloat32:
        break;
    }
    return "gemm_packed";
  }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<MatMulShape> shape = matmul_shape(task);
    if (!shape) return Unexpected(shape.error());
    for (std::size_t i = 0; i < 2; ++i) {
      if (task.in(i).dtype != DataType::kFloat) {
        return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(task.in(i)) +
                          ", needs float32");
      }
    }
    const bool is_b_constant = task.inputs[1].constant != nullptr;
    if (!is_b_constant && shape->b.column != 1 && shape->n > 1) {
      return Unexpected("transB of a factor that is not constant");
    }
    if (!is_b_constant && shape->alpha != 1.0f) {
      return Unexpected("alpha is " + std::to_string(shape->alpha) +
                        ", needs 1 when the second factor is not constant");
    }
    if (precision_ != GemmPrecision::kFloat32) {
      const bool is_fp16 = precision_ == GemmPrecision::kFloat16;
      const bool is_allowed = is_fp16 ? graph::allows_fp16(task.op) : graph::allows_bf16(task.op);
      if (!is_allowed) return Unexpected("precision_mode asks for more");
      if (!(is_fp16 ? soc.has_fp16 : soc.has_bf16))
        return Unexpected(soc.version + " has no AVX512-" + (is_fp16 ? "FP16" : "BF16"));
      if (Result<void> possible = supports_rounding(task, *shape); !possible) return possible;
    }
    return supports_matrix_epilogue(task, *shape);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    FormatChoice choice{.name = "ND", .inputs = {}, .outputs = {Format::kND}};
    for (const TaskInput& input : task.inputs) {
      choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
    }
    return {choice};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const GemmPlan plan = plan_of(task, {}, soc);
    const MatMulShape& s = plan.shape();
    ScheduleSpace space;
    std::vector<std::int64_t> rows, vectors, k_blocks = {0}, prefetches = {0}, panels = {0};
    for (std::int64_t r = 1; r <= std::min<std::int64_t>(s.m, soc.vector_registers - 2); ++r) {
      const std::int64_t blocks = (s.m + r - 1) / r;
      if ((s.m + blocks - 1) / blocks == r) rows.push_back(r);
    }
    for (const std::int64_t v : {1, 2, 3, 4, 6, 8, 12}) {
      const bool is_least = v == (plan.is_fp16() ? 2 : 1);
      if (plan.is_fp16() && v % 2 != 0) continue;
      if (is_least || (v - 1) * soc.vector_lanes < s.n) vectors.push_back(v);
    }
    for (const std::int64_t k : {64, 128, 256, 512, 1024, 2048}) {
      const bool is_short = k <= kFloat16Steps;
      if (k < plan.k_steps() && (plan.is_fp16() ? is_short : k > 64)) k_blocks.push_back(k);
    }
    if (plan.is_packed() && s.m <= 8) prefetches = {0, 8, 16, 32};
    if (plan.is_packed() && s.m > 8) panels = {0, 1, 2};
    space.axes = {{"m_block", rows},
                  {"n_vectors", vectors},
                  {"k_unroll", powers_of_two(std::min<std::int64_t>(16, plan.k_steps()))},
                  {"k_block", k_blocks},
                  {"m_tile", powers_of_two(std::min<std::int64_t>(64, s.m))},
                  {"n_tile", powers_of_two(std::min<std::int64_t>(64, plan.panels()))},
                  {"rows_outer", {0, 1}},
                  {"prefetch", prefetches},
                  {"prefetch_panel", panels},
                  {"k_splits", k_splits(plan, soc)}};
    space.is_legal = [=, this](const Schedule& schedule) {
      return is_legal(plan_of(task, GemmTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const GemmPlan plan = plan_of(task, GemmTiling::from(schedule), soc);
    const GemmTiling& t = plan.tiling();
    const auto k = static_cast<double>(plan.k_per_tile());
    const double bytes = bytes_moved(task);
    const double panel = 4.0 * k * static_cast<double>(plan.panel_columns() * t.n_tile);
    const double rows = 4.0 * k * static_cast<double>(t.m_block * t.m_tile);
    return {{"flops", flops(task)},
            {"bytes", bytes},
            {"intensity", flops(task) / bytes},
            {"core_cycles", plan.core_cycles()},
            {"lane_use", flops(task) / (4.0 * plan.lanes() * plan.core_cycles())},
            {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
            {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
            {"panel_per_l1", panel / static_cast<double>(soc.l1d_bytes)},
            {"panel_per_l2", panel / static_cast<double>(soc.l2_bytes)},
            {"rows_per_l2", rows / static_cast<double>(soc.l2_bytes)},
            {"k_tiles", static_cast<double>(plan.k_tiles())},
            {"k_splits", static_cast<double>(t.k_splits)},
            {"rows_outer", static_cast<double>(t.rows_outer)},
            {"prefetch", static_cast<double>(t.prefetch)},
            {"prefetch_panel", static_cast<double>(t.prefetch_panel)},
            {"body_fmas", static_cast<double>(plan.body_fmas())},
            {"iterations", static_cast<double>(plan.parallel_extent())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const GemmTiling tiling = GemmTiling::from(space(task, format, soc).heuristic);
    const GemmPlan plan = plan_of(task, tiling, soc);
    // Measured 0.97 of the peak; block_cycles() already counts what loads cost, a little too much.
    constexpr double kEfficiency = 1.05;
    const double compute =
        compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, kEfficiency);
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes_moved(task))) /
                                parallel_balance(soc, plan.parallel_extent());
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    return build_gemm(task, plan_of(task, GemmTiling::from(schedule), soc));
  }

 private:
  /// Sums in float16 are short from the start.
  std::int64_t first_k_block(const Task& task, const Soc& soc) const {
    const GemmPlan plan = plan_of(task, {}, soc);
    return plan.is_fp16() && plan.k_steps() > kFloat16Steps ? kFloat16Steps : 0;
  }

  GemmPlan plan_of(const Task& task, const GemmTiling& tiling, const Soc& soc) const {
    return GemmPlan(matmul_shape(task).value(), task.inputs[1].constant != nullptr,
                    soc.vector_lanes, tiling, precision_);
  }

  GemmTiling heuristic(const Task& task, const ScheduleSpace& space, const Soc& soc) const {
    GemmTiling best = register_block(task, space, soc);
    best.prefetch_panel = space.axes[8].values.back();
    best = k_tile(best, task, space, soc);
    return parallel_tiles(best, task, space, soc);
  }

  /// The register block with the fewest cycles, unrolled as far as its code stays small.
  GemmTiling register_block(const Task& task, const ScheduleSpace& space, const Soc& soc) const {
    GemmTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    for (const std::int64_t m : space.axes[0].values) {
      for (const std::int64_t v : space.axes[1].values) {
        const GemmTiling t{.m_block = m, .n_vectors = v, .k_block = first_k_block(task, soc)};
        const GemmPlan plan = plan_of(task, t, soc);
        if (!is_legal(plan, soc)) continue;
        const double cycles = plan.core_cycles() / parallel_balance(soc, plan.parallel_extent());
        if (cycles < best_cycles * 0.999) {
          best_cycles = cycles;
          best = t;
        }
      }
    }
    for (const std::int64_t unroll : space.axes[2].values) {
      GemmTiling t = best;
      t.k_unroll = unroll;
      const bool is_small = t.m_block * t.n_vectors * unroll <= kGoodBodyFmas;
      if (is_small && is_legal(plan_of(task, t, soc), soc)) best = t;
    }
    return best;
  }

  /// The longest part of k for which a panel takes no more than a quarter of L2, when rows pass over it repeatedly.
  GemmTiling k_tile(const GemmTiling& best, const Task& task, const ScheduleSpace& space,
                    const Soc& soc) const {
    const GemmPlan plan = plan_of(task, best, soc);
    const std::int64_t step_bytes = 4 * plan.panel_columns(), limit = soc.l2_bytes / 4;
    if (plan.shape().m <= best.m_block || plan.k_steps() * step_bytes <= limit) return best;
    GemmTiling t = best;
    for (const std::int64_t k : space.axes[3].values) {
      if (k != 0 && k * step_bytes <= limit) t.k_block = k;
    }
    return is_legal(plan_of(task, t, soc), soc) ? t : best;
  }

  /// A pair of panels meets all rows before the next one: weights come from memory, and come once. Against the other
  /// order, 197x768 by 768x2304 took 1.34 instead of 1.87 ms.
  GemmTiling parallel_tiles(GemmTiling best, const Task& task, const ScheduleSpace& space,
                            const Soc& soc) const {
    const std::int64_t k = plan_of(task, best, soc).k_per_tile();
    const auto try_tiling = [&](const GemmTiling& t) {
      const GemmPlan plan = plan_of(task, t, soc);
      const bool fits = 4 * t.m_tile * t.m_block * k <= soc.l2_bytes / 2;
      if (fits && plan.parallel_extent() >= 4 * soc.threads && is_legal(plan, soc)) best = t;
    };
    for (const std::int64_t panels : {std::int64_t{1}, std::int64_t{2}}) {
      GemmTiling t = best;
      t.n_tile = panels;
      try_tiling(t);
    }
    for (const std::int64_t rows : space.axes[4].values) {
      GemmTiling t = best;
      t.m_tile = rows;
      try_tiling(t);
    }
    return best;
  }

  GemmPrecision precision_;
};

}  // namespace

void register_gemm_packed(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kFloat32));
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kBFloat16));
  registry.add(std::make_unique<GemmPacked>(GemmPrecision::kFloat16));
}

}  // namespace aoe::compiler
