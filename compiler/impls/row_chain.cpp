// row_chain: a chain of convolutions and poolings, row by row, so that what passes between them never leaves the
// core's cache. Strong where large images have few channels: stems, depthwise and pointwise convolutions behind each
// other. The nest: compiler/chain/row_chain.h.
#include "compiler/chain/row_chain.h"

#include <algorithm>

#include "compiler/emit/integer_math.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

bool is_small_enough(const RowChain& chain, const Soc& soc) {
  return chain.scratch_bytes() <= kMostL2 * soc.l2_bytes;
}

class RowChainPlan final : public Plan {
 public:
  RowChainPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RowChainPlan(task, format, soc, *members_of(task)) {}

  bool is_legal(const Schedule& schedule) const override {
    const RowChain chain = chain_by(schedule);
    return is_small_enough(chain, soc()) &&
           std::ranges::all_of(chain.members(),
                               [&](const RowMember& member) { return fits(member); });
  }

  Features features(const Schedule& schedule) const override {
    const RowChain chain = chain_by(schedule);
    const RowChainTiling& t = chain.tiling();
    double weights = 0, once = 0;
    for (const RowMember& member : chain.members()) {
      weights += static_cast<double>(member.weight_bytes());
      once += member.cycles();
    }
    Features features = {{"flops", flops(task())},
                         {"bytes", bytes_moved(task())},
                         {"core_cycles", chain.cycles()},
                         {"computed_twice", chain.cycles() / once},
                         {"members", static_cast<double>(chain.members().size())},
                         {"strips", static_cast<double>(t.strips)},
                         {"step_rows", static_cast<double>(t.step_rows)},
                         {"weights_per_l1", weights / static_cast<double>(soc().l1d_bytes)},
                         {"scratch_per_l2", static_cast<double>(chain.scratch_bytes()) /
                                                static_cast<double>(soc().l2_bytes)},
                         {"balance", parallel_balance(soc(), chain.parallel_extent())}};
    for (std::size_t i = 0; i < kMostChainMembers; ++i) {
      const RowTiling own = i < t.members.size() ? t.members[i] : RowTiling{0, 0, 0};
      const std::string suffix = "_" + std::to_string(i);
      features.emplace_back("oc_vectors" + suffix, static_cast<double>(own.oc_vectors));
      features.emplace_back("ow_block" + suffix, static_cast<double>(own.ow_block));
      features.emplace_back("ic_unroll" + suffix, static_cast<double>(own.ic_unroll));
    }
    return features;
  }

