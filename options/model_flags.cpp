// Reads the flags about the model. What the reference documents but this version cannot do is refused by name.
#include "options/model_flags.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/log.h"
#include "base/words.h"
#include "graph/import/input_values.h"
#include "options/flags.h"
#include "options/idle_flags.h"
#include "options/op_precision_flags.h"
#include "options/pass_switches.h"

namespace aoe::options {
namespace {

using compiler::Precision;
using graph::Float16Rounding;

struct PrecisionMode {
  std::string_view name;
  Precision precision;
  std::string_view note = {};  ///< what to say of it, once
};
constexpr PrecisionMode kPrecisionModes[] = {
    {"force_fp32", {}},
    {"must_keep_origin_dtype", {}},
    {"force_fp16", {.float16 = Float16Rounding::kValues}},
    {"cube_fp16in_fp32out", {.float16 = Float16Rounding::kFactors}},
    {"allow_mix_precision", {.allow_bf16 = true, .allow_fp16 = true}},
    {"allow_mix_precision_bf16", {.allow_bf16 = true}},
    {"allow_mix_precision_fp16", {.float16 = Float16Rounding::kFactors, .is_within_budget = true}},
    {"allow_fp32_to_fp16", {}, "every operator takes float32 here: nothing is lowered"},
    {"allow_fp32_to_bf16", {}, "every operator takes float32 here: nothing is lowered"},
};

std::string precision_modes() {
  return joined(kPrecisionModes, ", ", &PrecisionMode::name);
}

Precision precision_of(const std::string& name) {
  const auto* mode = std::ranges::find(kPrecisionModes, name, &PrecisionMode::name);
  if (mode == std::end(kPrecisionModes))
    reject("--precision_mode", "'" + name + "' is unknown", "use one of " + precision_modes());
  if (!mode->note.empty()) logger("flags")->warn("--precision_mode={}: {}", name, mode->note);
  return mode->precision;
}

void check_framework(const std::string& framework) {
  if (framework == "5") return;
  const bool is_known = framework == "0" || framework == "1" || framework == "3";
  reject("--framework", "'" + framework + "' is " + (is_known ? "not supported" : "unknown"),
         "export the model to ONNX and use 5");
}

}  // namespace

void add_model_flags(po::options_description& flags) {
  flags.add_options()("model,m", text("FILE"), "the model")("framework,f", text_or("5", "5"),
                                                            "5: ONNX")(
      "input_shape", text("SHAPES"),
      "\"name:1,3,224,224;other:1,128\", for dynamic dimensions; -1 where gears fill in")(
      "input_value", text("VALUES"),
      "\"sr:16000;size:1,2\": these inputs always have these values; what depends on them alone "
      "folds "
      "away")("dynamic_batch_size", text("GEARS"),
              "\"1,4,8\": one om for these sizes of the first dimension")(
      "dynamic_image_size", text("GEARS"),
      "\"224,224;320,240\": one om for these heights and widths")(
      "dynamic_dims", text("GEARS"),
      "\"1,64;4,128\": one om for these sizes, one for each -1 of --input_shape")(
      "input_format", text_or("NCHW", "FORMAT"), "NCHW or ND: both are what ONNX models say")(
      "out_nodes", text("NODES"),
      "\"node:0;other:1\": these outputs instead of the model's own; the graph is cut there")(
      "output_type", text("TYPES"),
      "FP32, FP16, UINT8, INT8, ... of all outputs, or \"node:0:FP16;other:1:INT8\"")(
      "input_fp16_nodes", text("NAMES"), "\"x;y\": these inputs are float16")(
      "insert_op_conf", text("FILE"),
      "AIPP: prepare images of bytes in the om: crop, resize, convert colours, normalise, pad")(
      "precision_mode", text_or("force_fp32", "MODE"), precision_modes().c_str())(
      "aicore_num", po::value<int>()->value_name("N"), "the same as --threads=N");
  add_op_precision_flags(flags);
  add_pass_flags(flags);
  add_idle_flags(flags, kIdleFlags);
}

namespace {

std::optional<graph::GearRequest> read_gears(const po::variables_map& flags) {
  std::optional<GearKind> kind;
  for (const GearKind each : {GearKind::kBatch, GearKind::kImage, GearKind::kDims}) {
    const std::string flag = graph::gear_flag(each);
    if (!flags.contains(flag.substr(2))) continue;
    if (kind) reject(flag, "and " + graph::gear_flag(*kind) + " exclude each other", "give one");
    kind = each;
  }
  if (!kind) return std::nullopt;
  const std::string flag = graph::gear_flag(*kind);
  if (*kind == GearKind::kImage && flags["input_format"].as<std::string>() != "NCHW")
    reject(flag, "is for images", "use --input_format=NCHW");
  return graph::parse_gears(*kind, text_of(flags, flag.substr(2)), text_of(flags, "input_shape"));
}

std::vector<graph::Aipp> read_aipp(const po::variables_map& flags,
                                   const std::optional<graph::GearRequest>& gears) {
  if (gears && gears->kind != GearKind::kBatch)
    reject("--insert_op_conf", "prepares images of one size",
           "leave " + graph::gear_flag(gears->kind) + " out, or use --dynamic_batch_size");
  const auto path = flags["insert_op_conf"].as<std::string>();
  return graph::parse_aipp(read_file(path, ExitCode::kUsage), "--insert_op_conf " + path);
}

}  // namespace

void require_one_of(const po::variables_map& flags, const std::vector<std::string>& names) {
  std::string given;
  for (const std::string& name : names) {
    if (!flags.contains(name)) continue;
    if (!given.empty())
      reject("--" + given, "and --" + name + " exclude each other", "give one of the two");
    given = name;
  }
  if (given.empty()) reject("--" + names.front(), "is required", "name an ONNX file");
}

compiler::ModelSource read_model_flags(const po::variables_map& flags, graph::OpenSizes open) {
  check_idle_flags(flags, kIdleFlags);
  check_framework(flags["framework"].as<std::string>());
  const auto format = flags["input_format"].as<std::string>();
  if (format != "NCHW" && format != "ND")
    reject("--input_format", "'" + format + "' is not supported for ONNX models", "use NCHW or ND");
  compiler::ModelSource read{.path = text_of(flags, "model"),
                             .gears = read_gears(flags),
                             .precision = precision_of(flags["precision_mode"].as<std::string>()),
                             .op_precision = read_op_precision(flags),
                             .disabled_passes = disabled_passes(flags)};
  if (flags.contains("input_shape") && !read.gears)
    read.import.input_shapes =
        graph::parse_input_shapes(flags["input_shape"].as<std::string>(), open);
  if (flags.contains("input_value"))
    read.import.input_values = graph::parse_input_values(flags["input_value"].as<std::string>());
  if (flags.contains("out_nodes"))
    read.import.out_nodes = split_words(flags["out_nodes"].as<std::string>(), ';');
  if (flags.contains("insert_op_conf")) read.import.aipp = read_aipp(flags, read.gears);
  if (flags.contains("output_type"))
    read.import.types = graph::parse_output_type(flags["output_type"].as<std::string>());
  if (flags.contains("input_fp16_nodes"))
    read.import.types.fp16_inputs = split_words(flags["input_fp16_nodes"].as<std::string>(), ';');
  return read;
}

}  // namespace aoe::options
