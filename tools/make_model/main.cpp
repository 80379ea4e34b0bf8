// make_model: writes well-known networks with random weights as ONNX files.
#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "base/words.h"
#include "tools/common/commands.h"
#include "tools/make_model/float_type.h"
#include "tools/make_model/models.h"
#include "tools/make_model/quantize.h"

namespace aoe::tools {
namespace {

using make_model::Model;
using make_model::ModelOptions;

const Model& model_named(const std::string& name) {
  const auto& models = make_model::models();
  const auto found = std::ranges::find(models, name, &Model::name);
  if (found != models.end()) return *found;
  std::vector<std::string> known;
  for (const Model& model : models) known.push_back(model.name);
  reject_name("model", name, known);
}

void list_models() {
  for (const Model& model : make_model::models()) {
    std::cout << model.name << std::string(18 - model.name.size(), ' ') << model.summary
              << " (opset " << model.opset << ")\n";
  }
}

/// The flag's value, from `least` to 100000; beyond that a typing error is likelier than a wish.
std::int64_t number(const po::variables_map& flags, const std::string& name,
                    std::int64_t least = 1) {
  const auto value = flags[name].as<std::int64_t>();
  constexpr std::int64_t kMost = 100000;
  if (value < least || value > kMost)
    throw Error(ExitCode::kUsage,
                "is not between " + std::to_string(least) + " and " + std::to_string(kMost),
                "--" + name + "=" + std::to_string(value));
  return value;
}

aoe::quantize::QuantForm quant_form(const std::string& name) {
  if (name == "qdq") return aoe::quantize::QuantForm::kQdq;
  if (name == "qlinear") return aoe::quantize::QuantForm::kQLinear;
  throw Error(ExitCode::kUsage, "is neither qdq nor qlinear", "--quantize=" + name);
}

/// Of --form; empty: the model's first.
std::string form_of(const Model& model, const po::variables_map& flags) {
  if (!flags.contains("form")) return {};
  const std::string form = flags["form"].as<std::string>();
  if (std::ranges::find(model.forms, form) != model.forms.end()) return form;
  const std::string known = joined(model.forms, ", ");
  throw Error(ExitCode::kUsage,
              known.empty() ? model.name + " has no forms" : "is no form of " + model.name,
              "--form=" + form, known.empty() ? "leave it out" : "forms are: " + known);
}

/// Of weights and activations; float32 is what models are written in.
DataType float_type(const po::variables_map& flags) {
  const std::string name = flags["float_type"].as<std::string>();
  const DataType dtype = data_type_from_name(name).value_or(DataType::kUndefined);
  if (dtype != DataType::kFloat && dtype != DataType::kFloat16 && dtype != DataType::kBFloat16)
    throw Error(ExitCode::kUsage, "is neither float32, float16 nor bfloat16",
                "--float_type=" + name);
  if (dtype != DataType::kFloat && flags.contains("quantize"))
    throw Error(ExitCode::kUsage, "quantised models are float32 elsewhere", "--float_type=" + name,
                "leave --quantize or --float_type out");
  return dtype;
}

/// What the model has written without asking for.
void check_sizes_used(const Model& model, const ModelOptions& options,
                      const po::variables_map& flags) {
  const std::pair<const char*, const make_model::SizeOption*> sizes[] = {
      {"batch", &options.batch},   {"image", &options.image},   {"sequence", &options.sequence},
      {"layers", &options.layers}, {"hidden", &options.hidden}, {"heads", &options.heads},
      {"past", &options.past}};
  for (const auto& [flag, size] : sizes)
    if (flags.contains(flag) && !flags[flag].defaulted() && !size->is_used())
      throw Error(ExitCode::kUsage, "is no size of " + model.name, std::string("--") + flag,
                  "leave it out");
}

/// The poolings of image networks leave nothing of a smaller one.
constexpr std::int64_t kSmallestImage = 32;

ExitCode run(const po::variables_map& flags) {
  if (flags.contains("list")) {
    list_models();
    return ExitCode::kSuccess;
  }
  const Model& model = model_named(flags.contains("name") ? flags["name"].as<std::string>() : "");
  if (!flags.contains("output"))
    throw Error(ExitCode::kUsage, "is missing", "--output", "give a file: --output=M.onnx");
  const ModelOptions options{.seed = flags["seed"].as<std::uint64_t>(),
                             .batch = number(flags, "batch"),
                             .image = number(flags, "image", kSmallestImage),
                             .sequence = number(flags, "sequence"),
                             .layers = flags.contains("layers") ? number(flags, "layers") : 0,
                             .hidden = flags.contains("hidden") ? number(flags, "hidden") : 0,
                             .heads = flags.contains("heads") ? number(flags, "heads") : 0,
                             .past = number(flags, "past", 0),
                             .form = form_of(model, flags),
                             .is_small = flags.contains("small")};
  const DataType dtype = float_type(flags);
  make_model::OnnxWriter writer(
      model.name,
      {.opset = model.opset, .seed = options.seed, .is_dynamic = flags.contains("dynamic")});
  model.write(writer, options);
  check_sizes_used(model, options, flags);
  const std::string path = flags["output"].as<std::string>();
  std::string bytes = writer.serialize();
  if (flags.contains("quantize"))
    bytes = make_model::quantized(bytes, quant_form(flags["quantize"].as<std::string>()),
                                  options.seed, path + ".float32.onnx", writer.open_inputs());
  if (dtype != DataType::kFloat) bytes = make_model::in_float_type(bytes, dtype);
  write_file_atomically(path, bytes);
  std::cout << path << ": " << model.name << ", opset " << model.opset << ", " << bytes.size()
            << " bytes\n";
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "make_model",
            .synopsis = "make_model NAME --output=M.onnx [flags]",
            .summary =
                "Writes a well-known network as an ONNX file: standard shapes, the node patterns "
                "exporters write, and "
                "random weights that depend on the seed alone. make_model --list names them.",
            .examples =
                "  make_model resnet50 --output=resnet50.onnx\n"
                "  make_model bert-base --sequence=64 --layers=2 --output=bert.onnx\n"
                "  make_model mobilenetv2 --small --image=64 --seed=7 --output=tiny.onnx\n"};
  tool.flags.add_options()("name", po::value<std::string>()->value_name("NAME"), "which network")(
      "output,o", po::value<std::string>()->value_name("FILE"), "the ONNX file to write")(
      "seed", po::value<std::uint64_t>()->default_value(0)->value_name("N"),
      "of the random weights")("batch",
                               po::value<std::int64_t>()->default_value(1)->value_name("N"),
                               "first dimension of all inputs")(
      "image", po::value<std::int64_t>()->default_value(224)->value_name("N"),
      "height and width of images")(
      "sequence", po::value<std::int64_t>()->default_value(128)->value_name("N"),
      "tokens of a text")("layers", po::value<std::int64_t>()->value_name("N"),
                          "of transformers and LSTMs; the standard number if not given")(
      "hidden", po::value<std::int64_t>()->value_name("N"),
      "elements of a token in a decoder; the standard number if not given")(
      "heads", po::value<std::int64_t>()->value_name("N"),
      "of a decoder's attention; the standard number if not given")(
      "past", po::value<std::int64_t>()->default_value(128)->value_name("N"),
      "tokens of a decoder's past_key_values; with --form=genai all that its cache has room for")(
      "form", po::value<std::string>()->value_name("FORM"),
      "of a decoder: plain (operators of ONNX) or genai (operators of com.microsoft)")(
      "quantize", po::value<std::string>()->value_name("FORM"),
      "qdq or qlinear: products and additions of bytes, calibrated on random inputs")(
      "float_type", po::value<std::string>()->default_value("float32")->value_name("TYPE"),
      "float32, float16 or bfloat16: of weights, activations, inputs and outputs")(
      "small", "few channels and blocks of the same kind: for tests")(
      "dynamic",
      "leave batch, image sides and sequence open in the file: --input_shape of atc gives them")(
      "list", "print the names of all networks");
  tool.positional.add("name", 1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
