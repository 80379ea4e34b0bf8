// onednn, onednn_winograd: oneDNN's convolution and deconvolution primitives. Direct code runs near the FMA peak where
// channels fill the vectors; Winograd does a 3x3 filter with 2.25 times fewer products.
#include <algorithm>
#include <cstring>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/image_store.h"
#include "compiler/emit/integer_math.h"
#include "compiler/onednn/onednn_params.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

constexpr const char* kResidualAxis = "residual_in_place";

/// ONNX weights: M, C/group, kh, kw; of a transposed convolution C, M/group, kh, kw.
json weights_desc(const ConvShape& s) {
  const std::int64_t out = s.group_out_channels(), in = s.group_in_channels();
  const std::int64_t h = s.kernel_height, w = s.kernel_width;
  Shape dims = {s.groups, out, in, h, w};
  Shape strides = s.is_transposed ? Shape{in * out * h * w, h * w, out * h * w, w, 1}
                                  : Shape{out * in * h * w, in * h * w, h * w, w, 1};
  if (s.groups == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  return onednn_strided(dims, strides);
}

/// In the layout that oneDNN would choose, when the task's other parameters stand in the draft already. Weights that are
/// computed get there in front of every run.
Result<void> add_weights(OneDnnDraft& draft, const Task& task, const ConvShape& s, const Soc& soc) {
  const json plain = weights_desc(s);
  const Shape dims = plain.at("dims").get<Shape>();
  if (task.inputs[1].constant) {
    draft.weights("weights", dims, plain, draft.packed_input(1));
    return {};
  }
  json wanted = draft.params();
  wanted["weights"] = {{"dims", dims}, {"dtype", "f32"}, {"tag", "any"}};
  const Result<runtime::OneDnnChoice> choice = runtime::probe(wanted, soc.threads);
  if (!choice) return Unexpected(choice.error());
  draft.computed_weights("weights", 1, plain, choice->weights.at("weights"));
  return {};
}

void add_bias(OneDnnDraft& draft, const ConvShape& s) {
  draft.any_input("bias", 2, onednn_dense({s.out_channels}));
}

/// oneDNN's deconvolution adds the bias in another pass and applies post-ops one element at a time. One vectorised pass
/// over the result does both: the addition of a bias, or of zeros, with the epilogue as its post-ops.
void add_bias_pass(OneDnnDraft& draft, const ConvShape& s) {
  draft.then("binary", "src");
  draft.params()["algorithm"] = "binary_add";
  const json desc = onednn_dense({1, s.out_channels, 1, 1});
  if (s.has_bias) {
    draft.any_input("src1", 2, desc);
  } else {
    draft.params()["src1"] = desc;
    const std::size_t bytes = static_cast<std::size_t>(s.out_channels) * sizeof(float);
    draft.constant("src1", {bytes, [bytes](void* to) { std::memset(to, 0, bytes); }});
  }
  draft.output("dst");
}

Result<OneDnnDraft> make_draft(const Task& task, const FormatChoice& format, const Soc& soc,
                               bool is_winograd, bool is_residual_in_place) {
  const ConvShape s = conv_shape(task).value();
  if (is_residual_in_place && !task.inputs[1].constant)
    return Unexpected("the sum would not be in the first stage, which is for weights");
  OneDnnDraft draft(task, format, soc, s.is_transposed ? "deconvolution" : "convolution");
  json& params = draft.params();
  params["algorithm"] = s.is_transposed ? "deconvolution_direct"
                        : is_winograd   ? "convolution_winograd"
                                        : "convolution_direct";
  params["strides"] = {s.stride_height, s.stride_width};
  params["dilations"] = {s.dilation_height - 1, s.dilation_width - 1};  // oneDNN counts the gaps
  params["padding_l"] = {s.pad_top, s.pad_left};
  params["padding_r"] = {s.pad_bottom, s.pad_right};
  params["src"] = onednn_tensor(task.in(0), format.inputs[0], soc);
  params["dst"] = onednn_tensor(task.out(), format.outputs[0], soc);
  if (Result<void> added = add_weights(draft, task, s, soc); !added)
    return Unexpected(added.error());
  draft.input("src", 0);
  draft.output("dst");
  if (!s.is_transposed && s.has_bias) add_bias(draft, s);
  if (s.is_transposed && (s.has_bias || task.op.body != nullptr)) add_bias_pass(draft, s);
  if (Result<void> added = draft.add_epilogue(is_residual_in_place && !s.is_transposed); !added)
    return Unexpected(added.error());
  return draft;
}

/// Products that are computed, with channels rounded up to whole blocks, over those that are asked for.
double padding_waste(const ConvShape& s, const FormatChoice& format, const Soc& soc) {
  const bool is_in_blocks =
      format.outputs[0] == Format::kNC1HWC0 ||
      (format.outputs[0] == Format::kNHWC && s.group_out_channels() < soc.vector_lanes());
  if (s.is_depthwise() || !is_in_blocks) return 1.0;
  const auto rounded = [&](std::int64_t channels) {
    const std::int64_t lanes = soc.vector_lanes();
    return static_cast<double>(round_up(channels, lanes)) / static_cast<double>(channels);
  };
  const bool is_stem = format.inputs[0] != Format::kNC1HWC0;
  return rounded(s.group_out_channels()) * (is_stem ? 1.0 : rounded(s.group_in_channels()));
}

/// oneDNN's way over a matrix product.
bool is_gemm(const std::string& implementation) {
  return implementation.find("gemm:") != std::string::npos;
}

/// Where results lie channels-last, that of oneDNN 2.6 gives each place what a post-op reads for another.
bool misplaces_operands(OneDnnDraft& draft, const std::vector<runtime::OneDnnChoice>& choices,
                        const FormatChoice& format) {
  const json& params = draft.params();
  if (format.outputs[0] != Format::kNHWC || params.at("primitive") != "convolution") return false;
  const json post_ops = params.value("post_ops", json::array());
  return std::ranges::any_of(post_ops, [](const json& op) { return op.at("kind") == "binary"; }) &&
         std::ranges::any_of(choices, is_gemm, &runtime::OneDnnChoice::implementation);
}

/// Adding a residual one way, or either.
Result<void> probe(const Task& task, const FormatChoice& format, const Soc& soc, bool is_winograd,
                   std::optional<bool> in_place = {}) {
  std::string reason;
  for (const bool way : {false, true}) {
    if (in_place && *in_place != way) continue;
    Result<OneDnnDraft> draft = make_draft(task, format, soc, is_winograd, way);
    if (!draft) return Unexpected(draft.error());
    const auto choices = draft->probe();
    if (choices && !misplaces_operands(*draft, *choices, format)) return {};
    reason = choices ? "operands behind its matrix product, channels-last" : choices.error();
  }
  return Unexpected(reason);
}

class OneDnnConvPlan final : public Plan {
 public:
  OneDnnConvPlan(const Task& task, const FormatChoice& format, const Soc& soc, bool is_winograd)
      : Plan(task, format, soc, axes_of(task, format, soc, is_winograd)),
        shape_(conv_shape(task).value()),
        is_winograd_(is_winograd) {}

  Features features(const Schedule& schedule) const override {
    const double bytes = bytes_moved(task());
    return {{"flops", flops(task())},
            {"bytes", bytes},
            {"intensity", flops(task()) / bytes},
            {"padding_waste", padding_waste(shape_, format(), soc())},
            {"in_place", adds_in_place(schedule) ? 1.0 : 0.0}};
  }

  double estimate_ns(const Schedule&) const override {
    const std::string implementation = is_winograd_ ? "" : implementation_of();
    const double ns =
        onednn_estimate_ns(task(), soc(), shape_.flops() * padding_waste(shape_, format(), soc()),
                           efficiency(implementation)) +
        gemm_ns(implementation);
    if (!is_winograd_) return ns;
    // F(4x4, 3x3) reads 36 transformed weights instead of nine.
    const double weight_bytes =
        4.0 * static_cast<double>(shape_.out_channels * shape_.in_channels) * (36.0 - 9.0);
    return std::max(ns, memory_ns(soc(), bytes_moved(task()) + weight_bytes));
  }

  Kernel build(const Schedule& schedule) const override {
    return make_draft(task(), format(), soc(), is_winograd_, adds_in_place(schedule))
        .value()
        .finish();
  }

 private:
  /// How a residual is added is worth a try of both ways where both exist.
  static std::vector<ScheduleAxis> axes_of(const Task& task, const FormatChoice& format,
                                           const Soc& soc, bool is_winograd) {
    if (!has_residual(task)) return {};
    std::vector<std::int64_t> values;
    for (const bool in_place : {false, true})
      if (probe(task, format, soc, is_winograd, in_place)) values.push_back(in_place);
    return {{kResidualAxis, values}};
  }

  /// Channels-last code of oneDNN has no post-op that reads a second tensor and falls back to a slower one.
  Schedule search() const override {
    if (axes().empty()) return {};
    const std::vector<std::int64_t>& ways = axes().front().values;  // the only one
    return {{kResidualAxis, format().outputs[0] == Format::kNHWC ? ways.back() : ways.front()}};
  }

  static bool adds_in_place(const Schedule& schedule) {
    const auto in_place = schedule.find(kResidualAxis);
    return in_place != schedule.end() && in_place->second != 0;
  }

  /// What oneDNN's way over a matrix product takes besides: its steps, the windows that it lays out as columns, and post-ops, which
  /// it carries out element by element where they read another tensor or channels do not come last. Measured on Zen 3 and Zen 4.
  double gemm_ns(const std::string& implementation) const {
    constexpr double kStepsNs = 4000, kPostOpNs = 100, kUnaryNs = 6, kColumnNs = 0.8;
    if (!is_gemm(implementation)) return 0;
    const double columns =
        shape_.is_pointwise() || shape_.is_transposed
            ? 0
            : shape_.flops() / 2 / static_cast<double>(shape_.group_out_channels());
    const std::size_t inputs = task().inputs.size();
    const bool reads_more = inputs > reference::anchor_inputs(task().op, inputs);
    const double outputs = static_cast<double>(element_count(task().out().shape));
    double of_output = reads_more && !shape_.is_transposed ? kPostOpNs : 0;
    if (task().op.body != nullptr && format().outputs[0] == Format::kND)
      of_output += kUnaryNs * static_cast<double>(task().op.body->steps.size() - 1);
    return kStepsNs + columns * kColumnNs + outputs * of_output;
  }

  std::string implementation_of() const {
    const bool in_place = !probe(task(), format(), soc(), false, false).has_value();
    const Result<OneDnnDraft> draft = make_draft(task(), format(), soc(), false, in_place);
    // A stage for weights that are computed may come first.
    if (!task().inputs[1].constant && draft->probe()->size() > 1)
      return (*draft->probe())[1].implementation;
    return draft->probe()->front().implementation;
  }

  /// Shares of the peak as measured on a Zen 5 core; by the kind of code that oneDNN picks.
  double efficiency(const std::string& implementation) const {
    constexpr double kDepthwise = 0.4, kGemm = 0.4, kGroupedGemm = 0.06;
    constexpr double kMaskedTail = 0.67;  ///< NHWC stores part of a vector for each pixel
    constexpr double kOnePixel = 0.25;    ///< a row is all that its code sums up side by side
    constexpr double kWinograd = 1.45,
                     kSmallWinograd = 0.9;  // of the products of the plain algorithm
    if (is_winograd_)
      return shape_.in_channels >= 64 && shape_.out_channels >= 64 ? kWinograd : kSmallWinograd;
    if (is_gemm(implementation)) return shape_.groups > 1 ? kGroupedGemm : kGemm;
    if (shape_.is_depthwise()) return kDepthwise;
    if (shape_.out_width == 1 && shape_.kernel_width > 1) return kOnePixel;
    const bool has_tail = shape_.group_out_channels() % soc().vector_lanes() != 0;
    return jit_efficiency() * (format().name == "NHWC" && has_tail ? kMaskedTail : 1);
  }

  /// As measured on a Zen 3 core. One or two vectors of outputs leave little to do with what is loaded. Of groups four of 64 and
  /// more channels reach 0.48 to 0.58 with 1x1 windows and 0.73 with 3x3, two of 48 with 5x5 0.95; small ones, or such as no vector
  /// divides, 0.28 to 0.36 and 0.37 to 0.63.
  double jit_efficiency() const {
    constexpr double kWhole = 0.92, kTwoVectors = 0.58, kOneVector = 0.38, kGroups = 0.8,
                     kPointwiseGroups = 0.5;
    constexpr double kSmallGroups = 0.5, kSmallPointwiseGroups = 0.3;
    constexpr std::int64_t kFewChannels = 40;
    if (shape_.groups == 1) {
      const std::int64_t vectors = ceil_div(shape_.out_channels, soc().vector_lanes());
      return vectors == 1 ? kOneVector : vectors == 2 ? kTwoVectors : kWhole;
    }
    const std::int64_t in = shape_.group_in_channels(), out = shape_.group_out_channels();
    const bool is_small = std::min(in, out) < kFewChannels || in % soc().vector_lanes() != 0;
    if (shape_.is_pointwise()) return is_small ? kSmallPointwiseGroups : kPointwiseGroups;
    return is_small ? kSmallGroups : kGroups;
  }

  ConvShape shape_;
  bool is_winograd_;
};

class OneDnnConvolution final : public Impl {
 public:
  explicit OneDnnConvolution(bool is_winograd) : is_winograd_(is_winograd) {}

  std::string_view name() const override { return is_winograd_ ? "onednn_winograd" : "onednn"; }
  double error_growth(const Task&) const override { return is_winograd_ ? kMostErrorGrowth : 1; }
  /// The Relu behind it makes zeros of NaN.
  NotFinite not_finite(const Task&) const override { return NotFinite::kOpen; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<ConvShape> shape = conv_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (reference::is_quantised(task.anchor().type)) return Unexpected("convolves float32 only");
    if (Result<void> general = supports_onednn(task, soc); !general) return general;
    if (shape->input_shuffle > 1) return Unexpected("the input is to be shuffled while it is read");
    if (is_winograd_ && (shape->kernel_height != 3 || shape->kernel_width != 3))
      return Unexpected("kernel " + std::to_string(shape->kernel_height) + "x" +
                        std::to_string(shape->kernel_width) + ", Winograd is for 3x3");
    if (is_winograd_ && shape->is_transposed) return Unexpected("Conv2DTranspose, no Winograd");
    if (is_winograd_ && !task.inputs[1].constant) return Unexpected("weights are not constant");
    std::string reason;
    for (const FormatChoice& choice : candidates(task)) {
      const Result<void> possible = probe(task, choice, soc, is_winograd_);
      if (possible) return {};
      reason = possible.error();
    }
    return Unexpected(reason);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc& soc) const override {
    std::vector<FormatChoice> possible;
    for (FormatChoice& choice : candidates(task))
      if (probe(task, choice, soc, is_winograd_)) possible.push_back(std::move(choice));
    return possible;
  }

  /// How a residual is added is worth a try of both ways where both exist.
  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    return std::make_unique<OneDnnConvPlan>(task, format, soc, is_winograd_);
  }

 private:
  /// Before oneDNN is asked about them. A first layer reads the image as it comes and writes channel blocks.
  static std::vector<FormatChoice> candidates(const Task& task) {
    constexpr std::int64_t kMaxStemChannels = 4;
    std::vector<FormatChoice> choices = {
        image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0),
        image_format(task, "NHWC", Format::kNHWC, Format::kNHWC),
        image_format(task, "ND", Format::kND, Format::kND)};
    if (task.in(0).shape[1] <= kMaxStemChannels)
      choices.push_back(image_format(task, "NCHW", Format::kNCHW, Format::kNC1HWC0));
    for (FormatChoice& choice : choices)
      if (!task.inputs[1].constant) choice.inputs[1] = Format::kND;  // weights are no image
    return choices;
  }

  bool is_winograd_;
};

}  // namespace

void register_onednn_conv(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnConvolution>(false));
  registry.add(std::make_unique<OneDnnConvolution>(true));
}

}  // namespace aoe::compiler
