// winograd_f23, f43, f63, f34, f54, f25, f45: generated Winograd convolution for 3x3, 4x4 and 5x5 windows of stride 1, in
// NC1HWC0. The second digit is the window's side, the first that of a tile of outputs. winograd_f23_bf16 rounds what it multiplies
// to bfloat16 where the graph allows it; of larger tiles that costs 4 to 9 times the error of direct_bf16, of these 1.5 times.
// winograd_f43_int8 multiplies bytes, in NHWC, without any error.
// The nest: compiler/conv/winograd_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>

#include "base/check.h"
#include "compiler/conv/image_store.h"
#include "compiler/conv/winograd_nest.h"
#include "compiler/emit/integer_math.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/quant/winograd_int8.h"
#include "compiler/tiled_plan.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kPrefetchVectors = 32;  ///< fetched ahead, where weights do not stay in L2

TilingAxes<WinogradTiling> axes_of(const WinogradCut& cut, const Soc& soc) {
  std::vector<std::int64_t> blocks;
  const std::int64_t tiles = cut.tiles();
  for (std::int64_t b = 1; b <= std::min<std::int64_t>(tiles, soc.vector_registers() - 2); ++b) {
    const std::int64_t runs = ceil_div(tiles, b);
    if (ceil_div(tiles, runs) == b || b == 14 || b == 9) blocks.push_back(b);
  }
  return {{"oc_vectors", &WinogradTiling::oc_vectors, up_to(cut.oc_blocks(), {1, 2, 3, 4, 6})},
          {"tile_block", &WinogradTiling::tile_block, blocks},
          {"tile_runs", &WinogradTiling::tile_runs, {1, 2, 3, 4, 6, 8}},
          {"oc_splits", &WinogradTiling::oc_splits, powers_of_two(cut.oc_blocks())},
          {"ic_unroll", &WinogradTiling::ic_unroll, {1, 2, 4, 8}},
          {"prefetch", &WinogradTiling::prefetch, {0, 1, 32, 128}}};
}

class WinogradPlan final : public TiledPlan<WinogradTiling, WinogradCut> {
 public:
  WinogradPlan(const Task& task, const FormatChoice& format, const Soc& soc, WinogradSize size,
               WinogradPrecision precision)
      : TiledPlan(task, format, soc, axes_of({shape_of(task), size, soc.vector_lanes(), {}}, soc)),
        shape_(shape_of(task)),
        size_(size),
        precision_(precision) {}

 private:
  static ConvShape shape_of(const Task& task) { return conv_shape(task).value(); }

  WinogradCut cut(const WinogradTiling& tiling) const override {
    return WinogradCut(shape_, size_, soc().vector_lanes(), tiling, precision_);
  }

  bool fits(const WinogradCut& cut) const override {
    const WinogradTiling& t = cut.tiling();
    if (cut.registers() > soc().vector_registers()) return false;
    if (t.ic_unroll > cut.in_lanes()) return false;  // the next factors lie behind other tiles'
    // More than one run only where there are tiles for it; more shares only where there are blocks.
    if (t.tile_runs > 1 && t.tile_block * (t.tile_runs - 1) >= cut.tiles()) return false;
    if (t.oc_splits > cut.oc_blocks()) return false;
    return 4 * (cut.input_scratch() + cut.product_scratch()) <= 4 * soc().l2_bytes;
  }

  /// Of products, transforms and traffic together.
  double cycles(const WinogradCut& cut) const override {
    return shared(cut.core_cycles() + traffic_cycles(cut), cut);
  }

  /// What it costs that weights and scratch memory do not stay in L2: at 24 bytes a cycle from L3, half of it hidden. Weights
  /// that do not stay in L3 either come from memory again and again, and are waited for (512 channels of 28x28: 31 ms, not 9).
  double traffic_cycles(const WinogradCut& cut) const {
    constexpr double kBytesPerCycle = 24, kVisibleShare = 0.5, kMostOfL3 = 0.75;
    const double l2 = 0.8 * static_cast<double>(soc().l2_bytes);
    const double scratch = 4.0 * static_cast<double>(cut.input_scratch() + cut.product_scratch());
    const double weights = 4.0 * static_cast<double>(cut.weight_elements());
    // Consecutive iterations of a thread use the same share of the weights.
    const double share = weights / static_cast<double>(cut.tiling().oc_splits);
    const bool stays = share + scratch <= l2;
    const double streamed = stays ? weights : weights * static_cast<double>(cut.tile_groups());
    const double spilled = std::max(0.0, scratch - l2) *
                           static_cast<double>(cut.parallel_extent()) *
                           static_cast<double>(cut.oc_blocks_per_split());
    const double from_l3 = kVisibleShare * (streamed + spilled) / kBytesPerCycle;
    if (weights <= kMostOfL3 * static_cast<double>(soc().l3_bytes)) return from_l3;
    return from_l3 + core_cycles_of(memory_ns(soc(), streamed - weights));
  }

  WinogradTiling best() const override {
    WinogradTiling best =
        fewest_cycles(tilings().all({}, {&WinogradTiling::oc_vectors, &WinogradTiling::tile_block,
                                         &WinogradTiling::tile_runs, &WinogradTiling::oc_splits}));
    best = tilings().with_last(best, &WinogradTiling::ic_unroll, [&](const WinogradTiling& t) {
      return t.oc_vectors * t.tile_block * t.ic_unroll <= kGoodBodyFmas && is_legal(t);
    });
    if (4 * cut(best).weight_elements() > soc().l2_bytes) best.prefetch = kPrefetchVectors;
    return best;
  }

