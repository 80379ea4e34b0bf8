// Epilogue, channel tails and the store of image kernels.
#include "compiler/conv/image_store.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "base/check.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/narrow_lanes.h"
#include "compiler/emit/packed_constant.h"

namespace aoe::compiler {
namespace {

/// `shape` with ones in front, as broadcasting understands it.
Shape image_shape(const Shape& shape) {
  Shape image(4 - shape.size(), 1);
  image.insert(image.end(), shape.begin(), shape.end());
  return image;
}

bool has_all_channels(const TensorDesc& operand, const Task& task) {
  return operand.shape.size() == 4 && operand.shape[1] == task.out().shape[1];
}

/// Constants are stored in blocks of lanes, padded with zeros, so that no load of them needs a
/// mask.
PackedConstant blocked_constant(const ConstantPtr& constant, const Shape& shape, int lanes) {
  const std::int64_t channels = shape[1], pixels = shape[2] * shape[3];
  const std::int64_t blocks = ceil_div(channels, lanes);
  return packed_numbers<float>(shape[0] * blocks * pixels * lanes, [=](float* to) {
    const float* from = constant->view().as<float>();
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t p = 0; p < pixels; ++p) {
          to[((n * blocks + c / lanes) * pixels + p) * lanes + c % lanes] =
              from[(n * channels + c) * pixels + p];
        }
      }
    }
  });
}

}  // namespace

Result<void> supports_image_epilogue(const Task& task, EpilogueTypes types) {
  if (!is_epilogue_type(task.out().dtype, types)) {
    return Unexpected("output is " + std::string(name(task.out().dtype)) + ", needs float32");
  }
  if (task.outputs.size() != 1) {
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  }
  for (std::size_t i = task.anchor_inputs(); i < task.inputs.size(); ++i) {
    const TensorDesc& operand = task.in(i);
    if (!is_epilogue_type(operand.dtype, types)) {
      return Unexpected("epilogue operand is " + aoe::to_string(operand) + ", needs float32");
    }
    if (operand.shape.size() > 4) {
      return Unexpected("epilogue operand has " + std::to_string(operand.shape.size()) +
                        " dimensions, at most 4");
    }
    const Shape shape = image_shape(operand.shape);
    for (std::size_t d = 0; d < 4; ++d) {
      if (shape[d] != 1 && shape[d] != task.out().shape[d]) {
        return Unexpected("epilogue operand " + aoe::to_string(operand.shape) +
                          " does not broadcast to " + aoe::to_string(task.out().shape));
      }
    }
  }
  return supports_epilogue(task);
}

Result<void> supports_float_convolution(const Task& task, const ConvShape& shape) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (task.in(i).dtype != DataType::kFloat)
      return Unexpected("input " + std::to_string(i) + " is " + aoe::to_string(task.in(i)) +
                        ", needs float32");
  if (!task.inputs[1].constant) return Unexpected("weights are not constant");
  if (shape.has_bias && !task.inputs[2].constant) return Unexpected("bias is not constant");
  return supports_image_epilogue(task);
}

FormatChoice image_format(const Task& task, const std::string& choice_name, Format in, Format out) {
  FormatChoice choice{.name = choice_name, .inputs = {}, .outputs = {out}};
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (!task.inputs[i].is_present()) {
      choice.inputs.push_back(Format::kUndefined);
    } else if (task.inputs[i].constant) {
      choice.inputs.push_back(Format::kND);
    } else if (i == 0) {
      choice.inputs.push_back(in);
    } else {
      choice.inputs.push_back(has_all_channels(task.in(i), task) ? out : Format::kND);
    }
  }
  return choice;
}

std::vector<FormatChoice> convolution_formats(const Task& task, std::int64_t planar_channels) {
  std::vector<FormatChoice> choices = {
      image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0),
      image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
  if (task.in(0).shape[1] <= planar_channels) {
    choices.push_back(image_format(task, "NCHW", Format::kNCHW, Format::kNC1HWC0));
    choices.push_back(image_format(task, "NCHW_NHWC", Format::kNCHW, Format::kNHWC));
  }
  return choices;
}

bool is_flattenable(const Task& task) {
  const Shape& out = task.out().shape;
  return std::all_of(task.inputs.begin() + static_cast<std::ptrdiff_t>(task.anchor_inputs()),
                     task.inputs.end(), [&](const TaskInput& input) {
                       const Shape shape = image_shape(input.desc.shape);
                       return shape[2] * shape[3] == 1 ||
                              (shape[2] == out[2] && shape[3] == out[3]);
                     });
}

