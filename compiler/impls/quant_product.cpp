// conv_int8, gemm_int8: generated convolutions and matrix products of bytes, QuantConv2D and QuantMatMul: int32 sums by
// the machine's byte products (VNNI) or by widened ones, and the epilogue down to bytes again in registers. Results equal
// the reference's, bit for bit. The nest: compiler/quant/quant_plan.h. Tested like every Impl by
// tests/compiler/impls_test.cpp.
#include <algorithm>
#include <limits>

#include "compiler/integer_math.h"
#include "compiler/quant/quant_plan.h"
#include "compiler/quant/quant_store.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMaxBodyDots =
    1536;  ///< written out per kernel: beyond, code leaves the instruction cache
constexpr std::int64_t kGoodBodyDots = 192;   ///< enough to hide the loop around it
constexpr std::int64_t kMaxStemChannels = 3;  ///< of NCHW images: a quad of a pixel holds them all

bool is_legal(const QuantPlan& plan, const Soc& soc) {
  const QuantTiling& t = plan.tiling();
  const int spare = soc.has_vnni ? 0 : 4;  // widened factors
  if (plan.registers() + spare > soc.vector_registers) return false;
  if (t.oc_vectors > plan.group_vectors() || t.k_unroll > plan.run_quads()) return false;
  if (plan.groups() > 1 && plan.group_vectors() % t.oc_vectors != 0) return false;
  if (plan.is_flat() && t.oh_block != 1) return false;
  const std::int64_t blocks = plan.is_flat() ? ceil_div(plan.pixel_columns(), t.ow_block)
                                             : ceil_div(plan.pixel_rows(), t.oh_block);
  return t.tile <= blocks && plan.body_dots() <= kMaxBodyDots;
}

/// Block sizes of which no smaller one needs as few blocks.
std::vector<std::int64_t> even_sizes(std::int64_t extent, std::int64_t limit) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= std::min(extent, limit); ++size) {
    if (ceil_div(extent, ceil_div(extent, size)) == size) sizes.push_back(size);
  }
  return sizes;
}

class QuantProduct final : public Impl {
 public:
  explicit QuantProduct(bool is_conv) : is_conv_(is_conv) {}

