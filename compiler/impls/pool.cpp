// pool: generated MaxPoolV3 and AvgPoolV2 over two spatial axes with the channels in vector lanes
// (NC1HWC0 and NHWC).
//
// A parallel iteration computes one row of outputs of one vector of channels. Columns whose windows
// stick out to the left or right are written out one by one with their own range of taps; those
// between them run in blocks that share loads. Rows that stick out shorten the loop over the
// window's rows.
#include <algorithm>
#include <limits>

#include "compiler/conv/image_layout.h"
#include "compiler/conv/pool_window.h"
#include "compiler/kernel_buffers.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using loopnest::broadcast;
using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::splat;
using loopnest::Vec;

struct Geometry {
  PoolWindow window;
  ImageLayout in, out;
  std::int64_t batch, channels, vectors;  ///< vectors of channels
  int lanes;
};

Geometry geometry_of(const Task& task, const FormatChoice& format, const Soc& soc) {
  const Shape& shape = task.in(0).shape;
  const int lanes = soc.vector_lanes;
  return {.window = *pool_window(task),
          .in = image_layout(shape, format.inputs[0], lanes),
          .out = image_layout(task.out().shape, format.outputs[0], lanes),
          .batch = shape[0],
          .channels = shape[1],
          .vectors = (shape[1] + lanes - 1) / lanes,
          .lanes = lanes};
}

/// Emits one row of outputs.
class RowEmitter {
 public:
  RowEmitter(Builder& builder, const Geometry& geometry, const KernelBuffers& buffers, Int p)
      : builder_(builder), g_(geometry), buffers_(buffers) {
    const std::int64_t rows = g_.window.height().output;
    row_ = p % rows;
    const Int vector = p / rows % g_.vectors, n = p / rows / g_.vectors;
    const auto channel_offset = [&](const ImageLayout& layout) {
      return layout.c0 != 0 ? vector * layout.channel_block : vector * g_.lanes * layout.channel;
    };
    in_base_ = n * g_.in.batch + channel_offset(g_.in);
    out_base_ = n * g_.out.batch + channel_offset(g_.out) + row_ * g_.out.row;
    if (g_.in.c0 == 0 && g_.channels % g_.lanes != 0) {
      active_ = min(Int(g_.lanes), Int(g_.channels) - vector * g_.lanes);
    }
  }

  void run(std::int64_t block) {
    const auto [first, last] = interior_columns(g_.window.width());
    for (std::int64_t o = 0; o < first; ++o) columns(o, 1);
    const std::int64_t blocked = first + (last - first) / block * block;
    builder_.loop("ow", first, blocked, block, [&](Int o) { columns(o, block); });
    if (blocked < last) columns(blocked, last - blocked);
    for (std::int64_t o = last; o < g_.window.width().output; ++o) columns(o, 1);
  }

 private:
  /// `count` neighbouring outputs from column `first` on: an interior block, or a single one at a
  /// border.
  void columns(Int first, std::int64_t count) {
    const reference::WindowAxis &h = g_.window.height(), &w = g_.window.width();
    TapRange taps{0, w.kernel};
    if (first.constant() && count == 1) taps = taps_inside(w, *first.constant());
    std::vector<Local> sums;
    for (std::int64_t i = 0; i < count; ++i) {
      sums.push_back(builder_.local(splat(g_.window.is_max ? kLowest : 0.0f, g_.lanes)));
    }
    const Int above = Int(h.pad_begin) - row_ * h.stride;  // window rows above the input
    builder_.loop("kh", first_tap(h, above), last_tap(h, above), 1, [&](Int kh) {
      const Int row = in_base_ + (kh * h.dilation - above) * g_.in.row;
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t kw = taps.begin; kw < taps.end; ++kw) {
          const Int column = (first + i) * w.stride - w.pad_begin + kw * w.dilation;
          const Vec x =
              builder_.load(*buffers_.inputs[0], row + column * g_.in.pixel, g_.lanes, active_, 1);
          const Local sum = sums[static_cast<std::size_t>(i)];
          const Vec before = builder_.get(sum);
          builder_.assign(sum, g_.window.is_max ? max(before, x) : before + x);
        }
      }
    });
    for (std::int64_t i = 0; i < count; ++i)
      store(first + i, above, taps, sums[static_cast<std::size_t>(i)]);
  }

  void store(Int column, Int above, const TapRange& taps, Local sum) {
    Vec value = builder_.get(sum);
    if (!g_.window.is_max) value = value * broadcast(factor(column, above, taps), g_.lanes);
    builder_.store(buffers_.outputs[0], out_base_ + column * g_.out.pixel, value, active_);
  }

  /// 1 / number of elements that the average is taken of.
  Vec factor(Int column, Int above, const TapRange& taps) {
    const reference::WindowAxis &h = g_.window.height(), &w = g_.window.width();
    std::int64_t columns = taps.end - taps.begin;
    Int rows = last_tap(h, above) - first_tap(h, above);
    if (g_.window.counts_padding) {
      // Interior windows lie inside anyway; only ceil_mode reaches beyond the padding.
      columns = column.constant() ? padded_taps(w, *column.constant()) : w.kernel;
      rows = last_padded_tap(h, above);
    }
    if (rows.constant()) {
      return splat(1.0f / static_cast<float>(std::max<std::int64_t>(1, *rows.constant() * columns)),
                   1);
    }
    return splat(1.0f, 1) / to_float(max(rows * columns, Int(1)));
  }

  /// First tap at or below the input's first row, and one behind the last: bounds of the loop over
  /// the window's rows.
  static Int first_tap(const reference::WindowAxis& h, Int above) {
    if (h.pad_begin == 0) return 0;
    return (max(above, 0) + (h.dilation - 1)) / h.dilation;
  }
  static Int last_tap(const reference::WindowAxis& h, Int above) {
    if (!sticks_out(h, h.input)) return h.kernel;
    return min(Int(h.kernel), (max(above + h.input, 0) + (h.dilation - 1)) / h.dilation);
  }
  static Int last_padded_tap(const reference::WindowAxis& h, Int above) {
    if (!sticks_out(h, h.input + h.pad_end)) return h.kernel;
    return min(Int(h.kernel),
               (max(above + h.input + h.pad_end, 0) + (h.dilation - 1)) / h.dilation);
  }
  /// Does the last window reach behind `end`?
  static bool sticks_out(const reference::WindowAxis& h, std::int64_t end) {
    return h.tap(h.output - 1, h.kernel - 1) >= end;
  }

  static constexpr float kLowest = -std::numeric_limits<float>::infinity();

  Builder& builder_;
  const Geometry& g_;
  const KernelBuffers& buffers_;
  Int row_ = 0, in_base_ = 0, out_base_ = 0;
  std::optional<Int> active_;
};

