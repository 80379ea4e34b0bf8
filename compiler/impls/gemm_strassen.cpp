// gemm_strassen: seven products of half the size instead of eight, for large matrix products with a constant factor that
// the rewrite `strassen` marks. Less to multiply, 7/4 of the weights to read, and results that are rounded differently:
// that is for a whole model to judge, so no product is computed like this unless it is marked.
// The nest: compiler/gemm/strassen_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <limits>

#include "compiler/gemm/matrix_store.h"
#include "compiler/gemm/strassen_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas = 8192;  ///< written out per kernel, all seven products
constexpr std::int64_t kGoodBodyFmas = 128;  ///< of one block: enough to hide the loop around it

bool is_legal(const StrassenPlan& plan, const Soc& soc) {
  return plan.half().registers() <= soc.vector_registers && plan.body_fmas() <= kMaxBodyFmas;
}

class GemmStrassen final : public Impl {
 public:
  std::string_view name() const override { return "gemm_strassen"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (task.op.attrs.get_int("strassen", 0) == 0)
      return Unexpected("not marked by the rewrite `strassen`");
    const Result<MatMulShape> shape = matmul_shape(task);
    if (!shape) return Unexpected(shape.error());
    for (std::size_t i = 0; i < 2; ++i)
      if (task.in(i).dtype != DataType::kFloat)
        return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(task.in(i)) +
                          ", needs float32");
    if (task.inputs[0].constant || !task.inputs[1].constant || !shape->is_b_shared())
      return Unexpected("the second factor is not one constant matrix");
    if (shape->batch() != 1) return Unexpected("batches that do not fold into rows");
    if (shape->a.column != 1) return Unexpected("transA");
    const std::int64_t least = 2 * soc.vector_lanes;
    if (shape->m < 2 || shape->n < least || shape->k < least)
      return Unexpected(to_string(*shape) + " leaves halves empty");
    return supports_matrix_epilogue(task, *shape);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    FormatChoice choice{.name = "ND", .inputs = {}, .outputs = {Format::kND}};
    for (const TaskInput& input : task.inputs)
      choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
    return {choice};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const StrassenPlan plan = plan_of(task, {}, soc);
    std::vector<std::int64_t> rows, vectors;
    const std::int64_t most = std::min<std::int64_t>(plan.half_m(), soc.vector_registers - 2);
    for (std::int64_t r = 1; r <= most; ++r) {
      const std::int64_t blocks = (plan.half_m() + r - 1) / r;
      if ((plan.half_m() + blocks - 1) / blocks == r) rows.push_back(r);
    }
    for (const std::int64_t v : {1, 2, 3, 4, 6})
      if (v * soc.vector_lanes <= plan.half_n()) vectors.push_back(v);
    ScheduleSpace space;
    space.axes = {{"m_block", rows},
                  {"n_vectors", vectors},
                  {"k_unroll", {1, 2, 4, 8}},
                  {"prefetch_panel", {0, 1}}};
    space.is_legal = [=](const Schedule& schedule) {
      return is_legal(plan_of(task, GemmTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, space, soc);
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const StrassenPlan plan = plan_of(task, GemmTiling::from(schedule), soc);
    const GemmTiling& t = plan.tiling();
    const auto l2 = static_cast<double>(soc.l2_bytes);
    return {{"flops", flops(task)},
            {"bytes", bytes_moved(task)},
            {"core_cycles", plan.core_cycles()},
            {"registers", static_cast<double>(plan.half().registers()) / soc.vector_registers},
            {"accumulators", static_cast<double>(t.m_block * t.n_vectors)},
            {"a_per_l2", 4.0 * static_cast<double>(plan.a_elements()) / l2},
            {"c_per_l2", 4.0 * static_cast<double>(plan.c_elements()) / l2},
            {"prefetch_panel", static_cast<double>(t.prefetch_panel)},
            {"body_fmas", static_cast<double>(plan.body_fmas())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const StrassenPlan plan =
        plan_of(task, GemmTiling::from(space(task, format, soc).heuristic), soc);
    constexpr double kEfficiency = 1.05;  // as gemm_packed's
    const double compute =
        compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, kEfficiency);
    const double bytes = bytes_moved(task) + 4.0 * static_cast<double>(plan.b_elements()) -
                         4.0 * static_cast<double>(plan.shape().n * plan.shape().k);
    return 2 * launch_ns(soc) +
           std::max(compute, memory_ns(soc, bytes)) / parallel_balance(soc, plan.parallel_extent());
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    return build_strassen(task, plan_of(task, GemmTiling::from(schedule), soc));
  }

 private:
  static StrassenPlan plan_of(const Task& task, const GemmTiling& tiling, const Soc& soc) {
    return StrassenPlan(matmul_shape(task).value(), soc.vector_lanes, tiling);
  }

  /// The register block with the fewest cycles, unrolled as far as its code stays small. Weights come from memory, so the
  /// next are fetched while these are used.
  static Schedule heuristic(const Task& task, const ScheduleSpace& space, const Soc& soc) {
    GemmTiling best;
    double fewest = std::numeric_limits<double>::infinity();
    for (const std::int64_t m : space.axes[0].values) {
      for (const std::int64_t v : space.axes[1].values) {
        const GemmTiling t{.m_block = m, .n_vectors = v, .prefetch_panel = 1};
        const StrassenPlan plan = plan_of(task, t, soc);
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
      if (is_small && is_legal(plan_of(task, t, soc), soc)) best = t;
    }
    return {{"m_block", best.m_block},
            {"n_vectors", best.n_vectors},
            {"k_unroll", best.k_unroll},
            {"prefetch_panel", best.prefetch_panel}};
  }
};

}  // namespace

void register_gemm_strassen(ImplRegistry& registry) {
  registry.add(std::make_unique<GemmStrassen>());
}

}  // namespace aoe::compiler
