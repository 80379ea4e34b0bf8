// attention: FlashAttentionScore as one kernel that keeps its scores in the cache; see
// compiler/attention/attention_nest.h.
#include <algorithm>

#include "compiler/attention/attention_nest.h"
#include "compiler/emit/integer_math.h"
#include "compiler/plain_task.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxAttentionFmas = 3072;  ///< beyond, code leaves the instruction cache
constexpr std::int64_t kGoodLoopFmas = 96;        ///< of one of the two unrolled loops

TilingAxes<AttentionTiling> axes_of(const AttentionCut& cut) {
  const reference::AttentionShape& s = cut.shape();
  const auto some = [](std::int64_t most, std::vector<std::int64_t> values) {
    return up_to(std::max<std::int64_t>(1, most), std::move(values));
  };
  return {
      {"q_vectors", &AttentionTiling::q_vectors,
       some(ceil_div(s.queries, cut.lanes()), {1, 2, 3, 4, 6})},
      {"key_group", &AttentionTiling::key_group,
       some(s.keys, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28})},
      {"key_block", &AttentionTiling::key_block,
       up_to(std::max<std::int64_t>(0, s.keys - 1), {0, 32, 64, 128, 256, 512, 1024})},
      {"row_group", &AttentionTiling::row_group,
       some(s.queries, {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16, 24, 28})},
      {"v_vectors", &AttentionTiling::v_vectors, some(cut.value_vectors(), {1, 2, 3, 4, 5, 6, 8})},
      {"depth_unroll", &AttentionTiling::depth_unroll, some(s.depth, {1, 2, 4, 8})},
      {"key_unroll", &AttentionTiling::key_unroll, some(s.keys, {1, 2, 4, 8})}};
}

AttentionCut cut_of(const Task& task, const AttentionTiling& tiling, const Soc& soc) {
  return AttentionCut(attention_shape_of(task).value(), soc.vector_lanes(), tiling);
}

class AttentionPlan final : public TiledPlan<AttentionTiling, AttentionCut> {
 public:
  AttentionPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : TiledPlan(task, format, soc, axes_of(cut_of(task, {}, soc))) {}

 private:
  AttentionCut cut(const AttentionTiling& tiling) const override {
    return cut_of(task(), tiling, soc());
  }

  bool fits(const AttentionCut& cut) const override {
    return cut.registers() <= soc().vector_registers() && cut.body_fmas() <= kMaxAttentionFmas &&
           cut.scratch_bytes() <= soc().l2_bytes / 2;
  }

  double cycles(const AttentionCut& cut) const override { return shared(cut.core_cycles(), cut); }

  /// The two register blocks with the fewest cycles, and as many keys at a time as leave the scratch in L1.
  AttentionTiling best() const override {
    std::vector<AttentionTiling> scores =
        tilings().all({}, {&AttentionTiling::q_vectors, &AttentionTiling::key_group});
    for (AttentionTiling& t : scores) t.key_block = block_in_l1(t.q_vectors);
    AttentionTiling best = fewest_cycles(scores);
    best = fewest_cycles(
        tilings().all(best, {&AttentionTiling::row_group, &AttentionTiling::v_vectors}));
    best = tilings().with_last(best, &AttentionTiling::depth_unroll, [](const AttentionTiling& t) {
      return t.q_vectors * t.key_group * t.depth_unroll <= kGoodLoopFmas;
    });
    return tilings().with_last(best, &AttentionTiling::key_unroll, [](const AttentionTiling& t) {
      return t.row_group * t.v_vectors * t.key_unroll <= kGoodLoopFmas;
    });
  }

  std::int64_t block_in_l1(std::int64_t q_vectors) const {
    const auto fits_l1 = [&](const AttentionTiling& t) {
      return cut(t).scratch_bytes() <= soc().l1d_bytes * 3 / 4;
    };
    AttentionTiling t{.q_vectors = q_vectors};
    const std::vector<std::int64_t>& blocks = tilings().values(&AttentionTiling::key_block);
    if (fits_l1(t) || blocks.size() == 1) return 0;
    t.key_block = blocks[1];
    return tilings()
        .with_last(
            t, &AttentionTiling::key_block,
            [&](const AttentionTiling& each) { return each.key_block != 0 && fits_l1(each); })
        .key_block;
  }

  Features features_of(const AttentionCut& cut) const override {
    const AttentionTiling& t = cut.tiling();
    const auto ratio = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"lane_use", flops(task()) / (4.0 * cut.lanes() * cut.core_cycles())},
            {"registers", ratio(cut.registers(), soc().vector_registers())},
            {"score_sums", static_cast<double>(t.q_vectors * t.key_group)},
            {"product_sums", static_cast<double>(t.row_group * t.v_vectors)},
            {"blocks", static_cast<double>(cut.blocks())},
            {"scratch_per_l1", ratio(cut.scratch_bytes(), soc().l1d_bytes)},
            {"key_tail", ratio(cut.shape().keys % t.key_group, t.key_group)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const AttentionCut& cut) const override {
    return launch_ns(soc()) +
           shared(std::max(cycles_ns(cut.core_cycles()), memory_ns(soc(), bytes_moved(task()))),
                  cut);
  }

  Kernel kernel_of(const AttentionCut& cut) const override { return build_attention(task(), cut); }
};

class AttentionKernel final : public ImplBy<AttentionPlan> {
 public:
  std::string_view name() const override { return "attention"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const auto shape = attention_shape_of(task);
    if (!shape) return Unexpected(shape.error());
    return {};
  }
};

}  // namespace

void register_attention(ImplRegistry& registry) {
  registry.add(std::make_unique<AttentionKernel>());
}

}  // namespace aoe::compiler