ImageStore::ImageStore(const Task& task, const FormatChoice& format, int lanes,
                       std::optional<std::int64_t> flat_row)
    : task_(task),
      format_(format.outputs[0]),
      lanes_(lanes),
      channels_(task.out().shape[1]),
      operands_(task.inputs.size()) {
  const auto layout_of = [&](Shape shape, Format operand_format) {
    if (!flat_row) return image_layout(shape, operand_format, lanes);
    shape = {shape[0], shape[1], 1, shape[2] * shape[3]};
    ImageLayout layout = image_layout(shape, operand_format, lanes);
    layout.row = layout.pixel * *flat_row;
    return layout;
  };
  layout_ = layout_of(task.out().shape, format_);
  for (std::size_t i = task.anchor_inputs(); i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    const Shape shape = image_shape(input.desc.shape);
    Operand operand;
    if (!input.constant) {
      operand.layout = layout_of(shape, format.inputs[i]);
    } else if (const auto scalar = scalar_constant(input)) {
      operand.scalar = static_cast<float>(*scalar);
    } else {
      operand.layout = layout_of(shape, shape[1] == 1 ? Format::kND : Format::kNC1HWC0);
    }
    operands_[i] = operand;
  }
}

ImageStore::ImageStore(const Task& task, const FormatChoice& format, int lanes,
                       const ImageLayout& out)
    : ImageStore(task, format, lanes) {
  layout_ = out;
}

void ImageStore::add_constants(std::vector<PackedConstant>& constants) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i] || !task_.inputs[i].constant || operands_[i]->scalar) continue;
    operands_[i]->constant = constants.size();
    const Shape shape = image_shape(task_.in(i).shape);
    constants.push_back(
        blocked_constant(task_.inputs[i].constant, shape, shape[1] == 1 ? 1 : lanes_));
  }
}

Int ImageStore::index(const ImageLayout& layout, const ImagePosition& at) const {
  const std::int64_t vector_stride =
      layout.c0 != 0 ? layout.channel_block : layout.channel * lanes_;
  return at.n * layout.batch + at.vector * vector_stride + layout.row_offset(at.row) +
         at.column * layout.pixel;
}

std::optional<Int> ImageStore::active(const ImageLayout& layout, const ImagePosition& at) const {
  if (layout.c0 != 0 || channels_ % lanes_ == 0) return std::nullopt;
  return min(Int(lanes_), Int(channels_) - at.vector * lanes_);
}

Vec ImageStore::load_operand(Builder& builder, const KernelBuffers& buffers, std::size_t input,
                             const ImagePosition& at) const {
  const Operand& operand = *operands_[input];
  if (operand.scalar) return loopnest::splat(*operand.scalar, lanes_);
  const loopnest::Buffer buffer =
      operand.constant ? buffers.constants[*operand.constant] : *buffers.inputs[input];
  if (operand.layout.channel == 0) {
    return builder.load_broadcast(buffer, index(operand.layout, at), lanes_);
  }
  return builder.load(buffer, index(operand.layout, at), lanes_, active(operand.layout, at),
                      operand.layout.channel);
}

void ImageStore::store(Builder& builder, const KernelBuffers& buffers, const ImagePosition& at,
                       Vec value) const {
  if (!reference::epilogue(task_.op).empty()) {
    value = emit_epilogue(builder, task_, value, [&](int input) {
      return load_operand(builder, buffers, static_cast<std::size_t>(input), at);
    });
    if (layout_.c0 != 0 && channels_ % lanes_ != 0) {
      const Int count = min(Int(lanes_), Int(channels_) - at.vector * lanes_);
      value = first_lanes(value, count);
    }
  }
  store_partial(builder, buffers, at, value);
}

void ImageStore::store_partial(Builder& builder, const KernelBuffers& buffers,
                               const ImagePosition& at, Vec value) const {
  builder.store(buffers.outputs[0], index(layout_, at), value, active(layout_, at));
}

Vec ImageStore::load_partial(Builder& builder, const KernelBuffers& buffers,
                             const ImagePosition& at) const {
  return builder.load(buffers.outputs[0], index(layout_, at), lanes_, active(layout_, at));
}

}  // namespace aoe::compiler
