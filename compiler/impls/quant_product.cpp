// conv_int8, gemm_int8, conv_int8_amx, gemm_int8_amx: generated convolutions and matrix products of bytes, QuantConv2D and QuantMatMul: int32 sums by
// the machine's products of byte quads (VNNI) or of int16 pairs, and the epilogue down to bytes again in registers. ConvInteger and
// MatMulInteger, which give the sums out, are the same without what comes behind. Those of amx multiply in tiles. Results equal the reference's, bit for bit. The nest: compiler/quant/quant_cut.h. Tested like every Impl by
// tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/emit/integer_math.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/quant/quant_store.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyDots =
    1536;  ///< written out per kernel: beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyDots = 192;  ///< enough to hide the loop around it
/// The same of pairs: beyond, LLVM loads ahead what no register is left for. (Zen 3, 256x28x28 by 128x256x1x1, 2x5: 355 us with 10
/// dots, 395 with 20, 423 with 40.)
constexpr std::int64_t kGoodPairDots = 16;
constexpr std::int64_t kMaxStemChannels = 3;  ///< of NCHW images: a quad of a pixel holds them all

std::int64_t most_blocks_of_tile(const QuantCut& cut) {
  return std::min<std::int64_t>(64, cut.is_flat() ? cut.pixel_columns() : cut.pixel_rows());
}

/// Of blocks in tiles.
TilingAxes<QuantTiling> tile_axes_of(const QuantCut& cut) {
  return {
      {"oc_vectors", &QuantTiling::oc_vectors,
       up_to(cut.group_vectors(), {1, TileBlock::kMostVectors})},
      {"oh_block", &QuantTiling::oh_block, least_blocks(cut.is_flat() ? 1 : cut.pixel_rows(), 2)},
      {"ow_block", &QuantTiling::ow_block, least_blocks(cut.pixel_columns(), TileBlock::kMostRows)},
      {"tile", &QuantTiling::tile, powers_of_two(most_blocks_of_tile(cut))},
      {"pixels_outer", &QuantTiling::pixels_outer, {0, 1}},
      {"prefetch", &QuantTiling::prefetch, {0, 1, 2, 4}}};
}

TilingAxes<QuantTiling> quant_axes(const QuantCut& cut, const Soc& soc) {
  if (cut.has_tiles()) return tile_axes_of(cut);
  return {
      {"oc_vectors", &QuantTiling::oc_vectors, up_to(cut.group_vectors(), {1, 2, 3, 4, 6})},
      {"oh_block", &QuantTiling::oh_block, least_blocks(cut.is_flat() ? 1 : cut.pixel_rows(), 7)},
      {"ow_block", &QuantTiling::ow_block,
       least_blocks(cut.pixel_columns(), soc.vector_registers() - 2)},
      {"k_unroll", &QuantTiling::k_unroll,
       powers_of_two(std::min<std::int64_t>(16, cut.run_quads()))},
      {"tile", &QuantTiling::tile, powers_of_two(most_blocks_of_tile(cut))},
      {"pixels_outer", &QuantTiling::pixels_outer, {0, 1}}};
}

class QuantPlan final : public RetiledPlan<QuantTiling, QuantCut> {
 public:
  QuantPlan(const Task& task, const FormatChoice& format, const Soc& soc, bool has_tiles)
      : RetiledPlan(task, format, soc, QuantCut(task, format.inputs[kQuantX], soc, {}, has_tiles),
                    quant_axes) {}

 private:
  bool fits(const QuantCut& cut) const override {
    const QuantTiling& t = cut.tiling();
    if (!cut.is_block_small(soc())) return false;
    if (t.oc_vectors > cut.group_vectors() || t.k_unroll > cut.run_quads()) return false;
    if (cut.groups() > 1 && cut.group_vectors() % t.oc_vectors != 0) return false;
    if (cut.is_flat() && t.oh_block != 1) return false;
    return t.tile <= cut.loop().blocks() && cut.body_dots() <= kMaxBodyDots;
  }

  double cycles(const QuantCut& cut) const override { return shared(cut.core_cycles(), cut); }

  /// The register block with the fewest cycles whose pixels stay in L1, unrolled as far as its code stays small; then as many blocks to a
  /// parallel iteration as leave four of these to each thread.
  QuantTiling best() const override {
    QuantTiling best = fewest_cycles_in_l1(
        tilings().all({.prefetch = any().has_tiles() ? 2 : 0},
                      {&QuantTiling::oc_vectors, &QuantTiling::oh_block, &QuantTiling::ow_block}),
        any().pixel_bytes(), [](const QuantTiling& t) { return t.oh_block * t.ow_block; });
    if (!any().has_tiles())
      best = tilings().with_last(best, &QuantTiling::k_unroll, [&](const QuantTiling& t) {
        return t.oc_vectors * t.oh_block * t.ow_block * t.k_unroll <=
                   (any().has_pairs() ? kGoodPairDots : kGoodBodyDots) &&
               is_legal(t);
      });
    return reads_more_pixels_than_weights() ? with_pixels_outermost(best)
                                            : with_tile_for_threads(best, &QuantTiling::tile);
  }

  /// Threads that have channels of their own each read all pixels, half of them from another core's cache, and store parts of the same
  /// lines, of which a pixel of 64 channels is one: with two threads SqueezeNet in bytes takes 1.5 times as long so, MobileNetV2 and
  /// ResNet-50 1.05 and 1.035 times (Zen 5).
  bool reads_more_pixels_than_weights() const {
    return soc().threads > 1 &&
           storage_bytes(task().in(kQuantWeight)) < storage_bytes(task().in(kQuantX));
  }

