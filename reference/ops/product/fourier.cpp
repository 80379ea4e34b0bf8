// DFT and STFT: discrete Fourier transforms by their definition. Complex numbers are pairs along the last axis.
#include "reference/products/fourier.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

using Complex = std::complex<double>;

/// Complex values of a real (last axis 1) or complex (last axis 2) signal, last axis dropped.
std::vector<Complex> to_complex(const Tensor& tensor) {
  const auto values = to_doubles(tensor);
  const auto parts = static_cast<std::size_t>(tensor.desc.shape.back());
  std::vector<Complex> result(values.size() / std::max<std::size_t>(parts, 1));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = parts == 2 ? Complex(values[2 * i], values[2 * i + 1]) : Complex(values[i], 0);
  }
  return result;
}

void from_complex(const std::vector<Complex>& values, const Tensor& tensor) {
  std::vector<double> pairs;
  pairs.reserve(2 * values.size());
  for (const Complex& value : values) pairs.insert(pairs.end(), {value.real(), value.imag()});
  from_doubles(pairs, tensor);
}

void check_parts(const Shape& shape) {
  if (shape.size() < 2 || (shape.back() != 1 && shape.back() != 2 && shape.back() != kUnknownDim)) {
    fail_model("input " + to_string(shape) +
               ": its last axis must hold 1 (real) or 2 (complex) numbers");
  }
}

/// exp(sign * 2 pi i k / n) for all k, by quarters of a turn: what is 0 at their ends is 0, where the sine of pi is not.
std::vector<Complex> roots_of_unity(std::int64_t n, double sign) {
  static constexpr Complex kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  std::vector<Complex> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    const double angle =
        std::numbers::pi / 2 * static_cast<double>(4 * k % n) / static_cast<double>(n);
    const Complex root = kQuarters[4 * k / n] * std::polar(1.0, angle);
    roots.push_back(sign < 0 ? std::conj(root) : root);
  }
  return roots;
}

/// The first `bins` Fourier coefficients of a line as long as there are roots.
std::vector<Complex> transform(const std::vector<Complex>& line, const std::vector<Complex>& roots,
                               std::int64_t bins) {
  std::vector<Complex> result(static_cast<std::size_t>(bins));
  for (std::size_t k = 0; k < result.size(); ++k) {
    std::size_t root = 0;
    for (const Complex& value : line) {
      result[k] += value * roots[root];
      root = (root + k) % roots.size();
    }
  }
  return result;
}

std::int64_t bins_of(std::int64_t length, bool is_onesided) {
  if (length == kUnknownDim) return kUnknownDim;
  return is_onesided ? length / 2 + 1 : length;
}

/// From half a spectrum to the real signal that it is of.
bool is_real_inverse(const Attrs& attrs) {
  return attrs.get_int("inverse", 0) != 0 && attrs.get_int("onesided", 0) != 0;
}

/// What `dft_length` is where it is not given.
std::int64_t default_length(std::int64_t dim, bool is_real_inverse) {
  return is_real_inverse && dim != kUnknownDim ? 2 * (dim - 1) : dim;
}

/// Half a spectrum continued: a real signal's other half mirrors it, and its ends have no imaginary part.
void mirror(std::vector<Complex>& line) {
  const std::size_t length = line.size();
  line[0] = line[0].real();
  for (std::size_t k = length / 2 + 1; k < length; ++k) line[k] = std::conj(line[length - k]);
  if (length % 2 == 0) line[length / 2] = line[length / 2].real();
}

bool is_onesided(const Attrs& attrs, bool fallback) {
  return attrs.get_int("onesided", fallback ? 1 : 0) != 0;
}

std::int64_t dft_axis(const Attrs& attrs, int version, std::span<const Tensor> inputs) {
  if (version < kDftAxisInputVersion) return attrs.get_int("axis", 1);
  return inputs.size() > 2 && inputs[2].is_present() ? to_int64(inputs[2]) : -2;
}

