// im2col_gemm: convolution as a matrix product. A first stage writes the window of every output pixel as a row; the
// generated product (compiler/gemm/gemm_nest.h) multiplies the rows with the packed weights, epilogue included. For odd
// shapes, where the blocks of a direct convolution fit badly: large windows over few channels, few pixels, long dilations.
// Tested like every Impl by tests/compiler/impls_test.cpp.
#include <algorithm>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/image_store.h"
#include "compiler/gemm/gemm_plan.h"

namespace aoe::compiler {
namespace {

/// Rows beyond this many bytes leave all caches: the copy costs more than the product gains.
constexpr std::int64_t kMaxWindowBytes = std::int64_t{64} << 20;

std::int64_t pixels(const ConvShape& s) {
  return s.batch * s.out_pixels();
}
std::int64_t window(const ConvShape& s) {
  return s.kernel_height * s.kernel_width * s.in_channels;
}

/// An operand of the epilogue as the product sees it, [pixels][channels] or a scalar as bounds of a Clip are; the reason why not.
Result<Shape> as_matrix(const Shape& operand, const ConvShape& s) {
  if (operand.empty()) return Shape{};
  Shape full(4 - std::min<std::size_t>(4, operand.size()), 1);
  full.insert(full.end(), operand.begin(), operand.end());
  if (full.size() != 4) return Unexpected(std::to_string(full.size()) + "-dimensional operand");
  const bool is_row = full[0] == 1 && full[2] == 1 && full[3] == 1;
  if (is_row) return Shape{1, full[1]};
  const bool is_image = full[0] == s.batch && full[2] == s.out_height && full[3] == s.out_width;
  if (is_image) return Shape{pixels(s), full[1]};
  return Unexpected("operand " + aoe::to_string(operand) + " is neither one pixel nor an image");
}

/// OIHW -> [kernel row][kernel column][input channel][output channel].
ConstantPtr window_weights(const Constant& weights, const ConvShape& s) {
  auto rows = std::make_shared<Constant>(
      TensorDesc{.dtype = DataType::kFloat, .shape = {window(s), s.out_channels}});
  const float* from = weights.view().as<float>();
  float* to = static_cast<float*>(rows->mutable_data());
  const std::int64_t taps = s.kernel_height * s.kernel_width;
  for (std::int64_t oc = 0; oc < s.out_channels; ++oc)
    for (std::int64_t ic = 0; ic < s.in_channels; ++ic)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        to[(tap * s.in_channels + ic) * s.out_channels + oc] = *from++;
  return rows;
}

/// The convolution as a Gemm: inputs keep their numbers, the windows stand for the image.
Result<Task> product_of(const Task& task, const ConvShape& s) {
  Task product = task;
  reference::OpCall& op = reference::edit_anchor(product.op);
  op.type = s.has_bias ? "Gemm" : "MatMulV2";
  op.attrs = {};
  product.inputs[0].desc.shape = {pixels(s), window(s)};
  product.inputs[1].desc.shape = {window(s), s.out_channels};
  product.outputs[0].shape = {pixels(s), s.out_channels};
  for (std::size_t i = s.has_bias ? 3 : 2; i < product.inputs.size(); ++i) {
    TaskInput& input = product.inputs[i];
    if (!input.is_present()) continue;
    const Result<Shape> shape = as_matrix(input.desc.shape, s);
    if (!shape) return Unexpected(shape.error());
    if (input.constant && !shape->empty() && shape->front() != 1)
      return Unexpected("operand " + std::to_string(i) + " is a constant image");
    input.desc.shape = *shape;
  }
  return product;
}

/// Copies windows from NHWC.
class Windows {
 public:
  Windows(Builder& builder, const ConvShape& s, Buffer from, Buffer to, int lanes)
      : b_(builder), s_(s), from_(from), to_(to), lanes_(lanes) {}

  void emit() {
    b_.parallel(s_.batch * s_.out_height, [&](Int row) {
      const Int image = row / s_.out_height * s_.in_height;
      const Int top = row % s_.out_height * s_.stride_height - s_.pad_top;
      b_.loop("column", 0, s_.out_width, 1, [&](Int column) {
        const Int left = column * s_.stride_width - s_.pad_left;
        const Int target = (row * s_.out_width + column) * window(s_);
        b_.loop("kernel_row", 0, s_.kernel_height, 1, [&](Int r) {
          const Int line = top + r * s_.dilation_height;
          emit_line(image, line, left, target + r * s_.kernel_width * s_.in_channels);
        });
      });
    });
  }

