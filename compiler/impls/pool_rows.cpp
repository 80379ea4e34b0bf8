// pool_rows: generated MaxPoolV3 and AvgPoolV2 in dense NCHW layout, with neighbouring outputs of a
// row in vector lanes.
//
// A parallel iteration pools one plane, some rows of outputs at a time: first down the columns, from whole vectors of the
// input into scratch rows that have the padding of the width around them, then along these rows. So an element is read once
// for each window of a column rather than once for each window, and only rows need bounds. Where averages are taken of
// different numbers of elements, their reciprocals come from a constant table. Maxima of long windows are made of those of shorter ones
// (compiler/conv/running_maxima.h).
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "compiler/conv/pool_window.h"
#include "compiler/conv/running_maxima.h"
#include "compiler/conv/tap_bounds.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

/// Elements of the padded axis that windows touch.
std::int64_t padded_extent(const reference::WindowAxis& axis) {
  return std::max(axis.pad_begin + axis.input, (axis.output - 1) * axis.stride + axis.reach());
}

/// 1 / number of elements behind output (oh, ow).
float factor(const PoolWindow& window, std::int64_t oh, std::int64_t ow) {
  const auto count = [&](const reference::WindowAxis& axis, std::int64_t o) {
    const TapRange inside = taps_inside(axis, o);
    return window.counts_padding ? axis.padded_taps(o) : inside.end - inside.begin;
  };
  const std::int64_t elements = count(window.height(), oh) * count(window.width(), ow);
  return 1.0f / static_cast<float>(std::max<std::int64_t>(1, elements));
}

PackedConstant factor_table(const PoolWindow& window) {
  const std::int64_t height = window.height().output, width = window.width().output;
  return {.size_bytes = static_cast<std::size_t>(height * width) * sizeof(float),
          .pack = [=](void* destination) {
            float* to = static_cast<float*>(destination);
            for (std::int64_t oh = 0; oh < height; ++oh) {
              for (std::int64_t ow = 0; ow < width; ++ow) *to++ = factor(window, oh, ow);
            }
          }};
}

/// Emits one plane.
class PlaneEmitter {
 public:
  PlaneEmitter(Builder& builder, const PoolWindow& window, int lanes, loopnest::Buffer scratch)
      : builder_(builder),
        h_(window.height()),
        w_(window.width()),
        is_max_(window.is_max),
        lanes_(lanes),
        width_(padded_extent(w_)),
        scratch_(scratch) {}

  /// What no row overwrites.
  void clear_padding(std::int64_t rows) {
    const Vec padding = splat(start(), lanes_);
    loopnest::vector_loop(
        builder_, "clear", rows * width_, lanes_,
        [&](Int i, std::optional<Int> active) { builder_.store(scratch_, i, padding, active); });
  }

  /// All rows, `block` at a time: what has just been written is not yet where loads of other places find it.
  void pool(loopnest::Buffer x, Int x_base, loopnest::Buffer y, Int y_base,
            std::optional<loopnest::Buffer> factors, std::int64_t block) {
    const auto rows = [&](Int first, std::int64_t count) {
      builder_.loop("down", 0, count, 1,
                    [&](Int r) { pool_down(x, x_base, first + r, r * width_); });
      builder_.loop("along", 0, count, 1,
                    [&](Int r) { pool_along(y, y_base, factors, first + r, r * width_); });
    };
    const std::int64_t whole = h_.output / block * block;
    builder_.loop("rows", 0, whole, block, [&](Int first) { rows(first, block); });
    if (whole < h_.output) rows(whole, h_.output - whole);
  }

 private:
  float start() const { return is_max_ ? -std::numeric_limits<float>::infinity() : 0.0f; }

  /// A maximum of three takes four instructions, two of two take six.
  Vec combine(const std::vector<Vec>& values) const {
    Vec all = values[0];
    std::size_t i = 1;
    for (; is_max_ && i + 1 < values.size(); i += 2) all = max(all, values[i], values[i + 1]);
    for (; i < values.size(); ++i) all = is_max_ ? max(all, values[i]) : all + values[i];
    return all;
  }

  void pool_down(loopnest::Buffer x, Int base, Int oh, Int row) {
    const Int first = first_tap(h_, oh), end = end_tap(h_, oh);
    const auto place = [&](Int kh) {
      return base + (oh * h_.stride + kh * h_.dilation - h_.pad_begin) * w_.input;
    };
    const auto columns = [&](const std::function<Vec(Int w, std::optional<Int> active)>& value) {
      loopnest::vector_loop(builder_, "w", w_.input, lanes_, [&](Int w, std::optional<Int> active) {
        builder_.store(scratch_, row + w_.pad_begin + w, value(w, active), active);
      });
    };
    const auto written_out = [&] {
      columns([&](Int w, std::optional<Int> active) {
        std::vector<Vec> taps;
        for (std::int64_t kh = 0; kh < h_.kernel; ++kh)
          taps.push_back(builder_.load(x, place(kh) + w, lanes_, active));
        return combine(taps);
      });
    };
    const auto counted = [&] {
      columns([&](Int w, std::optional<Int> active) {
        const Local all = builder_.local(splat(start(), lanes_));
        builder_.loop("kh", first, end, 1, [&](Int kh) {
          const Vec tap = builder_.load(x, place(kh) + w, lanes_, active);
          builder_.assign(all, combine({tap, builder_.get(all)}));
        });
        return builder_.get(all);
      });
    };
    if (h_.kernel > kMostWritten) return counted();
    const loopnest::Bool is_whole = end - first == Int(h_.kernel);
    if (is_whole.constant()) return *is_whole.constant() ? written_out() : counted();
    builder_.if_(is_whole, written_out, counted);
  }

