// aoe_quantize: a float32 ONNX model becomes one whose products are computed from bytes, by samples of its inputs.
//
//   aoe_quantize --model=M.onnx --calibration=DIR --output=Q.onnx
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "base/file.h"
#include "options/output_path.h"
#include "quantize/quantizer.h"
#include "tools/aoe_quantize/report.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

constexpr int kMostRandomSamples = 10000;

std::optional<quantize::Method> method_of(const po::variables_map& flags) {
  const std::string name = text_of(flags, "method");
  if (name == "auto") return std::nullopt;
  for (const auto method :
       {quantize::Method::kMinMax, quantize::Method::kPercentile, quantize::Method::kEntropy})
    if (quantize::method_name(method) == name) return method;
  reject("--method=" + name, "is no method", "give auto, minmax, percentile or entropy");
}

double number_between(const po::variables_map& flags, const std::string& name, double least,
                      double most) {
  const auto value = flags[name].as<double>();
  if (!(value >= least && value <= most))
    reject("--" + name, fmt::format("{} is out of range", value),
           fmt::format("use {} to {}", least, most));
  return value;
}

std::set<std::string> layers_of(const po::variables_map& flags) {
  if (!flags.contains("keep_float")) return {};
  const auto& names = flags["keep_float"].as<std::vector<std::string>>();
  return {names.begin(), names.end()};
}

std::vector<quantize::Sample> samples_of(const po::variables_map& flags,
                                         const quantize::Declarations& inputs) {
  const auto random = number_of(flags, "random", 1, kMostRandomSamples);
  const std::string directory = text_of(flags, "calibration");
  if (random.has_value() == !directory.empty())
    reject("--calibration", random ? "and --random exclude each other" : "is missing",
           random ? "" : "give a directory of .npy files; --random=8 for a trial of speed alone");
  return random ? quantize::random_samples(*random, 1, inputs)
                : quantize::read_samples(directory, inputs);
}

ExitCode run(const po::variables_map& flags) {
  const std::string output = text_of(flags, "output");
  options::check_output_file(output, "--output");
  options::check_is_another_file(output, "--output", text_of(flags, "model"), "the model");
  const bool is_json = flags.contains("json");
  quantize::Quantizer quantizer(
      text_of(flags, "model"),
      {.soc = compiler::detect_soc(threads_of(flags)),
       .method = method_of(flags),
       .percent = number_between(flags, "percentile", 50, 100),
       .max_error = number_between(flags, "max_error", 0, 1e6),
       .held_back = number_between(flags, "holdout", 0, 0.9),
       .float_layers = layers_of(flags),
       .on_progress = [](const std::string& line) { std::cerr << line << std::endl; }});
  const quantize::Quantised result = quantizer.run(samples_of(flags, quantizer.inputs()));
  write_file_atomically(output, result.model);
  if (flags.contains("random"))
    std::cerr << "aoe_quantize: warning: calibrated on random numbers: fit to try its speed, not "
                 "its answers\n";
  if (std::ranges::all_of(result.layers, &quantize::LayerError::is_float))
    std::cerr << "aoe_quantize: warning: every layer stays float32: no bytes keep --max_error\n";
  is_json ? print_json(std::cout, result, output) : print_text(std::cout, result, output);
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "aoe_quantize",
            .synopsis = "aoe_quantize --model=M.onnx --calibration=DIR --output=Q.onnx [flags]",
            .summary =
                "Post-training quantisation: convolutions, products and additions of images "
                "computed from bytes, "
                "with ranges from samples of the inputs. Layers that harm the outputs most stay "
                "float32.\n"
                "The result is an ONNX model (QDQ), for aoe and atc.",
            .examples =
                "  aoe_quantize --model=net.onnx --calibration=samples --output=net_int8.onnx\n"
                "  aoe_quantize --model=net.onnx --calibration=samples \\\n"
                "    --max_error=0.02 --output=net_int8.onnx\n"
                "  aoe_quantize --model=net.onnx --random=8 --output=trial.onnx   # how fast?\n"};
  auto add = tool.flags.add_options();
  add("model,m", text("FILE")->required(), "the float32 ONNX model");
  add("output,o", text("FILE")->required(), "the ONNX file to write");
  add("calibration", text("DIR"),
      "samples: DIR/*.npy of a model with one input, DIR/*/INPUT.npy of any");
  add("random", po::value<int>()->value_name("N"),
      "instead: N samples of random numbers, for a trial of speed");
  add("method", text_or("auto", "NAME"),
      "how ranges are cut: minmax, percentile, entropy; auto: what gives the least error");
  add("percentile", po::value<double>()->default_value(99.99, "99.99")->value_name("P"),
      "of that method: how much lies inside, at each end");
  add("max_error", po::value<double>()->default_value(0.1, "0.1")->value_name("SHARE"),
      "of an output, root mean square; layers stay float32 until it is kept");
  add("holdout", po::value<double>()->default_value(0.2, "0.2")->value_name("SHARE"),
      "of the samples: only for stating the error");
  add("keep_float", po::value<std::vector<std::string>>()->value_name("NODE"),
      "stays float32 in any case; may be given several times");
  add("json", "machine-readable output");
  add_threads_flag(tool.flags, "that the trials run with");
  tool.run = aoe::tools::run;
  return run_tool(argc, argv, std::move(tool));
}
