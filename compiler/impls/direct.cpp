// direct, direct_bf16: generated direct convolution, vectorised over output channels. Any kernel, stride,
// dilation and group size but one channel. Strong where a library pads or repacks: few input channels, odd groups,
// few pixels, fused epilogues. direct_bf16 rounds inputs and weights to bfloat16 where the graph allows it: a first stage writes
// the input as pairs of channels, each of which is one multiply-add of two products. The nest: compiler/conv/direct_nest.h. Tested like every Impl by
// tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/conv/direct_nest.h"
#include "compiler/conv/image_store.h"
#include "compiler/emit/integer_math.h"
#include "compiler/tiled_plan.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxDirectFmas =
    8192;  ///< written out per kernel: beyond, code leaves the instruction cache

using Axes = TilingAxes<DirectTiling>;

/// What all Schedules of a task have in common: read once, a search makes hundreds of cuts.
struct DirectTask {
  DirectTask(const Task& task, const FormatChoice& choice, const Soc& soc, DirectPrecision wanted)
      : shape(conv_shape(task).value()),
        format(choice),
        lanes(soc.vector_lanes()),
        is_flat(is_flattenable(task)),
        precision(wanted) {}

  DirectCut cut(const DirectTiling& tiling) const {
    return DirectCut(shape, format.inputs[0], format.outputs[0], lanes, tiling, is_flat, precision);
  }

  ConvShape shape;
  FormatChoice format;
  int lanes;
  bool is_flat;
  DirectPrecision precision;
};

Axes direct_axes(const DirectTask& task, const Soc& soc) {
  const DirectCut cut = task.cut({});
  const ConvShape& s = cut.shape();
  const std::int64_t width = s.is_pointwise() ? s.out_pixels() : s.out_width;
  // Lanes of several groups: blocks of several rows load weights less often, but that saves little, and the code grows
  // with the groups: 3x8 outputs of 32 groups of 4 took 8% longer than 1x14 on a Zen 5 core, and six times as long to
  // compile.
  const std::int64_t most_rows = cut.group_lanes().has_mixed_blocks() ? 1 : 4;
  const std::int64_t channels = s.group_in_channels();
  return {
      {"oc_vectors", &DirectTiling::oc_vectors, legal_oc_vectors(cut)},
      {"oh_block", &DirectTiling::oh_block, up_to(std::min(most_rows, s.out_height), {1, 2, 3, 4})},
      {"ow_block", &DirectTiling::ow_block, even_blocks(width, soc.vector_registers() - 2)},
      {"ic_unroll", &DirectTiling::ic_unroll,
       legal_ic_unrolls(s, task.format.inputs[0], cut.in_lanes())},
      {"ic_block", &DirectTiling::ic_block, up_to(channels - 1, {0, 16, 32, 64, 128, 256, 512})},
      {"row_tile", &DirectTiling::row_tile,
       powers_of_two(std::max(s.out_height, s.out_pixels() / 8))},
      {"pixels_outer", &DirectTiling::pixels_outer, {0, 1}},
      {"prefetch", &DirectTiling::prefetch, {0, 1, 32, 128}}};
}

class DirectPlan final : public TiledPlan<DirectTiling, DirectCut> {
 public:
  DirectPlan(const Task& task, const FormatChoice& format, const Soc& soc,
             DirectPrecision precision)
      : DirectPlan(task, soc, DirectTask(task, format, soc, precision)) {}

 private:
  DirectPlan(const Task& task, const Soc& soc, const DirectTask& direct)
      : TiledPlan(task, direct.format, soc, direct_axes(direct, soc)), direct_(direct) {}

  DirectCut cut(const DirectTiling& tiling) const override { return direct_.cut(tiling); }

  bool fits(const DirectCut& cut) const override {
    const DirectTiling& t = cut.tiling();
    if (cut.registers() > soc().vector_registers()) return false;
    if (cut.is_flat() && t.oh_block != 1) return false;
    if (t.row_tile > cut.row_blocks()) return false;
    if (t.ic_block % t.ic_unroll != 0) return false;
    return cut.body_fmas() <= kMaxDirectFmas;
  }

  double cycles(const DirectCut& cut) const override { return shared(cut.work().cycles, cut); }