  Features features_of(const WinogradCut& cut) const override {
    const WinogradTiling& t = cut.tiling();
    const double bytes = bytes_moved(task());
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"core_cycles", cut.core_cycles()},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"accumulators", static_cast<double>(t.oc_vectors * t.tile_block)},
            {"inputs_per_l2",
             4.0 * static_cast<double>(cut.input_scratch()) / static_cast<double>(soc().l2_bytes)},
            {"products_per_l2", 4.0 * static_cast<double>(cut.product_scratch()) /
                                    static_cast<double>(soc().l2_bytes)},
            {"weights_per_l2", 4.0 * static_cast<double>(cut.weight_elements()) /
                                   static_cast<double>(soc().l2_bytes)},
            {"tile_groups", static_cast<double>(cut.tile_groups())},
            {"oc_splits", static_cast<double>(t.oc_splits)},
            {"ic_unroll", static_cast<double>(t.ic_unroll)},
            {"prefetch", static_cast<double>(t.prefetch)},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const WinogradCut& cut) const override {
    const double dot_cost = cut.is_bf16() ? pair_dot_cost(soc()) : 1;
    const double compute = shared(cycles_ns(cut.core_cycles() * dot_cost, cut.efficiency()), cut);
    const double traffic = cycles_ns(traffic_cycles(cut));
    // The transformed weights are larger than the task's own.
    const double bytes = bytes_moved(task()) + 4.0 * static_cast<double>(cut.weight_elements());
    // Those of bytes grow eightfold, and are waited for: measured on the layers of ResNet-50.
    constexpr double kAwaitedShare = 0.75;
    const double awaited =
        cut.is_int8()
            ? kAwaitedShare * 4.0 * static_cast<double>(cut.weight_elements()) / memory_gb_s(soc())
            : 0;
    return launch_ns(soc()) + std::max(compute + traffic + awaited, memory_ns(soc(), bytes));
  }

  Kernel kernel_of(const WinogradCut& cut) const override {
    if (cut.is_int8()) {
      Kernel kernel = build_winograd(task(), format(), cut, winograd_int8_constants(task(), cut));
      if (soc().has(Feature::kVnni)) kernel.needs.add(Feature::kVnni);
      return kernel;
    }
    return build_winograd(task(), format(), cut);
  }

  ConvShape shape_;
  WinogradSize size_;
  WinogradPrecision precision_;
};

/// What rounding needs beyond what every Winograd convolution does.
Result<void> supports_rounding(const Task& task, const Soc& soc) {
  if (!graph::allows_bf16(task.op)) return Unexpected("precision_mode asks for more");
  if (!soc.has(Feature::kBf16)) return Unexpected(soc.version + " has no bf16");
  if (task.in(0).shape[1] < 2) return Unexpected("one input channel is no pair");
  return {};
}

std::string_view suffix(WinogradPrecision precision) {
  switch (precision) {
    case WinogradPrecision::kFloat32:
      return "";
    case WinogradPrecision::kBFloat16:
      return "_bf16";
    case WinogradPrecision::kInt8:
    case WinogradPrecision::kInt9:
      return "_int8";
  }
  AOE_CHECK(false, "a precision without a name");
}

class Winograd final : public Impl {
 public:
  Winograd(WinogradSize size, WinogradPrecision precision)
      : size_(size),
        precision_(precision),
        name_("winograd_f" + std::to_string(size.outputs) + std::to_string(size.taps) +
              std::string(suffix(precision))) {}

  std::string_view name() const override { return name_; }
  int version() const override { return is_bf16() ? 2 : 3; }
  /// The transforms add and subtract multiples of up to 8, which F(4,3) shows in its last three bits. Rounded factors of F(2,3) are
  /// sums of at most four numbers, whose rounding shows 1.5 times as much.
  double error_growth(const Task&) const override { return is_bf16() ? 2 : kMostErrorGrowth; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (is_bf16())
      if (Result<void> possible = supports_rounding(task, soc); !possible) return possible;
    if (precision_ == WinogradPrecision::kInt8) return supports_winograd_int8(task, size_);
    return supports_winograd(task, size_);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    if (precision_ == WinogradPrecision::kInt8)
      return {image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
    return {image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0)};
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    const bool is_wide = precision_ == WinogradPrecision::kInt8 &&
                         has_wide_weights(task, conv_shape(task).value().out_channels);
    return std::make_unique<WinogradPlan>(task, format, soc, size_,
                                          is_wide ? WinogradPrecision::kInt9 : precision_);
  }

 private:
  bool is_bf16() const { return precision_ == WinogradPrecision::kBFloat16; }

  WinogradSize size_;
  WinogradPrecision precision_;
  std::string name_;
};

}  // namespace

void register_winograd(ImplRegistry& registry) {
  constexpr WinogradSize kSizes[] = {{2, 3}, {4, 3}, {6, 3}, {3, 4}, {5, 4}, {2, 5}, {4, 5}};
  for (const WinogradSize& size : kSizes)
    registry.add(std::make_unique<Winograd>(size, WinogradPrecision::kFloat32));
  registry.add(std::make_unique<Winograd>(WinogradSize{2, 3}, WinogradPrecision::kBFloat16));
  registry.add(std::make_unique<Winograd>(WinogradSize{4, 3}, WinogradPrecision::kInt8));
}

}  // namespace aoe::compiler
