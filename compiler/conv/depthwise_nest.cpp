// Writes the loop nest of depthwise convolution for one DepthwiseCut.
#include "compiler/conv/depthwise_nest.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/conv/conv_weights.h"
#include "compiler/conv/image_store.h"
#include "compiler/conv/tap_bounds.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/emit/waiting_sums.h"

namespace aoe::compiler {
namespace {

/// [vector of channels][kh][kw][lanes], zeros beyond the last channel.
PackedConstant pack_weights(const Task& task, const DepthwiseCut& cut) {
  const std::int64_t taps = cut.shape().kernel_height * cut.shape().kernel_width;
  const std::int64_t channels = cut.shape().out_channels, lanes = cut.lanes();
  return packed_numbers<float>(
      cut.vectors() * taps * lanes, [=, weights = task.inputs[1].constant](float* to) {
        const float* from = weights->view().as<float>();
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            to[(c / lanes * taps + tap) * lanes + c % lanes] = from[c * taps + tap];
          }
        }
      });
}

/// Writes into a function whose buffers are declared: constants are the weights, the bias, the multiplier when there is
/// one, and behind these those of the epilogue.
class DepthwiseNest {
 public:
  DepthwiseNest(Builder& builder, const DepthwiseCut& cut, const ImageLayout& in,
                const ImageStore& store, const KernelBuffers& buffers,
                std::optional<Vec> input_zero, bool is_scaled)
      : cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        rows_(cut.shape().row_axis()),
        columns_(cut.shape().column_axis()),
        in_(in),
        store_(store),
        input_zero_(std::move(input_zero)),
        is_scaled_(is_scaled),
        builder_(builder),
        buffers_(buffers) {
    if (store.has_functions()) waiting_.emplace(builder, t_.oh_block * t_.ow_block, cut.lanes());
  }

  /// Blocked channels lie far apart, so they are outermost; in NHWC they are neighbours, so they
  /// are innermost.
  void write_iteration(Int iteration) {
    const std::int64_t row_tiles = cut_.row_tiles(), vector_tiles = cut_.vector_tiles();
    const bool vectors_outer = cut_.format() == Format::kNC1HWC0;
    const Int n = iteration / (row_tiles * vector_tiles);
    const Int tile = iteration % (row_tiles * vector_tiles);
    const Int vector_tile = vectors_outer ? tile / row_tiles : tile % vector_tiles;
    const Int row_tile = vectors_outer ? tile % row_tiles : tile / vector_tiles;
    const auto each_vector = [&](const std::function<void(Int)>& body) {
      const Int begin = vector_tile * t_.vector_tile;
      if (t_.vector_tile == 1) return body(begin);
      builder_.loop("vector", begin, min(begin + t_.vector_tile, Int(cut_.vectors())), 1, body);
    };
    if (vectors_outer) {
      each_vector([&](Int vector) {
        write_tile(row_tile,
                   [&](Int row, const AxisSegment& rows) { write_columns(n, vector, row, rows); });
      });
    } else {
      write_tile(row_tile, [&](Int row, const AxisSegment& rows) {
        each_vector([&](Int vector) { write_columns(n, vector, row, rows); });
      });
    }
  }

  /// All channels of some rows, one at a time.
  void write_rows(Int n, Int begin, Int end) {
    builder_.loop("vector", 0, cut_.vectors(), 1, [&](Int vector) {
      builder_.loop("row", begin, end, 1,
                    [&](Int row) { write_columns(n, vector, row, row_segments_[0]); });
    });
  }

 private:
  struct Block {
    Int n, vector, row, column;
    const AxisSegment& row_segment;
    const AxisSegment& column_segment;
    std::vector<Local> sums;  ///< [row][column]
  };

  struct RowTap {
    std::int64_t row;  ///< of the block
    Int weights;       ///< of this row's taps
  };

  void write_tile(Int tile, const std::function<void(Int, const AxisSegment&)>& body) {
    std::int64_t first_block = 0;
    for (const AxisSegment& segment : row_segments_) {
      const Int begin = max(tile * t_.row_tile, Int(first_block));
      const Int end = min((tile + 1) * t_.row_tile, Int(first_block + segment.count));
      builder_.loop("row", begin, end, 1, [&](Int block) {
        body((block - first_block) * segment.size + segment.first, segment);
      });
      first_block += segment.count;
    }
  }

