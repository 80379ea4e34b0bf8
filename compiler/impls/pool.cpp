// pool: generated MaxPoolV3 and AvgPoolV2 over two spatial axes with the channels in vector lanes
// (NC1HWC0 and NHWC).
// A parallel iteration computes one row of outputs of one vector of channels; those of a thread follow each other in memory,
// so that threads share no lines (four vectors of bytes are one). The nest: compiler/conv/pool_nest.h.
#include <algorithm>

#include "compiler/conv/pool_nest.h"
#include "compiler/emit/integer_math.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

std::int64_t batch_of(const Task& task) {
  return task.in(0).shape[0];
}

class PoolPlan final : public Plan {
 public:
  PoolPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, {{kBlock, blocks(*pool_window(task), soc)}}),
        window_(*pool_window(task)) {}

  Features features(const Schedule& schedule) const override {
    const PoolCut cut = cut_by(schedule);
    const std::int64_t rows = batch_of(task()) * cut.vectors() * cut.window.height().output;
    const auto [first, last] = interior_columns(cut.window.width());
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"lane_use",
             static_cast<double>(cut.channels) / static_cast<double>(cut.vectors() * cut.lanes)},
            {"interior",
             static_cast<double>(last - first) / static_cast<double>(cut.window.width().output)},
            {"ow_block", static_cast<double>(cut.ow_block)},
            {"iterations", static_cast<double>(rows)},
            {"balance", parallel_balance(soc(), rows)}};
  }

  double estimate_ns(const Schedule& schedule) const override {
    const PoolCut cut = cut_by(schedule);
    const double cycles = static_cast<double>(batch_of(task())) * cut.core_cycles();
    return launch_ns(soc()) + std::max(compute_ns(soc(), cycles * 4.0 * cut.lanes, 1.0),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    const PoolCut cut = cut_by(schedule);
    const std::int64_t rows = cut.window.height().output, vectors = cut.vectors();
    Builder builder("pool");
    const ImageLayout in = image_layout(task().in(0).shape, format().inputs[0], cut.lanes);
    const ImageStore store(task(), format(), cut.lanes);
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    const bool are_vectors_outer = format().inputs[0] == Format::kNC1HWC0;
    builder.parallel(batch_of(task()) * vectors * rows, [&](Int p) {
      const Int row = are_vectors_outer ? p % rows : p / vectors % rows;
      const Int vector = are_vectors_outer ? p / rows % vectors : p % vectors;
      write_pool_row(builder, cut, {in, store, buffers, p / (rows * vectors), row, row + 1}, vector,
                     row);
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  static constexpr const char* kBlock = "ow_block";

  static std::vector<std::int64_t> blocks(const PoolWindow& window, const Soc& soc) {
    constexpr std::int64_t kMaxTapsWritten = 64;  // loads in the code of one block: beyond, no gain
    const std::int64_t most =
        std::min({window.width().output, kMaxTapsWritten / window.width().kernel,
                  std::int64_t{soc.vector_registers() / 2}});
    return up_to(std::max<std::int64_t>(1, most), {1, 2, 3, 4, 6, 7, 8, 14});
  }

  Schedule search() const override {
    constexpr std::int64_t kGoodBlock = 4;
    return {{kBlock, up_to(kGoodBlock, blocks(window_, soc())).back()}};
  }

  PoolCut cut_by(const Schedule& schedule) const {
    return {.window = window_,
            .channels = task().in(0).shape[1],
            .lanes = soc().vector_lanes(),
            .ow_block = schedule.at(kBlock)};
  }

  PoolWindow window_;
};

class Pool final : public ImplBy<PoolPlan> {
 public:
  std::string_view name() const override { return "pool"; }
  int version() const override { return 3; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    const auto window = pool_window(task);
    if (!window) return Unexpected(window.error());
    constexpr std::int64_t kMostEdgeTaps = 4096;
    if (const std::int64_t taps = edge_taps(window->width()); taps > kMostEdgeTaps)
      return Unexpected("would spell out " + std::to_string(taps) + " loads at borders, at most " +
                        std::to_string(kMostEdgeTaps));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> choices = {plain_format(task, "NHWC", Format::kNHWC)};
    // The maximum of nothing is -inf, in lanes beyond the channels too, which must stay zero.
    const bool are_lanes_full = task.in(0).shape[1] % soc.vector_lanes() == 0;
    if (are_lanes_full || !has_empty_window(*pool_window(task)))
      choices.insert(choices.begin(), plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    return choices;
  }
};

}  // namespace

void register_pool(ImplRegistry& registry) {
  registry.add(std::make_unique<Pool>());
}

}  // namespace aoe::compiler
