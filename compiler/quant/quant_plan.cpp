// The arithmetic of QuantPlan, and what is packed for it.
#include "compiler/quant/quant_plan.h"

#include <algorithm>
#include <vector>

#include "compiler/block_cycles.h"
#include "compiler/conv/image_store.h"
#include "compiler/gemm/gemm_nest.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/integer_math.h"
#include "compiler/schedule_value.h"
#include "reference/widen.h"

namespace aoe::compiler {
namespace {

bool is_byte(DataType dtype) {
  return dtype == DataType::kInt8 || dtype == DataType::kUint8;
}

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
  return task.op.type == "QuantConv2D" ? conv_shape(task).value() : product_shape(task);
}

Result<void> supports_product(const Task& task) {
  const Result<MatMulShape> s = matmul_shape(task);
  if (!s) return Unexpected(s.error());
  if (s->batch() != 1 || !s->is_b_shared()) return Unexpected("batches that do not fold into rows");
  return {};
}

/// One value per output channel of an input that has one for all, or none.
std::vector<std::int64_t> by_channel(const Task& task, QuantInput input, std::int64_t channels) {
  const ConstantPtr constant = task.inputs[input].constant;
  if (!constant) return std::vector<std::int64_t>(static_cast<std::size_t>(channels));
  auto values = reference::to_int64s(constant->view());
  if (values.size() == 1) values.resize(static_cast<std::size_t>(channels), values[0]);
  return values;
}

bool needs_two_sets(const Task& task, std::int64_t channels) {
  const std::int64_t middle = task.in(kQuantWeight).dtype == DataType::kUint8 ? 128 : 0;
  const auto zeros = by_channel(task, kQuantWeightZero, channels);
  return std::ranges::any_of(zeros, [&](std::int64_t zero) { return zero != middle; });
}

/// Weights less their zero points: at(output channel, input channel, tap).
class CentredWeights {
 public:
  CentredWeights(const Task& task, const ConvShape& shape)
      : values_(reference::to_int64s(task.inputs[kQuantWeight].constant->view())),
        zeros_(by_channel(task, kQuantWeightZero, shape.out_channels)),
        taps_(shape.kernel_height * shape.kernel_width) {
    if (task.op.type == "QuantConv2D") {
      channel_stride_ = taps_;
      output_stride_ = taps_ * shape.group_in_channels();
    } else {
      const MatMulShape s = matmul_shape(task).value();
      channel_stride_ = s.b.row;
      output_stride_ = s.b.column;
    }
  }

  std::int64_t at(std::int64_t oc, std::int64_t ic, std::int64_t tap) const {
    const std::int64_t index = oc * output_stride_ + ic * channel_stride_ + tap;
    return values_[static_cast<std::size_t>(index)] - zeros_[static_cast<std::size_t>(oc)];
  }

 private:
  std::vector<std::int64_t> values_, zeros_;
  std::int64_t taps_, channel_stride_ = 1, output_stride_ = 1;
};

/// The part of a weight that set 0 or 1 holds.
std::int8_t set_part(std::int64_t weight, std::int64_t set) {
  const std::int64_t first = std::clamp<std::int64_t>(weight, -128, 127);
  return static_cast<std::int8_t>(set == 0 ? first : weight - first);
}

}  // namespace

Result<void> supports_quant_anchor(const Task& task) {
  const bool is_conv = task.op.type == "QuantConv2D";
  if (!is_conv && task.op.type != "QuantMatMul") {
    return Unexpected(task.op.type + " is no quantised product");
  }
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
    if (task.inputs[i].is_present() && !task.inputs[i].constant) {
      return Unexpected("input " + std::to_string(i) + " is not constant");
    }
  }
  if (task.outputs.size() != 1) {
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  }
  return {};
}

QuantTiling QuantTiling::from(const Schedule& s) {
  return {.oc_vectors = schedule_value(s, "oc_vectors", 1),
          .oh_block = schedule_value(s, "oh_block", 1),
          .ow_block = schedule_value(s, "ow_block", 1),
          .k_unroll = schedule_value(s, "k_unroll", 1),
          .tile = schedule_value(s, "tile", 1),
          .pixels_outer = schedule_value(s, "pixels_outer", 0)};
}

