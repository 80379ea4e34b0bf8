// row_chain: a FusedChain of convolutions and poolings, row by row, so that what passes between them never leaves the
// core's cache. Strong where large images have few channels: stems, depthwise and pointwise convolutions behind each
// other. The nest: compiler/chain/row_chain.h.
#include "compiler/chain/row_chain.h"

#include <algorithm>
#include <limits>

#include "compiler/integer_math.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

/// Of one member; four of them together still fit the instruction cache's next level.
constexpr std::int64_t kMaxBodyFmas = 2048;
constexpr std::int64_t kGoodBodyFmas = 128;  ///< enough to hide the loop around it
constexpr std::int64_t kMaxStemChannels = 8;
constexpr std::int64_t kMostL2 = 2;  ///< rings of more than so many L2 caches are no use

RowChain chain_of(const Task& task, const FormatChoice& format, const Soc& soc,
                  const RowChainTiling& tiling) {
  return RowChain(*members_of(task), format, soc, tiling);
}

RowChain chain_of(const Task& task, const FormatChoice& format, const Soc& soc,
                  const Schedule& schedule) {
  const std::vector<ChainMember> members = *members_of(task);
  return RowChain(members, format, soc, RowChainTiling::from(schedule, members.size()));
}

bool is_legal(const RowMember& member, const Soc& soc) {
  return member.registers() <= soc.vector_registers && member.body_fmas() <= kMaxBodyFmas;
}

bool fits(const RowChain& chain, const Soc& soc) {
  return chain.scratch_bytes() <= kMostL2 * soc.l2_bytes;
}