class Pool final : public Impl {
 public:
  std::string_view name() const override { return "pool"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    if (task.in(0).shape.size() != 4) return Unexpected("not an image: " + to_string(task.in(0)));
    if (const auto window = pool_window(task); !window) return Unexpected(window.error());
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {plain_format(task, "NC1HWC0", Format::kNC1HWC0),
            plain_format(task, "NHWC", Format::kNHWC)};
  }

  ScheduleSpace space(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const Geometry g = geometry_of(task, format, soc);
    ScheduleSpace space;
    std::vector<std::int64_t> blocks;
    const std::int64_t most =
        std::min<std::int64_t>(g.window.width().output, soc.vector_registers / 2);
    for (const std::int64_t block : {1, 2, 3, 4, 6, 7, 8, 14}) {
      if (block <= most && block * g.window.width().kernel <= kMaxTapsWritten)
        blocks.push_back(block);
    }
    if (blocks.empty()) blocks = {1};
    space.axes = {{"ow_block", blocks}};
    const auto preferred = std::upper_bound(blocks.begin(), blocks.end(), 4);
    space.heuristic = {{"ow_block", preferred == blocks.begin() ? blocks[0] : *(preferred - 1)}};
    return space;
  }

  Features features(const Task& task, const FormatChoice& format, const Schedule& schedule,
                    const Soc& soc) const override {
    const Geometry g = geometry_of(task, format, soc);
    const std::int64_t rows = g.batch * g.vectors * g.window.height().output;
    const auto [first, last] = interior_columns(g.window.width());
    return {
        {"flops", flops(task)},
        {"bytes", bytes_moved(task)},
        {"lane_use", static_cast<double>(g.channels) / static_cast<double>(g.vectors * g.lanes)},
        {"interior",
         static_cast<double>(last - first) / static_cast<double>(g.window.width().output)},
        {"ow_block", static_cast<double>(schedule.at("ow_block"))},
        {"iterations", static_cast<double>(rows)},
        {"balance", parallel_balance(soc, rows)}};
  }

  double estimate_ns(const Task& task, const FormatChoice& format, const Soc& soc) const override {
    const Geometry g = geometry_of(task, format, soc);
    // One load per operation, no multiply-adds; a maximum waits for the one before.
    const double efficiency = g.window.is_max ? 0.1 : 0.2;
    const double lane_use =
        static_cast<double>(g.channels) / static_cast<double>(g.vectors * g.lanes);
    return launch_ns(soc) + std::max(compute_ns(soc, flops(task) / lane_use, efficiency),
                                     memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice& format, const Schedule& schedule,
               const Soc& soc) const override {
    const Geometry g = geometry_of(task, format, soc);
    Builder builder("pool");
    const KernelBuffers buffers = declare_buffers(builder, task, 0, false);
    builder.parallel(g.batch * g.vectors * g.window.height().output, [&](Int p) {
      RowEmitter(builder, g, buffers, p).run(schedule.at("ow_block"));
    });
    Kernel kernel{.kind = KernelKind::kJit};
    kernel.stages.push_back(builder.finish());
    return kernel;
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