  std::string_view name() const override { return is_conv_ ? "conv_int8" : "gemm_int8"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if ((task.op.type == "QuantConv2D") != is_conv_) {
      return Unexpected(task.op.type + " is not what it computes");
    }
    if (Result<void> anchor = supports_quant_anchor(task); !anchor) return anchor;
    return supports_quant_epilogue(task);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    if (!is_conv_) {
      FormatChoice choice{.name = "ND", .inputs = {}, .outputs = {Format::kND}};
      for (const TaskInput& input : task.inputs) {
        choice.inputs.push_back(input.is_present() ? Format::kND : Format::kUndefined);
      }
      return {choice};
    }
    std::vector<FormatChoice> choices = {image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
    if (task.in(kQuantX).shape[1] <= kMaxStemChannels) {
      choices.push_back(image_format(task, "NCHW", Format::kNCHW, Format::kNHWC));
    }
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const QuantPlan plan = plan_of(task, format, {}, soc);
    ScheduleSpace space;
    std::vector<std::int64_t> vectors, rows = {1};
    for (const std::int64_t v : {1, 2, 3, 4, 6}) {
      if (v <= plan.group_vectors()) vectors.push_back(v);
    }
    if (!plan.is_flat()) rows = even_sizes(plan.pixel_rows(), 7);
    const std::int64_t blocks = plan.is_flat() ? plan.pixel_columns() : plan.pixel_rows();
    space.axes = {{"oc_vectors", vectors},
                  {"oh_block", rows},
                  {"ow_block", even_sizes(plan.pixel_columns(), soc.vector_registers - 2)},
                  {"k_unroll", powers_of_two(std::min<std::int64_t>(16, plan.run_quads()))},
                  {"tile", powers_of_two(std::min<std::int64_t>(64, blocks))},
                  {"pixels_outer", {0, 1}}};
    space.is_legal = [=](const Schedule& schedule) {
      return is_legal(plan.with(QuantTiling::from(schedule)), soc);
    };
    space.heuristic = heuristic(plan, space, soc).schedule();
    return space;
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    const QuantPlan plan = plan_of(task, format, QuantTiling::from(schedule), soc);
    const QuantTiling& t = plan.tiling();
    const double bytes = bytes_moved(task);
    const auto steps = static_cast<double>(plan.steps());
    const double panel = 4.0 * steps * static_cast<double>(t.oc_vectors * plan.lanes());
    const auto pixels = static_cast<double>(t.oh_block * t.ow_block);
    return {{"flops", flops(task)},
            {"bytes", bytes},
            {"intensity", flops(task) / bytes},
            {"core_cycles", plan.core_cycles(soc.has_vnni)},
            {"registers", static_cast<double>(plan.registers()) / soc.vector_registers},
            {"accumulators", pixels * static_cast<double>(t.oc_vectors)},
            {"panel_per_l1", panel / static_cast<double>(soc.l1d_bytes)},
            {"panel_per_l2", panel / static_cast<double>(soc.l2_bytes)},
            {"workspace_bytes", 4.0 * static_cast<double>(plan.workspace_quads())},
            {"pixels_per_tile", pixels * static_cast<double>(t.tile)},
            {"pixels_outer", static_cast<double>(t.pixels_outer)},
            {"k_unroll", static_cast<double>(t.k_unroll)},
            {"body_dots", static_cast<double>(plan.body_dots())},
            {"iterations", static_cast<double>(plan.parallel_extent())},
            {"balance", parallel_balance(soc, plan.parallel_extent())}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const Schedule schedule = space(task, format, soc).heuristic;
    const QuantPlan plan = plan_of(task, format, QuantTiling::from(schedule), soc);
    const double flops_per_cycle = 4.0 * soc.vector_lanes;  // compute_ns() counts those of float32
    const double compute = compute_ns(soc, plan.core_cycles(soc.has_vnni) * flops_per_cycle, 1.0) /
                           parallel_balance(soc, plan.parallel_extent());
    const double copy =
        plan.is_copied()
            ? launch_ns(soc) + memory_ns(soc, 8.0 * static_cast<double>(plan.workspace_quads()))
            : 0;
    return launch_ns(soc) + copy + std::max(compute, memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    return build_quant(task, format, plan_of(task, format, QuantTiling::from(schedule), soc), soc);
  }

 private:
  static QuantPlan plan_of(const Task& task, const FormatChoice& format, const QuantTiling& tiling,
                           const Soc& soc) {
    return QuantPlan(task, format.inputs[kQuantX], soc.vector_lanes, tiling);
  }

  /// The register block with the fewest cycles, unrolled as far as its code stays small; then as many blocks to a
  /// parallel iteration as leave four of these to each thread.
  static QuantTiling heuristic(const QuantPlan& plan, const ScheduleSpace& space, const Soc& soc) {
    const auto values = [&](std::size_t axis) { return space.axes[axis].values; };
    QuantTiling best;
    double best_cycles = std::numeric_limits<double>::infinity();
    for (const std::int64_t v : values(0)) {
      for (const std::int64_t h : values(1)) {
        for (const std::int64_t w : values(2)) {
          const QuantTiling t{.oc_vectors = v, .oh_block = h, .ow_block = w};
          const QuantPlan tried = plan.with(t);
          if (!is_legal(tried, soc)) continue;
          const double cycles =
              tried.core_cycles(soc.has_vnni) / parallel_balance(soc, tried.parallel_extent());
          if (cycles < best_cycles * 0.999) {
            best_cycles = cycles;
            best = t;
          }
        }
      }
    }
    for (const std::int64_t unroll : values(3)) {
      QuantTiling t = best;
      t.k_unroll = unroll;
      const bool is_small = t.oc_vectors * t.oh_block * t.ow_block * unroll <= kGoodBodyDots;
      if (is_small && is_legal(plan.with(t), soc)) best = t;
    }
    for (const std::int64_t tile : values(4)) {
      QuantTiling t = best;
      t.tile = tile;
      const QuantPlan tried = plan.with(t);
      if (is_legal(tried, soc) && tried.parallel_extent() >= std::int64_t{4} * soc.threads)
        best = t;
    }
    return best;
  }

  bool is_conv_;
};

}  // namespace

void register_quant_product(ImplRegistry& registry) {
  registry.add(std::make_unique<QuantProduct>(true));
  registry.add(std::make_unique<QuantProduct>(false));
}

}  // namespace aoe::compiler
