// conv_amx: generated convolutions of one group in tiles of bfloat16, where the graph allows that and the machine has them. The nest:
// compiler/conv/tile_conv.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/conv/image_store.h"
#include "compiler/conv/tile_conv.h"
#include "compiler/emit/integer_math.h"
#include "compiler/tiled_plan.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxStemChannels = 4;  ///< of NCHW images

TilingAxes<TileConvTiling> tile_conv_axes(const TileConvCut& cut, const Soc&) {
  const PixelLoop all = cut.loop();
  return {
      {"oc_vectors", &TileConvTiling::oc_vectors, up_to(all.vectors, {1, TileBlock::kMostVectors})},
      {"oh_block", &TileConvTiling::oh_block, least_blocks(all.rows, 2)},
      {"ow_block", &TileConvTiling::ow_block, least_blocks(all.columns, TileBlock::kMostRows)},
      {"tile", &TileConvTiling::tile,
       powers_of_two(std::min<std::int64_t>(64, all.is_flat ? all.columns : all.rows))},
      {"pixels_outer", &TileConvTiling::pixels_outer, {0, 1}},
      {"prefetch", &TileConvTiling::prefetch, {0, 1, 2, 4}}};
}

class TileConvPlan final : public RetiledPlan<TileConvTiling, TileConvCut> {
 public:
  TileConvPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc,
                    TileConvCut(conv_shape(task).value(), is_flattenable(task), {}),
                    tile_conv_axes) {}

 private:
  bool fits(const TileConvCut& cut) const override { return cut.fits(); }
  double cycles(const TileConvCut& cut) const override { return shared(cut.core_cycles(), cut); }

  /// The block with the fewest cycles, then as many blocks to a parallel iteration as leave four of these to each thread.
  TileConvTiling best() const override {
    using T = TileConvTiling;
    // 64 and 256 channels to as many by 3x3: 190 and 157 us, 181 and 484 with nothing fetched ahead (Emerald Rapids).
    const T best =
        fewest_cycles(tilings().all({.prefetch = 1}, {&T::oc_vectors, &T::oh_block, &T::ow_block}));
    return with_tile_for_threads(best, &T::tile);
  }

  Features features_of(const TileConvCut& cut) const override {
    const TileConvTiling& t = cut.tiling();
    const double bytes = bytes_moved(task());
    const double panel =
        4.0 * static_cast<double>(cut.window_words() * t.oc_vectors * TileBlock::kLanes);
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"core_cycles", cut.core_cycles()},
            {"sums", static_cast<double>(t.oc_vectors * t.oh_block * t.ow_block)},
            {"panel_per_l1", panel / static_cast<double>(soc().l1d_bytes)},
            {"panel_per_l2", panel / static_cast<double>(soc().l2_bytes)},
            {"workspace_bytes", 4.0 * static_cast<double>(cut.workspace_words())},
            {"pixels_outer", static_cast<double>(t.pixels_outer)},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const TileConvCut& cut) const override {
    const double words = static_cast<double>(cut.workspace_words());
    const double round = launch_ns(soc()) + memory_ns(soc(), 3 * 4 * words);
    const double compute = shared(cycles_ns(cut.core_cycles(), TileBlock::kEfficiency), cut);
    return launch_ns(soc()) + round + std::max(compute, memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const TileConvCut& cut) const override {
    return build_tile_conv(task(), format(), cut);
  }
};

class ConvAmx final : public ImplBy<TileConvPlan> {
 public:
  std::string_view name() const override { return "conv_amx"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->is_transposed) return Unexpected("Conv2DTranspose is not a convolution of windows");
    if (!graph::allows_bf16(task.op)) return Unexpected("precision_mode asks for more");
    if (!soc.has(Feature::kAmx)) return Unexpected(soc.version + " has no amx");
    if (shape->groups > 1 || shape->input_shuffle > 1)
      return Unexpected("tiles of channels of " + std::to_string(shape->groups) + " groups");
    return supports_float_convolution(task, *shape);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return convolution_formats(task, kMaxStemChannels);
  }
};

}  // namespace

void register_conv_amx(ImplRegistry& registry) {
  registry.add(std::make_unique<ConvAmx>());
}

}  // namespace aoe::compiler
