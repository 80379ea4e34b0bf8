// HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix: the constants of spectrograms.
#include <cmath>
#include <numbers>

#include "base/size.h"
#include "reference/elements/doubles.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

DataType output_type(const Attrs& attrs) {
  return data_type_from_onnx(attrs.get_int("output_datatype", 1));
}

std::int64_t known_extent(const InferContext& context, std::size_t input) {
  if (!context.has_value(input)) return kUnknownDim;
  const std::int64_t extent = to_int64(context.inputs[input]);
  if (extent < 0) fail_model("size is " + std::to_string(extent));
  return extent;
}

/// A sum of cosines: a0 - a1 cos(t) + a2 cos(2t), t once around in `size` steps (periodic) or in `size` - 1 (symmetric).
OpDef cosine_window(const std::string& type, double a0, double a1, double a2) {
  OpDef def{.type = type,
            .versions = {17},
            .signature = {"x:0-1", "output_datatype=1.. periodic=0..1"},
            .kind = OpKind::kSource};
  def.infer = [](const InferContext& context) -> std::vector<TensorDesc> {
    return {{.dtype = output_type(context.attrs), .shape = {known_extent(context, 0)}}};
  };
  def.compute = [=](const OpContext& context) {
    std::vector<double> window = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
    const bool is_periodic = context.attrs.get_int("periodic", 1) != 0;
    const double steps = static_cast<double>(window.size()) - (is_periodic ? 0 : 1);
    for (std::size_t i = 0; i < window.size(); ++i) {
      const double t = 2 * std::numbers::pi * static_cast<double>(i) / std::max(steps, 1.0);
      window[i] = a0 - a1 * std::cos(t) + a2 * std::cos(2 * t);
    }
    from_doubles(window, context.outputs[0]);
  };
  return def;
}

enum MelInput : std::size_t { kMelBins, kDftLength, kSampleRate, kLowerEdge, kUpperEdge };

std::vector<TensorDesc> infer_mel(const InferContext& context) {
  const std::int64_t length = known_extent(context, kDftLength);
  const std::int64_t bins = length == kUnknownDim ? kUnknownDim : length / 2 + 1;
  return {{.dtype = output_type(context.attrs), .shape = {bins, known_extent(context, kMelBins)}}};
}

/// The spectrogram bins where the triangular filters begin, peak and end, as ONNX spaces them on the mel scale.
std::vector<std::int64_t> mel_edges(const OpContext& context) {
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto to_hertz = [](double mel) { return 700 * (std::pow(10, mel / 2595) - 1); };
  const std::int64_t count = to_int64(context.inputs[kMelBins]) + 2;
  const double length = to_double(context.inputs[kDftLength]);
  const double rate = to_double(context.inputs[kSampleRate]);
  const double low = to_mel(to_double(context.inputs[kLowerEdge]));
  const double step =
      (to_mel(to_double(context.inputs[kUpperEdge])) - low) / static_cast<double>(count);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < count; ++i) {
    const double hertz = to_hertz(low + static_cast<double>(i) * step);
    const double edge = std::floor((length + 1) * hertz / rate);
    if (!(std::abs(edge) <= static_cast<double>(kMostBytes)))
      fail_model("a filter begins at bin " + std::to_string(edge));
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  return edges;
}

void compute_mel(const OpContext& context) {
  const Shape& shape = context.outputs[0].desc.shape;
  const auto edges = mel_edges(context);
  std::vector<double> matrix = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  const auto set = [&](std::int64_t bin, std::size_t filter, double value) {
    if (bin < 0 || bin >= shape[0]) {
      fail_model("filter " + std::to_string(filter) + " reaches bin " + std::to_string(bin) +
                 " of " + std::to_string(shape[0]));
    }
    matrix[static_cast<std::size_t>(bin * shape[1]) + filter] = value;
  };
  for (std::size_t filter = 0; filter < static_cast<std::size_t>(shape[1]); ++filter) {
    const std::int64_t begin = edges[filter], peak = edges[filter + 1], end = edges[filter + 2];
    for (std::int64_t bin = begin; bin < peak; ++bin) {
      set(bin, filter, static_cast<double>(bin - begin) / static_cast<double>(peak - begin));
    }
    set(peak, filter, 1);
    for (std::int64_t bin = peak; bin < end; ++bin) {
      set(bin, filter, static_cast<double>(end - bin) / static_cast<double>(end - peak));
    }
  }
  from_doubles(matrix, context.outputs[0]);
}

}  // namespace

void register_signal_windows(OpRegistry& registry) {
  registry.add(cosine_window("HannWindow", 0.5, 0.5, 0));
  registry.add(cosine_window("HammingWindow", 25.0 / 46, 21.0 / 46, 0));
  registry.add(cosine_window("BlackmanWindow", 0.42, 0.5, 0.08));
  registry.add({.type = "MelWeightMatrix",
                .versions = {17},
                .signature = {"x:0-1 x:0-1 x:0-1 f:0-1 f:0-1", "output_datatype=1.."},
                .kind = OpKind::kSource,
                .infer = infer_mel,
                .compute = compute_mel,
                .min_inputs = 5});
}

}  // namespace aoe::reference
