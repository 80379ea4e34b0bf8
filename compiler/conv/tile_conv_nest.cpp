// Writes the loop nest of a convolution in tiles for one TileConvCut.
#include <algorithm>

#include "compiler/conv/conv_weights.h"
#include "compiler/conv/image_store.h"
#include "compiler/conv/tile_conv.h"
#include "compiler/emit/bf16_pairs.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/packed_constant.h"

namespace aoe::compiler {
namespace {

constexpr int kLanes = static_cast<int>(TileBlock::kLanes);

KernelBuffers declare_tile_conv(Builder& builder, const Task& task, std::size_t constants) {
  std::vector<Elements> types(constants);
  types.front() = words_of(DataType::kBFloat16);
  return declare_buffers(builder, task, types, true, types.front());
}

/// [block of output vectors][row of taps][word of it][vector][lane]; zeros beyond the last channels.
PackedConstant pack_tile_weights(const Task& task, const TileConvCut& cut) {
  const std::int64_t words = cut.window_words() * cut.out_vectors() * kLanes;
  return packed_numbers<std::uint32_t>(
      words, [weights = task.inputs[1].constant, cut](std::uint32_t* to) {
        const ConvShape& s = cut.shape();
        const std::int64_t channels = s.in_channels, taps = s.kernel_height * s.kernel_width;
        const auto* from = weights->view().as<float>();
        const std::int64_t block = cut.tiling().oc_vectors;
        for (std::int64_t oc = 0; oc < s.out_channels; ++oc) {
          const auto weight = [&](std::int64_t channel, std::int64_t tap) {
            return channel < channels ? from[(oc * channels + channel) * taps + tap] : 0.0f;
          };
          const std::int64_t vector = oc / kLanes / block * block;
          const std::int64_t step = std::min(block, cut.out_vectors() - vector) * kLanes;
          std::uint32_t* at = to + vector * cut.window_words() * kLanes + oc - vector * kLanes;
          for (std::int64_t tap = 0; tap < taps; ++tap)
            for (std::int64_t pair = 0; pair < ceil_div(channels, 2); ++pair)
              at[(tap * cut.pixel_words() + pair) * step] =
                  bf16_pair(weight(2 * pair, tap), weight(2 * pair + 1, tap));
        }
      });
}

/// The first stage: a padded row of an image an iteration.
class RoundStage {
 public:
  RoundStage(const Task& task, Format format, const TileConvCut& cut, std::size_t constants)
      : cut_(cut),
        s_(cut.shape()),
        buffers_(declare_tile_conv(builder_, task, constants)),
        in_(image_layout(task.in(0).shape, format, kLanes)),
        is_planar_(format == Format::kNCHW) {}

  loopnest::Function write() {
    builder_.parallel(s_.batch * cut_.read_height(), [&](Int p) {
      const Int n = p / cut_.read_height(), row = p % cut_.read_height() - s_.pad_top;
      const Int to = p * (cut_.read_width() * cut_.pixel_words());
      const std::int64_t right = cut_.read_width() - s_.pad_left;
      builder_.if_(
          Int(-1) < row && row < Int(s_.in_height),
          [&] {
            const std::int64_t columns = std::min(s_.in_width, right);
            const Int from = n * in_.batch + row * (cut_.picked_rows() * in_.row);
            const Int first = to + s_.pad_left * cut_.pixel_words();
            clear(to, s_.pad_left);
            is_planar_ ? write_planes(from, first, columns) : write_pixels(from, first, columns);
            clear(first + columns * cut_.pixel_words(), right - columns);
          },
          [&] { clear(to, cut_.read_width()); });
    });
    return builder_.finish();
  }

 private:
  void clear(Int to, std::int64_t pixels) {
    vector_loop(builder_, "pad", pixels * cut_.pixel_words(), kLanes,
                [&](Int i, std::optional<Int> active) {
                  builder_.store(*buffers_.workspace, to + i,
                                 loopnest::splat(0.0, 2 * kLanes, Type::kBfloat16), active);
                });
  }

  /// Channels are neighbours, all of them or blocks of as many as a vector has.
  void write_pixels(Int from, Int to, std::int64_t columns) {
    const std::int64_t full = s_.in_channels / (2 * kLanes) * kLanes;  // words
    const auto load = [&](Int pixel, Int channel, std::int64_t channels) {
      if (channels <= 0) return loopnest::splat(0.0f, kLanes);
      const Int at =
          from + pixel * (cut_.picked_columns() * in_.pixel) + in_.channel_offset(channel);
      return builder_.load(*buffers_.inputs[0], at, kLanes, Int(channels));
    };
    builder_.loop("pixel", 0, columns, 1, [&](Int pixel) {
      const Int place = to + pixel * cut_.pixel_words();
      builder_.loop("word", 0, full, kLanes, [&](Int word) {
        builder_.store(
            *buffers_.workspace, place + word,
            rounded(load(pixel, word * 2, kLanes), load(pixel, word * 2 + kLanes, kLanes)));
      });
      for (std::int64_t word = full; word < cut_.pixel_words(); word += kLanes) {
        const std::int64_t rest = s_.in_channels - 2 * word;
        builder_.store(
            *buffers_.workspace, place + word,
            rounded(load(pixel, 2 * word, rest), load(pixel, 2 * word + kLanes, rest - kLanes)),
            Int(cut_.pixel_words() - word));
      }
    });
  }

