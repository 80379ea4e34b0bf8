// winograd_pool_f43, f63, f34, f54, f45: a FusedChain of a convolution of stride 1 and a pooling, band by band, so that
// the image between them never leaves the core's cache. Strong where that image is large and its channels are few. The
// nest: compiler/chain/winograd_pool.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include "compiler/chain/winograd_pool.h"

#include <algorithm>
#include <limits>

#include "compiler/chain/row_chain.h"
#include "compiler/integer_math.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kGoodBodyFmas = 128;  ///< in the products: enough to hide the loop around it
constexpr std::int64_t kMostL2 = 2;          ///< bands of more than so many L2 caches are no use

class WinogradPool final : public Impl {
 public:
  explicit WinogradPool(WinogradSize size)
      : size_(size),
        name_("winograd_pool_f" + std::to_string(size.outputs) + std::to_string(size.taps)) {}

  std::string_view name() const override { return name_; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (task.op.type != "FusedChain") return Unexpected(task.op.type + " is no chain");
    if (!task.is_static()) return Unexpected("shapes are not static");
    const auto members = members_of(task);
    if (!members) return Unexpected(members.error());
    if (auto supported = supports_winograd_pool(*members, size_, soc); !supported) return supported;
    if (formats(task, soc).empty()) return Unexpected("two Formats of one operand");
    const WinogradPoolPlan least(*members, size_, soc, {});
    if (!is_legal(least, soc))
      return Unexpected("a band takes " + std::to_string(least.scratch_bytes()) +
                        " bytes, at most " + std::to_string(kMostL2 * soc.l2_bytes));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    const auto choice =
        row_chain_format(task, *members_of(task), "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0);
    return choice ? std::vector{*choice} : std::vector<FormatChoice>();
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const std::vector<ChainMember> members = *members_of(task);
    const WinogradPoolPlan plan(members, size_, soc, {});
    ScheduleSpace space;
    const auto up_to = [](std::vector<std::int64_t> values, std::int64_t most) {
      std::erase_if(values, [&](std::int64_t v) { return v > most; });
      return values;
    };
    space.axes = {
        {"oc_vectors", up_to({1, 2, 3, 4, 6}, plan.convolution().oc_blocks())},
        {"tile_block", up_to({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14}, soc.vector_registers - 2)},
        {"tile_runs", {1, 2, 3, 4, 6, 8}},
        {"ic_unroll", {1, 2, 4, 8}},
        {"band_rows", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}, plan.pool_rows().out)},
        {"ow_block", even_blocks(plan.pool().window.width().output, soc.vector_registers / 4)}};
    space.is_legal = [=, size = size_](const Schedule& schedule) {
      return is_legal(WinogradPoolPlan(members, size, soc, WinogradPoolTiling::from(schedule)),
                      soc);
    };
    space.heuristic = heuristic(members, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const WinogradPoolPlan plan(*members_of(task), size_, soc, WinogradPoolTiling::from(schedule));
    const WinogradTiling& t = plan.convolution().tiling();
    const auto per_l2 = [&](std::int64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(soc.l2_bytes);
    };
    return {
        {"flops", flops(task)},
        {"bytes", bytes_moved(task)},
        {"core_cycles", plan.core_cycles()},
        {"registers", static_cast<double>(plan.convolution().registers()) / soc.vector_registers},
        {"accumulators", static_cast<double>(t.oc_vectors * t.tile_block)},
        {"tiles_per_group", static_cast<double>(plan.convolution().tiles_per_iteration())},
        {"scratch_per_l2", per_l2(plan.scratch_bytes())},
        {"weights_per_l2", per_l2(4 * plan.convolution().weight_elements())},
        {"ic_unroll", static_cast<double>(t.ic_unroll)},
        {"band_rows", static_cast<double>(plan.tiling().band_rows)},
        {"ow_block", static_cast<double>(plan.tiling().ow_block)},
        {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const WinogradPoolPlan plan(*members_of(task), size_, soc,
                                WinogradPoolTiling::from(space(task, format, soc).heuristic));
    const double compute = compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, 1.0) /
                           parallel_balance(soc, plan.parallel_extent());
    const double bytes =
        bytes_moved(task) + 4.0 * static_cast<double>(plan.convolution().weight_elements());
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes));
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    const std::vector<ChainMember> members = *members_of(task);
    return build_winograd_pool(
        task, members, WinogradPoolPlan(members, size_, soc, WinogradPoolTiling::from(schedule)));
  }

 private:
  static bool is_legal(const WinogradPoolPlan& plan, const Soc& soc) {
    const WinogradTiling& t = plan.convolution().tiling();
    return plan.convolution().registers() <= soc.vector_registers &&
           (t.tile_runs == 1 || t.tile_block * (t.tile_runs - 1) < plan.most_tiles()) &&
           plan.scratch_bytes() <= kMostL2 * soc.l2_bytes;
  }

  /// The fewest cycles of bands that stay in L2 beside the weights, or of the smallest where none does; then the largest
  /// unroll that stays small, and the widest block of the pooling.
  WinogradPoolTiling heuristic(const std::vector<ChainMember>& members, const ScheduleSpace& space,
                               const Soc& soc) const {
    WinogradPoolTiling best;
    double fewest = std::numeric_limits<double>::infinity();
    const auto values = [&](std::size_t axis) { return space.axes[axis].values; };
    for (const std::int64_t v : values(0)) {
      for (const std::int64_t b : values(1)) {
        for (const std::int64_t runs : values(2)) {
          for (const std::int64_t rows : values(4)) {
            const WinogradPoolTiling t{
                .convolution = {.oc_vectors = v, .tile_block = b, .tile_runs = runs},
                .band_rows = rows};
            const WinogradPoolPlan plan(members, size_, soc, t);
            if (!is_legal(plan, soc)) continue;
            const std::int64_t bytes =
                plan.scratch_bytes() + 4 * plan.convolution().weight_elements();
            const double spilled = std::max(
                1.0, static_cast<double>(bytes) / (0.8 * static_cast<double>(soc.l2_bytes)));
            const double cycles =
                spilled * plan.core_cycles() / parallel_balance(soc, plan.parallel_extent());
            if (cycles < fewest * 0.999) {
              fewest = cycles;
              best = t;
            }
          }
        }
      }
    }
    for (const std::int64_t unroll : values(3)) {
      if (best.convolution.oc_vectors * best.convolution.tile_block * unroll <= kGoodBodyFmas)
        best.convolution.ic_unroll = unroll;
    }
    best.ow_block = values(5).back();
    return best;
  }

  WinogradSize size_;
  std::string name_;
};

}  // namespace

void register_winograd_pool(ImplRegistry& registry) {
  constexpr WinogradSize kSizes[] = {{4, 3}, {6, 3}, {3, 4}, {5, 4}, {4, 5}};
  for (const WinogradSize& size : kSizes) registry.add(std::make_unique<WinogradPool>(size));
}

}  // namespace aoe::compiler
