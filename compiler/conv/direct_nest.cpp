// Writes the loop nest of direct convolution for one DirectCut.
#include "compiler/conv/direct_nest.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "compiler/conv/conv_weights.h"
#include "compiler/conv/direct_rounding.h"
#include "compiler/conv/image_store.h"
#include "compiler/conv/lane_inputs.h"
#include "compiler/conv/tap_bounds.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/register_block.h"
#include "compiler/emit/waiting_sums.h"

namespace aoe::compiler {
namespace {

/// Writes into a function whose buffers are declared: constants[0] are the weights, [1] the bias, and behind these
/// stand those of the epilogue.
class DirectNest {
 public:
  DirectNest(Builder& builder, const DirectCut& cut, const ImageLayout& in, const ImageStore& store,
             const KernelBuffers& buffers)
      : cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        rows_(cut.row_axis()),
        columns_(cut.column_axis()),
        groups_(cut.row_groups()),
        in_(in),
        store_(store),
        builder_(builder),
        buffers_(buffers),
        input_(cut.is_bf16() ? *buffers.workspace : *buffers.inputs[0]) {
    if (store.has_functions())
      waiting_.emplace(builder, t_.oc_vectors * t_.oh_block * t_.ow_block, cut.lanes());
  }

  void write_iteration(Int iteration) {
    const std::int64_t oc_blocks = cut_.oc_blocks(), tiles = cut_.row_tiles();
    const Int outer = iteration / (t_.pixels_outer != 0 ? oc_blocks : tiles);
    const Int inner = iteration % (t_.pixels_outer != 0 ? oc_blocks : tiles);
    // Weights outermost when output channels are, else images outermost.
    const Int n = t_.pixels_outer != 0 ? outer / tiles : outer % s_.batch;
    const Int oc_block = t_.pixels_outer != 0 ? inner : outer / s_.batch;
    const Int tile = t_.pixels_outer != 0 ? outer % tiles : inner;
    for_kind_of(oc_block, [&](const BlockLanes& lanes) {
      const std::int64_t step = cut_.chunks_per_tile(), passes = cut_.ic_tiles();
      if (passes == 1) return write_pass({n, oc_block, tile, lanes, 0, cut_.chunks(), true, true});
      const std::int64_t last = (passes - 1) * step;
      write_pass({n, oc_block, tile, lanes, 0, step, true, false});
      builder_.loop("ic_tile", step, last, step, [&](Int chunk) {
        write_pass({n, oc_block, tile, lanes, chunk, chunk + step, false, false});
      });
      write_pass({n, oc_block, tile, lanes, last, cut_.chunks(), false, true});
    });
  }

  /// All channels of some rows. Weights outermost: those of a block serve all the rows from L1.
  void write_rows(Int n, Int begin, Int end) {
    builder_.loop("oc_block", 0, cut_.oc_blocks(), 1, [&](Int oc_block) {
      for_kind_of(oc_block, [&](const BlockLanes& lanes) {
        const Pass pass{n, oc_block, 0, lanes, 0, cut_.chunks(), true, true};
        builder_.loop("row", begin, end, 1, [&](Int row) { write_columns(pass, groups_[0], row); });
      });
    });
  }

 private:
  /// What one parallel iteration works on, and which part of the sum a pass over it adds.
  struct Pass {
    Int n, oc_block, tile;
    const BlockLanes& lanes;
    Int first_chunk, end_chunk;  ///< of ic_unroll channels of each group
    bool is_first, is_last;
  };
  struct Block {
    const Pass& pass;
    Int row, column;  ///< of the first output
    const AxisSegment& row_segment;
    const AxisSegment& column_segment;
    std::vector<Local> sums;  ///< [vector][row][column]
  };

  /// Code for each kind of blocks, of which the block's own runs. A kind is known by the numbers of its blocks, which
  /// mostly repeat.
  void for_kind_of(Int oc_block, const std::function<void(const BlockLanes&)>& write) {
    const GroupLanes& groups = cut_.group_lanes();
    const std::int64_t period = std::ssize(groups.kind_of());
    const Int number = period < cut_.oc_blocks() ? oc_block % period : oc_block;
    write_kinds(groups.kinds().size() - 1, number, write);
  }

