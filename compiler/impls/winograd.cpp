// winograd_f23, f43, f63, f34, f54, f25, f45: generated Winograd convolution for 3x3, 4x4 and 5x5 windows of stride 1, in
// NC1HWC0. The second digit is the window's side, the first that of a tile of outputs.
// The nest: compiler/conv/winograd_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/conv/image_store.h"
#include "compiler/conv/winograd_nest.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kGoodBodyFmas =
    128;  ///< written out in the products: enough to hide the loop around them
constexpr std::int64_t kPrefetchVectors = 32;  ///< fetched ahead, where weights do not stay in L2

class Winograd final : public Impl {
 public:
  explicit Winograd(WinogradSize size)
      : size_(size),
        name_("winograd_f" + std::to_string(size.outputs) + std::to_string(size.taps)) {}

  std::string_view name() const override { return name_; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    return supports_winograd(task, size_);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0)};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const WinogradPlan plan = plan_of(task, {}, soc);
    ScheduleSpace space;
    std::vector<std::int64_t> vectors, blocks, splits;
    for (const std::int64_t v : {1, 2, 3, 4, 6}) {
      if (v <= plan.oc_blocks()) vectors.push_back(v);
    }
    const std::int64_t tiles = plan.tiles();
    for (std::int64_t b = 1; b <= std::min<std::int64_t>(tiles, soc.vector_registers - 2); ++b) {
      const std::int64_t runs = (tiles + b - 1) / b;
      if ((tiles + runs - 1) / runs == b || b == 14 || b == 9) blocks.push_back(b);
    }
    for (std::int64_t split = 1; split <= plan.oc_blocks(); split *= 2) splits.push_back(split);
    space.axes = {{"oc_vectors", vectors},           {"tile_block", blocks},
                  {"tile_runs", {1, 2, 3, 4, 6, 8}}, {"oc_splits", splits},
                  {"ic_unroll", {1, 2, 4, 8}},       {"prefetch", {0, 1, 32, 128}}};
    space.is_legal = [=, this](const Schedule& schedule) {
      return is_legal(plan_of(task, WinogradTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const WinogradPlan plan = plan_of(task, WinogradTiling::from(schedule), soc);
    const WinogradTiling& t = plan.tiling();
    const double bytes = bytes_moved(task);
    return {{"flops", flops(task)},
            {"bytes", bytes},
            {"intensity", flops(task) / bytes},
            {"core_cycles", plan.core_cycles()},
            {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
            {"accumulators", static_cast<double>(t.oc_vectors * t.tile_block)},
            {"inputs_per_l2",
             4.0 * static_cast<double>(plan.input_scratch()) / static_cast<double>(soc.l2_bytes)},
            {"products_per_l2",
             4.0 * static_cast<double>(plan.product_scratch()) / static_cast<double>(soc.l2_bytes)},
            {"weights_per_l2",
             4.0 * static_cast<double>(plan.weight_elements()) / static_cast<double>(soc.l2_bytes)},
            {"tile_groups", static_cast<double>(plan.tile_groups())},
            {"oc_splits", static_cast<double>(t.oc_splits)},
            {"ic_unroll", static_cast<double>(t.ic_unroll)},
            {"prefetch", static_cast<double>(t.prefetch)},
            {"iterations", static_cast<double>(plan.parallel_extent())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const WinogradPlan plan =
        plan_of(task, WinogradTiling::from(space(task, format, soc).heuristic), soc);
    const double compute =
        compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, plan.efficiency()) /
        parallel_balance(soc, plan.parallel_extent());
    const double traffic = compute_ns(soc, traffic_cycles(plan, soc) * 4.0 * soc.vector_lanes, 1.0);
    // The transformed weights are larger than the task's own.
    const double bytes = bytes_moved(task) + 4.0 * static_cast<double>(plan.weight_elements());
    return launch_ns(soc) + std::max(compute + traffic, memory_ns(soc, bytes));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    return build_winograd(task, format, plan_of(task, WinogradTiling::from(schedule), soc));
  }

 private:
  WinogradPlan plan_of(const Task& task, const WinogradTiling& tiling, const Soc& soc) const {
    return WinogradPlan(conv_shape(task).value(), size_, soc.vector_lanes, tiling);
  }

  static bool is_legal(const WinogradPlan& plan, const Soc& soc) {
    const WinogradTiling& t = plan.tiling();
    if (plan.registers() > soc.vector_registers) return false;
    // More than one run only where there are tiles for it; more shares only where there are blocks.
    if (t.tile_runs > 1 && t.tile_block * (t.tile_runs - 1) >= plan.tiles()) return false;
    if (t.oc_splits > plan.oc_blocks()) return false;
    return 4 * (plan.input_scratch() + plan.product_scratch()) <= 4 * soc.l2_bytes;
  }

  /// What it costs that weights and scratch memory do not stay in L2: at 24 bytes a cycle from L3, half of it hidden.
  static double traffic_cycles(const WinogradPlan& plan, const Soc& soc) {
    constexpr double kBytesPerCycle = 24, kVisibleShare = 0.5;
    const double l2 = 0.8 * static_cast<double>(soc.l2_bytes);
    const double scratch = 4.0 * static_cast<double>(plan.input_scratch() + plan.product_scratch());
    const double weights = 4.0 * static_cast<double>(plan.weight_elements());
    // Consecutive iterations of a thread use the same share of the weights.
    const double share = weights / static_cast<double>(plan.tiling().oc_splits);
    const bool stays = share + scratch <= l2;
    const double streamed = stays ? weights : weights * static_cast<double>(plan.tile_groups());
    const double spilled = std::max(0.0, scratch - l2) *
                           static_cast<double>(plan.parallel_extent()) *
                           static_cast<double>(plan.oc_blocks_per_split());
    return kVisibleShare * (streamed + spilled) / kBytesPerCycle;
  }

  /// The fewest cycles of products, transforms and traffic together; then the largest unroll that stays small.
  WinogradTiling heuristic(const Task& task, const ScheduleSpace& space, const Soc& soc) const {
    WinogradTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    for (const std::int64_t v : space.axes[0].values) {
      for (const std::int64_t b : space.axes[1].values) {
        for (const std::int64_t runs : space.axes[2].values) {
          for (const std::int64_t split : space.axes[3].values) {
            const WinogradTiling t{
                .oc_vectors = v, .tile_block = b, .tile_runs = runs, .oc_splits = split};
            const WinogradPlan plan = plan_of(task, t, soc);
            if (!is_legal(plan, soc)) continue;
            const double cycles = (plan.core_cycles() + traffic_cycles(plan, soc)) /
                                  parallel_balance(soc, plan.parallel_extent());
            if (cycles < best_cycles * 0.999) {
              best_cycles = cycles;
              best = t;
            }
          }
        }
      }
    }
    for (const std::int64_t unroll : space.axes[4].values) {
      if (best.oc_vectors * best.tile_block * unroll <= kGoodBodyFmas) best.ic_unroll = unroll;
    }
    if (4 * plan_of(task, best, soc).weight_elements() > soc.l2_bytes)
      best.prefetch = kPrefetchVectors;
    return best;
  }

  WinogradSize size_;
  std::string name_;
};

}  // namespace

void register_winograd(ImplRegistry& registry) {
  constexpr WinogradSize kSizes[] = {{2, 3}, {4, 3}, {6, 3}, {3, 4}, {5, 4}, {2, 5}, {4, 5}};
  for (const WinogradSize& size : kSizes) registry.add(std::make_unique<Winograd>(size));
}

}  // namespace aoe::compiler
