// Chooses the reader by what the flags name.
#include "tools/atc/model_json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "graph/import/onnx_import.h"
#include "options/output_path.h"
#include "tools/atc/graph_json.h"
#include "tools/common/flags.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;

fs::path json_path(const po::variables_map& flags) {
  if (!flags.contains("json")) reject("--json", "is required", "name the file to write");
  return flags["json"].as<std::string>();
}

void write(const fs::path& path, const nlohmann::json& content) {
  // Names of a model may be any bytes; JSON is UTF-8.
  write_file_atomically(path, json_text(content, 2, BadUtf8::kReplaced) + "\n");
}

graph::Graph import(const po::variables_map& flags, const fs::path& path) {
  graph::ImportOptions options;
  if (flags.contains("input_shape"))
    options.input_shapes =
        graph::parse_input_shapes(flags["input_shape"].as<std::string>(), graph::OpenSizes::kTaken);
  return graph::import_onnx(path, options);
}

bool is_given(const po::variables_map& flags, const char* name) {
  return flags.contains(name) && !flags[name].defaulted();
}

}  // namespace

void write_model_json(const po::variables_map& flags) {
  const fs::path target = json_path(flags);
  if (flags.contains("om") == flags.contains("model"))
    reject("--om", "or --model must name what to convert", "give one of the two");
  const bool is_onnx = flags.contains("model") || is_given(flags, "framework");
  const int dump_mode = number_of(flags, "dump_mode", 0, 1).value_or(0);
  const fs::path source = text_of(flags, flags.contains("om") ? "om" : "model");
  options::check_is_another_file(target, "--json", source, "the model");
  write(target, is_onnx ? graph_json(import(flags, source), dump_mode == 1)
                        : om_json(runtime::GearedOm::load(source)));
}

void write_text_json(const po::variables_map& flags) {
  const fs::path target = json_path(flags);
  if (!flags.contains("om"))
    reject("--om", "is required in mode 5", "name a model written as text");
  const fs::path source = text_of(flags, "om");
  const std::string extension = source.extension().string();
  if (extension != ".txt" && extension != ".pbtxt")
    reject("--om", "'" + source.string() + "' is no text of a model", "name a .txt or .pbtxt file");
  options::check_is_another_file(target, "--json", source, "the model");
  write(target, graph_json(import(flags, source), true));
}

}  // namespace aoe::tools
