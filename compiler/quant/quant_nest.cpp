// Writes the loop nest of a convolution or product of bytes for one QuantCut.
#include <algorithm>

#include "compiler/conv/image_layout.h"
#include "compiler/emit/register_block.h"
#include "compiler/quant/quant_copy.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/quant/quant_store.h"

namespace aoe::compiler {
namespace {

class QuantNest {
 public:
  QuantNest(const Task& task, const FormatChoice& format, const QuantCut& cut)
      : task_(task),
        cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        quad_(cut.is_copied() ? 1 : 4),
        store_(task, format, cut) {
    constants_ = {pack_quant_weights(task, cut), pack_quant_channels(task, cut),
                  pack_quant_multiplier(task, cut)};
    store_.add_constants(constants_);
    if (cut.has_tiles()) tile_sums_ = builder_.scratch("sums", TileBlock::kSums, DataType::kInt32);
    buffers_ = declare_buffers(builder_, task, quant_constants(cut, constants_.size()),
                               cut.is_copied(), cut.inputs());
    input_ = cut.is_copied() ? *buffers_.workspace : *buffers_.inputs[kQuantX];
  }

  Kernel build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      cut_.loop().write(
          builder_, iteration,
          [&](const PixelBlock& block) {
            cut_.has_tiles() ? write_tiles({block}) : write_block({block});
          },
          [&](const PixelBlock& block) {
            if (cut_.has_tiles())
              cut_.tiles_of(block.rows, block.columns, block.vectors).set_shapes(builder_);
          });
    });
    Kernel kernel = kernel_for("jit");
    if (cut_.has_tiles()) {
      kernel.needs.add(Feature::kAmx);
    } else if (!cut_.has_pairs()) {
      kernel.needs.add(Feature::kVnni);
    }
    if (cut_.is_copied()) {
      kernel.workspace_bytes = static_cast<std::size_t>(cut_.workspace_elements()) * sizeof(float);
      kernel.stages.push_back(quant_copy_stage(task_, cut_, constants_.size()));
    }
    kernel.stages.push_back(builder_.finish());
    kernel.constants = std::move(constants_);
    return kernel;
  }

 private:
  struct Block : PixelBlock {
    std::vector<Local> sums = {};  ///< [vector][row][column], behind them of pixels
  };

  template <typename Visit>
  void for_each_output(const Block& block, Visit visit) const {
    for (std::int64_t v = 0; v < block.vectors; ++v) {
      for (std::int64_t r = 0; r < block.rows; ++r) {
        for (std::int64_t c = 0; c < block.columns; ++c) {
          visit(ImagePosition{block.n, block.vector + v, block.row + r, block.column + c});
        }
      }
    }
  }

  void write_block(Block block) {
    for_each_output(block, [&](const ImagePosition& at) {
      block.sums.push_back(builder_.local(first_sum(at)));
    });
    const std::size_t outputs = block.sums.size();
    const auto pixels = static_cast<std::size_t>(block.rows * block.columns);
    for (std::size_t i = 0; cut_.sums_pixels() && i < pixels; ++i)
      block.sums.push_back(builder_.local(int_splat(0, cut_.lanes(), Type::kInt32)));
    write_taps(block);
    std::size_t next = 0;
    for_each_output(block, [&](const ImagePosition& at) {
      Vec sum = builder_.get(block.sums[next]);
      if (cut_.sums_pixels())
        sum = sum +
              builder_.get(block.sums[outputs + next % pixels]) * of_channel(kChannelExcess, at);
      ++next;
      store_sum(at, sum);
    });
  }

  void store_sum(const ImagePosition& at, const Vec& sum) {
    if (gives_sums(task_)) return store_.store(builder_, buffers_, at, sum);
    store_.store(builder_, buffers_, at,
                 convert(sum, Type::kFloat) *
                     builder_.load(buffers_.constants[2], at.vector * cut_.lanes(), cut_.lanes()));
  }

  /// The same in tiles; their sums go through memory.
  void write_tiles(const Block& block) {
    const TileBlock tiles = cut_.tiles_of(block.rows, block.columns, block.vectors);
    const std::int64_t words = cut_.tile_words(), stride = s_.stride_width * pixel_stride();
    tiles.clear(builder_);
    each_run(block, [&](Int input, Int weights, std::int64_t width) {
      builder_.loop("k", 0, cut_.run_quads(), words, [&](Int k) {
        tiles.step(
            builder_,
            [&](std::int64_t pixel) -> TileBlock::Rows {
              const std::int64_t row = pixel / block.columns, column = pixel % block.columns;
              const std::int64_t at = row * s_.stride_height * row_stride() + column * stride;
              return {input_, input + k * quad_ + at, stride, t_.prefetch * words * quad_};
            },
            [&](std::int64_t v) -> TileBlock::Rows {
              return {buffers_.constants[0], weights + k * width + v * cut_.lanes(), width,
                      t_.prefetch * words * width};
            });
      });
    });
    tiles.store(builder_, *tile_sums_);
    for_each_output(block, [&, next = std::int64_t{0}](const ImagePosition& at) mutable {
      const std::int64_t pixels = block.rows * block.columns;
      const std::int64_t place =
          next % pixels * TileBlock::kSumsStride + next / pixels * cut_.lanes();
      ++next;
      store_sum(at,
                first_sum(at) + builder_.load_as(Type::kInt32, *tile_sums_, place, cut_.lanes()));
    });
  }

  Vec first_sum(const ImagePosition& at) const {
    Vec bias = of_channel(kChannelBias, at);
    if (!has_computed_zero(task_)) return bias;
    return bias - unsigned_zero_point(builder_, task_, buffers_, cut_.lanes()) *
                      of_channel(kChannelSum, at);
  }

  Vec of_channel(QuantChannelRow row, const ImagePosition& at) const {
    const Int first = row * cut_.out_vectors() * cut_.lanes();
    return builder_.load_as(Type::kInt32, buffers_.constants[1], first + at.vector * cut_.lanes(),
                            cut_.lanes());
  }

  // Strides of what the blocks read, in elements of its buffer: quads of the workspace, or bytes.
  std::int64_t pixel_stride() const { return cut_.is_copied() ? cut_.quads() : s_.in_channels; }
  std::int64_t row_stride() const { return cut_.read_width() * pixel_stride(); }
  std::int64_t batch_stride() const {
    return cut_.read_height() * row_stride() * (cut_.is_copied() ? cut_.image_copies() : 1);
  }

  void write_taps(Block& block) {
    each_run(block, [&](Int input, Int weights, std::int64_t width) {
      write_run(block, input, weights, width);
    });
  }

  /// run(input, weights, elements of weights from one quad to the next) of all neighbouring quads that the block's sums have.
  template <typename Run>
  void each_run(const Block& block, const Run& run_quads) {
    const Int group = cut_.groups() == 1 ? Int(0) : block.vector / cut_.group_vectors();
    const Int input = block.n * batch_stride() + block.row * (s_.stride_height * row_stride()) +
                      block.column * (s_.stride_width * pixel_stride()) +
                      group * (cut_.group_quads() * quad_);
    const std::int64_t vector_width = cut_.quad_vectors() * cut_.lanes();
    const Int weights = block.vector * (cut_.steps() * vector_width);
    const std::int64_t width = block.vectors * vector_width;  // of one step
    const std::int64_t run = cut_.run_quads();
    const std::int64_t row_steps = cut_.run_columns() * run;
    builder_.loop("set", 0, cut_.weight_sets(), 1, [&](Int set) {
      builder_.loop("kh", 0, s_.kernel_height, 1, [&](Int kh) {
        builder_.loop("kw", 0, cut_.run_columns(), 1, [&](Int kw) {
          const Int step = (set * s_.kernel_height + kh) * row_steps + kw * run;
          const Int from = input + kh * (s_.dilation_height * row_stride()) +
                           kw * (s_.dilation_width * pixel_stride());
          run_quads(from, weights + step * width, width);
        });
      });
    });
  }

  /// The neighbouring quads of one run.
  void write_run(Block& block, Int input, Int weights, std::int64_t width) {
    const std::int64_t run = cut_.run_quads(), unrolled = run / t_.k_unroll * t_.k_unroll;
    builder_.loop("k", 0, unrolled, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u) {
        write_step(block, input + k * quad_ + u * quad_, weights + k * width + u * width);
      }
    });
    for (std::int64_t k = unrolled; k < run; ++k) {
      write_step(block, input + k * quad_, weights + k * width);
    }
  }

  /// One quad of each pixel, broadcast, times the weights of all output vectors.
  void write_step(Block& block, Int input, Int weights) {
    const Type weight_type = cut_.weight_type();
    const int lanes = cut_.lanes() * per_word(weight_type);
    for (std::int64_t part = 0; part < cut_.quad_vectors(); ++part) {
      const RegisterBlock products{.rows = block.rows * block.columns,
                                   .vectors = cut_.block_vectors(block.vectors),
                                   .sums = block.sums,
                                   .order = RegisterBlock::Order::kByVector,
                                   .multiply_add = loopnest::dot};
      products.step(
          builder_,
          [&](std::int64_t v) {
            if (v == block.vectors) return builder_.local(int_splat(1, lanes, weight_type));
            const std::int64_t vector = v * cut_.quad_vectors() + part;
            return builder_.local(builder_.load_as(weight_type, buffers_.constants[0],
                                                   weights + vector * cut_.lanes(), lanes));
          },
          [&](std::int64_t pixel) {
            const std::int64_t r = pixel / block.columns, c = pixel % block.columns;
            return builder_.local(load_quad(input + (r * s_.stride_height * row_stride() +
                                                     c * s_.stride_width * pixel_stride()),
                                            part));
          });
    }
  }

  /// In all lanes; or a pair of it.
  Vec load_quad(Int at, std::int64_t pair) const {
    if (cut_.is_copied())
      return builder_.load_as(cut_.input_type(), *buffers_.workspace,
                              at + pair * cut_.image_quads(),
                              cut_.lanes() * per_word(cut_.input_type()), {}, 0);
    const Vec quad = builder_.load_as(Type::kUint8, *buffers_.inputs[kQuantX], at, 4);
    const Vec bytes = broadcast(quad, 4 * cut_.lanes());
    return cut_.has_pairs() ? widened_pair(bytes, pair) : bytes;
  }

  const Task& task_;
  const QuantCut& cut_;
  const ConvShape& s_;
  const QuantTiling& t_;
  std::int64_t quad_;  ///< elements of what is read
  QuantStore store_;
  Builder builder_{"quant"};
  std::vector<PackedConstant> constants_;
  KernelBuffers buffers_;
  loopnest::Buffer input_{};  ///< as blocks read it
  std::optional<loopnest::Buffer> tile_sums_;
};

}  // namespace

Kernel build_quant(const Task& task, const FormatChoice& format, const QuantCut& cut) {
  return QuantNest(task, format, cut).build();
}

}  // namespace aoe::compiler
