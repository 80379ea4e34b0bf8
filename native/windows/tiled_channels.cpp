#include "native/windows/tiled_channels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "native/windows/laid_out_weights.h"
#include "native/windows/winograd_convolution.h"
#include "native/windows/winograd_tile.h"
#include "reference/precision_attrs.h"
#include "reference/windows/nhwc.h"

namespace aoe::native {
namespace {

using winograd::kGap, winograd::kInputSide, winograd::kProducts, winograd::kTileSide;

constexpr std::int64_t kWindow = 9;    ///< taps
constexpr std::int64_t kPanel = 32;    ///< columns of weights that lie together
constexpr std::int64_t kDeep = 256;    ///< rows of a panel that a near cache keeps
constexpr std::int64_t kFullest = 16;  ///< channels: vectors have to be full once

/// Pixels of a tile, and where its points lie, a matrix behind each other.
struct InputTile {
  const float* const* from;
  std::int64_t channels;
  float* to;
  std::int64_t step;
};

struct OutputTile {
  const float* from;
  std::int64_t step, channels;
  const float* bias;
  const RowEnding& ending;
  float* const* to;
};

#define AOE_BLOCKS wide_tiles
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/windows/pixel_tiles.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_tiles
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4")))
#include "native/windows/pixel_tiles.inc"
#endif

void read_tile(const InputTile& tile) {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_tiles::read_tile(tile);
#endif
  wide_tiles::read_tile(tile);
}

void write_tile(const OutputTile& tile) {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_tiles::write_tile(tile);
#endif
  wide_tiles::write_tile(tile);
}

AOE_WIDE void transform_weights(const float* taps, float* to, std::int64_t step) {
  for (std::int64_t c = 0; c < kPanel; c += kFloats) {
    Floats rows[kInputSide][3];
    for (int j = 0; j < 3; ++j) {
      Floats column[3], points[kInputSide];
      for (int i = 0; i < 3; ++i)
        column[i] = *reinterpret_cast<const Lanes<float>::Loose*>(taps + (i * 3 + j) * kPanel + c);
      wide_tiles::transform_taps(column, points);
      for (int i = 0; i < kInputSide; ++i) rows[i][j] = points[i];
    }
    for (int i = 0; i < kInputSide; ++i) {
      Floats points[kInputSide];
      wide_tiles::transform_taps(rows[i], points);
      for (int j = 0; j < kInputSide; ++j)
        *reinterpret_cast<Lanes<float>::Loose*>(to + (i * kInputSide + j) * step + c) = points[j];
    }
  }
}

class TiledChannels {
 public:
  TiledChannels(const Run& run, const reference::Window& window, const RowEnding& ending)
      : run_(run),
        h_(window.height()),
        w_(window.width()),
        ending_(ending),
        kept_(weights_of_step(run)),
        weights_(kept_->by_point([&] { return transformed_weights(); })),
        zeros_(static_cast<std::size_t>(channels_), 0.f) {}

  void run() const {
    constexpr double kProductsPerNs = 100;
    const std::int64_t blocks = this->blocks(), each = ceil_div(tiles_, blocks),
                       cuts = panels_to_cut(),
                       parts = parts_of(blocks, run_.threads.count(), cuts, 1);
    const double cost = static_cast<double>(kProducts * channels_ * outputs_ * each) /
                        (static_cast<double>(parts) * kProductsPerNs);
    run_.threads.share(blocks * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      Block block(*this, each);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = i / parts, part = i % parts;
        // All blocks have as many tiles, or one less.
        block.run(tiles_ * at / blocks, tiles_ * (at + 1) / blocks, cuts * part / parts,
                  part + 1 == parts ? panels_ : cuts * (part + 1) / parts);
      }
    });
  }

 private:
  /// What a thread needs for a block of tiles.
  class Block {
   public:
    Block(const TiledChannels& whole, std::int64_t tiles)
        : whole_(whole),
          input_step_(tiles * whole.channels_ + kGap),
          sum_stride_(whole.panels_ * kPanel),
          sum_step_(tiles * sum_stride_ + kGap),
          inputs_(static_cast<std::size_t>(kProducts * input_step_) * sizeof(float)),
          sums_(static_cast<std::size_t>(kProducts * sum_step_) * sizeof(float)),
          beyond_(static_cast<std::size_t>(whole.outputs_)) {}

