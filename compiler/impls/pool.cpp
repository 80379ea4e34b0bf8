// pool: generated MaxPoolV3 and AvgPoolV2 over two spatial axes with the channels in vector lanes
// (NC1HWC0 and NHWC).
// A parallel iteration computes one row of outputs of one vector of channels. The nest: compiler/conv/pool_nest.h.
#include <algorithm>

#include "compiler/conv/pool_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Int;

PoolPlan plan_of(const Task& task, const Soc& soc, std::int64_t ow_block = 1) {
  return {.window = *pool_window(task),
          .channels = task.in(0).shape[1],
          .lanes = soc.vector_lanes,
          .ow_block = ow_block};
}

std::int64_t batch_of(const Task& task) {
  return task.in(0).shape[0];
}

class Pool final : public Impl {
 public:
  std::string_view name() const override { return "pool"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    if (const auto window = pool_window(task); !window) return Unexpected(window.error());
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    const PoolPlan plan = plan_of(task, soc);
    std::vector<FormatChoice> choices = {plain_format(task, "NHWC", Format::kNHWC)};
    // The maximum of nothing is -inf, in lanes beyond the channels too, which must stay zero.
    if (plan.channels % plan.lanes == 0 || !has_empty_window(plan.window))
      choices.insert(choices.begin(), plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    return choices;
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const PoolPlan plan = plan_of(task, soc);
    ScheduleSpace space;
    std::vector<std::int64_t> blocks;
    const std::int64_t most =
        std::min<std::int64_t>(plan.window.width().output, soc.vector_registers / 2);
    for (const std::int64_t block : {1, 2, 3, 4, 6, 7, 8, 14}) {
      if (block <= most && block * plan.window.width().kernel <= kMaxTapsWritten)
        blocks.push_back(block);
    }
    if (blocks.empty()) blocks = {1};
    space.axes = {{"ow_block", blocks}};
    const auto preferred = std::upper_bound(blocks.begin(), blocks.end(), 4);
    space.heuristic = {{"ow_block", preferred == blocks.begin() ? blocks[0] : *(preferred - 1)}};
    return space;
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const PoolPlan plan = plan_of(task, soc);
    const std::int64_t rows = batch_of(task) * plan.vectors() * plan.window.height().output;
    const auto [first, last] = interior_columns(plan.window.width());
    return {{"flops", flops(task)},
            {"bytes", bytes_moved(task)},
            {"lane_use",
             static_cast<double>(plan.channels) / static_cast<double>(plan.vectors() * plan.lanes)},
            {"interior",
             static_cast<double>(last - first) / static_cast<double>(plan.window.width().output)},
            {"ow_block", static_cast<double>(schedule.at("ow_block"))},
            {"iterations", static_cast<double>(rows)},
            {"balance", parallel_balance(soc, rows)}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const PoolPlan plan = plan_of(task, soc, space(task, format, soc).heuristic.at("ow_block"));
    const double cycles = static_cast<double>(batch_of(task)) * plan.core_cycles();
    return launch_ns(soc) + std::max(compute_ns(soc, cycles * 4.0 * plan.lanes, 1.0),
                                     memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    const PoolPlan plan = plan_of(task, soc, schedule.at("ow_block"));
    const std::int64_t rows = plan.window.height().output, vectors = plan.vectors();
    Builder builder("pool");
    const ImageLayout in = image_layout(task.in(0).shape, format.inputs[0], plan.lanes);
    const ImageStore store(task, format, plan.lanes);
    const KernelBuffers buffers = declare_buffers(builder, task, 0, false);
    builder.parallel(batch_of(task) * vectors * rows, [&](Int p) {
      const Int row = p % rows;
      write_pool_row(builder, plan, {in, store, buffers, p / rows / vectors, row, row + 1},
                     p / rows % vectors, row);
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  static constexpr std::int64_t kMaxTapsWritten =
      64;  ///< loads in the code of one block: beyond, no gain
};

}  // namespace

void register_pool(ImplRegistry& registry) {
  registry.add(std::make_unique<Pool>());
}

}  // namespace aoe::compiler