  /// The register block with the fewest cycles, then the largest unroll that stays small, then tiles for the caches.
  DirectTiling best() const override {
    using T = DirectTiling;
    std::vector<T> blocks = tilings().all({.ic_unroll = tilings().values(&T::ic_unroll).front()},
                                          {&T::oc_vectors, &T::oh_block, &T::ow_block});
    std::erase_if(blocks, [&](const T& t) {
      return t.ow_block > 1 && cut(t).group_lanes().is_permuted() &&
             t.oh_block * t.ow_block * t.oc_vectors * t.ic_unroll > kGoodBodyFmas;
    });
    T best = fewest_cycles(blocks);
    const std::int64_t taps = cut(best).shape().kernel_width;
    best = tilings().with_last(best, &T::ic_unroll, [&](const T& t) {
      return t.oc_vectors * t.oh_block * t.ow_block * t.ic_unroll * taps <= good_body_fmas() &&
             is_legal(t);
    });
    const DirectCut block = cut(best);
    best.prefetch = good_prefetch(block);
    return leaves_l3(block) || reads_parts_of_pixels(block) ? with_pixels_outermost(best) : best;
  }

  /// A block of output channels wants the channels of its group alone, which in NHWC are a part of each pixel: for all blocks after
  /// each other the lines come once (272 to 68 channels in 4 groups over 28x28: 0.7 of the time on a Zen 3, a batch of 8 of 136 to 544
  /// channels over 14x14 0.55).
  static bool reads_parts_of_pixels(const DirectCut& cut) {
    return cut.in_format() == Format::kNHWC && cut.shape().groups > 1;
  }

  /// A block of output channels is stored as a part of each NHWC pixel, whose next block comes to the same line when all pixels are
  /// done: with vectors of 32 bytes 1x1 windows take 1.04 to 1.1 times what they take in NC1HWC0 (Zen 3; ResNeXt-50 in the Formats
  /// that this makes it choose 0.92 of its time).
  bool stores_parts_of_pixels(const DirectCut& cut) const {
    return soc().has_short_vectors() && direct_.format.outputs[0] == Format::kNHWC &&
           cut.shape().is_pointwise() && cut.oc_blocks() > 1;
  }

  /// Whether the images are too large to be found in L3 again. A third of it: other cores and the weights want their share.
  bool leaves_l3(const DirectCut& cut) const {
    return cut.image_bytes() > static_cast<double>(soc().l3_bytes) / 3;
  }

  /// Of the input, from memory.
  double reread_bytes(const DirectCut& cut) const {
    return leaves_l3(cut) ? cut.reread_bytes() : 0;
  }

  /// A single row cannot be cut into tiles that stay in L2: for each block of output channels all of it comes from L3, in pieces as
  /// long as a block of pixels, which nothing fetches ahead (one row of 3000 or 4000 pixels by 512 channels, three taps of stride 2:
  /// 48 to 74% of the peak on a Zen 4, where im2col_gemm has 91).
  double long_row_ns(const DirectCut& cut) const {
    if (cut.is_flat() || cut.shape().out_height > 1) return 0;
    const double bytes = cut.input_tile_bytes();
    if (bytes <= static_cast<double>(soc().l2_bytes)) return 0;
    return memory_ns(soc(), bytes * soc().threads) * static_cast<double>(cut.oc_blocks() - 1);
  }

  /// Output channels innermost, over as many rows as a quarter of L2 holds of the input, which then comes from memory once: ResNet-50's
  /// 256 to 128 channels over 56x56 take 0.45 of the time at batch 8 (Zen 3).
  DirectTiling with_pixels_outermost(DirectTiling tiling) const {
    tiling.pixels_outer = 1;
    const auto stays = [&](const DirectTiling& t) {
      return is_legal(t) && cut(t).input_tile_bytes() <= static_cast<double>(soc().l2_bytes) / 4;
    };
    return tilings().with_last(tiling, &DirectTiling::row_tile, stays);
  }

  /// Vectors of 32 bytes do half the work of each instruction: bodies of all channels of a block, and nothing fetched ahead, take
  /// 0.65 to 0.8 of the time of short ones on ResNet-50's convolutions of stride 2 (Zen 3), and no other's longer.
  std::int64_t good_body_fmas() const {
    constexpr std::int64_t kShortVectors = 300;
    return soc().has_short_vectors() ? kShortVectors : kGoodBodyFmas;
  }

  /// Weights that do not stay in L2 come in time when fetched a block of output channels ahead, or, where L2 does not
  /// hold two of these, a few vectors ahead: 15 to 20% of ResNet-50's later layers.
  std::int64_t good_prefetch(const DirectCut& cut) const {
    constexpr std::int64_t kNextBlock = 1, kVectors = 32;
    const std::int64_t bytes = 4 * cut.weight_elements();
    if (soc().has_short_vectors() || bytes <= soc().l2_bytes / 2) return 0;
    return bytes / cut.oc_blocks() <= soc().l2_bytes / 3 ? kNextBlock : kVectors;
  }