    /// Tiles [begin, end), panels [first, last).
    void run(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) {
      for (std::int64_t tile = begin; tile < end; ++tile) read(tile, tile - begin);
      multiply(end - begin, first, last);
      for (std::int64_t tile = begin; tile < end; ++tile) write(tile, tile - begin, first, last);
    }

   private:
    void read(std::int64_t tile, std::int64_t at) {
      const auto [image, top, left] = whole_.place_of(tile);
      const float* from[kProducts];
      for (std::int64_t i = 0; i < kInputSide; ++i)
        for (std::int64_t j = 0; j < kInputSide; ++j) {
          const std::int64_t y = top - whole_.h_.pad_begin + i, x = left - whole_.w_.pad_begin + j;
          from[i * kInputSide + j] = whole_.h_.is_inside(y) && whole_.w_.is_inside(x)
                                         ? whole_.input_at(image, y, x)
                                         : whole_.zeros_.data();
        }
      read_tile({from, whole_.channels_, inputs_.as<float>() + at * whole_.channels_, input_step_});
    }

    void multiply(std::int64_t tiles, std::int64_t first, std::int64_t last) {
      const std::int64_t channels = whole_.channels_;
      for (std::int64_t point = 0; point < kProducts; ++point) {
        const float* const left = inputs_.as<float>() + point * input_step_;
        float* const sums = sums_.as<float>() + point * sum_step_;
        std::fill_n(sums, tiles * sum_stride_, 0.f);
        for (std::int64_t i = 0; i < channels; i += kDeep)
          for (std::int64_t panel = first; panel < last; ++panel) {
            float* const to = sums + panel * kPanel;
            add_product<float>({left + i, channels}, tiles, std::min(kDeep, channels - i),
                               Rows<const float>{whole_.panel(point, panel) + i * kPanel, kPanel},
                               {to, sum_stride_}, kPanel);
          }
      }
    }

    void write(std::int64_t tile, std::int64_t at, std::int64_t first, std::int64_t last) {
      const auto [image, top, left] = whole_.place_of(tile);
      const std::int64_t c = std::min(first * kPanel, whole_.outputs_ - kFullest),
                         channels = std::min(last * kPanel, whole_.outputs_) - c;
      float* to[kTileSide * kTileSide];
      for (std::int64_t i = 0; i < kTileSide; ++i)
        for (std::int64_t j = 0; j < kTileSide; ++j)
          to[i * kTileSide + j] = top + i < whole_.h_.output && left + j < whole_.w_.output
                                      ? whole_.output_at(image, top + i, left + j) + c
                                      : beyond_.data();
      write_tile({sums_.as<float>() + at * sum_stride_ + c, sum_step_, channels,
                  whole_.bias_ == nullptr ? nullptr : whole_.bias_ + c, whole_.ending_, to});
    }

    const TiledChannels& whole_;
    const std::int64_t input_step_, sum_stride_, sum_step_;
    Scratch inputs_, sums_;      ///< a matrix for each point, a row for each tile
    std::vector<float> beyond_;  ///< a pixel that is none of the image
  };

  struct Place {
    std::int64_t image, top, left;  ///< of the outputs
  };
  Place place_of(std::int64_t tile) const {
    const std::int64_t row = tile / tiles_wide_;
    return {row / tiles_high_, row % tiles_high_ * kTileSide, tile % tiles_wide_ * kTileSide};
  }
  const float* input_at(std::int64_t image, std::int64_t y, std::int64_t x) const {
    return x_ + ((image * h_.input + y) * w_.input + x) * channels_;
  }
  float* output_at(std::int64_t image, std::int64_t y, std::int64_t x) const {
    return y_ + ((image * h_.output + y) * w_.output + x) * outputs_;
  }
  const float* panel(std::int64_t point, std::int64_t panel) const {
    return weights_ + (point * panels_ + panel) * channels_ * kPanel;
  }

  Scratch transformed_weights() const {
    const std::int64_t step = panels_ * channels_ * kPanel;
    Scratch all(static_cast<std::size_t>(kProducts * step) * sizeof(float));
    const float* const from = run_.inputs[1].as<float>();
    run_.threads.share(
        panels_, static_cast<double>(channels_) * 200, [&](std::int64_t begin, std::int64_t end) {
          std::vector<float> taps(kWindow * kPanel);
          for (std::int64_t panel = begin; panel < end; ++panel)
            for (std::int64_t c = 0; c < channels_; ++c) {
              const std::int64_t first = panel * kPanel;
              const std::int64_t count = std::min(kPanel, outputs_ - first);
              for (std::int64_t o = 0; o < count; ++o)
                for (std::int64_t i = 0; i < kWindow; ++i)
                  taps[i * kPanel + o] = from[((first + o) * channels_ + c) * kWindow + i];
              transform_weights(taps.data(), all.as<float>() + (panel * channels_ + c) * kPanel,
                                step);
            }
        });
    return all;
  }