  /// Of the kinds up to `last`.
  void write_kinds(std::size_t last, Int number,
                   const std::function<void(const BlockLanes&)>& write) {
    const GroupLanes& groups = cut_.group_lanes();
    if (last == 0) return write(groups.kinds()[0]);
    Bool is_last = Int(0) < Int(0);
    for (std::size_t i = 0; i < groups.kind_of().size(); ++i)
      if (groups.kind_of()[i] == last)
        is_last = is_last || number == Int(static_cast<std::int64_t>(i));
    builder_.if_(
        is_last, [&] { write(groups.kinds()[last]); },
        [&] { write_kinds(last - 1, number, write); });
  }

  void write_pass(const Pass& pass) {
    std::int64_t first_block = 0;
    for (const RowGroup& group : groups_) {
      const Int tile_begin = pass.tile * t_.row_tile;
      const auto write_row = [&](Int row_block) {
        write_columns(pass, group, (row_block - first_block) * group.rows.size + group.rows.first);
      };
      const bool is_whole = groups_.size() == 1 && group.rows.count % t_.row_tile == 0;
      if (is_whole && t_.row_tile == 1) {
        write_row(tile_begin);
      } else {
        const Int end = min(tile_begin + t_.row_tile, Int(first_block + group.rows.count));
        builder_.loop("row", max(tile_begin, Int(first_block)), end, 1, write_row);
      }
      first_block += group.rows.count;
    }
  }

  void write_columns(const Pass& pass, const RowGroup& group, Int row) {
    for (const AxisSegment& segment : group.columns) {
      builder_.loop("column", segment.first, segment.end(), segment.size, [&](Int column) {
        write_block({pass, row, column, group.rows, segment, {}});
      });
    }
  }

  void write_block(Block block) {
    for_each_output(block, [&](std::int64_t v, const ImagePosition& at) {
      if (block.pass.is_first) {
        const Int channel = block.pass.oc_block * cut_.block_lanes() + v * cut_.lanes();
        block.sums.push_back(
            builder_.local(builder_.load(buffers_.constants[1], channel, cut_.lanes())));
      } else {
        // A block's vectors beyond the last channel have no partial sums: any value will do.
        ImagePosition from = at;
        from.vector = min(at.vector, Int(cut_.out_vectors() - 1));
        block.sums.push_back(builder_.local(store_.load_partial(builder_, buffers_, from)));
      }
    });
    fetch_rows_below(block);
    write_taps(block);
    if (waiting_ && block.pass.is_last && block.column_segment.size > 1)
      return store_waiting(block);
    std::size_t next = 0;
    for_each_output(block, [&](std::int64_t, const ImagePosition& at) {
      const Vec value = builder_.get(block.sums[next++]);
      if_exists(at, [&] {
        block.pass.is_last ? store_.store(builder_, buffers_, at, value)
                           : store_.store_partial(builder_, buffers_, at, value);
      });
    });
  }

  void store_waiting(const Block& block) {
    for (std::size_t i = 0; i < block.sums.size(); ++i)
      waiting_->put(static_cast<std::int64_t>(i), builder_.get(block.sums[i]));
    const std::int64_t rows = block.row_segment.size, columns = block.column_segment.size;
    for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
      const Int vector = block.pass.oc_block * t_.oc_vectors + v;
      for (std::int64_t r = 0; r < rows; ++r) {
        builder_.loop("waiting", 0, columns, 1, [&](Int c) {
          const ImagePosition at{block.pass.n, vector, block.row + r, block.column + c};
          if_exists(at, [&] {
            store_.store(builder_, buffers_, at, waiting_->get((v * rows + r) * columns + c));
          });
        });
      }
    }
  }

  /// A block of vectors may go beyond the last channel.
  void if_exists(const ImagePosition& at, const std::function<void()>& write) {
    const bool may_exceed = cut_.out_vectors() % t_.oc_vectors != 0;
    may_exceed ? builder_.if_(at.vector < Int(cut_.out_vectors()), write) : write();
  }

  /// Calls visit(vector, position) for all outputs of a block in the order of Block::sums.
  template <typename Visit>
  void for_each_output(const Block& block, Visit visit) const {
    for (std::int64_t v = 0; v < t_.oc_vectors; ++v) {
      const Int vector = block.pass.oc_block * t_.oc_vectors + v;
      for (std::int64_t r = 0; r < block.row_segment.size; ++r) {
        for (std::int64_t c = 0; c < block.column_segment.size; ++c) {
          visit(v, ImagePosition{block.pass.n, vector, block.row + r, block.column + c});
        }
      }
    }
  }

