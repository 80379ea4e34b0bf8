// The arithmetic of QuantCut.
#include "compiler/quant/quant_cut.h"

#include <algorithm>
#include <vector>

#include "compiler/conv/image_store.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/quant/quant_weights.h"

namespace aoe::compiler {
namespace {

ConvShape product_shape(const Task& task) {
  const MatMulShape s = matmul_shape(task).value();
  ConvShape shape;
  shape.in_channels = s.k;
  shape.out_channels = s.n;
  shape.in_height = shape.out_height = 1;
  shape.in_width = shape.out_width = s.m;
  return shape;
}

ConvShape shape_of(const Task& task) {
  return is_convolution(task) ? conv_shape(task).value() : product_shape(task);
}

Result<void> supports_product(const Task& task) {
  const Result<MatMulShape> s = matmul_shape(task);
  if (!s) return Unexpected(s.error());
  if (s->batch() != 1 || !s->is_b_shared()) return Unexpected("batches that do not fold into rows");
  return {};
}

/// The most groups of which each has whole quads of inputs and whole vectors of outputs.
std::int64_t block_groups(const ConvShape& s, int lanes) {
  for (std::int64_t together = 1; together < s.groups; ++together) {
    if (s.groups % together == 0 && together * s.group_in_channels() % 4 == 0 &&
        together * s.group_out_channels() % lanes == 0) {
      return s.groups / together;
    }
  }
  return 1;
}

/// Vectors of outputs from which on widening an input once pays.
constexpr std::int64_t kManyReaders = 6;

/// An attribute that no model has.
constexpr const char* kGivesSums = "gives_sums";

}  // namespace

Task as_quant_product(const Task& task) {
  const bool is_product = task.op.type == "MatMulInteger";
  if (!is_product && task.op.type != "ConvInteger") return task;
  Task quant = task;
  quant.op.type = is_product ? "QuantMatMul" : "QuantConv2D";
  quant.op.version = 1;
  quant.op.attrs.set(kGivesSums, std::int64_t{1});
  const auto input = [&](std::size_t i) {
    return i < task.inputs.size() ? task.inputs[i] : TaskInput{};
  };
  const TensorDesc scalar{.dtype = DataType::kFloat};
  const float one = 1;
  quant.inputs = {input(0), input(1), {},
                  input(2), input(3), {scalar, std::make_shared<Constant>(scalar, &one)}};
  return quant;
}

bool gives_sums(const Task& task) {
  return task.op.attrs.get_int(kGivesSums, 0) != 0;
}

Result<void> supports_quant_anchor(const Task& task) {
  if (!reference::is_quantised(task.anchor().type))
    return Unexpected(task.anchor().type + " is no quantised product");
  const bool is_conv = is_convolution(task);
  if (is_conv) {
    if (const auto shape = conv_shape(task); !shape) return Unexpected(shape.error());
  } else if (const auto shape = supports_product(task); !shape) {
    return shape;
  }
  for (const QuantInput i : {kQuantX, kQuantWeight}) {
    if (!is_byte(task.in(i).dtype)) {
      return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(task.in(i)) +
                        ", needs int8 or uint8");
    }
  }
  for (std::size_t i = kQuantWeight; i < kQuantInputs; ++i) {
    if (i != kQuantXZero && task.inputs[i].is_present() && !task.inputs[i].constant) {
      return Unexpected("input " + std::to_string(i) + " is not constant");
    }
  }
  if (const TaskInput& zero = task.inputs[kQuantXZero];
      zero.is_present() && element_count(zero.desc.shape) != 1)
    return Unexpected("a zero point for each row");
  if (task.outputs.size() != 1) {
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  }
  return {};
}

QuantCut::QuantCut(const Task& task, Format in, const Soc& soc, const QuantTiling& tiling,
                   bool has_tiles)
    : shape_(shape_of(task)),
      in_(!is_convolution(task) ? Format::kNHWC : in),  // rows are pixels
      lanes_(soc.vector_lanes()),
      tiling_(tiling),
      is_signed_(task.in(kQuantX).dtype == DataType::kInt8),
      has_pairs_(!soc.has(Feature::kVnni)),
      has_tiles_(has_tiles) {
  groups_ = block_groups(shape_, lanes_);
  if (!has_pairs_ && has_wide_weights(task, shape_.out_channels)) {
    sums_pixels_ = groups_ == shape_.groups;
    weight_sets_ = sums_pixels_ ? 1 : 2;
  }
  is_copied_ = is_signed_ || shape_.in_channels % 4 != 0 || shape_.has_padding() ||
               (in_ == Format::kNCHW && shape_.in_channels > 1) ||
               (has_pairs_ && out_vectors() >= kManyReaders);
  is_flat_ = shape_.is_pointwise() && (!is_convolution(task) || is_flattenable(task));
}

QuantCut QuantCut::with(const QuantTiling& tiling) const {
  QuantCut cut = *this;
  cut.tiling_ = tiling;
  return cut;
}

