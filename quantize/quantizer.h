// Post-training quantisation: from a float32 model and samples to a model of bytes, with its error.
//
//   Quantizer quantizer("m.onnx", {.soc = soc});
//   Quantised result = quantizer.run(read_samples("samples", quantizer.inputs()));       // result.model: the ONNX file's bytes
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/soc.h"
#include "quantize/histogram.h"
#include "quantize/qdq.h"
#include "quantize/samples.h"

namespace aoe::quantize {

struct QuantizerSettings {
  compiler::Soc soc;
  std::optional<Method> method = {};  ///< none: the one with the least error
  double percent = 99.99;             ///< of kPercentile
  /// Of an output: the root of the summed squares of what it is off, by that of its own. Layers that harm most stay float32
  /// until it is kept on the calibration samples.
  double max_error = 0.1;
  double held_back = 0.2;  ///< share of the samples that only state the error
  std::set<std::string> float_layers =
      {};  ///< nodes, by name or output, that stay float32 in any case
  std::function<void(const std::string&)> on_progress = {};  ///< a line for each stage
};

/// Of one output, over the samples that were held back.
struct OutputError {
  std::string output;
  double relative = 0;  ///< as QuantizerSettings::max_error
  double snr_db = 0;    ///< signal to noise; infinite when nothing is off
  double largest = 0;   ///< the largest difference, as a share of the output's range
  double same_top =
      0;  ///< share of the rows of its last dimension whose largest element is the same one
};

/// What a layer's own bytes cost, its inputs being right: error by signal, as OutputError::relative.
struct LayerError {
  Layer layer;
  double relative = 0;
  bool is_float = false;
};

struct Quantised {
  std::string model;
  Method method = Method::kMinMax;
  std::vector<LayerError> layers;    ///< worst first
  std::vector<OutputError> outputs;  ///< of floating-point outputs
  std::size_t calibration_samples = 0;
  std::size_t held_back_samples =
      0;  ///< 0: there was one sample; the errors are of the one that it was calibrated on
};

class Quantizer {
 public:
  /// Throws Error(kModel) when the file is no float32 ONNX model.
  Quantizer(const std::filesystem::path& path, QuantizerSettings settings);
  ~Quantizer();

  const Declarations& inputs() const;

  /// `samples`: at least one. Throws Error(kModel) when nothing can be quantised or the model is refused, Error(kUsage) on a layer that it does not have.
  Quantised run(const std::vector<Sample>& samples);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aoe::quantize