  /// Taps outside, input channels inside: neighbouring taps read overlapping inputs, and two taps written one after the
  /// other would have the code generator keep those in registers that it then has to spill (46% of the peak instead of
  /// 95% for a 2x14 block on a Zen 5 core).
  void write_taps(Block& block) {
    const Int input = block.pass.n * in_.batch +
                      (in_.ring == 0 ? first_input_row(block) * in_.row : Int(0)) +
                      (block.column * columns_.stride - columns_.pad_begin) * in_.pixel;
    const std::vector<TapRange>& taps = block.row_segment.taps;
    const bool is_dynamic = t_.oh_block == 1 && !cut_.is_flat();
    const bool is_uniform =
        std::all_of(taps.begin(), taps.end(), [&](const TapRange& t) { return t == taps[0]; });
    if (is_dynamic || is_uniform) {
      const Int begin = is_dynamic ? first_tap(rows_, block.row) : Int(taps[0].begin);
      const Int end = is_dynamic ? end_tap(rows_, block.row) : Int(taps[0].end);
      const std::vector<bool> all_rows(static_cast<std::size_t>(block.row_segment.size), true);
      builder_.loop("kh", begin, end, 1,
                    [&](Int kh) { write_tap_row(block, input, kh, all_rows); });
      return;
    }
    for (std::int64_t kh = 0; kh < rows_.kernel; ++kh) {
      write_tap_row(block, input, kh, outputs_with_tap(taps, kh));
    }
  }

  /// What the next row of blocks reads below this block's rows, of images in NCHW: models' inputs, which come from memory in pieces too
  /// short for anything to fetch ahead (3 to 32 channels over 224x224 in MobileNetV2 on a Zen 5 core: 135 us, beside other programs 320, and with this 94).
  void fetch_rows_below(const Block& block) {
    if (cut_.in_format() != Format::kNCHW || cut_.is_bf16() || rows_.kernel == 1) return;
    constexpr std::int64_t kLine = 64 / sizeof(float);
    const std::int64_t rows = block.row_segment.size * rows_.stride;
    const std::int64_t columns = block.column_segment.size * columns_.stride;
    const Int from = block.pass.n * in_.batch + (first_input_row(block) + rows_.kernel) * in_.row +
                     block.column * columns_.stride - columns_.pad_begin;
    for (std::int64_t channel = 0; channel < s_.in_channels; ++channel)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; column += kLine)
          builder_.prefetch(input_, from + (channel * in_.channel + row * in_.row + column));
  }

  Int first_input_row(const Block& block) const {
    return block.row * rows_.stride - rows_.pad_begin;
  }

  void write_tap_row(Block& block, Int input, Int kh, const std::vector<bool>& rows) {
    for (const TapRun& run : tap_runs(block.column_segment.taps, columns_.kernel)) {
      builder_.loop("kw", run.first, run.end, 1, [&](Int tap) {
        const Int down = in_.ring == 0
                             ? kh * (rows_.dilation * in_.row)
                             : in_.row_offset(first_input_row(block) + kh * rows_.dilation);
        const Int at = input + down + tap * (columns_.dilation * in_.pixel);
        const Int weights = ((block.pass.oc_block * rows_.kernel + kh) * columns_.kernel + tap) *
                            (cut_.chunks() * chunk_weights());
        builder_.loop("ic", block.pass.first_chunk, block.pass.end_chunk, 1, [&](Int chunk) {
          const Int channel =
              first_group(block.pass.oc_block) * s_.group_in_channels() + chunk * t_.ic_unroll;
          const auto inputs =
              lane_inputs(builder_, cut_, block.pass.lanes, {in_, input_, at, channel});
          write_chunk(block, *inputs, weights + chunk * chunk_weights(), rows, run.outputs);
        });
      });
    }
  }

  Int first_group(Int oc_block) const {
    if (s_.groups == 1) return 0;
    return oc_block * cut_.block_lanes() / s_.group_out_channels();
  }