  void write_columns(Int n, Int vector, Int row, const AxisSegment& row_segment) {
    for (const AxisSegment& segment : column_segments_) {
      builder_.loop("column", segment.first, segment.end(), segment.size, [&](Int column) {
        write_block({n, vector, row, column, row_segment, segment, {}});
      });
    }
  }

  void write_block(Block block) {
    const Local start =
        builder_.local(is_scaled_ && !cut_.has_quads() ? loopnest::splat(0.0f, cut_.lanes())
                                                       : by_channel(kBias, block.vector));
    for (std::int64_t row = 0; row < block.row_segment.size; ++row) {
      const Local first =
          cut_.has_quads() ? builder_.local(without_rows(block, row, start)) : start;
      for (std::int64_t i = 0; i < block.column_segment.size; ++i)
        block.sums.push_back(builder_.local(builder_.get(first)));
    }
    const std::int64_t vector_stride = in_.c0 != 0 ? in_.channel_block : in_.channel * cut_.lanes();
    const Int input = block.n * in_.batch + block.vector * vector_stride +
                      (in_.ring == 0 ? first_input_row(block) * in_.row : Int(0)) +
                      (block.column * columns_.stride - columns_.pad_begin) * in_.pixel;
    if (t_.unroll_rows != 0) {
      const std::int64_t height =
          (block.row_segment.size - 1) * rows_.stride + (rows_.kernel - 1) * rows_.dilation + 1;
      for (std::int64_t i = 0; i < height; ++i) write_input_row(block, input, i);
    } else {
      builder_.loop("kh", first_tap(rows_, block.row), end_tap(rows_, block.row), 1, [&](Int kh) {
        const Int weights = row_weights(block.vector, kh);
        const Int down = in_.ring == 0
                             ? kh * (rows_.dilation * in_.row)
                             : in_.row_offset(first_input_row(block) + kh * rows_.dilation);
        write_taps(block, input + down, {{0, weights}});
      });
    }
    write_results(block);
  }

  /// What sums of quads start from where some rows of taps are not there.
  Vec without_rows(const Block& block, std::int64_t row, const Local& start) const {
    Vec sum = builder_.get(start);
    const TapRange& range = block.row_segment.taps[static_cast<std::size_t>(row)];
    for (std::int64_t kh = 0; kh < rows_.kernel; ++kh)
      if (kh < range.begin || kh >= range.end) sum = sum + by_channel(kBias, block.vector, kh + 1);
    return sum;
  }

  /// Of the weights of a row of taps.
  Int row_weights(Int vector, Int kh) const {
    return (vector * rows_.kernel + kh) * (cut_.row_factors() * cut_.lanes());
  }

  Int first_input_row(const Block& block) const {
    return block.row * rows_.stride - rows_.pad_begin;
  }

  /// Row `i` below the block's first: all output rows that have a tap there.
  void write_input_row(Block& block, Int input, std::int64_t i) {
    std::vector<RowTap> taps;
    for (std::int64_t r = 0; r < block.row_segment.size; ++r) {
      const std::int64_t distance = i - r * rows_.stride;
      if (distance < 0 || distance % rows_.dilation != 0) continue;
      const std::int64_t kh = distance / rows_.dilation;
      const TapRange& range = block.row_segment.taps[static_cast<std::size_t>(r)];
      if (kh < range.begin || kh >= range.end) continue;
      taps.push_back({r, row_weights(block.vector, kh)});
    }
    if (taps.empty()) return;
    if (cut_.has_quads())
      write_quads(block, input + i * in_.row, taps);
    else
      write_taps(block, input + i * in_.row, taps);
  }