std::int64_t QuantCut::read_height() const {
  return is_copied_ ? shape_.reached_rows() : shape_.in_height;
}

std::int64_t QuantCut::read_width() const {
  return is_copied_ ? shape_.reached_columns() : shape_.in_width;
}

std::int64_t QuantCut::workspace_elements() const {
  return is_copied_ ? shape_.batch * image_copies() * image_quads() : 0;
}

std::int64_t QuantCut::first_channel(std::int64_t oc) const {
  return oc / (shape_.out_channels / groups_) * (shape_.in_channels / groups_);
}

std::int64_t QuantCut::run_quads() const {
  return group_quads() * shape_.kernel_width / run_columns();
}

std::int64_t QuantCut::run_columns() const {
  return shape_.dilation_width == 1 && groups_ == 1 ? 1 : shape_.kernel_width;
}

std::int64_t QuantCut::steps() const {
  return weight_sets_ * shape_.kernel_height * shape_.kernel_width * group_quads();
}

std::int64_t QuantCut::tile_words() const {
  return TileBlock::words_of(run_quads());
}

TileBlock QuantCut::tiles_of(std::int64_t rows, std::int64_t columns, std::int64_t vectors) const {
  return TileBlock::of_pixels(rows, columns, vectors, tile_words());
}

bool QuantCut::is_block_small(const Soc& soc) const {
  if (!has_tiles_) return registers() <= soc.vector_registers();
  const std::int64_t rows = tiling_.oh_block, columns = tiling_.ow_block;
  return tiling_.oc_vectors <= TileBlock::kMostVectors && rows <= 2 &&
         rows * columns <= TileBlock::kMostRows && tiling_.k_unroll == 1;
}

std::int64_t QuantCut::out_vectors() const {
  return ceil_div(shape_.out_channels, lanes_);
}

PixelLoop QuantCut::loop() const {
  return {.batch = shape_.batch,
          .vectors = out_vectors(),
          .rows = pixel_rows(),
          .columns = pixel_columns(),
          .is_flat = is_flat(),
          .block_vectors = tiling_.oc_vectors,
          .block_rows = tiling_.oh_block,
          .block_columns = tiling_.ow_block,
          .tile = tiling_.tile,
          .are_pixels_outer = tiling_.pixels_outer != 0};
}

std::int64_t QuantCut::registers() const {
  const std::int64_t pixels = tiling_.oh_block * tiling_.ow_block;
  const std::int64_t vectors = block_vectors(tiling_.oc_vectors);
  const std::int64_t products = has_pairs_ ? 2 : 0;  // before they are added to sums
  return pixels * vectors + vectors + 1 + products;
}

std::int64_t QuantCut::body_dots() const {
  std::int64_t pixels = 0, vectors = 0;
  for (const BlockRun& rows : even_runs(pixel_rows(), tiling_.oh_block)) {
    for (const BlockRun& columns : even_runs(pixel_columns(), tiling_.ow_block)) {
      pixels += rows.size * columns.size;
    }
  }
  for (const BlockRun& run : block_runs(out_vectors(), tiling_.oc_vectors))
    vectors += block_vectors(run.size);
  const std::int64_t rest = run_quads() % tiling_.k_unroll;
  return pixels * vectors * (tiling_.k_unroll + rest);
}

double QuantCut::block_core_cycles(std::int64_t rows, std::int64_t columns,
                                   std::int64_t vectors) const {
  if (has_tiles_) {
    constexpr double kStoreCycles = 10;  // of a vector of sums, through memory
    return tiles_of(rows, columns, vectors).step_cycles() * static_cast<double>(steps()) /
               static_cast<double>(tile_words()) +
           kStoreCycles * static_cast<double>(rows * columns * vectors);
  }
  const double dot = has_pairs_ ? 2 : 1;  // of instructions on two ports; additions go to others
  const double waits = has_pairs_ ? 0.5 : 1;  // an addition of integers is no multiply-add
  const auto pixels = static_cast<double>(rows * columns), v = static_cast<double>(vectors);
  const auto factors = static_cast<double>(block_vectors(vectors));
  const double widening = has_pairs_ && !is_copied_ ? pixels : 0;
  // Conversion, scaling, rounding and packing of a vector; of a small block they go on beside the products of the next one.
  // (Zen 4, vectors of 28 and of 14 sums: ResNet-50's first convolution 841 and 693 us, 16x112x112 to 96 channels 201 and 188.)
  constexpr double kStoreCycles = 6, kNothingOverlaps = 28;
  const double store_cycles = kStoreCycles * std::min(1.0, pixels * v / kNothingOverlaps);
  return block_cycles(std::int64_t{4} * lanes_, pixels * factors * dot + widening, pixels * dot,
                      factors * dot, waits) *
             static_cast<double>(steps()) +
         store_cycles * pixels * v;
}

double QuantCut::core_cycles() const {
  return loop().sum_of([&](std::int64_t vectors, std::int64_t rows, std::int64_t columns) {
    return block_core_cycles(rows, columns, vectors);
  });
}

}  // namespace aoe::compiler
