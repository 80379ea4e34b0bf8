// lrn: generated LRN: each element over a power of the squares of its neighbours across channels.
//
// In dense layout lanes run along pixels and a loop along channels. With the channels in lanes the
// channels of some pixels are first copied side by side into scratch memory, with zeros around them, so
// that neighbours are unaligned loads without bounds. Some pixels, as a load that spans two stores
// waits until both have left the store buffer.
#include <algorithm>

#include "compiler/conv/image_layout.h"
#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kLrnElementCost = 40;  ///< vector operations, the power included

struct Lrn {
  std::int64_t batch, channels, pixels;
  std::int64_t before, after;  ///< neighbouring channels that count
  float alpha_per_size, beta, bias;
};

Lrn lrn_of(const Task& task) {
  const Shape& shape = task.in(0).shape;
  const std::int64_t size = task.op.attrs.get_int("size", 1);
  return {.batch = shape[0],
          .channels = shape[1],
          .pixels = reference::dim_product(shape, 2, shape.size()),
          .before = (size - 1) / 2,
          .after = size / 2,
          .alpha_per_size = task.op.attrs.get_float("alpha", 1e-4f) / static_cast<float>(size),
          .beta = task.op.attrs.get_float("beta", 0.75f),
          .bias = task.op.attrs.get_float("bias", 1.0f)};
}

/// x / (bias + alpha * squares) ^ beta
Vec normalised(Builder& builder, const Lrn& lrn, const Vec& x, const Vec& squares) {
  const int lanes = x.lanes();
  const Vec base = builder.get(
      builder.local(fma(squares, splat(lrn.alpha_per_size, lanes), splat(lrn.bias, lanes))));
  if (lrn.beta == 0.75f) {  // what every known model has
    const Vec root = builder.get(builder.local(sqrt(base)));
    return x / (root * sqrt(root));
  }
  return x * exp(splat(-lrn.beta, lanes) * log(base));
}

Vec sum_of_squares(Builder& builder, std::int64_t count, int lanes,
                   const std::function<Vec(std::int64_t)>& neighbour) {
  Vec sum = splat(0.0f, lanes);
  for (std::int64_t k = 0; k < count; ++k) {
    const Vec x = builder.get(builder.local(neighbour(k)));
    sum = fma(x, x, sum);
  }
  return sum;
}

/// Channels [begin, end) of a plane's vector of pixels.
void emit_dense(Builder& builder, const Lrn& lrn, Buffer x, Buffer y, const NestPosition& at,
                int lanes) {
  const auto load = [&](Int c) {
    return builder.load(x, at.offsets[0] + c * lrn.pixels, lanes, at.active);
  };
  const auto channel = [&](Int c, std::int64_t before, std::int64_t after) {
    const Vec squares = sum_of_squares(builder, before + 1 + after, lanes,
                                       [&](std::int64_t k) { return load(c - before + k); });
    builder.store(y, at.offsets[0] + c * lrn.pixels, normalised(builder, lrn, load(c), squares),
                  at.active);
  };
  // The first and the last channels have fewer neighbours.
  const std::int64_t first = std::min(lrn.before, lrn.channels);
  const std::int64_t last = std::max(first, lrn.channels - lrn.after);
  const auto border = [&](std::int64_t c) {
    channel(c, std::min(c, lrn.before), std::min(lrn.channels - 1 - c, lrn.after));
  };
  for (std::int64_t c = 0; c < first; ++c) border(c);
  builder.loop("c", first, last, 1, [&](Int c) { channel(c, lrn.before, lrn.after); });
  for (std::int64_t c = last; c < lrn.channels; ++c) border(c);
}

std::int64_t row_elements(const Lrn& lrn, int lanes) {
  return lrn.before + round_up(lrn.channels, lanes) + lrn.after;
}

/// One pixel with the channels in lanes; `row` is its place in scratch memory, `base` that in the image.
class PixelEmitter {
 public:
  PixelEmitter(Builder& builder, const Lrn& lrn, const ImageLayout& layout, Buffer x, Buffer y,
               Buffer rows, int lanes)
      : builder_(builder), lrn_(lrn), layout_(layout), x_(x), y_(y), rows_(rows), lanes_(lanes) {}

  /// Zeros around the channels.
  void clear(Int row) const {
    const auto zeros = [&](std::int64_t begin, std::int64_t end) {
      loopnest::vector_loop(builder_, "clear", end - begin, lanes_,
                            [&](Int i, std::optional<Int> active) {
                              builder_.store(rows_, row + begin + i, splat(0.0f, lanes_), active);
                            });
    };
    zeros(0, lrn_.before);
    zeros(lrn_.before + lrn_.channels, row_elements(lrn_, lanes_));
  }

  void copy(Int row, Int base) const {
    for_each_vector(base, [&](Int c, Int place, std::optional<Int> active) {
      builder_.store(rows_, row + c + lrn_.before, builder_.load(x_, place, lanes_, active),
                     active);
    });
  }

  void normalise(Int row, Int base) const {
    for_each_vector(base, [&](Int c, Int place, std::optional<Int> active) {
      const Vec squares = sum_of_squares(
          builder_, lrn_.before + 1 + lrn_.after, lanes_,
          [&](std::int64_t k) { return builder_.load(rows_, row + c + k, lanes_, active); });
      const Vec own = builder_.load(rows_, row + c + lrn_.before, lanes_, active);
      builder_.store(y_, place, normalised(builder_, lrn_, own, squares), active);
    });
  }