  /// One input row, whose pixels slide through a quad, the newest in its high byte.
  void write_quads(Block& block, Int input, const std::vector<RowTap>& row_taps) {
    const std::int64_t outputs = block.column_segment.size;
    Local quad = builder_.local(int_splat(0, cut_.lanes(), Type::kInt32));
    for (std::int64_t j = 0; j < (outputs - 1) * columns_.stride + columns_.kernel; ++j) {
      bool is_read = false, is_inside = false;
      for (std::int64_t c = 0; c < outputs; ++c) {
        const std::int64_t kw = j - c * columns_.stride;
        const TapRange& range = block.column_segment.taps[static_cast<std::size_t>(c)];
        is_read |= kw >= 0 && kw < columns_.kernel;
        is_inside |= kw >= range.begin && kw < range.end;
      }
      if (!is_read) continue;
      quad = builder_.local(
          slide(builder_.get(quad),
                is_inside ? load_byte(input + j * in_.pixel, block.vector) : *input_zero_));
      for (std::int64_t c = 0; c < outputs; ++c) {
        const std::int64_t taps_behind = columns_.kernel - 1 - (j - c * columns_.stride);
        if (taps_behind < 0 || taps_behind >= columns_.kernel || taps_behind % 4 != 0) continue;
        for (const RowTap& tap : row_taps) {
          const Local& sum = block.sums[static_cast<std::size_t>(tap.row * outputs + c)];
          const Vec weights =
              builder_.load_as(Type::kInt8, buffers_.constants[kWeights],
                               tap.weights + taps_behind / 4 * cut_.lanes(), 4 * cut_.lanes());
          const Vec bytes = bits_as(builder_.get(quad), Type::kUint8);
          builder_.assign(sum, dot(bytes, weights, builder_.get(sum)));
        }
      }
    }
  }

  /// The oldest byte goes, and a number below 256 becomes the newest: an insertion and a rotation.
  Vec slide(const Vec& quad, const Vec& newest) const {
    const auto all = [&](std::int64_t value) {
      return int_splat(value, cut_.lanes(), Type::kInt32);
    };
    const Vec ring = builder_.get(builder_.local(bit_or(bit_and(quad, all(-256)), newest)));
    return bit_or(shift_right(ring, all(8)), shift_left(ring, all(24)));
  }

  Vec load_byte(Int at, Int vector) const {
    return builder_.load_as(Type::kInt32, *buffers_.inputs[0], at, cut_.lanes(), active(vector));
  }

  /// One input row, each of its vectors loaded once.
  void write_taps(Block& block, Int input, const std::vector<RowTap>& row_taps) {
    const std::int64_t outputs = block.column_segment.size;
    const std::int64_t width =
        (outputs - 1) * columns_.stride + (columns_.kernel - 1) * columns_.dilation + 1;
    for (std::int64_t j = 0; j < width; ++j) {
      std::optional<Local> x;
      for (std::int64_t c = 0; c < outputs; ++c) {
        const std::int64_t distance = j - c * columns_.stride;
        if (distance < 0 || distance % columns_.dilation != 0) continue;
        const std::int64_t kw = distance / columns_.dilation;
        const TapRange& range = block.column_segment.taps[static_cast<std::size_t>(c)];
        if (kw < range.begin || kw >= range.end) continue;
        if (!x) {
          x = builder_.local(load_input(input + j * in_.pixel, block.vector));
        }
        for (const RowTap& tap : row_taps) {
          const Local& sum = block.sums[static_cast<std::size_t>(tap.row * outputs + c)];
          const auto weight = builder_.load(buffers_.constants[kWeights],
                                            tap.weights + kw * cut_.lanes(), cut_.lanes());
          builder_.assign(sum, fma(builder_.get(*x), weight, builder_.get(sum)));
        }
      }
    }
  }

  Vec load_input(Int at, Int vector) const {
    const auto x = builder_.load(*buffers_.inputs[0], at, cut_.lanes(), active(vector));
    return input_zero_ ? x - *input_zero_ : x;
  }

  /// A row of a constant with one value per channel.
  Vec by_channel(std::size_t constant, Int vector, std::int64_t row = 0) const {
    const Type type = cut_.has_quads() && constant == kBias ? Type::kInt32 : Type::kFloat;
    return builder_.load_as(type, buffers_.constants[constant],
                            (vector + row * cut_.vectors()) * cut_.lanes(), cut_.lanes());
  }

  std::optional<Int> active(Int vector) const {
    if (in_.c0 != 0 || s_.in_channels % cut_.lanes() == 0) return std::nullopt;
    return min(Int(cut_.lanes()), Int(s_.in_channels) - vector * cut_.lanes());
  }