  double estimate_ns(const Schedule& schedule) const override {
    const RowChain chain = chain_by(schedule);
    constexpr double kEfficiency = 0.9;  // rows are short: edges and block starts weigh more
    const double compute =
        compute_ns(soc(), chain.cycles() * 4.0 * soc().vector_lanes(), kEfficiency) /
        parallel_balance(soc(), chain.parallel_extent());
    return launch_ns(soc()) + std::max(compute, memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    return build_row_chain(task(), chain_by(schedule));
  }

 private:
  using ChainAxes = TilingAxes<RowChainTiling>;
  using MemberAxes = TilingAxes<RowTiling>;

  RowChainPlan(const Task& task, const FormatChoice& format, const Soc& soc,
               const std::vector<ChainMember>& members)
      : RowChainPlan(task, format, soc, members, RowChain(members, format, soc, {})) {}

  RowChainPlan(const Task& task, const FormatChoice& format, const Soc& soc,
               const std::vector<ChainMember>& members, const RowChain& any)
      : Plan(task, format, soc, all_axes(any, soc)),
        members_(members),
        axes_(chain_axes(any, soc)),
        member_axes_(all_member_axes(any, soc)) {}

  static ChainAxes chain_axes(const RowChain& chain, const Soc& soc) {
    return {{"strips", &RowChainTiling::strips, strip_counts(chain, soc)},
            {"step_rows", &RowChainTiling::step_rows,
             powers_of_two(std::min<std::int64_t>(8, chain.out_rows()))}};
  }

  static MemberAxes member_axes(const RowMember& member, std::size_t i, const Soc& soc) {
    const std::string suffix = "_" + std::to_string(i);
    const std::int64_t width = member.member.task.out().shape[3];
    std::vector<std::int64_t> vectors = {1}, unrolls = {1};
    std::int64_t widest = soc.vector_registers() - 2;
    if (const auto* direct = std::get_if<DirectCut>(&member.cut)) {
      vectors = legal_oc_vectors(*direct);
      unrolls = legal_ic_unrolls(direct->shape(), direct->in_format(), direct->lanes());
    } else if (std::holds_alternative<PoolCut>(member.cut)) {
      widest = soc.vector_registers() / 4;
    }
    return {{"oc_vectors" + suffix, &RowTiling::oc_vectors, vectors},
            {"ow_block" + suffix, &RowTiling::ow_block, even_blocks(width, widest)},
            {"ic_unroll" + suffix, &RowTiling::ic_unroll, unrolls}};
  }

  static std::vector<MemberAxes> all_member_axes(const RowChain& chain, const Soc& soc) {
    std::vector<MemberAxes> all;
    for (const RowMember& member : chain.members())
      all.push_back(member_axes(member, all.size(), soc));
    return all;
  }

  static std::vector<ScheduleAxis> all_axes(const RowChain& chain, const Soc& soc) {
    std::vector<ScheduleAxis> all = chain_axes(chain, soc).schedule_axes();
    for (const MemberAxes& axes : all_member_axes(chain, soc))
      std::ranges::copy(axes.schedule_axes(), std::back_inserter(all));
    return all;
  }

  static std::vector<std::int64_t> strip_counts(const RowChain& chain, const Soc& soc) {
    std::vector<std::int64_t> counts = {1};
    for (std::int64_t n = soc.threads; n <= chain.out_rows() && n <= 16 * soc.threads; n *= 2)
      if (n > 1) counts.push_back(n);
    return counts;
  }

  RowChain chain(const RowChainTiling& tiling) const {
    return RowChain(members_, format(), soc(), tiling);
  }

  RowChain chain_by(const Schedule& schedule) const {
    RowChainTiling tiling = axes_.tiling(schedule);
    for (const MemberAxes& axes : member_axes_) tiling.members.push_back(axes.tiling(schedule));
    return chain(tiling);
  }

  bool fits(const RowMember& member) const {
    constexpr std::int64_t kMaxBodyFmas =
        2048;  // four of them fit the instruction cache's next level
    return member.registers() <= soc().vector_registers() && member.body_fmas() <= kMaxBodyFmas;
  }

  Schedule search() const override {
    const RowChainTiling tiling = best();
    Schedule schedule = axes_.schedule(tiling);
    for (std::size_t i = 0; i < member_axes_.size(); ++i)
      schedule.merge(member_axes_[i].schedule(tiling.members[i]));
    return schedule;
  }

  /// Each member's register block with the fewest cycles; strips that leave no thread idle and compute the fewest rows
  /// twice; then steps of several rows, for which weights and bounds are read once, as far as the rings stay in L2.
  RowChainTiling best() const {
    using T = RowChainTiling;
    constexpr std::int64_t kManyRows = 4;
    T blocks{.members = std::vector<RowTiling>(members_.size())};
    for (std::size_t i = 0; i < members_.size(); ++i) blocks.members[i] = best_block(blocks, i);
    const T strips = cheapest(axes_.all(blocks, {&T::strips}), [&](const T& t) {
      const RowChain each = chain(t);
      return each.cycles() / parallel_balance(soc(), each.parallel_extent());
    });
    return axes_.with_last(strips, &T::step_rows, [&](const T& t) {
      return t.step_rows <= kManyRows && chain(t).scratch_bytes() <= soc().l2_bytes / 2;
    });
  }

  RowTiling best_block(RowChainTiling tiling, std::size_t i) const {
    using T = RowTiling;
    const MemberAxes& axes = member_axes_[i];
    const auto with = [&](const T& t) {
      tiling.members[i] = t;
      return chain(tiling).members()[i];
    };
    const T start{.ic_unroll = axes.values(&T::ic_unroll).front()};
    const T best = cheapest(axes.all(start, {&T::oc_vectors, &T::ow_block}), [&](const T& t) {
      const RowMember member = with(t);
      return fits(member) ? member.cycles() + starts_and_ends(member, t) : kNoChoice;
    });
    return axes.with_last(best, &T::ic_unroll, [&](const T& t) {
      return fits(with(t)) && t.ic_unroll * t.oc_vectors * t.ow_block <= kGoodBodyFmas;
    });
  }

  /// What blocks cost besides their sums. Large blocks of short sums leave the core no window in which it could store one
  /// block while it computes the next: with 16 to 27 products an output, 2x7 outputs took 10% less time than 2x14 on a
  /// Zen 5 core. Depthwise blocks read the bounds of their taps: 28 outputs took 25% less than 8.
  static double starts_and_ends(const RowMember& member, const RowTiling& tiling) {
    constexpr double kStoreCycles = 0.5, kBoundsCycles = 16;
    constexpr std::int64_t kOverlapped = 16;
    const Shape& out = member.member.task.out().shape;
    const auto pixels = static_cast<double>(out[0] * out[2] * out[3]);
    if (const auto* direct = std::get_if<DirectCut>(&member.cut)) {
      const bool is_large = tiling.oc_vectors * tiling.ow_block > kOverlapped;
      return is_large ? kStoreCycles * pixels * static_cast<double>(direct->out_vectors()) : 0;
    }
    if (const auto* depthwise = std::get_if<DepthwiseCut>(&member.cut))
      return kBoundsCycles * pixels * static_cast<double>(depthwise->vectors()) /
             static_cast<double>(tiling.ow_block);
    return 0;
  }

  std::vector<ChainMember> members_;
  ChainAxes axes_;
  std::vector<MemberAxes> member_axes_;  ///< by member
};

class RowChainImpl final : public ImplBy<RowChainPlan> {
 public:
  std::string_view name() const override { return "row_chain"; }
  /// Channels that fill up a block between two steps may be NaN, and are multiplied by zeros in the next.
  NotFinite not_finite(const Task&) const override { return NotFinite::kAndAround; }
  int version() const override {
    return version_with(3, {{"direct", 3}, {"depthwise", 1}, {"pool", 2}});
  }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (!reference::is_chain(task.op)) return Unexpected(task.anchor().type + " is no chain");
    const auto members = members_of(task);
    if (!members) return Unexpected(members.error());
    if (auto supported = supports_row_chain(*members, soc); !supported) return supported;
    const RowChain least(*members, formats(task, soc).front(), soc, {});
    if (!is_small_enough(least, soc))
      return Unexpected("rows of " + std::to_string(least.scratch_bytes()) +
                        " bytes pass between members, at most " +
                        std::to_string(kMostL2 * soc.l2_bytes));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    const std::vector<ChainMember> members = *members_of(task);
    std::vector<FormatChoice> choices;
    const auto add = [&](const std::string& choice, Format in, Format out) {
      if (auto format = row_chain_format(task, members, choice, in, out))
        choices.push_back(std::move(*format));
    };
    add("NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0);
    add("NHWC", Format::kNHWC, Format::kNHWC);
    const Task& first = members[0].task;
    if (first.anchor().type == "Conv2D" && first.in(0).shape[1] <= kMaxStemChannels &&
        first.anchor().attrs.get_int("group", 1) == 1) {
      add("NCHW", Format::kNCHW, Format::kNC1HWC0);
      add("NCHW_NHWC", Format::kNCHW, Format::kNHWC);
    }
    return choices;
  }
};

}  // namespace

void register_row_chain(ImplRegistry& registry) {
  registry.add(std::make_unique<RowChainImpl>());
}

}  // namespace aoe::compiler