  /// Pixels are neighbours: a word of a vector of them at a time.
  void write_planes(Int from, Int to, std::int64_t columns) {
    vector_loop(builder_, "pixel", columns, kLanes, [&](Int pixel, std::optional<Int> active) {
      const auto load = [&](std::int64_t channel) {
        if (channel >= s_.in_channels) return loopnest::splat(0.0f, kLanes);
        return builder_.load(*buffers_.inputs[0],
                             from + channel * in_.channel + pixel * cut_.picked_columns(), kLanes,
                             active, cut_.picked_columns());
      };
      for (std::int64_t word = 0; word < cut_.pixel_words(); ++word) {
        const std::vector<Vec> both = {load(2 * word), load(2 * word + 1)};
        builder_.store(*buffers_.workspace, to + pixel * cut_.pixel_words() + word,
                       rounded(interleave(both, 0), interleave(both, 1)), active,
                       cut_.pixel_words());
      }
    });
  }

  static Vec rounded(const Vec& low, const Vec& high) {
    return convert(low, high, Type::kBfloat16);
  }

  const TileConvCut& cut_;
  const ConvShape& s_;
  Builder builder_{"round_tiles"};
  KernelBuffers buffers_;
  ImageLayout in_;
  bool is_planar_;
};

class TileConvNest {
 public:
  TileConvNest(const Task& task, const FormatChoice& format, const TileConvCut& cut)
      : task_(task),
        format_(format),
        cut_(cut),
        s_(cut.shape()),
        store_(task, format, kLanes, flat_row()) {
    constants_ = {pack_tile_weights(task, cut), pack_bias(task, s_, cut.out_vectors() * kLanes)};
    store_.add_constants(constants_);
    buffers_ = declare_tile_conv(builder_, task, constants_.size());
    sums_ = builder_.scratch("sums", TileBlock::kSums);
  }

  Kernel build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      cut_.loop().write(
          builder_, iteration, [&](const PixelBlock& block) { write_block(block); },
          [&](const PixelBlock& block) { cut_.tiles_of(block).set_shapes(builder_); });
    });
    Kernel kernel = kernel_for("jit");
    kernel.needs = {Feature::kBf16, Feature::kAmx};
    kernel.workspace_bytes = static_cast<std::size_t>(cut_.workspace_words()) * sizeof(float);
    kernel.stages.push_back(RoundStage(task_, format_.inputs[0], cut_, constants_.size()).write());
    kernel.stages.push_back(builder_.finish());
    kernel.constants = std::move(constants_);
    return kernel;
  }

 private:
  std::optional<std::int64_t> flat_row() const {
    return cut_.is_flat() ? std::optional(s_.out_pixels()) : std::nullopt;
  }

  void write_block(const PixelBlock& block) {
    const TileBlock tiles = cut_.tiles_of(block);
    const std::int64_t words = cut_.pixel_words(), row_words = cut_.read_width() * words;
    const std::int64_t column_words = s_.stride_width * words, width = block.vectors * kLanes;
    const Int input = (block.n * cut_.read_height() + block.row * s_.stride_height) * row_words +
                      block.column * column_words;
    const Int weights = block.vector * (cut_.window_words() * kLanes);
    const std::int64_t row_of_taps = cut_.run_columns() * cut_.run_words();
    tiles.clear(builder_);
    builder_.loop("kh", 0, s_.kernel_height, 1, [&](Int kh) {
      builder_.loop("kw", 0, cut_.run_columns(), 1, [&](Int kw) {
        const Int first = kh * row_of_taps + kw * cut_.run_words();
        const Int from =
            input + kh * (s_.dilation_height * row_words) + kw * (s_.dilation_width * words);
        builder_.loop("word", 0, cut_.run_words(), cut_.tile_words(), [&](Int word) {
          const std::int64_t ahead = cut_.tiling().prefetch * cut_.tile_words();
          tiles.step(
              builder_,
              [&](std::int64_t pixel) -> TileBlock::Rows {
                const std::int64_t row = pixel / block.columns, column = pixel % block.columns;
                const std::int64_t at = row * s_.stride_height * row_words + column * column_words;
                return {*buffers_.workspace, from + word + at, column_words, ahead};
              },
              [&](std::int64_t v) -> TileBlock::Rows {
                return {buffers_.constants[0], weights + (first + word) * width + v * kLanes, width,
                        ahead * width};
              });
        });
      });
    });
    tiles.store(builder_, sums_);
    store_sums(block);
  }

  void store_sums(const PixelBlock& block) {
    for (std::int64_t v = 0; v < block.vectors; ++v) {
      for (std::int64_t pixel = 0; pixel < block.rows * block.columns; ++pixel) {
        const ImagePosition at{block.n, block.vector + v, block.row + pixel / block.columns,
                               block.column + pixel % block.columns};
        const Vec sum = builder_.load(sums_, pixel * TileBlock::kSumsStride + v * kLanes, kLanes);
        store_.store(builder_, buffers_, at,
                     sum + builder_.load(buffers_.constants[1], at.vector * kLanes, kLanes));
      }
    }
  }

  const Task& task_;
  const FormatChoice& format_;
  const TileConvCut& cut_;
  const ConvShape& s_;
  ImageStore store_;
  Builder builder_{"conv_tiles"};
  std::vector<PackedConstant> constants_;
  KernelBuffers buffers_;
  Buffer sums_{};
};

}  // namespace

Kernel build_tile_conv(const Task& task, const FormatChoice& format, const TileConvCut& cut) {
  return TileConvNest(task, format, cut).build();
}

}  // namespace aoe::compiler