  void pool_along(loopnest::Buffer y, Int base, std::optional<loopnest::Buffer> factors, Int oh,
                  Int row) {
    loopnest::vector_loop(builder_, "ow", w_.output, lanes_,
                          [&](Int ow, std::optional<Int> active) {
                            const auto tap = [&](Int kw) {
                              const Int at = row + ow * w_.stride + kw * w_.dilation;
                              return builder_.load(scratch_, at, lanes_, active, w_.stride);
                            };
                            const Local all = builder_.local(tap(0));
                            if (w_.kernel > kMostWritten) {
                              builder_.loop("kw", 1, w_.kernel, 1, [&](Int kw) {
                                builder_.assign(all, combine({builder_.get(all), tap(kw)}));
                              });
                            } else {
                              std::vector<Vec> taps = {builder_.get(all)};
                              for (std::int64_t kw = 1; kw < w_.kernel; ++kw)
                                taps.push_back(tap(kw));
                              builder_.assign(all, combine(taps));
                            }
                            const Int at = oh * w_.output + ow;
                            Vec value = builder_.get(all);
                            if (factors)
                              value = value * builder_.load(*factors, at, lanes_, active);
                            builder_.store(y, base + at, value, active);
                          });
  }

  static constexpr std::int64_t kMostWritten = 8;  ///< taps of an axis without a loop

  Builder& builder_;
  const reference::WindowAxis &h_, &w_;
  bool is_max_;
  int lanes_;
  std::int64_t width_;  ///< of a padded row
  loopnest::Buffer scratch_;
};

class PoolRowsPlan final : public Plan {
 public:
  PoolRowsPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, {{kRows, row_counts(*pool_window(task), soc)}}),
        window_(*pool_window(task)) {}

  Features features(const Schedule& schedule) const override {
    const std::int64_t planes = task().in(0).shape[0] * task().in(0).shape[1];
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"scratch_per_l1", static_cast<double>(scratch_bytes(schedule.at(kRows))) /
                                   static_cast<double>(soc().l1d_bytes)},
            {"width", static_cast<double>(window_.width().output)},
            {"rows", static_cast<double>(schedule.at(kRows))},
            {"iterations", static_cast<double>(planes)},
            {"balance", parallel_balance(soc(), planes)}};
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kEfficiency = 0.3;
    return launch_ns(soc()) + std::max(compute_ns(soc(), flops(task()), kEfficiency),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    Kernel kernel = kernel_for("jit");
    if (!window_.is_max) kernel.constants.push_back(factor_table(window_));
    Builder builder("pool_rows");
    const KernelBuffers buffers = declare_buffers(builder, task(), kernel.constants.size(), false);
    const std::int64_t rows = schedule.at(kRows);
    const bool is_running = has_running_maxima(window_, soc());
    const loopnest::Buffer scratch =
        builder.scratch("rows", is_running ? running_maxima_scratch(window_)
                                           : rows * padded_extent(window_.width()));
    const std::int64_t in_plane = window_.window.input_elements();
    const std::int64_t out_plane = window_.window.output_elements();
    builder.parallel(task().in(0).shape[0] * task().in(0).shape[1], [&](Int p) {
      if (is_running)
        return emit_running_maxima(builder, window_, soc().vector_lanes(), scratch,
                                   *buffers.inputs[0], p * in_plane, buffers.outputs[0],
                                   p * out_plane);
      PlaneEmitter plane(builder, window_, soc().vector_lanes(), scratch);
      if (padded_extent(window_.width()) > window_.width().input) plane.clear_padding(rows);
      plane.pool(*buffers.inputs[0], p * in_plane, buffers.outputs[0], p * out_plane,
                 window_.is_max ? std::nullopt : std::optional(buffers.constants[0]), rows);
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }

 private:
  static constexpr const char* kRows = "rows";

  static bool has_running_maxima(const PoolWindow& window, const Soc& soc) {
    return suits_running_maxima(window, soc.l2_bytes / 2);
  }

  /// Planes of running maxima are not cut into rows.
  static std::vector<std::int64_t> row_counts(const PoolWindow& window, const Soc& soc) {
    if (has_running_maxima(window, soc)) return {1};
    return up_to(window.height().output, {1, 2, 4, 8, 16, 32, 64});
  }

  std::int64_t scratch_bytes(std::int64_t rows) const {
    return rows * padded_extent(window_.width()) * std::int64_t{sizeof(float)};
  }

  /// As many as fit into half of L1.
  Schedule search() const override {
    const std::int64_t most = soc().l1d_bytes / 2 / scratch_bytes(1);
    return {{kRows, up_to(std::max<std::int64_t>(1, most), axes()[0].values).back()}};
  }

  PoolWindow window_;
};

class PoolRows final : public ImplBy<PoolRowsPlan> {
 public:
  std::string_view name() const override { return "pool_rows"; }
  int version() const override { return 3; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    const auto window = pool_window(task);
    if (!window) return Unexpected(window.error());
    const std::int64_t row_bytes = padded_extent(window->width()) * std::int64_t{sizeof(float)};
    if (row_bytes > soc.l2_bytes) {
      return Unexpected("a row of " + std::to_string(row_bytes) + " bytes, at most " +
                        std::to_string(soc.l2_bytes));
    }
    return {};
  }
};

}  // namespace

void register_pool_rows(ImplRegistry& registry) {
  registry.add(std::make_unique<PoolRows>());
}

}  // namespace aoe::compiler
