// For images of open sizes: where they are known generated code does the same (compiler/conv/winograd_nest.h). Weights are
// transformed in the first run: an om would grow by four times their size.
#include "native/windows/winograd_convolution.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "native/windows/winograd_tile.h"
#include "reference/precision_attrs.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kSide = 3;  ///< of the window
constexpr std::int64_t kWeights = kSide * kSide;
constexpr std::int64_t kMostTiles = 64;  ///< of a block

using winograd::kGap, winograd::kInputSide, winograd::kProducts, winograd::kTileSide;
using Loose = Lanes<float>::Loose;

#define AOE_BLOCKS wide_planes
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/windows/winograd_transforms.inc"
#undef AOE_BLOCKS
#undef AOE_BYTES
#undef AOE_VECTOR
using wide_planes::transform_inputs, wide_planes::transform_sums, wide_planes::transform_taps;

struct Range {
  std::int64_t begin, end;
  std::int64_t count() const { return end - begin; }
};

/// Tiles side by side: columns [begin, end) of row `row` of an image's tiles, the first of which has number `at` in its block.
struct TileRun {
  std::int64_t image, row, begin, end, at;
  std::int64_t count() const { return end - begin; }
};

/// Row `from` of a plane, or null for one of zeros, as tiles read it: to[p * stride + t] is element p of the four that tile t begins with.
AOE_WIDE void split_phases(const float* from, std::int64_t first, std::int64_t width,
                           std::int64_t tiles, float* row, float* to, std::int64_t stride) {
  const std::int64_t length = kTileSide * (tiles + 1);
  if (from == nullptr) {
    for (std::int64_t p = 0; p < kTileSide; ++p) std::fill_n(to + p * stride, tiles + 1, 0.f);
    return;
  }
  const std::int64_t inside = std::clamp<std::int64_t>(-first, 0, length);
  const std::int64_t beyond = std::clamp<std::int64_t>(width - first, inside, length);
  std::fill_n(row, inside, 0.f);
  std::copy_n(from + first + inside, beyond - inside, row + inside);
  std::fill_n(row + beyond, length - beyond, 0.f);
  for (std::int64_t t = 0; t <= tiles; ++t)
    for (std::int64_t p = 0; p < kTileSide; ++p) to[p * stride + t] = row[kTileSide * t + p];
}

class WinogradConvolution {
 public:
  WinogradConvolution(const Run& run, const reference::Window& window, const RowEnding& ending)
      : run_(run),
        height_(window.height()),
        width_(window.width()),
        ending_(ending),
        weights_(run.made_of(1, [&] { return transformed_weights(); })) {}

