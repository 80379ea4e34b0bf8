// Ranges, then what each layer harms, then as many layers in float32 as the error asks for.
#include "quantize/quantizer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "quantize/error_sum.h"
#include "quantize/model_file.h"
#include "quantize/runner.h"

namespace aoe::quantize {
namespace {

using Samples = std::span<const Sample>;

/// Choosing needs no more: each of them is run some ten times.
constexpr std::size_t kMostToChooseBy = 8;

std::span<const float> floats(const Tensor& tensor) {
  if (tensor.desc.dtype != DataType::kFloat) return {};
  return {tensor.as<float>(), static_cast<std::size_t>(tensor.elements())};
}

}  // namespace

struct Quantizer::State {
  std::filesystem::path path;
  onnx::ModelProto model;  ///< float32, normalisations folded
  QuantizerSettings settings;
  Declarations inputs = {};
  std::map<std::string, Histogram> histograms = {};
  std::unique_ptr<Runner> exact = {};  ///< `model`

  void say(const std::string& what) const {
    if (settings.on_progress) settings.on_progress(what);
  }

  Runner runner(const onnx::ModelProto& of, const Sample& sample) const {
    return Runner(serialize(of, path), path, sample, settings.soc);
  }

  std::vector<Layer> layers() const {
    std::vector<Layer> layers = layers_of(model.graph());
    for (const std::string& name : settings.float_layers)
      if (std::ranges::none_of(layers, [&](const Layer& each) { return is_called(each, name); }))
        throw Error(
            ExitCode::kUsage, "'" + name + "' is no layer that could be quantised", "--keep_float",
            "layers are convolutions and products with constant weights, and additions of images");
    return layers;
  }

  static bool is_called(const Layer& layer, const std::string& name) {
    return layer.node == name || layer.output == name;
  }

  bool stays_float(const Layer& layer) const {
    return std::ranges::any_of(settings.float_layers,
                               [&](const std::string& name) { return is_called(layer, name); });
  }

  void calibrate(Samples samples) {
    const std::set<std::string> wanted = values_to_calibrate(model.graph());
    std::set<std::string> fed;
    for (const auto& [name, value] : samples.front()) fed.insert(name);
    std::vector<std::string> shown;
    std::ranges::set_difference(wanted, fed, std::back_inserter(shown));
    onnx::ModelProto observed = copy_of(model);
    show_values(observed, shown);
    Runner observer = runner(observed, samples.front());
    for (const auto pass : {&Histogram::widen, &Histogram::count})
      for (const Sample& sample : samples) {
        const auto values = observer.run(sample);
        for (const std::string& name : wanted) (histograms[name].*pass)(floats(values.at(name)));
      }
  }

  Ranges ranges(Method method) const {
    Ranges ranges;
    for (const auto& [name, histogram] : histograms)
      ranges[name] = histogram.range(method, settings.percent);
    return ranges;
  }

  /// What each layer's own bytes cost, worst first.
  std::vector<LayerError> local_errors(const std::vector<Layer>& layers, const Ranges& ranges,
                                       Samples samples) const {
    onnx::ModelProto copies = copy_of(model);
    const std::map<std::string, std::string> outputs = add_quantised_copies(copies, ranges);
    std::vector<std::string> shown;
    for (const Layer& layer : layers) {
      shown.push_back(layer.output);
      shown.push_back(outputs.at(layer.output));
    }
    show_values(copies, shown);
    Runner both = runner(copies, samples.front());
    std::vector<ErrorSum> sums(layers.size());
    for (const Sample& sample : samples) {
      const auto values = both.run(sample);
      for (std::size_t i = 0; i < layers.size(); ++i)
        sums[i].add(values.at(layers[i].output), values.at(outputs.at(layers[i].output)));
    }
    std::vector<LayerError> errors;
    for (std::size_t i = 0; i < layers.size(); ++i)
      errors.push_back(
          {.layer = layers[i], .relative = sums[i].relative(), .is_float = stays_float(layers[i])});
    std::ranges::stable_sort(errors, std::greater{}, &LayerError::relative);
    return errors;
  }

  onnx::ModelProto quantised(const Ranges& ranges, const std::vector<LayerError>& layers) const {
    QdqOptions options;
    for (const LayerError& each : layers)
      if (each.is_float) options.float_layers.insert(each.layer.output);
    onnx::ModelProto result = copy_of(model);
    write_qdq(result, ranges, options);
    return result;
  }