std::vector<TensorDesc> infer_dft(const InferContext& context) {
  Shape shape = context.shape(0);
  check_parts(shape);
  shape.back() = is_real_inverse(context.attrs) ? 1 : 2;
  const bool has_unknown_axis =
      context.version >= kDftAxisInputVersion && context.has_input(2) && !context.has_value(2);
  if (has_unknown_axis) {
    std::fill(shape.begin(), shape.end() - 1, kUnknownDim);
    return {{.dtype = context.dtype(0), .shape = std::move(shape)}};
  }
  const bool to_real = is_real_inverse(context.attrs);
  if (to_real && context.shape(0).back() == 1)
    fail_model("inverse=1 with onesided=1 needs a complex input, its last axis holds 1 number");
  const std::size_t axis =
      normalize_axis(dft_axis(context.attrs, context.version, context.inputs), shape.size());
  if (axis + 1 == shape.size()) fail_model("the axis is the one that holds the parts of numbers");
  std::int64_t length = default_length(shape[axis], to_real);
  if (length == 0) fail_model("half a spectrum of one number is of no signal; give dft_length");
  if (context.has_input(1)) {
    length = context.has_value(1) ? to_int64(context.inputs[1]) : kUnknownDim;
    if (context.has_value(1) && length < 1)
      fail_model("dft_length is " + std::to_string(length) + ", needs at least 1");
  }
  shape[axis] = bins_of(length, !to_real && is_onesided(context.attrs, false));
  return {{.dtype = context.dtype(0), .shape = std::move(shape)}};
}

void compute_dft(const OpContext& context) {
  const Tensor& y = context.outputs[0];
  const DftLines dft = dft_lines(context.attrs, context.version, context.inputs, y.desc.shape);
  const AxisView& view = dft.samples;
  const auto roots = roots_of_unity(dft.length, dft.is_inverse ? 1 : -1);
  const double factor = dft.is_inverse ? 1 / static_cast<double>(dft.length) : 1;
  const auto from = to_complex(context.inputs[0]);
  std::vector<Complex> to(static_cast<std::size_t>(view.outer * dft.bins * view.inner));
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t i = 0; i < view.inner; ++i) {
      std::vector<Complex> line(static_cast<std::size_t>(dft.length));
      for (std::int64_t k = 0; k < std::min(dft.length, view.dim); ++k) {
        line[static_cast<std::size_t>(k)] =
            from[static_cast<std::size_t>((o * view.dim + k) * view.inner + i)];
      }
      if (dft.is_to_real) mirror(line);
      const auto result = transform(line, roots, dft.bins);
      for (std::int64_t k = 0; k < dft.bins; ++k) {
        to[static_cast<std::size_t>((o * dft.bins + k) * view.inner + i)] =
            result[static_cast<std::size_t>(k)] * factor;
      }
    }
  }
  if (!dft.is_to_real) return from_complex(to, y);
  std::vector<double> real;
  for (const Complex& value : to) real.push_back(value.real());
  from_doubles(real, y);
}

/// Of a signal of real numbers exporters leave out the last axis, as ONNX Runtime does.
Shape with_parts(Shape signal) {
  if (signal.size() == 2) signal.push_back(1);
  return signal;
}

/// kUnknownDim when it is only known at run time.
std::int64_t frame_length(std::span<const Tensor> inputs) {
  if (inputs.size() > kFrameLength && inputs[kFrameLength].is_present()) {
    return inputs[kFrameLength].data != nullptr ? to_int64(inputs[kFrameLength]) : kUnknownDim;
  }
  if (inputs.size() > kWindow && inputs[kWindow].is_present())
    return inputs[kWindow].desc.shape.at(0);
  fail_model("has neither a window nor a frame_length");
}