  void run() const {
    constexpr double kProductsPerNs = 40;
    const std::int64_t blocks = ceil_div(tiles_, block_), all = groups_ * blocks,
                       parts = parts_of_blocks(all);
    const double cost = static_cast<double>(kProducts * channels_ * per_group_ * block_) /
                        (static_cast<double>(parts) * kProductsPerNs);
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      Block block(*this);
      for (std::int64_t i = begin; i < end; ++i) {
        // Of as many blocks as there are, all have as many tiles, or one less.
        const std::int64_t each = i / parts % blocks, part = i % parts;
        block.run(i / parts / blocks, {tiles_ * each / blocks, tiles_ * (each + 1) / blocks},
                  {per_group_ * part / parts, per_group_ * (part + 1) / parts});
      }
    });
  }

 private:
  /// All that one thread needs for a block of tiles.
  class Block {
   public:
    explicit Block(const WinogradConvolution& whole)
        : whole_(whole),
          stride_(whole.block_ + kFloats),
          inputs_(bytes(kProducts * (whole.channels_ * stride_ + kGap))),
          sums_(bytes(kProducts * (whole.per_group_ * stride_ + kGap))) {
      std::fill_n(inputs_.as<float>(), kProducts * input_matrix(), 0.f);  // no tile is any number
    }

    /// Tiles of `group`, and the output channels among the group's.
    void run(std::int64_t group, Range tiles, Range outputs) {
      find_runs(tiles);
      for (std::int64_t c = 0; c < whole_.channels_; ++c)
        for (const TileRun& row : runs_) read(group, c, row);
      multiply(group, tiles.count(), outputs);
      for (std::int64_t c = outputs.begin; c < outputs.end; ++c)
        for (const TileRun& row : runs_) write(group, c, row);
    }

   private:
    static std::size_t bytes(std::int64_t elements) {
      return static_cast<std::size_t>(elements) * sizeof(float);
    }
    std::int64_t input_matrix() const { return whole_.channels_ * stride_ + kGap; }
    std::int64_t sum_matrix() const { return whole_.per_group_ * stride_ + kGap; }

    void find_runs(Range tiles) {
      runs_.clear();
      for (std::int64_t at = tiles.begin; at < tiles.end;) {
        const std::int64_t row = at / whole_.tiles_wide_, first = at % whole_.tiles_wide_;
        const std::int64_t count = std::min(tiles.end - at, whole_.tiles_wide_ - first);
        runs_.push_back({row / whole_.tiles_high_, row % whole_.tiles_high_, first, first + count,
                         at - tiles.begin});
        at += count;
      }
    }

    /// The inputs of some tiles of a channel, transformed. Whole vectors: what is behind these tiles is the next ones'.
    AOE_WIDE void read(std::int64_t group, std::int64_t channel, const TileRun& tiles) {
      const reference::WindowAxis &h = whole_.height_, &w = whole_.width_;
      const float* plane =
          whole_.run_.inputs[0].as<float>() +
          ((tiles.image * whole_.groups_ + group) * whole_.channels_ + channel) * h.input * w.input;
      for (std::int64_t i = 0; i < kInputSide; ++i) {
        const std::int64_t y = tiles.row * kTileSide - h.pad_begin + i;
        split_phases(h.is_inside(y) ? plane + y * w.input : nullptr,
                     tiles.begin * kTileSide - w.pad_begin, w.input, tiles.count(), row_.data(),
                     phases_.data() + i * kTileSide * kPhase, kPhase);
      }
      float* const to = inputs_.as<float>() + channel * stride_ + tiles.at;
      for (std::int64_t t = 0; t < tiles.count(); t += kFloats) {
        Floats d[kInputSide][kInputSide];
        for (std::int64_t i = 0; i < kInputSide; ++i) {
          for (std::int64_t j = 0; j < kInputSide; ++j)
            d[i][j] = *reinterpret_cast<const Loose*>(
                phases_.data() + (i * kTileSide + j % kTileSide) * kPhase + t + j / kTileSide);
          transform_inputs(d[i]);
        }
        for (std::int64_t j = 0; j < kInputSide; ++j) {
          Floats column[kInputSide];
          for (std::int64_t i = 0; i < kInputSide; ++i) column[i] = d[i][j];
          transform_inputs(column);
          for (std::int64_t i = 0; i < kInputSide; ++i)
            *reinterpret_cast<Loose*>(to + (i * kInputSide + j) * input_matrix() + t) = column[i];
        }
      }
    }

    void multiply(std::int64_t group, std::int64_t tiles, Range outputs) {
      constexpr std::int64_t kDepth = 256;  // whose columns the first-level cache keeps
      constexpr std::int64_t kLanes = 16;
      const std::int64_t columns = std::min(stride_, round_up(tiles, kLanes));
      for (std::int64_t point = 0; point < kProducts; ++point) {
        const float* const left = whole_.weights_->as<float>() +
                                  (group * kProducts + point) * whole_.weight_stride_ +
                                  outputs.begin * whole_.channels_;
        float* const to = sums_.as<float>() + point * sum_matrix();
        for (std::int64_t c = outputs.begin; c < outputs.end; ++c)
          std::fill_n(to + c * stride_, columns, 0.f);
        for (std::int64_t i = 0; i < whole_.channels_; i += kDepth)
          add_product<float>(
              {left + i, whole_.channels_}, outputs.count(), std::min(kDepth, whole_.channels_ - i),
              Rows<const float>{inputs_.as<float>() + point * input_matrix() + i * stride_,
                                stride_},
              {to + outputs.begin * stride_, stride_}, columns);
      }
    }

    /// The outputs of some tiles of a channel.
    AOE_WIDE void write(std::int64_t group, std::int64_t channel, const TileRun& tiles) {
      const float* const from = sums_.as<float>() + channel * stride_ + tiles.at;
      const bool has_bias = whole_.run_.has_input(2);
      const std::int64_t out = group * whole_.per_group_ + channel;
      const float bias = has_bias ? whole_.run_.inputs[2].as<float>()[out] : 0;
      for (std::int64_t t = 0; t < tiles.count(); t += kFloats) {
        Floats m[kInputSide][kInputSide];
        for (std::int64_t j = 0; j < kInputSide; ++j) {
          Floats column[kInputSide];
          for (std::int64_t i = 0; i < kInputSide; ++i)
            column[i] =
                *reinterpret_cast<const Loose*>(from + (i * kInputSide + j) * sum_matrix() + t);
          transform_sums(column);
          for (std::int64_t i = 0; i < kTileSide; ++i) m[i][j] = column[i];
        }
        for (std::int64_t i = 0; i < kTileSide; ++i) {
          transform_sums(m[i]);
          for (std::int64_t j = 0; j < kTileSide; ++j)
            *reinterpret_cast<Loose*>(phases_.data() + (i * kTileSide + j) * kPhase + t) =
                m[i][j] + bias;
        }
      }
      write_rows(tiles.image * whole_.groups_ * whole_.per_group_ + out, tiles);
    }

    /// From the phases of its rows to the plane of an output channel, of all of all images.
    AOE_WIDE void write_rows(std::int64_t channel, const TileRun& tiles) {
      const std::int64_t height = whole_.height_.output, width = whole_.width_.output;
      float* const plane = whole_.y_ + channel * height * width;
      const std::int64_t first = tiles.begin * kTileSide;
      const std::int64_t count = std::min(tiles.count() * kTileSide, width - first);
      for (std::int64_t i = 0; i < kTileSide; ++i) {
        const std::int64_t y = tiles.row * kTileSide + i;
        if (y >= height) return;
        const float* const phases = phases_.data() + i * kTileSide * kPhase;
        float* const row = row_.data();
        for (std::int64_t t = 0; t < tiles.count(); ++t)
          for (std::int64_t j = 0; j < kTileSide; ++j)
            row[kTileSide * t + j] = phases[j * kPhase + t];
        whole_.ending_.apply(row, count);
        std::copy_n(row, count, plane + y * width + first);
      }
    }

    /// Of a row: tiles, the one behind them, and what whole vectors reach besides.
    static constexpr std::int64_t kPhase = kMostTiles + 2 * kFloats;

    const WinogradConvolution& whole_;
    const std::int64_t stride_;
    Scratch inputs_, sums_;  ///< a matrix for each point: a row of tiles for each channel
    std::vector<TileRun> runs_;
    std::array<float, kInputSide* kTileSide* kPhase> phases_ = {};
    std::array<float, kTileSide* kPhase> row_ = {};
  };

  Scratch transformed_weights() const {
    Scratch all(static_cast<std::size_t>(kProducts * weight_stride_ * groups_) * sizeof(float));
    const std::int64_t rows = per_group_ * groups_;
    run_.threads.share(rows, static_cast<double>(channels_) * 10,
                       [&](std::int64_t begin, std::int64_t end) {
                         std::vector<float> taps(static_cast<std::size_t>(kWeights * tap_stride_));
                         for (std::int64_t row = begin; row < end; ++row) {
                           split_taps(row, taps.data());
                           transform_row(row, taps.data(), all.as<float>());
                         }
                       });
    return all;
  }

  /// Of the weights of an output channel, those of each tap side by side.
  AOE_WIDE void split_taps(std::int64_t row, float* to) const {
    const float* const from = run_.inputs[1].as<float>() + row * channels_ * kWeights;
    for (std::int64_t c = 0; c < channels_; ++c)
      for (std::int64_t i = 0; i < kWeights; ++i) to[i * tap_stride_ + c] = from[c * kWeights + i];
  }

  AOE_WIDE void transform_row(std::int64_t row, const float* taps, float* all) const {
    float* const to =
        all + row / per_group_ * kProducts * weight_stride_ + row % per_group_ * channels_;
    for (std::int64_t c = 0; c < channels_; c += kFloats) {
      Floats rows[kInputSide][kSide];
      for (std::int64_t j = 0; j < kSide; ++j) {
        Floats column[kSide], points[kInputSide];
        for (std::int64_t i = 0; i < kSide; ++i)
          column[i] = *reinterpret_cast<const Loose*>(taps + (i * kSide + j) * tap_stride_ + c);
        transform_taps(column, points);
        for (std::int64_t i = 0; i < kInputSide; ++i) rows[i][j] = points[i];
      }
      const bool is_whole = c + kFloats <= channels_;  // else what follows is another row's
      for (std::int64_t i = 0; i < kInputSide; ++i) {
        Floats points[kInputSide];
        transform_taps(rows[i], points);
        for (std::int64_t j = 0; j < kInputSide; ++j) {
          float* const first = to + (i * kInputSide + j) * weight_stride_ + c;
          if (is_whole)
            *reinterpret_cast<Loose*>(first) = points[j];
          else
            for (std::int64_t each = 0; each < channels_ - c; ++each) first[each] = points[j][each];
        }
      }
    }
  }

  /// In how many parts the channels of a block are shared where there are too few blocks for the threads; each transforms the inputs.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kLeastChannels = 32;
    return parts_of(blocks, run_.threads.count(), per_group_, kLeastChannels);
  }

  /// Weights that come from memory are read once for each block; else small ones stay in near caches, and there are enough for all threads.
  std::int64_t tiles_of_block() const {
    constexpr std::int64_t kCached = 256 * 256;  // weights of a point
    constexpr std::int64_t kMany = 256;          // tiles
    if (channels_ * per_group_ > kCached) return kMostTiles;
    return tiles_ < kMany ? 16 : 32;
  }

  const Run& run_;
  float* const y_ = run_.output(0).as<float>();
  const reference::WindowAxis &height_, &width_;
  const RowEnding& ending_;
  const std::int64_t tiles_wide_ = ceil_div(width_.output, kTileSide);
  const std::int64_t tiles_high_ = ceil_div(height_.output, kTileSide);
  const std::int64_t tiles_ = run_.shape(0)[0] * tiles_high_ * tiles_wide_;  ///< of all images
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t channels_ = run_.shape(1)[1];             ///< inputs of a group
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
  const std::int64_t block_ = tiles_of_block();
  const std::int64_t tap_stride_ = round_up(channels_, kFloats);
  const std::int64_t weight_stride_ = per_group_ * channels_ + kGap;
  const std::shared_ptr<const Scratch>
      weights_;  ///< a matrix for each group and point: a row for each output channel
};