  /// Of each floating-point output.
  std::map<std::string, ErrorSum> errors(const onnx::ModelProto& of, Samples samples) {
    if (!exact) exact = std::make_unique<Runner>(runner(model, samples.front()));
    Runner bytes = runner(of, samples.front());
    std::map<std::string, ErrorSum> sums;
    for (const Sample& sample : samples) {
      const auto right = exact->run(sample), found = bytes.run(sample);
      for (const auto& output : model.graph().output())
        if (right.at(output.name()).desc.dtype == DataType::kFloat)
          sums[output.name()].add(right.at(output.name()), found.at(output.name()));
    }
    return sums;
  }

  static double worst(const std::map<std::string, ErrorSum>& sums) {
    double worst = 0;
    for (const auto& [name, sum] : sums) worst = std::max(worst, sum.relative());
    return worst;
  }

  double error_of(const Ranges& ranges, const std::vector<LayerError>& layers, Samples samples) {
    return worst(errors(quantised(ranges, layers), samples));
  }

  struct Choice {
    Method method;
    Ranges ranges;
    double error = 0;  ///< with no more layers in float32 than were asked for
  };

  Choice choice(Method method, const std::vector<LayerError>& layers, Samples samples) {
    Choice made{.method = method, .ranges = ranges(method)};
    made.error = error_of(made.ranges, layers, samples);
    return made;
  }

  Choice choose_ranges(const std::vector<LayerError>& layers, Samples samples) {
    if (settings.method) return choice(*settings.method, layers, samples);
    std::optional<Choice> best;
    for (const Method method : {Method::kMinMax, Method::kPercentile, Method::kEntropy}) {
      Choice made = choice(method, layers, samples);
      say("ranges by " + method_name(method) + ": error " + text_of_error(made.error));
      if (!best || made.error < best->error) best = std::move(made);
    }
    return *best;
  }

  /// Marks as few of the worst layers as keep the error, found by halving: the more stay float32, the less it is.
  void keep_harmful_in_float(const Choice& choice, std::vector<LayerError>& layers,
                             Samples samples) {
    if (choice.error <= settings.max_error) return;
    const std::vector<LayerError> asked = layers;
    const auto mark = [&](std::size_t count) {
      layers = asked;
      for (std::size_t i = 0; i < count; ++i) layers[i].is_float = true;
    };
    std::size_t enough = layers.size(), too_few = 0;
    while (enough - too_few > 1) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      mark(middle);
      const double error = error_of(choice.ranges, layers, samples);
      say(std::to_string(middle) + " layers in float32: error " + text_of_error(error));
      (error <= settings.max_error ? enough : too_few) = middle;
    }
    mark(enough);
  }
};

Quantizer::Quantizer(const std::filesystem::path& path, QuantizerSettings settings)
    : state_(std::make_unique<State>(
          State{.path = path, .model = load_float_model(path), .settings = std::move(settings)})) {
  state_->inputs = inputs_of(state_->model);
  fold_batch_norms(state_->model);
}

Quantizer::~Quantizer() = default;

const Declarations& Quantizer::inputs() const {
  return state_->inputs;
}

Quantised Quantizer::run(const std::vector<Sample>& samples) {
  State& s = *state_;
  const std::vector<Layer> layers = s.layers();
  if (layers.empty())
    throw Error(ExitCode::kModel,
                "has nothing to quantise: no convolution and no product with constant weights",
                s.path.string());
  Quantised result;
  result.held_back_samples = std::min(
      samples.size() - 1, static_cast<std::size_t>(std::ceil(static_cast<double>(samples.size()) *
                                                             s.settings.held_back)));
  result.calibration_samples = samples.size() - result.held_back_samples;
  const Samples calibration = Samples(samples).first(result.calibration_samples);
  const Samples chosen_by = calibration.first(std::min(kMostToChooseBy, calibration.size()));
  s.say("ranges of " + std::to_string(values_to_calibrate(s.model.graph()).size()) + " values in " +
        std::to_string(calibration.size()) + " samples");
  s.calibrate(calibration);
  for (const Layer& layer : layers)
    result.layers.push_back({.layer = layer, .is_float = s.stays_float(layer)});
  const State::Choice choice = s.choose_ranges(result.layers, chosen_by);
  const Ranges& ranges = choice.ranges;
  result.method = choice.method;
  result.layers = s.local_errors(layers, ranges, chosen_by);
  s.keep_harmful_in_float(choice, result.layers, chosen_by);
  const onnx::ModelProto quantised = s.quantised(ranges, result.layers);
  const Samples stated_on =
      result.held_back_samples > 0 ? Samples(samples).last(result.held_back_samples) : calibration;
  for (const auto& [name, sum] : s.errors(quantised, stated_on))
    result.outputs.push_back({.output = name,
                              .relative = sum.relative(),
                              .snr_db = sum.snr_db(),
                              .largest = sum.largest(),
                              .same_top = sum.same_top()});
  result.model = serialize(quantised, s.path);
  return result;
}

}  // namespace aoe::quantize