  Features features_of(const DirectCut& cut) const override {
    const ConvShape& s = cut.shape();
    const DirectTiling& t = cut.tiling();
    const DirectWork work = cut.work();
    const double weight_tile =
        4.0 * static_cast<double>(cut.chunks_per_tile() * t.ic_unroll * s.kernel_height *
                                  s.kernel_width * cut.block_lanes());
    const double input_tile =
        4.0 * static_cast<double>(cut.chunks_per_tile() * t.ic_unroll) *
        static_cast<double>((t.oh_block * s.stride_height + s.kernel_height) * s.in_width);
    const double bytes = bytes_moved(task());
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"core_cycles", work.cycles},
            {"lane_use", flops(task()) / (2.0 * cut.lanes() * work.fmas)},
            {"registers", static_cast<double>(cut.registers()) / soc().vector_registers()},
            {"accumulators", static_cast<double>(t.oc_vectors * t.oh_block * t.ow_block)},
            {"weight_tile_per_l1", weight_tile / static_cast<double>(soc().l1d_bytes)},
            {"weight_tile_per_l2", weight_tile / static_cast<double>(soc().l2_bytes)},
            {"input_tile_per_l1", input_tile / static_cast<double>(soc().l1d_bytes)},
            {"ic_tiles", static_cast<double>(cut.ic_tiles())},
            {"row_tile", static_cast<double>(t.row_tile)},
            {"pixels_outer", static_cast<double>(t.pixels_outer)},
            {"prefetch", static_cast<double>(t.prefetch)},
            {"body_fmas", static_cast<double>(cut.body_fmas())},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"reread", reread_bytes(cut) / bytes},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const DirectCut& cut) const override {
    // Measured 0.97 of the peak; block_cycles() already counts what loads cost, a little too much.
    constexpr double kEfficiency = 1.05, kStoresParts = 0.98;
    const double dot_cost = cut.is_bf16() ? pair_dot_cost(soc()) : 1;
    const double efficiency = stores_parts_of_pixels(cut) ? kStoresParts : kEfficiency;
    const double compute = shared(cycles_ns(cut.work().cycles * dot_cost, efficiency), cut);
    const double bytes = bytes_moved(task()) + reread_bytes(cut);
    const double ns =
        launch_ns(soc()) + std::max(compute, memory_ns(soc(), bytes)) + long_row_ns(cut);
    if (!cut.is_bf16()) return ns;
    const double read = direct_.shape.input_elements(), pairs = cut.shape().input_elements();
    return ns + launch_ns(soc()) + memory_ns(soc(), 4 * (read + pairs));
  }

  Kernel kernel_of(const DirectCut& cut) const override {
    return build_direct(task(), format(), cut);
  }

  DirectTask direct_;
};

/// What rounding needs beyond what every convolution does.
Result<void> supports_pairs(const Task& task, const ConvShape& shape, const Soc& soc) {
  if (!graph::allows_bf16(task.op)) return Unexpected("precision_mode asks for more");
  if (!soc.has(Feature::kBf16)) return Unexpected(soc.version + " has no bf16");
  if (shape.groups > 1 || shape.input_shuffle > 1)
    return Unexpected("pairs of channels of " + std::to_string(shape.groups) + " groups");
  if (shape.in_channels * shape.kernel_height < 2) return Unexpected("one row is no pair");
  return {};
}

class Direct final : public Impl {
 public:
  explicit Direct(DirectPrecision precision) : precision_(precision) {}

  std::string_view name() const override { return is_bf16() ? "direct_bf16" : "direct"; }
  int version() const override { return is_bf16() ? 3 : 5; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->is_transposed) return Unexpected("Conv2DTranspose is not a direct convolution");
    if (shape->groups > 1 && shape->is_depthwise() && shape->input_shuffle == 1)
      return Unexpected(
          "depthwise, where the Impl of that name loads each input once for all taps");
    if (is_bf16())
      if (Result<void> possible = supports_pairs(task, *shape, soc); !possible) return possible;
    return supports_float_convolution(task, *shape);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = convolution_formats(task, kMaxStemChannels);
    const bool are_pairs = task.in(0).shape[1] % 2 == 0;  // neighbours in memory
    if (is_bf16() && !are_pairs)
      std::erase_if(choices,
                    [](const FormatChoice& choice) { return choice.inputs[0] == Format::kNHWC; });
    return choices;
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    return std::make_unique<DirectPlan>(task, format, soc, precision_);
  }

 private:
  bool is_bf16() const { return precision_ == DirectPrecision::kBFloat16; }

  DirectPrecision precision_;
};

}  // namespace

void register_direct(ImplRegistry& registry) {
  registry.add(std::make_unique<Direct>(DirectPrecision::kFloat32));
  registry.add(std::make_unique<Direct>(DirectPrecision::kBFloat16));
}

}  // namespace aoe::compiler