/// Fewer inputs of a group, or outputs, are not worth the sums around them.
constexpr std::int64_t kLeastOfGroup = 12;

bool has_tiles(const Shape& weight, std::int64_t groups) {
  return weight.size() == 4 && weight[2] == kSide && weight[3] == kSide &&
         weight[1] >= kLeastOfGroup && weight[0] >= kLeastOfGroup * groups;
}

/// Whether products of so many inputs and outputs save more than transforms take, which are of each input and each output alone; those
/// of a few tiles take as long as those of a vector of them. (Measured on a Zen 5.)
bool outweighs_transforms(std::int64_t inputs, std::int64_t outputs, std::int64_t tiles) {
  constexpr double kOfTile = 20, kOfVector = 36;
  const double saved =
      static_cast<double>(inputs * outputs) / static_cast<double>(inputs + outputs);
  return saved > kOfTile + kOfVector / static_cast<double>(std::min(kFloats, tiles));
}

}  // namespace

bool may_run_by_tiles(const Question& question) {
  return question.has_input(1) && question.inputs[1].dtype == DataType::kFloat &&
         !question.call.attrs.has(reference::kHighPrecision) &&
         has_tiles(question.inputs[1].shape, question.call.attrs.get_int("group", 1));
}

bool runs_by_tiles(const Run& run, const reference::Window& window) {
  // It takes so long to transform weights, and to read them where that is done.
  const bool is_kept = run.kept(1) != nullptr;
  const std::int64_t least_tiles = is_kept ? 16 : 24, weights_of_tile = is_kept ? 10240 : 2048;
  const auto suits = [](const reference::WindowAxis& axis) {
    return axis.stride == 1 && axis.dilation == 1 && axis.pad_begin >= 0 && axis.pad_end >= 0;
  };
  const auto tiles_along = [](const reference::WindowAxis& axis) {
    return ceil_div(axis.output, kTileSide);
  };
  const std::int64_t groups = run.attrs.get_int("group", 1);
  const Shape& weight = run.shape(1);
  if (run.attrs.has(reference::kHighPrecision) || !has_tiles(weight, groups)) return false;
  if (!outweighs_transforms(weight[1], weight[0] / groups, tiles_along(window.width())))
    return false;
  const std::int64_t tiles =
      run.shape(0)[0] * tiles_along(window.height()) * tiles_along(window.width());
  return suits(window.height()) && suits(window.width()) &&
         tiles >= std::max(least_tiles, weight[0] / groups * weight[1] / weights_of_tile);
}

void run_winograd_convolution(const Run& run, const reference::Window& window,
                              const RowEnding& ending) {
  if (run.output(0).elements() > 0) WinogradConvolution(run, window, ending).run();
}

}  // namespace aoe::native