class RowChainImpl final : public Impl {
 public:
  std::string_view name() const override { return "row_chain"; }
  int version() const override { return 3; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (task.op.type != "FusedChain") return Unexpected(task.op.type + " is no chain");
    if (!task.is_static()) return Unexpected("shapes are not static");
    const auto members = members_of(task);
    if (!members) return Unexpected(members.error());
    if (auto supported = supports_row_chain(*members, soc); !supported) return supported;
    const RowChain least = chain_of(task, formats(task, soc).front(), soc, RowChainTiling{});
    if (!fits(least, soc))
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
    if (first.op.type == "Conv2D" && first.in(0).shape[1] <= kMaxStemChannels &&
        first.op.attrs.get_int("group", 1) == 1) {
      add("NCHW", Format::kNCHW, Format::kNC1HWC0);
      add("NCHW_NHWC", Format::kNCHW, Format::kNHWC);
    }
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const RowChain chain = chain_of(task, format, soc, RowChainTiling{});
    ScheduleSpace space;
    space.axes = {{"strips", strip_counts(chain, soc)},
                  {"step_rows", powers_of_two(std::min<std::int64_t>(8, chain.out_rows()))}};
    for (std::size_t i = 0; i < chain.members().size(); ++i)
      add_axes(chain.members()[i], i, soc, space);
    space.is_legal = [=](const Schedule& schedule) {
      const RowChain candidate = chain_of(task, format, soc, schedule);
      return fits(candidate, soc) &&
             std::ranges::all_of(candidate.members(),
                                 [&](const RowMember& member) { return is_legal(member, soc); });
    };
    space.heuristic = heuristic(task, format, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    const RowChain chain = chain_of(task, format, soc, schedule);
    const RowChainTiling& t = chain.tiling();
    double weights = 0, once = 0;
    for (const RowMember& member : chain.members()) {
      weights += static_cast<double>(member.weight_bytes());
      once += member.cycles();
    }
    Features features = {{"flops", flops(task)},
                         {"bytes", bytes_moved(task)},
                         {"core_cycles", chain.cycles()},
                         {"computed_twice", chain.cycles() / once},
                         {"members", static_cast<double>(chain.members().size())},
                         {"strips", static_cast<double>(t.strips)},
                         {"step_rows", static_cast<double>(t.step_rows)},
                         {"weights_per_l1", weights / static_cast<double>(soc.l1d_bytes)},
                         {"scratch_per_l2", static_cast<double>(chain.scratch_bytes()) /
                                                static_cast<double>(soc.l2_bytes)},
                         {"balance", parallel_balance(soc, chain.parallel_extent())}};
    for (std::size_t i = 0; i < kMostChainMembers; ++i) {
      const RowTiling own = i < t.members.size() ? t.members[i] : RowTiling{0, 0, 0};
      const std::string suffix = "_" + std::to_string(i);
      features.emplace_back("oc_vectors" + suffix, static_cast<double>(own.oc_vectors));
      features.emplace_back("ow_block" + suffix, static_cast<double>(own.ow_block));
      features.emplace_back("ic_unroll" + suffix, static_cast<double>(own.ic_unroll));
    }
    return features;
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const RowChain chain = chain_of(task, format, soc, space(task, format, soc).heuristic);
    constexpr double kEfficiency = 0.9;  // rows are short: edges and block starts weigh more
    const double compute = compute_ns(soc, chain.cycles() * 4.0 * soc.vector_lanes, kEfficiency) /
                           parallel_balance(soc, chain.parallel_extent());
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    return build_row_chain(task, chain_of(task, format, soc, schedule));
  }

 private:
  static std::vector<std::int64_t> strip_counts(const RowChain& chain, const Soc& soc) {
    std::vector<std::int64_t> counts = {1};
    for (std::int64_t n = soc.threads; n <= chain.out_rows() && n <= 16 * soc.threads; n *= 2)
      if (n > 1) counts.push_back(n);
    return counts;
  }

  static void add_axes(const RowMember& member, std::size_t i, const Soc& soc,
                       ScheduleSpace& space) {
    const std::string suffix = "_" + std::to_string(i);
    const std::int64_t width = member.member.task.out().shape[3];
    std::vector<std::int64_t> vectors = {1}, unrolls = {1};
    std::int64_t widest = soc.vector_registers - 2;
    if (const auto* direct = std::get_if<DirectPlan>(&member.plan)) {
      vectors = legal_oc_vectors(*direct);
      unrolls = legal_ic_unrolls(direct->shape(), direct->in_format(), direct->lanes());
    } else if (std::holds_alternative<PoolPlan>(member.plan)) {
      widest = soc.vector_registers / 4;
    }
    space.axes.push_back({"oc_vectors" + suffix, vectors});
    space.axes.push_back({"ow_block" + suffix, even_blocks(width, widest)});
    space.axes.push_back({"ic_unroll" + suffix, unrolls});
  }

  /// Each member's register block with the fewest cycles; strips that leave no thread idle and compute the fewest rows
  /// twice; then steps of several rows, for which weights and bounds are read once, as far as the rings stay in L2.
  static RowChainTiling heuristic(const Task& task, const FormatChoice& format,
                                  const ScheduleSpace& space, const Soc& soc) {
    constexpr std::int64_t kManyRows = 4;
    const std::vector<ChainMember> members = *members_of(task);
    const auto chain_with = [&](const RowChainTiling& t) {
      return RowChain(members, format, soc, t);
    };
    RowChainTiling best{.members = std::vector<RowTiling>(members.size())};
    for (std::size_t i = 0; i < members.size(); ++i)
      best.members[i] =
          best_block(chain_with, best, i, std::span(space.axes).subspan(2 + 3 * i, 3), soc);
    double fewest = std::numeric_limits<double>::infinity();
    for (const std::int64_t strips : space.axes[0].values) {
      RowChainTiling t = best;
      t.strips = strips;
      const RowChain chain = chain_with(t);
      const double cycles = chain.cycles() / parallel_balance(soc, chain.parallel_extent());
      if (cycles < fewest * 0.999) {
        fewest = cycles;
        best = t;
      }
    }
    for (const std::int64_t rows : space.axes[1].values) {
      RowChainTiling t = best;
      t.step_rows = rows;
      if (rows <= kManyRows && chain_with(t).scratch_bytes() <= soc.l2_bytes / 2) best = t;
    }
    return best;
  }

  /// What blocks cost besides their sums. Large blocks of short sums leave the core no window in which it could store one
  /// block while it computes the next: with 16 to 27 products an output, 2x7 outputs took 10% less time than 2x14 on a
  /// Zen 5 core. Depthwise blocks read the bounds of their taps: 28 outputs took 25% less than 8.
  static double starts_and_ends(const RowMember& member, const RowTiling& tiling) {
    constexpr double kStoreCycles = 0.5, kBoundsCycles = 16;
    constexpr std::int64_t kOverlapped = 16;
    const Shape& out = member.member.task.out().shape;
    const auto pixels = static_cast<double>(out[0] * out[2] * out[3]);
    if (const auto* direct = std::get_if<DirectPlan>(&member.plan)) {
      const bool is_large = tiling.oc_vectors * tiling.ow_block > kOverlapped;
      return is_large ? kStoreCycles * pixels * static_cast<double>(direct->out_vectors()) : 0;
    }
    if (const auto* depthwise = std::get_if<DepthwisePlan>(&member.plan))
      return kBoundsCycles * pixels * static_cast<double>(depthwise->vectors()) /
             static_cast<double>(tiling.ow_block);
    return 0;
  }

  static RowTiling best_block(const std::function<RowChain(const RowChainTiling&)>& chain_with,
                              RowChainTiling tiling, std::size_t i,
                              std::span<const ScheduleAxis> axes, const Soc& soc) {
    RowTiling best;
    double fewest = std::numeric_limits<double>::infinity();
    for (const std::int64_t vectors : axes[0].values) {
      for (const std::int64_t columns : axes[1].values) {
        tiling.members[i] = {
            .oc_vectors = vectors, .ow_block = columns, .ic_unroll = axes[2].values.front()};
        const RowMember member = chain_with(tiling).members()[i];
        if (!is_legal(member, soc)) continue;
        const double cycles = member.cycles() + starts_and_ends(member, tiling.members[i]);
        if (cycles < fewest * 0.999) {
          fewest = cycles;
          best = tiling.members[i];
        }
      }
    }
    for (const std::int64_t unroll : axes[2].values) {
      tiling.members[i] = best;
      tiling.members[i].ic_unroll = unroll;
      const RowMember member = chain_with(tiling).members()[i];
      if (is_legal(member, soc) && unroll * best.oc_vectors * best.ow_block <= kGoodBodyFmas)
        best.ic_unroll = unroll;
    }
    return best;
  }
};

}  // namespace

void register_row_chain(ImplRegistry& registry) {
  registry.add(std::make_unique<RowChainImpl>());
}

}  // namespace aoe::compiler
