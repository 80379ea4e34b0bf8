// pool_rows: generated MaxPoolV3 and AvgPoolV2 in dense NCHW layout, with neighbouring outputs of a
// row in vector lanes.
//
// A parallel iteration copies one plane into scratch memory with its padding around it, so that no
// window needs a bound, and slides over that. Where averages are taken of different numbers of
// elements, their reciprocals come from a constant table.
#include <algorithm>
#include <limits>

#include "compiler/conv/pool_window.h"
#include "compiler/kernel_buffers.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::splat;
using loopnest::Vec;

/// Elements of the padded axis that windows touch.
std::int64_t padded_extent(const reference::WindowAxis& axis) {
  return std::max(axis.pad_begin + axis.input, (axis.output - 1) * axis.stride + axis.reach());
}

/// 1 / number of elements behind output (oh, ow).
float factor(const PoolWindow& window, std::int64_t oh, std::int64_t ow) {
  const auto count = [&](const reference::WindowAxis& axis, std::int64_t o) {
    const TapRange inside = taps_inside(axis, o);
    return window.counts_padding ? padded_taps(axis, o) : inside.end - inside.begin;
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
        row_(padded_extent(w_)),
        scratch_(scratch) {}

  void copy_padded(loopnest::Buffer x, Int base) {
    const Vec padding = splat(start(), lanes_);
    loopnest::vector_loop(
        builder_, "clear", padded_extent(h_) * row_, lanes_,
        [&](Int i, std::optional<Int> active) { builder_.store(scratch_, i, padding, active); });
    builder_.loop("h", 0, h_.input, 1, [&](Int h) {
      loopnest::vector_loop(builder_, "w", w_.input, lanes_, [&](Int w, std::optional<Int> active) {
        const Vec row = builder_.load(x, base + h * w_.input + w, lanes_, active);
        builder_.store(scratch_, (h + h_.pad_begin) * row_ + w_.pad_begin + w, row, active);
      });
    });
  }

  void pool(loopnest::Buffer y, Int base, std::optional<loopnest::Buffer> factors,
            std::int64_t unroll) {
    const auto row = [&](Int oh) {
      loopnest::vector_loop(builder_, "ow", w_.output, lanes_,
                            [&](Int ow, std::optional<Int> active) {
                              Vec value = window(oh, ow, active);
                              const Int at = oh * w_.output + ow;
                              if (factors)
                                value = value * builder_.load(*factors, at, lanes_, active);
                              builder_.store(y, base + at, value, active);
                            });
    };
    const std::int64_t unrolled = h_.output / unroll * unroll;
    builder_.loop("oh", 0, unrolled, unroll, [&](Int oh) {
      for (std::int64_t u = 0; u < unroll; ++u) row(oh + u);
    });
    builder_.loop("oh", unrolled, h_.output, 1, row);
  }

 private:
  float start() const { return is_max_ ? -std::numeric_limits<float>::infinity() : 0.0f; }

  Vec window(Int oh, Int ow, std::optional<Int> active) {
    const Local sum = builder_.local(splat(start(), lanes_));
    builder_.loop("kh", 0, h_.kernel, 1, [&](Int kh) {
      for (std::int64_t kw = 0; kw < w_.kernel; ++kw) {
        const Int at =
            (oh * h_.stride + kh * h_.dilation) * row_ + ow * w_.stride + kw * w_.dilation;
        const Vec x = builder_.load(scratch_, at, lanes_, active, w_.stride);
        const Vec before = builder_.get(sum);
        builder_.assign(sum, is_max_ ? max(x, before) : before + x);
      }
    });
    return builder_.get(sum);
  }

  Builder& builder_;
  const reference::WindowAxis &h_, &w_;
  bool is_max_;
  int lanes_;
  std::int64_t row_;  ///< of the padded plane
  loopnest::Buffer scratch_;
};

std::int64_t plane_elements(const PoolWindow& window) {
  return padded_extent(window.height()) * padded_extent(window.width());
}

class PoolRowsPlan final : public Plan {
 public:
  PoolRowsPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, {{kUnroll, {1, 2, 4}}}), window_(*pool_window(task)) {}

  Features features(const Schedule& schedule) const override {
    const std::int64_t planes = task().in(0).shape[0] * task().in(0).shape[1];
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"plane_bytes_per_l1", 4.0 * static_cast<double>(plane_elements(window_)) /
                                       static_cast<double>(soc().l1d_bytes)},
            {"width", static_cast<double>(window_.width().output)},
            {"unroll", static_cast<double>(schedule.at(kUnroll))},
            {"iterations", static_cast<double>(planes)},
            {"balance", parallel_balance(soc(), planes)}};
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kEfficiency = 0.1, kPasses = 2;
    return launch_ns(soc()) + std::max(compute_ns(soc(), flops(task()), kEfficiency),
                                       kPasses * memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    Kernel kernel = kernel_for("jit");
    if (!window_.is_max) kernel.constants.push_back(factor_table(window_));
    Builder builder("pool_rows");
    const KernelBuffers buffers = declare_buffers(builder, task(), kernel.constants.size(), false);
    const loopnest::Buffer scratch = builder.scratch("plane", plane_elements(window_));
    const std::int64_t in_plane = window_.window.input_elements();
    const std::int64_t out_plane = window_.window.output_elements();
    builder.parallel(task().in(0).shape[0] * task().in(0).shape[1], [&](Int p) {
      PlaneEmitter plane(builder, window_, soc().vector_lanes, scratch);
      plane.copy_padded(*buffers.inputs[0], p * in_plane);
      plane.pool(buffers.outputs[0], p * out_plane,
                 window_.is_max ? std::nullopt : std::optional(buffers.constants[0]),
                 schedule.at(kUnroll));
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }

 private:
  static constexpr const char* kUnroll = "unroll";

  Schedule search() const override { return {{kUnroll, 2}}; }

  PoolWindow window_;
};

class PoolRows final : public ImplBy<PoolRowsPlan> {
 public:
  std::string_view name() const override { return "pool_rows"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (auto plain = supports_plain(task, {"MaxPoolV3", "AvgPoolV2"}); !plain) return plain;
    const auto window = pool_window(task);
    if (!window) return Unexpected(window.error());
    const std::int64_t plane_bytes = plane_elements(*window) * std::int64_t{sizeof(float)};
    if (plane_bytes > soc.l2_bytes) {
      return Unexpected("a plane of " + std::to_string(plane_bytes) + " bytes, at most " +
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
