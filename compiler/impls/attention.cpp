// attention: FlashAttentionScore as one kernel that keeps its scores in the cache; see
// compiler/attention/attention_nest.h.
#include <algorithm>
#include <limits>

#include "compiler/attention/attention_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using reference::AttentionShape;

constexpr std::int64_t kMaxBodyFmas = 3072;  ///< beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyFmas =
    96;  ///< of one unrolled loop: enough to hide the loop around it

AttentionPlan plan_of(const Task& task, const AttentionTiling& tiling, const Soc& soc) {
  return AttentionPlan(attention_shape_of(task).value(), soc.vector_lanes, tiling);
}

bool is_legal(const AttentionPlan& plan, const Soc& soc) {
  return plan.registers() <= soc.vector_registers && plan.body_fmas() <= kMaxBodyFmas &&
         plan.scratch_bytes() <= soc.l2_bytes / 2;
}

class AttentionKernel final : public Impl {
 public:
  std::string_view name() const override { return "attention"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const auto shape = attention_shape_of(task);
    if (!shape) return Unexpected(shape.error());
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {plain_format(task, "ND", Format::kND)};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const AttentionPlan plan = plan_of(task, {}, soc);
    const AttentionShape& s = plan.shape();
    const auto up_to = [](std::int64_t limit, std::initializer_list<std::int64_t> values) {
      std::vector<std::int64_t> kept = {1};
      for (const std::int64_t value : values)
        if (value <= limit) kept.push_back(value);
      return kept;
    };
    std::vector<std::int64_t> blocks = {0};
    for (const std::int64_t keys : {32, 64, 128, 256, 512, 1024})
      if (keys < s.keys) blocks.push_back(keys);
    const std::int64_t tile_vectors = (s.queries + plan.lanes() - 1) / plan.lanes();
    ScheduleSpace space;
    space.axes = {
        {"q_vectors", up_to(tile_vectors, {2, 3, 4, 6})},
        {"key_group", up_to(s.keys, {2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28})},
        {"key_block", blocks},
        {"row_group", up_to(s.queries, {2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16, 24, 28})},
        {"v_vectors", up_to(plan.value_vectors(), {2, 3, 4, 5, 6, 8})},
        {"depth_unroll", up_to(s.depth, {2, 4, 8})},
        {"key_unroll", up_to(s.keys, {2, 4, 8})}};
    space.is_legal = [=](const Schedule& schedule) {
      return is_legal(plan_of(task, AttentionTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const AttentionPlan plan = plan_of(task, AttentionTiling::from(schedule), soc);
    const AttentionTiling& t = plan.tiling();
    const auto ratio = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    return {{"flops", flops(task)},
            {"bytes", bytes_moved(task)},
            {"core_cycles", plan.core_cycles()},
            {"lane_use", flops(task) / (4.0 * plan.lanes() * plan.core_cycles())},
            {"registers", ratio(plan.registers(), soc.vector_registers)},
            {"score_sums", static_cast<double>(t.q_vectors * t.key_group)},
            {"product_sums", static_cast<double>(t.row_group * t.v_vectors)},
            {"blocks", static_cast<double>(plan.blocks())},
            {"scratch_per_l1", ratio(plan.scratch_bytes(), soc.l1d_bytes)},
            {"key_tail", ratio(plan.shape().keys % t.key_group, t.key_group)},
            {"body_fmas", static_cast<double>(plan.body_fmas())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const AttentionTiling tiling = AttentionTiling::from(space(task, format, soc).heuristic);
    const AttentionPlan plan = plan_of(task, tiling, soc);
    const double compute = compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, 1.0);
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes_moved(task))) /
                                parallel_balance(soc, plan.parallel_extent());
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    return build_attention(task, plan_of(task, AttentionTiling::from(schedule), soc));
  }

 private:
  /// The two register blocks with the fewest cycles, and as many keys at a time as leave the scratch in L1.
  static AttentionTiling heuristic(const Task& task, const ScheduleSpace& space, const Soc& soc) {
    AttentionTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    const auto try_tiling = [&](const AttentionTiling& t) {
      const AttentionPlan plan = plan_of(task, t, soc);
      if (!is_legal(plan, soc)) return;
      const double cycles = plan.core_cycles() / parallel_balance(soc, plan.parallel_extent());
      if (cycles >= best_cycles * 0.999) return;
      best_cycles = cycles;
      best = t;
    };
    for (const std::int64_t q : space.axes[0].values)
      for (const std::int64_t group : space.axes[1].values)
        try_tiling(
            {.q_vectors = q, .key_group = group, .key_block = block_in_l1(task, space, q, soc)});
    for (const std::int64_t rows : space.axes[3].values) {
      for (const std::int64_t v : space.axes[4].values) {
        AttentionTiling t = best;
        t.row_group = rows;
        t.v_vectors = v;
        try_tiling(t);
      }
    }
    for (const std::int64_t unroll : space.axes[5].values)
      if (best.q_vectors * best.key_group * unroll <= kGoodBodyFmas) best.depth_unroll = unroll;
    for (const std::int64_t unroll : space.axes[6].values)
      if (best.row_group * best.v_vectors * unroll <= kGoodBodyFmas) best.key_unroll = unroll;
    return best;
  }

  static std::int64_t block_in_l1(const Task& task, const ScheduleSpace& space, std::int64_t q,
                                  const Soc& soc) {
    const auto fits = [&](std::int64_t block) {
      const AttentionTiling t{.q_vectors = q, .key_block = block};
      return plan_of(task, t, soc).scratch_bytes() <= soc.l1d_bytes * 3 / 4;
    };
    if (fits(0)) return 0;
    std::int64_t largest = space.axes[2].values.size() > 1 ? space.axes[2].values[1] : 0;
    for (const std::int64_t block : space.axes[2].values)
      if (block != 0 && fits(block)) largest = block;
    return largest;
  }
};

}  // namespace

void register_attention(ImplRegistry& registry) {
  registry.add(std::make_unique<AttentionKernel>());
}

}  // namespace aoe::compiler