  /// ic_unroll input channels of one tap, for those rows and columns of the block that have it.
  void write_chunk(Block& block, LaneInputs& inputs, Int weights, const std::vector<bool>& rows,
                   const std::vector<bool>& columns) {
    const std::int64_t width = block.column_segment.size, steps = inputs.steps_per_load();
    const RegisterBlock products{.rows = block.row_segment.size * width,
                                 .vectors = t_.oc_vectors,
                                 .sums = block.sums,
                                 .order = RegisterBlock::Order::kByVector,
                                 .multiply_add = cut_.is_bf16() ? loopnest::dot : loopnest::fma};
    for (std::int64_t first = 0; first < t_.ic_unroll; first += steps) {
      const std::vector<Local> weight =
          load_weights(weights + first * cut_.block_lanes(), steps * t_.oc_vectors);
      const auto input = [&](std::int64_t v, std::int64_t i) { return inputs.get(v, first + i); };
      for (std::int64_t r = 0; r < block.row_segment.size; ++r) {
        for (std::int64_t c = 0; c < width; ++c) {
          if (!rows[static_cast<std::size_t>(r)] || !columns[static_cast<std::size_t>(c)]) continue;
          inputs.load(r * rows_.stride * in_.row + c * columns_.stride * in_.pixel, first);
          products.add_row(builder_, r * width + c, input, weight, steps);
        }
      }
    }
  }

  std::vector<Local> load_weights(Int from, std::int64_t vectors) {
    std::vector<Local> weight;
    for (std::int64_t v = 0; v < vectors; ++v) {
      const Int at = from + v * cut_.lanes();
      if (t_.prefetch != 0) {
        builder_.prefetch(buffers_.constants[0], at + cut_.prefetch_elements(), 2);
      }
      weight.push_back(builder_.local(
          builder_.load_as(cut_.factor_type(), buffers_.constants[0], at, cut_.factor_lanes())));
    }
    return weight;
  }

  std::int64_t chunk_weights() const { return t_.ic_unroll * cut_.block_lanes(); }

  const DirectCut& cut_;
  const ConvShape& s_;
  const DirectTiling& t_;
  WindowAxis rows_, columns_;
  std::vector<RowGroup> groups_;
  const ImageLayout in_;
  const ImageStore& store_;
  Builder& builder_;
  const KernelBuffers& buffers_;
  loopnest::Buffer input_;
  std::optional<WaitingSums> waiting_;
};

ImageLayout input_layout(const DirectCut& cut) {
  const ConvShape& s = cut.shape();
  if (!cut.is_flat()) {
    const Shape shape = {s.batch, s.in_channels, s.in_height, s.in_width};
    return image_layout(shape, cut.in_format(), cut.in_lanes());
  }
  const Shape shape = {s.batch, s.in_channels, 1, s.out_pixels()};
  ImageLayout layout = image_layout(shape, cut.in_format(), cut.in_lanes());
  layout.row = layout.pixel * cut.tiling().ow_block;
  return layout;
}

}  // namespace

std::vector<PackedConstant> direct_constants(const Task& task, const DirectCut& cut) {
  return {pack_direct_weights(task, cut),
          pack_bias(task, cut.shape(), cut.oc_blocks() * cut.block_lanes())};
}

void write_direct_rows(Builder& builder, const DirectCut& cut, const RowsOf& rows) {
  AOE_CHECK(cut.tiling().oh_block == 1 && cut.ic_tiles() == 1 && !cut.is_flat(),
            "rows of a convolution are written one at a time");
  DirectNest(builder, cut, rows.in, rows.store, rows.buffers)
      .write_rows(rows.n, rows.begin, rows.end);
}

Kernel build_direct(const Task& task, const FormatChoice& format, const DirectCut& cut) {
  Builder builder("direct");
  ImageStore store(task, format, cut.lanes(), cut.flat_row());
  std::vector<PackedConstant> constants = direct_constants(task, cut);
  store.add_constants(constants);
  const KernelBuffers buffers = declare_direct(builder, task, cut, constants.size());
  DirectNest nest(builder, cut, input_layout(cut), store, buffers);
  builder.parallel(cut.parallel_extent(), [&](Int iteration) { nest.write_iteration(iteration); });
  Kernel kernel = kernel_for("jit");
  if (cut.is_bf16()) {
    kernel.needs = {Feature::kBf16};
    kernel.workspace_bytes =
        static_cast<std::size_t>(rounded_elements(task, cut)) * sizeof(std::uint32_t);
    kernel.stages.push_back(round_direct_input(task, cut, constants.size()));
  }
  kernel.stages.push_back(builder.finish());
  kernel.constants = std::move(constants);
  return kernel;
}

}  // namespace aoe::compiler