 private:
  void for_each_vector(
      Int base, const std::function<void(Int c, Int place, std::optional<Int>)>& body) const {
    const bool is_blocked = layout_.c0 != 0;
    const std::int64_t extent = is_blocked ? round_up(lrn_.channels, lanes_) : lrn_.channels;
    loopnest::vector_loop(builder_, "c", extent, lanes_, [&](Int c, std::optional<Int> active) {
      body(c, base + (is_blocked ? c / lanes_ * layout_.channel_block : c), active);
    });
  }

  Builder& builder_;
  const Lrn& lrn_;
  const ImageLayout& layout_;
  Buffer x_, y_, rows_;
  int lanes_;
};

StridedNest dense_nest(const Lrn& lrn) {
  return {.extents = {lrn.batch, lrn.pixels}, .strides = {{lrn.channels * lrn.pixels, 1}}};
}

/// Either of the two ways. Vector operations for an element are as measured.
Features lrn_features(const Task& task, bool is_dense, std::int64_t block) {
  return {{"bytes", bytes_moved(task)},
          {"is_dense", is_dense ? 1.0 : 0.0},
          {"block", static_cast<double>(block)}};
}

class DenseLrnPlan final : public NestPlan {
 public:
  /// Each vector brings a whole loop over channels.
  DenseLrnPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, dense_nest(lrn_of(task)), soc.vector_lanes(),
                 lrn_of(task).channels * kLrnElementCost,
                 {{"unroll", &NestTiling::unroll, {1}}, 1}) {}

  Features features(const Schedule& schedule) const override {
    return lrn_features(task(), true, tiling(schedule).inner_block);
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kMeasuredCost = 16;
    return plain_estimate_ns(task(), soc(), kMeasuredCost);
  }

  Kernel build(const Schedule& schedule) const override {
    const Lrn lrn = lrn_of(task());
    Builder builder("lrn");
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    emit(builder, tiling(schedule), [&](const NestPosition& at) {
      emit_dense(builder, lrn, *buffers.inputs[0], buffers.outputs[0], at, soc().vector_lanes());
    });
    return jit_kernel(builder.finish(), {});
  }
};

class PixelLrnPlan final : public Plan {
 public:
  PixelLrnPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, {{kPixels, {1, 4, 16, 64}}}), lrn_(lrn_of(task)) {}

  Features features(const Schedule& schedule) const override {
    return lrn_features(task(), false, schedule.at(kPixels));
  }

  double estimate_ns(const Schedule&) const override {
    constexpr double kMeasuredCost = 26;
    return plain_estimate_ns(task(), soc(), kMeasuredCost);
  }

  Kernel build(const Schedule& schedule) const override {
    const std::int64_t block = schedule.at(kPixels);
    const int lanes = soc().vector_lanes();
    Builder builder("lrn");
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    const Buffer x = *buffers.inputs[0], y = buffers.outputs[0];
    const ImageLayout layout = image_layout(task().in(0).shape, format().inputs[0], lanes);
    const std::int64_t row = row_elements(lrn_, lanes);
    const Buffer rows = builder.scratch("rows", block * row);
    const PixelEmitter emitter(builder, lrn_, layout, x, y, rows, lanes);
    const std::int64_t blocks = ceil_div(lrn_.pixels, block);
    const std::int64_t pixel = format().inputs[0] == Format::kNHWC ? lrn_.channels : lanes;
    builder.parallel(lrn_.batch * blocks, [&](Int p) {
      const Int first = p % blocks * block, base = p / blocks * layout.batch + first * pixel;
      const Int count = min(Int(block), Int(lrn_.pixels) - first);
      builder.loop("clear", 0, count, 1, [&](Int i) { emitter.clear(i * row); });
      builder.loop("copy", 0, count, 1, [&](Int i) { emitter.copy(i * row, base + i * pixel); });
      builder.loop("pixel", 0, count, 1,
                   [&](Int i) { emitter.normalise(i * row, base + i * pixel); });
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  static constexpr const char* kPixels = "pixels";

  Schedule search() const override { return {{kPixels, 4}}; }

  Lrn lrn_;
};

class LrnImpl final : public Impl {
 public:
  std::string_view name() const override { return "lrn"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"LRN"}); !plain) return plain;
    constexpr std::int64_t kMostNeighbours = 64;  // they are written out
    const std::int64_t size = task.op.attrs.get_int("size", 1);
    if (size > kMostNeighbours) {
      return Unexpected("size " + std::to_string(size) + ", at most " +
                        std::to_string(kMostNeighbours));
    }
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    std::vector<FormatChoice> choices = {plain_format(task, "ND", Format::kND)};
    if (task.in(0).shape.size() != 4) return choices;
    choices.push_back(plain_format(task, "NC1HWC0", Format::kNC1HWC0));
    choices.push_back(plain_format(task, "NHWC", Format::kNHWC));
    return choices;
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    if (format.inputs[0] == Format::kND) return std::make_unique<DenseLrnPlan>(task, format, soc);
    return std::make_unique<PixelLrnPlan>(task, format, soc);
  }
};

}  // namespace

void register_lrn(ImplRegistry& registry) {
  registry.add(std::make_unique<LrnImpl>());
}

}  // namespace aoe::compiler