Schedule QuantTiling::schedule() const {
  return {{"oc_vectors", oc_vectors}, {"oh_block", oh_block}, {"ow_block", ow_block},
          {"k_unroll", k_unroll},     {"tile", tile},         {"pixels_outer", pixels_outer}};
}

QuantPlan::QuantPlan(const Task& task, Format in, int lanes, const QuantTiling& tiling)
    : shape_(shape_of(task)),
      in_(task.op.type == "QuantMatMul" ? Format::kNHWC : in),  // rows are pixels
      lanes_(lanes),
      tiling_(tiling),
      is_signed_(task.in(kQuantX).dtype == DataType::kInt8),
      weight_sets_(needs_two_sets(task, shape_.out_channels) ? 2 : 1) {
  is_copied_ = is_signed_ || shape_.in_channels % 4 != 0 || shape_.has_padding() ||
               (in_ == Format::kNCHW && shape_.in_channels > 1);
  is_flat_ = shape_.is_pointwise() && (task.op.type == "QuantMatMul" || is_flattenable(task));
}

QuantPlan QuantPlan::with(const QuantTiling& tiling) const {
  QuantPlan plan = *this;
  plan.tiling_ = tiling;
  return plan;
}

std::int64_t QuantPlan::read_height() const {
  if (!is_copied_) return shape_.in_height;
  return (shape_.out_height - 1) * shape_.stride_height +
         (shape_.kernel_height - 1) * shape_.dilation_height + 1;
}

std::int64_t QuantPlan::read_width() const {
  if (!is_copied_) return shape_.in_width;
  return (shape_.out_width - 1) * shape_.stride_width +
         (shape_.kernel_width - 1) * shape_.dilation_width + 1;
}

std::int64_t QuantPlan::workspace_quads() const {
  return is_copied_ ? shape_.batch * read_height() * read_width() * quads() : 0;
}

std::int64_t QuantPlan::run_quads() const {
  return shape_.dilation_width == 1 ? shape_.kernel_width * quads() : quads();
}

std::int64_t QuantPlan::run_columns() const {
  return shape_.dilation_width == 1 ? 1 : shape_.kernel_width;
}

std::int64_t QuantPlan::steps() const {
  return weight_sets_ * shape_.kernel_height * shape_.kernel_width * quads();
}

std::int64_t QuantPlan::out_vectors() const {
  return ceil_div(shape_.out_channels, lanes_);
}

std::int64_t QuantPlan::oc_blocks() const {
  return ceil_div(out_vectors(), tiling_.oc_vectors);
}

std::int64_t QuantPlan::tiles() const {
  const std::int64_t blocks = is_flat() ? ceil_div(pixel_columns(), tiling_.ow_block)
                                        : ceil_div(pixel_rows(), tiling_.oh_block);
  return ceil_div(blocks, tiling_.tile);
}

std::int64_t QuantPlan::parallel_extent() const {
  return shape_.batch * oc_blocks() * tiles();
}

std::int64_t QuantPlan::registers() const {
  const std::int64_t pixels = tiling_.oh_block * tiling_.ow_block;
  return pixels * tiling_.oc_vectors + tiling_.oc_vectors + 1;
}

std::int64_t QuantPlan::body_dots() const {
  std::int64_t pixels = 0, vectors = 0;
  for (const BlockRun& rows : even_runs(pixel_rows(), tiling_.oh_block)) {
    for (const BlockRun& columns : even_runs(pixel_columns(), tiling_.ow_block)) {
      pixels += rows.size * columns.size;
    }
  }
  for (const BlockRun& run : block_runs(out_vectors(), tiling_.oc_vectors)) vectors += run.size;
  const std::int64_t rest = run_quads() % tiling_.k_unroll;
  return pixels * vectors * (tiling_.k_unroll + rest);
}

