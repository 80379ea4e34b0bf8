// Of one group, a row of outputs is a product for each row of the window: what its taps read of a row of pixels follows each other, so
// that a pixel's left factor begins a stride behind its neighbour's. Rows that reach into the padding are copied with zeros around them,
// each once. Depthwise, vectors of channels: a window's taps that fall inside of the image, for a few pixels at a time.
#include "native/windows/channels_last.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "native/products/product.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "native/windows/depthwise_rows.h"
#include "native/windows/laid_out_weights.h"
#include "native/windows/short_windows.h"
#include "native/windows/tiled_channels.h"
#include "reference/windows/nhwc.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

using reference::Window;
using reference::WindowAxis;

/// Weights as rows of output channels: one for each tap and input channel of a group.
Scratch weights_by_channel(const Run& run) {
  const Shape& shape = run.shape(1);
  const std::int64_t out = shape[0], in = shape[1], taps = shape[2] * shape[3];
  Scratch result(static_cast<std::size_t>(out * in * taps) * sizeof(float));
  const float* const from = run.inputs[1].as<float>();
  float* const to = result.as<float>();
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        to[(tap * in + i) * out + o] = from[(o * in + i) * taps + tap];
  return result;
}

/// Pixels of planes, of which one begins `plane` behind the other.
template <int kChannels>
AOE_WIDE void interleave(const float* from, std::int64_t plane, std::int64_t count, float* to) {
  for (std::int64_t x = 0; x < count; ++x)
    for (int c = 0; c < kChannels; ++c) to[x * kChannels + c] = from[c * plane + x];
}

void interleave(const float* from, std::int64_t plane, std::int64_t channels, std::int64_t count,
                float* to) {
  if (channels == 3) return interleave<3>(from, plane, count, to);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t x = 0; x < count; ++x) to[x * channels + c] = from[c * plane + x];
}

/// What both kinds know of a call. Rows are numbered through all images.
struct Images {
  Images(const Run& given, const RowEnding& behind)
      : run(given),
        ending(behind),
        reads_planes(reference::reads_planes(given.attrs)),
        channels_in(given.shape(0)[reads_planes ? 1 : 3]),
        channels_out(given.shape(1)[0]),
        kept(weights_of_step(given)),
        weights(kept->by_channel([&] { return weights_by_channel(given); })),
        bias(given.has_input(2) ? given.inputs[2].as<float>() : nullptr) {}

  std::int64_t count() const { return run.shape(0)[0] * h.output; }
  const float* input_row(std::int64_t image, std::int64_t row) const {
    return run.inputs[0].as<float>() + (image * h.input + row) * w.input * channels_in;
  }
  const float* plane_row(std::int64_t image, std::int64_t row) const {
    return run.inputs[0].as<float>() + (image * channels_in * h.input + row) * w.input;
  }
  float* output_row(std::int64_t row) const { return y + row * w.output * channels_out; }

  const Run& run;
  const RowEnding& ending;
  float* const y = run.output(0).as<float>();
  const Window window =
      reference::window_of(run.call.type, run.attrs, run.shape(0), run.shape(1)).value();
  const WindowAxis &h = window.height(), &w = window.width();
  const bool reads_planes;
  const std::int64_t channels_in, channels_out;
  const std::shared_ptr<const LaidOutWeights> kept;
  const float* const weights;
  const float* const bias;
};

// ---- one group ----

/// Rows of the input with zeros around them, as many as a window reaches over.
class PaddedRows {
 public:
  explicit PaddedRows(const Images& rows)
      : rows_(rows),
        length_((rows.w.output - 1) * rows.w.stride + rows.w.reach()),
        slots_(static_cast<std::size_t>(rows.h.reach()), {-1, -1}),
        memory_(static_cast<std::size_t>(rows.h.reach() * length_ * rows.channels_in) *
                sizeof(float)) {
    std::fill_n(memory_.as<float>(), rows.h.reach() * length_ * rows.channels_in, 0.f);
  }