  /// How many parts there can be: what is less than a vector is written with the channels in front of it, by the thread that has their sums.
  std::int64_t panels_to_cut() const {
    const std::int64_t left = outputs_ % kPanel;
    return left > 0 && left < kFullest && panels_ > 1 ? panels_ - 1 : panels_;
  }

  /// Of so many tiles that products are worth the weights they read, and as many for each thread.
  std::int64_t blocks() const {
    constexpr std::int64_t kMostTiles = 32;
    const std::int64_t blocks = ceil_div(tiles_, kMostTiles);
    return blocks == 1 ? 1 : std::min(tiles_, round_up(blocks, run_.threads.count()));
  }

  const Run& run_;
  const reference::WindowAxis &h_, &w_;
  const RowEnding& ending_;
  const float* const x_ = run_.inputs[0].as<float>();
  float* const y_ = run_.output(0).as<float>();
  const float* const bias_ = run_.has_input(2) ? run_.inputs[2].as<float>() : nullptr;
  const std::int64_t channels_ = run_.shape(1)[1], outputs_ = run_.shape(1)[0];
  const std::int64_t panels_ = ceil_div(outputs_, kPanel);
  const std::int64_t tiles_wide_ = ceil_div(w_.output, kTileSide);
  const std::int64_t tiles_high_ = ceil_div(h_.output, kTileSide);
  const std::int64_t tiles_ = run_.shape(0)[0] * tiles_high_ * tiles_wide_;  ///< of all images
  const std::shared_ptr<const LaidOutWeights> kept_;
  const float* const weights_;      ///< panels of each point
  const std::vector<float> zeros_;  ///< a pixel of the padding
};

/// (Measured on a Zen 5.) Weights of large windows come from memory in each run.
bool saves_time(const Run& run, const reference::Window& window) {
  constexpr double kProductsPerNs = 110, kBytesPerNs = 22, kNear = 1 << 20;
  constexpr double kNsOfTransform = 1.4, kNsOfWeights = 3;  // of a channel of a tile; of a window
  constexpr double kRows = 4;                               // fewer take as long
  const Shape& weight = run.shape(1);
  const auto tiles_along = [](const reference::WindowAxis& axis) {
    return ceil_div(axis.output, kTileSide);
  };
  const auto tiles = static_cast<double>(run.shape(0)[0] * tiles_along(window.height()) *
                                         tiles_along(window.width()));
  const auto pixels = static_cast<double>(run.shape(0)[0] * window.output_elements());
  const auto pairs = static_cast<double>(weight[0] * weight[1]);
  const auto ns_to_read = [&](double factors) {
    const double bytes = factors * pairs * sizeof(float);
    return bytes > kNear ? bytes / kBytesPerNs : 0;
  };
  const double as_they_are =
      std::max(pixels * kWindow * pairs / kProductsPerNs, ns_to_read(kWindow));
  const double by_tiles = std::max(tiles, kRows) * kProducts * pairs / kProductsPerNs +
                          ns_to_read(kProducts) +
                          tiles * static_cast<double>(weight[0] + weight[1]) * kNsOfTransform +
                          (run.kept(1) == nullptr ? pairs * kNsOfWeights : 0);
  return by_tiles < as_they_are;
}

}  // namespace

bool tiles_channels(const Run& run, const reference::Window& window) {
  const Shape& weight = run.shape(1);
  const auto suits = [](const reference::WindowAxis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.pad_begin >= 0;
  };
  return !run.attrs.has(reference::kHighPrecision) && !reference::reads_planes(run.attrs) &&
         suits(window.height()) && suits(window.width()) && weight[0] >= kFullest &&
         weight[1] >= kFullest && saves_time(run, window);
}

void run_tiled_channels(const Run& run, const reference::Window& window, const RowEnding& ending) {
  TiledChannels(run, window, ending).run();
}

}  // namespace aoe::native