  /// As large tiles as leave four to each thread, the last one nearly full: it is one thread's share.
  QuantTiling with_pixels_outermost(QuantTiling tiling) const {
    tiling.pixels_outer = 1;
    return tilings().with_last(tiling, &QuantTiling::tile, [&](const QuantTiling& t) {
      const PixelLoop loop = cut(t).loop();
      return is_legal(t) && loop.parallel_extent() >= std::int64_t{4} * soc().threads &&
             33 * loop.blocks() >= 32 * loop.tiles() * t.tile;
    });
  }

  Features features_of(const QuantCut& cut) const override {
    const QuantTiling& t = cut.tiling();
    const double bytes = bytes_moved(task());
    const auto steps = static_cast<double>(cut.steps());
    const double panel =
        4.0 * steps * static_cast<double>(t.oc_vectors * cut.quad_vectors() * cut.lanes());
    const auto pixels = static_cast<double>(t.oh_block * t.ow_block);
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"core_cycles", cut.core_cycles()},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"accumulators", pixels * static_cast<double>(t.oc_vectors)},
            {"panel_per_l1", panel / static_cast<double>(soc().l1d_bytes)},
            {"panel_per_l2", panel / static_cast<double>(soc().l2_bytes)},
            {"workspace_bytes", 4.0 * static_cast<double>(cut.workspace_elements())},
            {"pixels_per_tile", pixels * static_cast<double>(t.tile)},
            {"pixels_outer", static_cast<double>(t.pixels_outer)},
            {"k_unroll", static_cast<double>(t.k_unroll)},
            {"body_dots", static_cast<double>(cut.body_dots())},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const QuantCut& cut) const override {
    const double copy =
        cut.is_copied() ? launch_ns(soc()) +
                              memory_ns(soc(), 8.0 * static_cast<double>(cut.workspace_elements()))
                        : 0;
    const double efficiency = cut.has_tiles() ? TileBlock::kEfficiency : 1;
    const double compute = shared(cycles_ns(cut.core_cycles(), efficiency), cut);
    return launch_ns(soc()) + copy + std::max(compute, memory_ns(soc(), bytes_moved(task())));
  }

  Kernel kernel_of(const QuantCut& cut) const override {
    return build_quant(task(), format(), cut);
  }
};

class QuantProduct final : public Impl {
 public:
  QuantProduct(std::string_view name, bool is_conv, bool has_tiles)
      : name_(name), is_conv_(is_conv), has_tiles_(has_tiles) {}

  std::string_view name() const override { return name_; }
  int version() const override { return 4; }

  Result<void> supports(const Task& given, const Soc& soc) const override {
    const Task task = as_quant_product(given);
    if (is_convolution(task) != is_conv_) {
      return Unexpected(task.anchor().type + " is not what it computes");
    }
    if (Result<void> anchor = supports_quant_anchor(task); !anchor) return anchor;
    if (gives_sums(task) && has_computed_zero(task))
      return Unexpected("the zero point is computed");
    if (Result<void> tiles = supports_tiles(task, soc); !tiles) return tiles;
    return supports_quant_epilogue(task);
  }

  std::vector<FormatChoice> formats(const Task& given, const Soc&) const override {
    if (!is_conv_) return {dense_format(given)};
    const Task task = as_quant_product(given);
    std::vector<FormatChoice> choices = {image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
    if (task.in(kQuantX).shape[1] <= kMaxStemChannels) {
      choices.push_back(image_format(task, "NCHW", Format::kNCHW, Format::kNHWC));
    }
    for (FormatChoice& choice : choices) choice.inputs.resize(given.inputs.size());
    return choices;
  }

  std::unique_ptr<Plan> plan(const Task& given, const FormatChoice& format,
                             const Soc& soc) const override {
    const Task task = as_quant_product(given);
    FormatChoice all = dense_format(task);
    all.name = format.name;
    all.outputs = format.outputs;
    std::ranges::copy(format.inputs, all.inputs.begin());
    return std::make_unique<QuantPlan>(task, all, soc, has_tiles_);
  }

 private:
  Result<void> supports_tiles(const Task& task, const Soc& soc) const {
    constexpr std::int64_t kFewWords = 3;
    if (!has_tiles_) return {};
    if (!soc.has(Feature::kAmx)) return Unexpected(soc.version + " has no amx");
    const QuantCut cut(task, Format::kNHWC, soc, {}, true);
    if (cut.sums_pixels()) return Unexpected("weights of nine bits");
    if (cut.tile_words() < kFewWords)
      return Unexpected(std::to_string(cut.run_quads()) + " quads do not fill tiles");
    return {};
  }

  std::string_view name_;
  bool is_conv_, has_tiles_;
};

}  // namespace

void register_quant_product(ImplRegistry& registry) {
  registry.add(std::make_unique<QuantProduct>("conv_int8", true, false));
  registry.add(std::make_unique<QuantProduct>("gemm_int8", false, false));
  registry.add(std::make_unique<QuantProduct>("conv_int8_amx", true, true));
  registry.add(std::make_unique<QuantProduct>("gemm_int8_amx", false, true));
}

}  // namespace aoe::compiler