  /// What the first tap of a row's first window reads; the input itself where no window reaches beyond it.
  const float* row(std::int64_t image, std::int64_t y) {
    const WindowAxis& w = rows_.w;
    if (w.pad_begin == 0 && length_ <= w.input && !rows_.reads_planes)
      return rows_.input_row(image, y);
    const auto slot = static_cast<std::size_t>(y % std::ssize(slots_));
    float* const to =
        memory_.as<float>() + static_cast<std::int64_t>(slot) * length_ * rows_.channels_in;
    if (slots_[slot] != std::pair(image, y)) {
      const std::int64_t count = std::min(w.input, length_ - w.pad_begin);
      float* const inside = to + w.pad_begin * rows_.channels_in;
      if (rows_.reads_planes)
        interleave(rows_.plane_row(image, y), rows_.window.input_elements(), rows_.channels_in,
                   count, inside);
      else
        std::copy_n(rows_.input_row(image, y), count * rows_.channels_in, inside);
      slots_[slot] = {image, y};
    }
    return to;
  }

 private:
  const Images& rows_;
  const std::int64_t length_;                                 ///< pixels
  std::vector<std::pair<std::int64_t, std::int64_t>> slots_;  ///< the image and row in each
  Scratch memory_;
};

/// Of a window of few factors, all of whose rows are added up at once; false: it is none.
bool run_short_row(const Images& rows, PaddedRows& padded, std::int64_t row) {
  const WindowAxis &h = rows.h, &w = rows.w;
  const std::int64_t length = w.kernel * rows.channels_in, top = row % h.output;
  if (w.dilation != 1 || h.kernel * length > kMostOfShortWindow) return false;
  ShortWindowRow taps[kMostOfShortWindow];
  std::size_t count = 0;
  for (std::int64_t k = 0; k < h.kernel; ++k)
    if (h.is_inside(h.tap(top, k)))
      taps[count++] = {padded.row(row / h.output, h.tap(top, k)),
                       rows.weights + k * length * rows.channels_out};
  return sum_short_windows({{taps, count},
                            length,
                            w.stride * rows.channels_in,
                            rows.bias,
                            w.output,
                            rows.channels_out,
                            rows.output_row(row)});
}

void run_long_row(const Images& rows, PaddedRows& padded, std::int64_t row) {
  const WindowAxis &h = rows.h, &w = rows.w;
  const std::int64_t in = rows.channels_in, out = rows.channels_out;
  const std::int64_t image = row / h.output, top = row % h.output;
  // Taps side by side are one long factor.
  const std::int64_t length = w.dilation == 1 ? w.kernel * in : in,
                     steps = w.dilation == 1 ? 1 : w.kernel;
  float* const sums = rows.output_row(row);
  for (std::int64_t x = 0; x < w.output; ++x)
    if (rows.bias != nullptr)
      std::copy_n(rows.bias, out, sums + x * out);
    else
      std::fill_n(sums + x * out, out, 0.f);
  for (std::int64_t k = 0; k < h.kernel; ++k) {
    if (!h.is_inside(h.tap(top, k))) continue;
    const float* const from = padded.row(image, h.tap(top, k));
    for (std::int64_t step = 0; step < steps; ++step)
      add_product<float>({from + step * w.dilation * in, w.stride * in}, w.output, length,
                         Rows<const float>{rows.weights + (k * w.kernel + step) * in * out, out},
                         {sums, out}, out);
  }
}

void run_row(const Images& rows, PaddedRows& padded, std::int64_t row) {
  if (!run_short_row(rows, padded, row)) run_long_row(rows, padded, row);
  rows.ending.apply(rows.output_row(row), rows.w.output * rows.channels_out);
}

void run_dense(const Images& rows) {
  constexpr double kProductsPerNs = 40;
  const double cost = static_cast<double>(rows.w.output * rows.window.kernel_elements() *
                                          rows.channels_in * rows.channels_out) /
                      kProductsPerNs;
  rows.run.threads.share(rows.count(), cost, [&](std::int64_t begin, std::int64_t end) {
    PaddedRows padded(rows);
    for (std::int64_t row = begin; row < end; ++row) run_row(rows, padded, row);
  });
}

