// depthwise, depthwise_int8: generated depthwise convolution, vectorised over channels, one channel in and out per
// group: in float32, or QuantConv2D with bytes widened to float32, which sums up so few of them exactly. The nest:
// compiler/conv/depthwise_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/conv/depthwise_nest.h"
#include "compiler/conv/image_store.h"
#include "compiler/integer_math.h"
#include "compiler/quant/depthwise_int8.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyFmas =
    6000;  ///< written out per kernel: beyond, code leaves the instruction cache

DepthwisePlan plan_of(const Task& task, const FormatChoice& format, const DepthwiseTiling& tiling,
                      const Soc& soc) {
  return DepthwisePlan(conv_shape(task).value(), format.outputs[0], soc.vector_lanes, tiling);
}

bool is_legal(const DepthwisePlan& plan, const Soc& soc) {
  const DepthwiseTiling& t = plan.tiling();
  if (t.unroll_rows == 0 && t.oh_block != 1) return false;
  if (t.row_tile > plan.row_blocks() || t.vector_tile > plan.vectors()) return false;
  return plan.registers() <= soc.vector_registers && plan.body_fmas() <= kMaxBodyFmas;
}

class Depthwise final : public Impl {
 public:
  explicit Depthwise(bool is_quantised) : is_quantised_(is_quantised) {}

  std::string_view name() const override { return is_quantised_ ? "depthwise_int8" : "depthwise"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if ((task.op.type == "QuantConv2D") != is_quantised_)
      return Unexpected(task.op.type + " is not what it computes");
    if (shape->is_transposed) return Unexpected("Conv2DTranspose is not a depthwise convolution");
    if (shape->input_shuffle > 1) return Unexpected("the input is to be shuffled while it is read");
    if (!shape->is_depthwise()) {
      return Unexpected(std::to_string(shape->groups) + " groups of " +
                        std::to_string(shape->in_channels) + " to " +
                        std::to_string(shape->out_channels) + " channels, needs one channel each");
    }
    if (is_quantised_) return supports_depthwise_int8(task, *shape);
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
    std::vector<FormatChoice> choices;
    if (!is_quantised_)
      choices.push_back(image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0));
    choices.push_back(image_format(task, "NHWC", Format::kNHWC, Format::kNHWC));
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const DepthwisePlan plan = plan_of(task, format, {}, soc);
    const ConvShape& s = plan.shape();
    ScheduleSpace space;
    std::vector<std::int64_t> rows, columns, row_tiles, vector_tiles;
    for (std::int64_t r = 1; r <= std::min<std::int64_t>(4, s.out_height); ++r) rows.push_back(r);
    for (std::int64_t w = 1; w <= std::min<std::int64_t>(s.out_width, soc.vector_registers); ++w) {
      if (ceil_div(s.out_width, ceil_div(s.out_width, w)) == w) columns.push_back(w);
    }
    for (std::int64_t r = 1; r <= s.out_height; r *= 2) row_tiles.push_back(r);
    for (std::int64_t v = 1; v <= plan.vectors(); v *= 2) vector_tiles.push_back(v);
    space.axes = {{"oh_block", rows},
                  {"ow_block", columns},
                  {"row_tile", row_tiles},
                  {"vector_tile", vector_tiles},
                  {"unroll_rows", {0, 1}}};
    space.is_legal = [=](const Schedule& schedule) {
      return is_legal(plan_of(task, format, DepthwiseTiling::from(schedule), soc), soc);
    };
    space.heuristic = heuristic(task, format, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    const DepthwisePlan plan = plan_of(task, format, DepthwiseTiling::from(schedule), soc);
    const ConvShape& s = plan.shape();
    const DepthwiseTiling& t = plan.tiling();
    const double bytes = bytes_moved(task);
    const double tile_bytes =
        4.0 * plan.lanes() *
        static_cast<double>(t.vector_tile * t.row_tile * t.oh_block * s.stride_height * s.in_width);
    return {{"flops", flops(task)},
            {"bytes", bytes},
            {"intensity", flops(task) / bytes},
            {"core_cycles", plan.core_cycles()},
            {"lane_use", static_cast<double>(s.out_channels) /
                             static_cast<double>(plan.vectors() * plan.lanes())},
            {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
            {"accumulators", static_cast<double>(t.oh_block * t.ow_block)},
            {"tile_per_l1", tile_bytes / static_cast<double>(soc.l1d_bytes)},
            {"tile_per_l2", tile_bytes / static_cast<double>(soc.l2_bytes)},
            {"body_fmas", static_cast<double>(plan.body_fmas())},
            {"unroll_rows", static_cast<double>(t.unroll_rows)},
            {"iterations", static_cast<double>(plan.parallel_extent())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const Schedule schedule = space(task, format, soc).heuristic;
    const DepthwisePlan plan = plan_of(task, format, DepthwiseTiling::from(schedule), soc);
    constexpr double kEfficiency = 0.9;  // short inner loops: edges and block starts weigh more
    const double compute =
        compute_ns(soc, plan.core_cycles() * 4.0 * soc.vector_lanes, kEfficiency);
    return launch_ns(soc) + std::max(compute, memory_ns(soc, bytes_moved(task))) /
                                parallel_balance(soc, plan.parallel_extent());
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    const DepthwisePlan plan = plan_of(task, format, DepthwiseTiling::from(schedule), soc);
    return is_quantised_ ? build_depthwise(task, format, plan, depthwise_int8_constants(task, plan))
                         : build_depthwise(task, format, plan);
  }

 private:
  /// The register block with the fewest cycles; then tiles as large as leave every thread four
  /// pieces of work.
  static DepthwiseTiling heuristic(const Task& task, const FormatChoice& format,
                                   const ScheduleSpace& space, const Soc& soc) {
    DepthwiseTiling best{.unroll_rows = 0};
    double best_cycles = std::numeric_limits<double>::infinity();
    for (const std::int64_t unroll : {1, 0}) {
      for (const std::int64_t h : space.axes[0].values) {
        for (const std::int64_t w : space.axes[1].values) {
          const DepthwiseTiling t{.oh_block = h, .ow_block = w, .unroll_rows = unroll};
          const DepthwisePlan plan = plan_of(task, format, t, soc);
          if (!is_legal(plan, soc)) continue;
          const double cycles = plan.core_cycles();
          if (cycles < best_cycles * 0.999) {
            best_cycles = cycles;
            best = t;
          }
        }
      }
    }
    for (const std::int64_t tile : space.axes[2].values) {
      DepthwiseTiling t = best;
      t.row_tile = tile;
      const DepthwisePlan plan = plan_of(task, format, t, soc);
      if (is_legal(plan, soc) && plan.parallel_extent() >= 4 * soc.threads) best = t;
    }
    return best;
  }

  bool is_quantised_;
};

}  // namespace

void register_depthwise(ImplRegistry& registry) {
  registry.add(std::make_unique<Depthwise>(false));
  registry.add(std::make_unique<Depthwise>(true));
}

}  // namespace aoe::compiler