double QuantPlan::core_cycles(bool has_vnni) const {
  constexpr double kDotWithoutVnni = 3;  // two multiplications, two additions, and the widening
  double cycles = 0;
  for (const BlockRun& rows : even_runs(pixel_rows(), tiling_.oh_block)) {
    for (const BlockRun& columns : even_runs(pixel_columns(), tiling_.ow_block)) {
      for (const BlockRun& vectors : block_runs(out_vectors(), tiling_.oc_vectors)) {
        const auto pixels = static_cast<double>(rows.size * columns.size);
        const auto v = static_cast<double>(vectors.size);
        const double dots = pixels * v * (has_vnni ? 1 : kDotWithoutVnni);
        constexpr double kStoreCycles = 6;  // conversion, scaling, rounding and packing of a vector
        const double blocks = static_cast<double>(rows.count * columns.count * vectors.count);
        cycles += blocks * (block_cycles(dots, pixels, v, 1) * static_cast<double>(steps()) +
                            kStoreCycles * pixels * v);
      }
    }
  }
  return cycles * static_cast<double>(shape_.batch);
}

int quant_x_zero(const Task& task) {
  const std::int64_t zero = by_channel(task, kQuantXZero, 1)[0];
  return static_cast<int>(task.in(kQuantX).dtype == DataType::kInt8 ? zero + 128 : zero);
}

PackedConstant pack_quant_weights(const Task& task, const QuantPlan& plan) {
  const std::int64_t per_vector = plan.steps() * plan.lanes() * 4;
  const auto bytes = static_cast<std::size_t>(plan.out_vectors() * per_vector);
  return {.size_bytes = bytes, .pack = [=](void* destination) {
            const ConvShape& s = plan.shape();
            const CentredWeights weights(task, s);
            const std::int64_t taps = s.kernel_height * s.kernel_width;
            auto* to = static_cast<std::int8_t*>(destination);
            std::fill_n(to, bytes, std::int8_t{0});
            for (std::int64_t oc = 0; oc < s.out_channels; ++oc) {
              const std::int64_t vector = oc / plan.lanes();
              const std::int64_t first =
                  vector / plan.tiling().oc_vectors * plan.tiling().oc_vectors;
              const std::int64_t width =
                  std::min(plan.tiling().oc_vectors, plan.out_vectors() - first) * plan.lanes();
              for (std::int64_t set = 0; set < plan.weight_sets(); ++set) {
                for (std::int64_t tap = 0; tap < taps; ++tap) {
                  for (std::int64_t ic = 0; ic < s.in_channels; ++ic) {
                    const std::int64_t step = (set * taps + tap) * plan.quads() + ic / 4;
                    const std::int64_t quad = first * plan.steps() * plan.lanes() + step * width +
                                              oc - first * plan.lanes();
                    to[quad * 4 + ic % 4] = set_part(weights.at(oc, ic, tap), set);
                  }
                }
              }
            }
          }};
}

PackedConstant pack_quant_bias(const Task& task, const QuantPlan& plan) {
  const auto elements = static_cast<std::size_t>(plan.out_vectors() * plan.lanes());
  return {.size_bytes = elements * sizeof(std::int32_t), .pack = [=](void* destination) {
            const ConvShape& s = plan.shape();
            const CentredWeights weights(task, s);
            const auto bias = by_channel(task, kQuantBias, s.out_channels);
            const std::int64_t x_zero = quant_x_zero(task);
            auto* to = static_cast<std::int32_t*>(destination);
            std::fill_n(to, elements, 0);
            for (std::int64_t oc = 0; oc < s.out_channels; ++oc) {
              std::int64_t sum = 0;
              for (std::int64_t ic = 0; ic < s.in_channels; ++ic) {
                for (std::int64_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
                  sum += weights.at(oc, ic, tap);
                }
              }
              to[oc] = static_cast<std::int32_t>(bias[static_cast<std::size_t>(oc)] - x_zero * sum);
            }
          }};
}

PackedConstant pack_quant_multiplier(const Task& task, const QuantPlan& plan) {
  const auto elements = static_cast<std::size_t>(plan.out_vectors() * plan.lanes());
  return {.size_bytes = elements * sizeof(float),
          .pack = [=, multiplier = task.inputs[kQuantMultiplier].constant](void* destination) {
            const std::int64_t count = element_count(multiplier->desc().shape);
            const auto* from = multiplier->view().as<float>();
            auto* to = static_cast<float*>(destination);
            std::fill_n(to, elements, 0.0f);
            for (std::int64_t oc = 0; oc < plan.shape().out_channels; ++oc) {
              to[oc] = from[count == 1 ? 0 : oc];
            }
          }};
}

}  // namespace aoe::compiler