// ---- depthwise ----

/// Where a tap reads, from the place of the first, and its weights, in elements.
struct TapInside {
  std::int64_t from, weight;
};

/// What the pixels of a row have in common.
struct Depth {
  std::span<const TapInside> taps;
  const float *from, *weights, *bias;
  std::int64_t step, channels;  ///< from pixel to pixel of the input
  float* to;
};

/// kPixels pixels from `x` on, kVectors vectors of channels from `c` on.
template <int kPixels, int kVectors>
AOE_WIDE inline void sum_block(const Depth& depth, std::int64_t x, std::int64_t c) {
  using Loose = Lanes<float>::Loose;
  Floats sums[kPixels][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const Floats first = depth.bias == nullptr
                             ? Floats{}
                             : Floats(reinterpret_cast<const Loose*>(depth.bias + c)[v]);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) sums[p][v] = first;
  }
  for (const TapInside& tap : depth.taps) {
    const auto* weights = reinterpret_cast<const Loose*>(depth.weights + tap.weight + c);
    const float* const at = depth.from + x * depth.step + tap.from + c;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const Floats weight = weights[v];
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p)
        sums[p][v] += weight * reinterpret_cast<const Loose*>(at + p * depth.step)[v];
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      reinterpret_cast<Loose*>(depth.to + (x + p) * depth.channels + c)[v] = sums[p][v];
}

/// All channels of kPixels pixels: what a tap reads follows each other.
template <int kPixels>
AOE_WIDE void sum_channels(const Depth& depth, std::int64_t x) {
  constexpr int kVectors = 4;
  std::int64_t c = 0;
  for (; c + kVectors * kFloats <= depth.channels; c += kVectors * kFloats)
    sum_block<kPixels, kVectors>(depth, x, c);
  for (; c + kFloats <= depth.channels; c += kFloats) sum_block<kPixels, 1>(depth, x, c);
  if (c == depth.channels) return;
  if (depth.channels >= kFloats)  // some of them once more
    return sum_block<kPixels, 1>(depth, x, depth.channels - kFloats);
  for (int p = 0; p < kPixels; ++p)
    for (c = 0; c < depth.channels; ++c) {
      float sum = depth.bias == nullptr ? 0 : depth.bias[c];
      for (const TapInside& tap : depth.taps)
        sum += depth.weights[tap.weight + c] * depth.from[(x + p) * depth.step + tap.from + c];
      depth.to[(x + p) * depth.channels + c] = sum;
    }
}

class DepthwiseImages {
 public:
  explicit DepthwiseImages(const Images& rows)
      : rows_(rows),
        band_{.bias = rows.bias,
              .channels = rows.channels_in,
              .width = rows.w.input,
              .outputs = rows.w.output,
              .pad = rows.w.pad_begin,
              .to_stride = rows.w.output * rows.channels_out,
              .ending = rows.ending} {}

  /// Of one image.
  void run(std::int64_t row, std::int64_t count) {
    if (run_band(row, count)) return;
    for (std::int64_t i = 0; i < count; ++i) run(row + i);
  }

