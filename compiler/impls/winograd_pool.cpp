// winograd_pool_f43, f63, f34, f54, f45: a chain of a convolution of stride 1 and a pooling, band by band, so that
// the image between them never leaves the core's cache. Strong where that image is large and its channels are few. The
// nest: compiler/chain/winograd_pool.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include "compiler/chain/winograd_pool.h"

#include <algorithm>

#include "compiler/chain/row_chain.h"
#include "compiler/emit/integer_math.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

TilingAxes<WinogradPoolTiling> axes_of(const WinogradPoolCut& cut, const Soc& soc) {
  return {{"oc_vectors", &WinogradPoolTiling::oc_vectors,
           up_to(cut.convolution().oc_blocks(), {1, 2, 3, 4, 6})},
          {"tile_block", &WinogradPoolTiling::tile_block,
           up_to(soc.vector_registers() - 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14})},
          {"tile_runs", &WinogradPoolTiling::tile_runs, {1, 2, 3, 4, 6, 8}},
          {"ic_unroll", &WinogradPoolTiling::ic_unroll, {1, 2, 4, 8}},
          {"band_rows", &WinogradPoolTiling::band_rows,
           up_to(cut.pool_rows().output, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16})},
          {"ow_block", &WinogradPoolTiling::ow_block,
           even_blocks(cut.pool().window.width().output, soc.vector_registers() / 4)}};
}

bool is_small_enough(const WinogradPoolCut& cut, const Soc& soc) {
  return cut.scratch_bytes() <= kMostL2 * soc.l2_bytes;
}

class WinogradPoolPlan final : public TiledPlan<WinogradPoolTiling, WinogradPoolCut> {
 public:
  WinogradPoolPlan(const Task& task, const FormatChoice& format, const Soc& soc, WinogradSize size)
      : TiledPlan(task, format, soc, axes_of({*members_of(task), size, soc, {}}, soc)),
        members_(*members_of(task)),
        size_(size) {}

 private:
  WinogradPoolCut cut(const WinogradPoolTiling& tiling) const override {
    return WinogradPoolCut(members_, size_, soc(), tiling);
  }

  bool fits(const WinogradPoolCut& cut) const override {
    const WinogradPoolTiling& t = cut.tiling();
    return cut.convolution().registers() <= soc().vector_registers() &&
           (t.tile_runs == 1 || t.tile_block * (t.tile_runs - 1) < cut.most_tiles()) &&
           is_small_enough(cut, soc());
  }

  /// Bands that do not stay in L2 beside the weights count more, the more they spill.
  double cycles(const WinogradPoolCut& cut) const override {
    const std::int64_t bytes = cut.scratch_bytes() + 4 * cut.convolution().weight_elements();
    const double spilled =
        std::max(1.0, static_cast<double>(bytes) / (0.8 * static_cast<double>(soc().l2_bytes)));
    return shared(spilled * cut.core_cycles(), cut);
  }

  /// The fewest cycles, then the largest unroll that stays small, and the widest block of the pooling.
  WinogradPoolTiling best() const override {
    WinogradPoolTiling best = fewest_cycles(
        tilings().all({}, {&WinogradPoolTiling::oc_vectors, &WinogradPoolTiling::tile_block,
                           &WinogradPoolTiling::tile_runs, &WinogradPoolTiling::band_rows}));
    best =
        tilings().with_last(best, &WinogradPoolTiling::ic_unroll, [](const WinogradPoolTiling& t) {
          return t.oc_vectors * t.tile_block * t.ic_unroll <= kGoodBodyFmas;
        });
    best.ow_block = tilings().values(&WinogradPoolTiling::ow_block).back();
    return best;
  }

  Features features_of(const WinogradPoolCut& cut) const override {
    const WinogradPoolTiling& t = cut.tiling();
    const auto per_l2 = [&](std::int64_t bytes) {
      return static_cast<double>(bytes) / static_cast<double>(soc().l2_bytes);
    };
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"registers",
             static_cast<double>(cut.convolution().registers()) / soc().vector_registers()},
            {"accumulators", static_cast<double>(t.oc_vectors * t.tile_block)},
            {"tiles_per_group", static_cast<double>(cut.convolution().tiles_per_iteration())},
            {"scratch_per_l2", per_l2(cut.scratch_bytes())},
            {"weights_per_l2", per_l2(4 * cut.convolution().weight_elements())},
            {"ic_unroll", static_cast<double>(t.ic_unroll)},
            {"band_rows", static_cast<double>(t.band_rows)},
            {"ow_block", static_cast<double>(t.ow_block)},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const WinogradPoolCut& cut) const override {
    const double compute = shared(cycles_ns(cut.core_cycles()), cut);
    const double bytes =
        bytes_moved(task()) + 4.0 * static_cast<double>(cut.convolution().weight_elements());
    return launch_ns(soc()) + std::max(compute, memory_ns(soc(), bytes));
  }

  Kernel kernel_of(const WinogradPoolCut& cut) const override {
    return build_winograd_pool(task(), members_, cut);
  }

  std::vector<ChainMember> members_;
  WinogradSize size_;
};

class WinogradPool final : public Impl {
 public:
  explicit WinogradPool(WinogradSize size)
      : size_(size),
        name_("winograd_pool_f" + std::to_string(size.outputs) + std::to_string(size.taps)) {}

  std::string_view name() const override { return name_; }
  int version() const override { return version_with(2, {{"winograd_f43", 2}, {"pool", 2}}); }
  double error_growth(const Task&) const override { return kMostErrorGrowth; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (!reference::is_chain(task.op)) return Unexpected(task.anchor().type + " is no chain");
    const auto members = members_of(task);
    if (!members) return Unexpected(members.error());
    if (auto supported = supports_winograd_pool(*members, size_, soc); !supported) return supported;
    if (formats(task, soc).empty()) return Unexpected("two Formats of one operand");
    const WinogradPoolCut least(*members, size_, soc, {});
    if (!is_small_enough(least, soc))
      return Unexpected("a band takes " + std::to_string(least.scratch_bytes()) +
                        " bytes, at most " + std::to_string(kMostL2 * soc.l2_bytes));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    const auto choice =
        row_chain_format(task, *members_of(task), "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0);
    return choice ? std::vector{*choice} : std::vector<FormatChoice>();
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    return std::make_unique<WinogradPoolPlan>(task, format, soc, size_);
  }

 private:
  WinogradSize size_;
  std::string name_;
};

}  // namespace

void register_winograd_pool(ImplRegistry& registry) {
  constexpr WinogradSize kSizes[] = {{4, 3}, {6, 3}, {3, 4}, {5, 4}, {4, 5}};
  for (const WinogradSize& size : kSizes) registry.add(std::make_unique<WinogradPool>(size));
}

}  // namespace aoe::compiler