  void write_results(const Block& block) {
    const std::int64_t rows = block.row_segment.size, columns = block.column_segment.size;
    const bool is_waiting = waiting_ && columns > 1;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const Vec value = result(block, block.sums[static_cast<std::size_t>(r * columns + c)]);
        if (is_waiting)
          waiting_->put(r * columns + c, value);
        else
          store(block, r, c, value);
      }
    }
    if (!is_waiting) return;
    for (std::int64_t r = 0; r < rows; ++r)
      builder_.loop("waiting", 0, columns, 1,
                    [&](Int c) { store(block, r, c, waiting_->get(r * columns + c)); });
  }

  /// A sum as float32.
  Vec result(const Block& block, const Local& sum) const {
    Vec value = builder_.get(sum);
    if (cut_.has_quads())
      return convert(value, Type::kFloat) * by_channel(kMultiplier, block.vector);
    if (!is_scaled_) return value;
    return (value + by_channel(kBias, block.vector)) * by_channel(kMultiplier, block.vector);
  }

  void store(const Block& block, Int row, Int column, const Vec& value) const {
    store_.store(builder_, buffers_,
                 {block.n, block.vector, block.row + row, block.column + column}, value);
  }

  const DepthwiseCut& cut_;
  const ConvShape& s_;
  const DepthwiseTiling& t_;
  WindowAxis rows_, columns_;
  std::vector<AxisSegment> row_segments_ = cut_.row_segments();
  std::vector<AxisSegment> column_segments_ = cut_.column_segments();
  enum ConstantIndex : std::size_t { kWeights, kBias, kMultiplier };

  const ImageLayout in_;
  const ImageStore& store_;
  std::optional<Vec> input_zero_;
  bool is_scaled_;
  Builder& builder_;
  const KernelBuffers& buffers_;
  std::optional<WaitingSums> waiting_;
};

}  // namespace

DepthwiseConstants depthwise_constants(const Task& task, const DepthwiseCut& cut) {
  return {.weights = pack_weights(task, cut),
          .bias = pack_bias(task, cut.shape(), cut.vectors() * cut.lanes()),
          .multiplier = {}};
}

void write_depthwise_rows(Builder& builder, const DepthwiseCut& cut, const RowsOf& rows) {
  AOE_CHECK(cut.tiling().unroll_rows == 0 && cut.tiling().oh_block == 1,
            "rows of a depthwise convolution are written one at a time");
  DepthwiseNest(builder, cut, rows.in, rows.store, rows.buffers, std::nullopt, false)
      .write_rows(rows.n, rows.begin, rows.end);
}

Kernel build_depthwise(const Task& task, const FormatChoice& format, const DepthwiseCut& cut) {
  return build_depthwise(task, format, cut, depthwise_constants(task, cut));
}

Kernel build_depthwise(const Task& task, const FormatChoice& format, const DepthwiseCut& cut,
                       DepthwiseConstants given) {
  Builder builder("depthwise");
  const bool is_scaled = given.multiplier.has_value();
  std::vector<PackedConstant> constants = {std::move(given.weights), std::move(given.bias)};
  if (is_scaled) constants.push_back(std::move(*given.multiplier));
  ImageStore store(task, format, cut.lanes());
  store.add_constants(constants);
  std::vector<Elements> types(constants.size());
  if (cut.has_quads()) types = {words_of(DataType::kInt8), DataType::kInt32};
  types.resize(constants.size());
  const KernelBuffers buffers = declare_buffers(builder, task, types);
  const ImageLayout in = image_layout(task.in(0).shape, cut.format(), cut.lanes());
  std::optional<Vec> zero;
  if (given.zero_input)
    zero = builder.load_broadcast(*buffers.inputs[*given.zero_input], 0, cut.lanes());
  else if (cut.has_quads())
    zero = int_splat(static_cast<std::int64_t>(given.input_zero), cut.lanes(), Type::kInt32);
  else if (given.input_zero != 0)
    zero = loopnest::splat(given.input_zero, cut.lanes());
  DepthwiseNest nest(builder, cut, in, store, buffers, std::move(zero), is_scaled);
  builder.parallel(cut.parallel_extent(), [&](Int iteration) { nest.write_iteration(iteration); });
  Kernel kernel = jit_kernel(builder.finish(), std::move(constants));
  if (cut.has_quads()) kernel.needs = {Feature::kVnni};
  return kernel;
}

}  // namespace aoe::compiler