 private:
  bool run_band(std::int64_t row, std::int64_t count) {
    const WindowAxis &h = rows_.h, &w = rows_.w;
    if (w.dilation != 1 || h.kernel > DepthwiseRows::kMost) return false;
    band_.rows = static_cast<int>(count);
    band_.to = rows_.output_row(row);
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t top = (row + q) % h.output;
      auto& taps = band_.taps[static_cast<std::size_t>(q)];
      taps.count = 0;
      for (std::int64_t i = 0; i < h.kernel; ++i)
        if (h.is_inside(h.tap(top, i)))
          taps.tap_rows[static_cast<std::size_t>(taps.count++)] = {
              rows_.input_row(row / h.output, h.tap(top, i)),
              rows_.weights + i * w.kernel * rows_.channels_in};
    }
    return sum_depthwise(band_, w.kernel, w.stride);
  }

  void run(std::int64_t row) {
    const WindowAxis& w = rows_.w;
    // Of the windows in between all taps are inside.
    const std::int64_t begin = std::min(w.output, w.outputs_inside(0).first);
    const std::int64_t end = std::max(begin, w.outputs_inside(w.kernel - 1).second);
    for (std::int64_t x = 0; x < begin; ++x) sum(row, x, x + 1);
    sum(row, begin, end);
    for (std::int64_t x = end; x < w.output; ++x) sum(row, x, x + 1);
    rows_.ending.apply(rows_.output_row(row), w.output * rows_.channels_out);
  }

  /// Pixels whose windows have the same taps inside of the image.
  void sum(std::int64_t row, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    const float* const from = find_taps(row, begin);
    const std::int64_t channels = rows_.channels_in;
    const Depth depth{taps_,
                      from,
                      rows_.weights,
                      rows_.bias,
                      rows_.w.stride * channels,
                      channels,
                      rows_.output_row(row) + begin * channels};
    std::int64_t x = 0;
    for (; x + 2 <= end - begin; x += 2) sum_channels<2>(depth, x);
    if (x < end - begin) sum_channels<1>(depth, x);
  }

  /// Fills taps_ with those of window (row, x) inside of the image; returns from where they read.
  const float* find_taps(std::int64_t row, std::int64_t x) {
    const WindowAxis &h = rows_.h, &w = rows_.w;
    const std::int64_t top = row % h.output, channels = rows_.channels_in;
    taps_.clear();
    for (std::int64_t i = 0; i < h.kernel; ++i)
      for (std::int64_t j = 0; j < w.kernel; ++j)
        if (h.is_inside(h.tap(top, i)) && w.is_inside(w.tap(x, j)))
          taps_.push_back(
              {(h.tap(top, i) * w.input + w.tap(x, j)) * channels, (i * w.kernel + j) * channels});
    return rows_.input_row(row / h.output, 0);
  }

  const Images& rows_;
  std::vector<TapInside> taps_;
  DepthwiseBand band_;
};

void run_depthwise_rows(const Images& rows) {
  const double cost = static_cast<double>(rows.w.output * rows.channels_in) *
                      (0.1 + 0.02 * static_cast<double>(rows.window.kernel_elements()));
  rows.run.threads.share(rows.count(), cost, [&](std::int64_t begin, std::int64_t end) {
    DepthwiseImages some(rows);
    for (std::int64_t row = begin, count = 0; row < end; row += count) {
      count = std::min(
          {std::int64_t{DepthwiseBand::kMostRows}, end - row, rows.h.output - row % rows.h.output});
      some.run(row, count);
    }
  });
}

/// Tiles end their sums in registers, where there are no curves.
void run_tiles(const Run& run, const Window& window, const RowEnding& ending) {
  constexpr double kElementNs = 0.2;
  run_tiled_channels(run, window, ending);
  if (ending.curve == RowEnding::Curve::kNone) return;
  float* const y = run.output(0).as<float>();
  run.threads.share(
      run.output(0).elements(), kElementNs,
      [&](std::int64_t begin, std::int64_t end) { ending.apply_curve(y + begin, end - begin); });
}

}  // namespace

Result<void> takes_channels_last(const Question& question) {
  const Shape &x = question.inputs[0].shape, &weight = question.inputs[1].shape;
  const std::int64_t groups = question.call.attrs.get_int("group", 1);
  if (groups != 1 && (reference::reads_planes(question.call.attrs) || weight[1] != 1 ||
                      weight[0] != groups || x[3] != groups))
    return Unexpected("groups of several channels");
  return takes_types(question, 0, {DataType::kFloat});
}

void run_channels_last(const Run& run, const RowEnding& ending) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  const Window window =
      reference::window_of(run.call.type, run.attrs, run.shape(0), run.shape(1)).value();
  if (tiles_channels(run, window)) return run_tiles(run, window, ending);
  const Images rows(run, ending);
  run.attrs.get_int("group", 1) == 1 ? run_dense(rows) : run_depthwise_rows(rows);
}

}  // namespace aoe::native