 private:
  /// One row of a window. Neighbouring pixels are neighbours in memory: inside the image they are one piece.
  void emit_line(Int image, Int line, Int left, Int target) {
    const Int begin = (image + line) * s_.in_width;
    const std::int64_t last = (s_.kernel_width - 1) * s_.dilation_width;
    const auto is_line = Int(0) <= line && line < Int(s_.in_height);
    const auto taps = [&] {
      b_.loop("tap", 0, s_.kernel_width, 1, [&](Int tap) {
        const Int pixel = left + tap * s_.dilation_width;
        const Int at = target + tap * s_.in_channels;
        b_.if_(
            is_line && Int(0) <= pixel && pixel < Int(s_.in_width),
            [&] { copy((begin + pixel) * s_.in_channels, at, s_.in_channels); },
            [&] { clear(at, s_.in_channels); });
      });
    };
    if (s_.dilation_width != 1) return taps();
    b_.if_(
        is_line && Int(0) <= left && left + last < Int(s_.in_width),
        [&] { copy((begin + left) * s_.in_channels, target, s_.kernel_width * s_.in_channels); },
        taps);
  }

  void copy(Int from, Int to, std::int64_t count) {
    vector_loop(b_, "element", count, lanes_, [&](Int at, std::optional<Int> active) {
      b_.store(to_, to + at, b_.load(from_, from + at, lanes_, active), active);
    });
  }
  void clear(Int to, std::int64_t count) {
    vector_loop(b_, "element", count, lanes_, [&](Int at, std::optional<Int> active) {
      b_.store(to_, to + at, loopnest::splat(0.0f, lanes_), active);
    });
  }

  Builder& b_;
  const ConvShape& s_;
  Buffer from_, to_;
  int lanes_;
};

class Im2colPlan final : public Plan {
 public:
  Im2colPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc, axes_of(task, soc)),
        shape_(conv_shape(task).value()),
        product_(product_of(task, shape_).value(), soc) {}

  bool is_legal(const Schedule& schedule) const override { return product_.is_legal(schedule); }

  Features features(const Schedule& schedule) const override {
    Features all = product_.features(schedule);
    all.emplace_back("window_bytes", window_bytes());
    return all;
  }

  double estimate_ns(const Schedule& schedule) const override {
    return product_.estimate_ns(schedule) + memory_ns(soc(), 2 * window_bytes()) + launch_ns(soc());
  }

  Kernel build(const Schedule& schedule) const override {
    Task product = product_of(task(), shape_).value();
    product.inputs[1].constant = window_weights(*task().inputs[1].constant, shape_);
    std::size_t constants = 0;
    const auto declare = [&](Builder& builder, std::size_t count) {
      constants = count;
      KernelBuffers buffers = declare_buffers(builder, task(), count, true);
      buffers.inputs[0] = *buffers.workspace;
      return buffers;
    };
    Kernel kernel = build_gemm_stage(product, product_.cut_by(schedule), declare);
    Builder builder("im2col");
    const KernelBuffers buffers = declare_buffers(builder, task(), constants, true);
    Windows(builder, shape_, *buffers.inputs[0], *buffers.workspace, soc().vector_lanes()).emit();
    kernel.stages.insert(kernel.stages.begin(), builder.finish());
    kernel.workspace_bytes = static_cast<std::size_t>(window_bytes());
    return kernel;
  }

 private:
  /// The workspace holds the windows; there is no room for partial sums.
  static std::vector<ScheduleAxis> axes_of(const Task& task, const Soc& soc) {
    const Task product = product_of(task, conv_shape(task).value()).value();
    std::vector<ScheduleAxis> axes = GemmPlan(product, soc).axes();
    std::erase_if(axes, [](const ScheduleAxis& axis) { return axis.name == kSplits; });
    return axes;
  }

  Schedule search() const override {
    Schedule schedule = product_.heuristic();
    schedule.erase(kSplits);
    return schedule;
  }

  double window_bytes() const { return 4.0 * static_cast<double>(pixels(shape_) * window(shape_)); }

  static constexpr const char* kSplits = "k_splits";

  ConvShape shape_;
  GemmPlan product_;  ///< its weights have the product's shape, but lie as they did
};

class Im2colGemm final : public ImplBy<Im2colPlan> {
 public:
  std::string_view name() const override { return "im2col_gemm"; }
  int version() const override { return version_with(1, {{"gemm_packed", 2}}); }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<ConvShape> s = conv_shape(task);
    if (!s) return Unexpected(s.error());
    if (s->input_shuffle > 1) return Unexpected("the input is to be shuffled while it is read");
    if (s->is_transposed) return Unexpected("Conv2DTranspose has no windows");
    if (s->groups != 1) return Unexpected(std::to_string(s->groups) + " groups, needs 1");
    if (s->is_pointwise()) return Unexpected("1x1: the image is the matrix already");
    if (auto plain = supports_float_convolution(task, *s); !plain) return plain;
    if (4 * pixels(*s) * window(*s) > kMaxWindowBytes)
      return Unexpected("windows of " + std::to_string(4 * pixels(*s) * window(*s)) +
                        " bytes, limit " + std::to_string(kMaxWindowBytes));
    const Result<Task> product = product_of(task, *s);
    if (!product) return Unexpected(product.error());
    return gemm().supports(*product, soc);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
  }

 private:
  static const Impl& gemm() { return *impls().find("gemm_packed"); }
};

}  // namespace

void register_im2col_gemm(ImplRegistry& registry) {
  registry.add(std::make_unique<Im2colGemm>());
}

}  // namespace aoe::compiler
