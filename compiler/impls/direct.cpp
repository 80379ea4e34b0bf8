// direct: generated direct convolution, vectorised over output channels. Any kernel, stride,
// dilation and group size but one channel. Strong where a library pads or repacks: few input channels, odd groups,
// few pixels, fused epilogues. The nest: compiler/conv/direct_nest.h. Tested like every Impl by
// tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/conv/direct_nest.h"
#include "compiler/conv/image_store.h"
#include "compiler/integer_math.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas =
    8192;  ///< written out per kernel: beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyFmas = 128;   ///< enough to hide the loop around it
constexpr std::int64_t kMaxStemChannels = 8;  ///< NCHW input: one cache line per channel and tap

DirectPlan plan_of(const Task& task, const FormatChoice& format, const DirectTiling& tiling,
                   const Soc& soc) {
  ConvShape shape = conv_shape(task).value();
  return DirectPlan(shape, format.inputs[0], format.outputs[0], soc.vector_lanes, tiling,
                    is_flattenable(task));
}

class Direct final : public Impl {
 public:
  std::string_view name() const override { return "direct"; }
  int version() const override { return 3; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->is_transposed) return Unexpected("Conv2DTranspose is not a direct convolution");
    if (shape->groups > 1 && shape->is_depthwise() && shape->input_shuffle == 1)
      return Unexpected(
          "depthwise, where the Impl of that name loads each input once for all taps");
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      if (task.in(i).dtype != DataType::kFloat) {
        return Unexpected("input " + std::to_string(i) + " is " + to_string(task.in(i)) +
                          ", needs float32");
      }
    }
    if (!task.inputs[1].constant) return Unexpected("weights are not constant");
    if (shape->has_bias && !task.inputs[2].constant) return Unexpected("bias is not constant");
    return supports_image_epilogue(task);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {
        image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0),
        image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
    if (task.in(0).shape[1] <= kMaxStemChannels) {
      choices.push_back(image_format(task, "NCHW", Format::kNCHW, Format::kNC1HWC0));
      choices.push_back(image_format(task, "NCHW_NHWC", Format::kNCHW, Format::kNHWC));
    }
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const DirectPlan plan = plan_of(task, format, {}, soc);
    const ConvShape& s = plan.shape();
    const std::int64_t width = s.is_pointwise() ? s.out_pixels() : s.out_width;
    ScheduleSpace space;
    std::vector<std::int64_t> rows;
    // Lanes of several groups: blocks of several rows load weights less often, but that saves little, and the code grows
    // with the groups: 3x8 outputs of 32 groups of 4 took 8% longer than 1x14 on a Zen 5 core, and six times as long to
    // compile.
    const std::int64_t most_rows = plan.group_lanes().has_mixed_blocks() ? 1 : 4;
    for (std::int64_t r = 1; r <= std::min(most_rows, s.out_height); ++r) rows.push_back(r);
    std::vector<std::int64_t> channel_tiles = {0};
    for (const std::int64_t c : {16, 32, 64, 128, 256, 512}) {
      if (c < s.group_in_channels()) channel_tiles.push_back(c);
    }
    space.axes = {{"oc_vectors", legal_oc_vectors(plan)},
                  {"oh_block", rows},
                  {"ow_block", even_blocks(width, soc.vector_registers - 2)},
                  {"ic_unroll", legal_ic_unrolls(s, format.inputs[0], soc.vector_lanes)},
                  {"ic_block", channel_tiles},
                  {"row_tile", powers_of_two(std::max(s.out_height, s.out_pixels() / 8))},
                  {"pixels_outer", {0, 1}},
                  {"prefetch", {0, 1, 32, 128}}};
    space.is_legal = [=](const Schedule& schedule) {
      return is_legal(plan_of(task, format, DirectTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, format, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    const DirectPlan plan = plan_of(task, format, DirectTiling::from(schedule), soc);
    const ConvShape& s = plan.shape();
    const DirectTiling& t = plan.tiling();
    const DirectWork work = plan.work();
    const double weight_tile =
        4.0 * static_cast<double>(plan.chunks_per_tile() * t.ic_unroll * s.kernel_height *
                                  s.kernel_width * plan.block_lanes());
    const double input_tile =
        4.0 * static_cast<double>(plan.chunks_per_tile() * t.ic_unroll) *
        static_cast<double>((t.oh_block * s.stride_height + s.kernel_height) * s.in_width);
    const double bytes = bytes_moved(task);
    return {{"flops", flops(task)},
            {"bytes", bytes},
            {"intensity", flops(task) / bytes},
            {"core_cycles", work.cycles},
            {"lane_use", flops(task) / (2.0 * plan.lanes() * work.fmas)},
            {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
            {"accumulators", static_cast<double>(t.oc_vectors * t.oh_block * t.ow_block)},
            {"weight_tile_per_l1", weight_tile / static_cast<double>(soc.l1d_bytes)},
            {"weight_tile_per_l2", weight_tile / static_cast<double>(soc.l2_bytes)},
            {"input_tile_per_l1", input_tile / static_cast<double>(soc.l1d_bytes)},
            {"ic_tiles", static_cast<double>(plan.ic_tiles())},
            {"row_tile", static_cast<double>(t.row_tile)},
            {"pixels_outer", static_cast<double>(t.pixels_outer)},
            {"prefetch", static_cast<double>(t.prefetch)},
            {"body_fmas", static_cast<double>(plan.body_fmas())},
            {"iterations", static_cast<double>(plan.parallel_extent())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const Schedule schedule = space(task, format, soc).heuristic;
    const DirectPlan plan = plan_of(task, format, DirectTiling::from(schedule), soc);
    // Measured 0.97 of the peak; block_cycles() already counts what loads cost, a little too much.
    constexpr double kEfficiency = 1.05;
    const double compute =
        compute_ns(soc, plan.work().cycles * 4.0 * soc.vector_lanes, kEfficiency) /
        parallel_balance(soc, plan.parallel_extent());
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    return build_direct(task, format, plan_of(task, format, DirectTiling::from(schedule), soc));
  }

 private:
  static bool is_legal(const DirectPlan& plan, const Soc& soc) {
    const DirectTiling& t = plan.tiling();
    if (plan.registers() > soc.vector_registers) return false;
    if (plan.is_flat() && t.oh_block != 1) return false;
    if (t.row_tile > plan.row_blocks()) return false;
    if (t.ic_block % t.ic_unroll != 0) return false;
    return plan.body_fmas() <= kMaxBodyFmas;
  }

  /// Weights that do not stay in L2 come in time when fetched a block of output channels ahead, or, where L2 does not
  /// hold two of these, a few vectors ahead: 15 to 20% of ResNet-50's later layers.
  static std::int64_t good_prefetch(const DirectPlan& plan, const Soc& soc) {
    constexpr std::int64_t kNextBlock = 1, kVectors = 32;
    const std::int64_t bytes = 4 * plan.weight_elements();
    if (bytes <= soc.l2_bytes / 2) return 0;
    return bytes / plan.oc_blocks() <= soc.l2_bytes / 3 ? kNextBlock : kVectors;
  }

  /// The register block with the fewest cycles, then the largest unroll that stays small, then
  /// tiles for the caches.
  static DirectTiling heuristic(const Task& task, const FormatChoice& format,
                                const ScheduleSpace& space, const Soc& soc) {
    const auto values = [&](std::size_t axis) { return space.axes[axis].values; };
    DirectTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    for (const std::int64_t v : values(0)) {
      for (const std::int64_t h : values(1)) {
        for (const std::int64_t w : values(2)) {
          DirectTiling t{
              .oc_vectors = v, .oh_block = h, .ow_block = w, .ic_unroll = values(3).front()};
          const DirectPlan plan = plan_of(task, format, t, soc);
          if (!is_legal(plan, soc)) continue;
          if (w > 1 && plan.group_lanes().is_permuted() && h * w * v * t.ic_unroll > kGoodBodyFmas)
            continue;
          const double cycles = plan.work().cycles / parallel_balance(soc, plan.parallel_extent());
          if (cycles < best_cycles * 0.999) {
            best_cycles = cycles;
            best = t;
          }
        }
      }
    }
    for (const std::int64_t unroll : values(3)) {
      DirectTiling t = best;
      t.ic_unroll = unroll;
      const std::int64_t body =
          t.oc_vectors * t.oh_block * t.ow_block * unroll * conv_shape(task)->kernel_width;
      if (body <= kGoodBodyFmas && is_legal(plan_of(task, format, t, soc), soc)) best = t;
    }
    best.prefetch = good_prefetch(plan_of(task, format, best, soc), soc);
    return best;
  }
};

}  // namespace

void register_direct(ImplRegistry& registry) {
  registry.add(std::make_unique<Direct>());
}

}  // namespace aoe::compiler