std::vector<TensorDesc> infer_stft(const InferContext& context) {
  const Shape signal = with_parts(context.shape(kSignal));
  check_parts(signal);
  if (signal.size() != 3)
    fail_model("signal " + to_string(signal) +
               ", needs batch x length x 1 or 2, or batch x length");
  const std::int64_t length = frame_length(context.inputs);
  std::int64_t frames = kUnknownDim;
  if (context.has_value(kFrameStep) && length != kUnknownDim && signal[1] != kUnknownDim) {
    const std::int64_t step = to_int64(context.inputs[kFrameStep]);
    if (step < 1 || length < 1 || length > signal[1]) {
      fail_model("frames of " + std::to_string(length) + " in steps of " + std::to_string(step) +
                 " over " + std::to_string(signal[1]) + " samples");
    }
    frames = (signal[1] - length) / step + 1;
  }
  if (length != kUnknownDim && length < 0) fail_model("frame_length is " + std::to_string(length));
  if (context.has_input(kWindow)) check_vector(context.shape(kWindow), length, "the window");
  const std::int64_t bins = bins_of(length, is_onesided(context.attrs, true));
  return {{.dtype = context.dtype(kSignal), .shape = {signal[0], frames, bins, 2}}};
}

void compute_stft(const OpContext& context) {
  const StftFrames stft = stft_frames(context.inputs, context.outputs[0].desc.shape);
  Tensor given = context.inputs[kSignal];
  given.desc.shape = with_parts(given.desc.shape);
  const auto window = context.has_input(kWindow)
                          ? to_doubles(context.inputs[kWindow])
                          : std::vector<double>(static_cast<std::size_t>(stft.length), 1.0);
  const auto roots = roots_of_unity(stft.length, -1);
  const auto samples = to_complex(given);
  std::vector<Complex> result;
  for (std::int64_t b = 0; b < stft.batch; ++b) {
    for (std::int64_t f = 0; f < stft.frames; ++f) {
      std::vector<Complex> frame(window.size());
      for (std::size_t i = 0; i < frame.size(); ++i) {
        frame[i] =
            samples[static_cast<std::size_t>(b * stft.samples + f * stft.step) + i] * window[i];
      }
      const auto spectrum = transform(frame, roots, stft.bins);
      result.insert(result.end(), spectrum.begin(), spectrum.end());
    }
  }
  from_complex(result, context.outputs[0]);
}

}  // namespace

DftLines dft_lines(const Attrs& attrs, int version, std::span<const Tensor> inputs,
                   const Shape& result) {
  Shape shape = inputs[0].desc.shape;
  const std::size_t axis = normalize_axis(dft_axis(attrs, version, inputs), shape.size());
  DftLines dft{.parts = shape.back(), .bins = result[axis]};
  shape.pop_back();
  dft.samples = view_axis(shape, axis);
  dft.is_inverse = attrs.get_int("inverse", 0) != 0;
  dft.is_to_real = is_real_inverse(attrs);
  dft.length = inputs.size() > 1 && inputs[1].is_present()
                   ? to_int64(inputs[1])
                   : default_length(dft.samples.dim, dft.is_to_real);
  return dft;
}

StftFrames stft_frames(std::span<const Tensor> inputs, const Shape& result) {
  const Shape signal = with_parts(inputs[kSignal].desc.shape);
  const StftFrames stft{.batch = signal[0],
                        .samples = signal[1],
                        .parts = signal[2],
                        .frames = result[1],
                        .step = to_int64(inputs[kFrameStep]),
                        .length = frame_length(inputs),
                        .bins = result[2]};
  if (inputs.size() > kWindow && inputs[kWindow].is_present())
    check_vector(inputs[kWindow].desc.shape, stft.length, "the window");
  return stft;
}

void register_fourier(OpRegistry& registry) {
  registry.add({.type = "DFT",
                .versions = {17, kDftAxisInputVersion},
                .signature = {"f:2+ x?:0-1 x?@20:0-1", "axis=int inverse=0..1 onesided=0..1"},
                .kind = OpKind::kProduct,
                .infer = infer_dft,
                .compute = compute_dft,
                .work = &CostContext::pairs});
  registry.add({.type = "STFT",
                .versions = {17},
                .signature = {"f:2-3 x:0-1 f?:1 x?:0-1", "onesided=0..1"},
                .kind = OpKind::kProduct,
                .infer = infer_stft,
                .compute = compute_stft,
                .work = &CostContext::pairs,
                .min_inputs = 2});
}

}  // namespace aoe::reference
