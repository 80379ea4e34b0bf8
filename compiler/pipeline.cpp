// The stages in their order.
#include "compiler/pipeline.h"

#include <utility>

#include "base/log.h"
#include "compiler/block_stems.h"
#include "compiler/precision/mixed_precision.h"
#include "compiler/refused_epilogues.h"
#include "graph/analysis/slice_regions.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "graph/subgraphs/batch_parts.h"

namespace aoe::compiler {
namespace {

/// Which products keep float32 factors although the mode rounds those of others.
struct Float16 {
  graph::Float16Rounding rounding = graph::Float16Rounding::kOff;
  std::set<std::string> float32_products = {};
  std::vector<std::string>* rounded = nullptr;  ///< receives the names of those that are rounded
};

/// A model as the import gives it. Passes run on copies, which share its constants.
class ImportedModel {
 public:
  ImportedModel(const ModelSource& source, const Soc& soc) : source_(source), soc_(soc) {
    if (source.gears)
      gears_ = graph::import_each_gear([&](const auto& options) { return import(options); },
                                       source.import, *source.gears);
    else
      gears_.push_back(import(source.import));
  }

  graph::GearedGraph simplified(const Float16& float16,
                                const std::set<std::string>& also_disabled = {}) const {
    return simplify(gears_, float16, also_disabled);
  }
  /// For the last time: the weights as they were read are not kept beside those that passes make of them.
  graph::GearedGraph take_simplified(const Float16& float16) {
    return simplify(std::exchange(gears_, {}), float16, {});
  }

 private:
  graph::GearedGraph simplify(std::vector<graph::Graph> gears, const Float16& float16,
                              const std::set<std::string>& also_disabled) const {
    graph::PassOptions passes{.disabled = source_.disabled_passes};
    passes.disabled.insert(also_disabled.begin(), also_disabled.end());
    passes.also.push_back(float16_pass(float16));
    passes.also.push_back(split_refused_epilogues_pass(soc_));
    passes.also.push_back(graph::map_slices_pass(hardware_of(soc_)));
    // Not of gears, whose graphs are joined node by node, nor before bfloat16 is chosen: each part would be for itself, and first
    // convolutions take less by pairs than by Winograd's algorithm (ResNet-50's 521 and 557 us, Zen 5).
    if (!source_.gears && !source_.precision.allow_bf16) {
      passes.also.push_back(block_stems_pass(soc_));
      passes.also.push_back(graph::slice_batches_pass(hardware_of(soc_)));
    }
    graph::GearedGraph model;
    if (source_.gears) {
      model = graph::join_gears(gears, *source_.gears, passes);
    } else {
      model.graph = std::move(gears.front());
      graph::run_passes(model.graph, passes);
    }
    ask_high_precision(model.graph, source_.op_precision);
    return model;
  }

  graph::Graph import(const graph::ImportOptions& options) const {
    if (source_.graph) return *source_.graph;
    if (source_.bytes)
      return graph::import_onnx(graph::OnnxBytes{*source_.bytes, source_.path}, options);
    return graph::import_onnx(source_.path, options);
  }

  /// What keeps float32 is known by type as well: of the graph as it is then.
  graph::Pass float16_pass(const Float16& float16) const {
    graph::Pass pass = graph::float16_pass(float16.rounding, {}, nullptr);
    pass.run = [float16, &precision = source_.op_precision](graph::Graph& graph) {
      std::set<std::string> kept = names_kept(graph, precision);
      kept.insert(float16.float32_products.begin(), float16.float32_products.end());
      return graph::float16_pass(float16.rounding, std::move(kept), float16.rounded).run(graph);
    };
    return pass;
  }

  const ModelSource& source_;
  const Soc soc_;
  std::vector<graph::Graph> gears_;  ///< one without gears
};

Float16 float16_within_budget(const ImportedModel& imported, Float16 float16,
                              const Preparation& options) {
  std::vector<std::string> products;
  float16.rounded = &products;
  imported.simplified(float16);
  float16.rounded = nullptr;
  const auto rounded = [&](const std::set<std::string>& float32_products) {
    return imported.simplified({float16.rounding, float32_products}).graph;
  };
  const Float16Choice choice = choose_float16(
      imported.simplified({}).graph, {products.begin(), products.end()}, rounded,
      {.soc = options.soc, .compile_threads = options.compile_threads}, {.inputs = options.inputs});
  logger("compiler")
      ->info("float16 factors in {} of {} products, error {:.1e} of the range",
             choice.candidates - static_cast<int>(choice.float32_products.size()),
             choice.candidates, choice.error);
  float16.float32_products = choice.float32_products;
  return float16;
}

void lower_to_bf16(graph::Graph& graph, const ModelSource& source, const Preparation& options) {
  CompileOptions compiled{.soc = options.soc, .compile_threads = options.compile_threads};
  if (!source.precision.allow_fp16) compiled.soc.features.remove(Feature::kFp16);
  keep_dtypes(graph, source.op_precision);
  const MixedPrecision choice = choose_bf16(graph, compiled, {.inputs = options.inputs});
  graph::forget_kept_dtypes(graph);
  logger("compiler")
      ->info("bfloat16 in {} of {} products, error {:.1e} of the range", choice.lowered,
             choice.candidates, choice.error);
}

}  // namespace

PreparedModel prepare(const ModelSource& source, const Preparation& options) {
  ImportedModel imported(source, options.soc);
  Float16 float16{source.precision.float16};
  if (source.precision.is_within_budget)
    float16 = float16_within_budget(imported, std::move(float16), options);
  graph::GearedGraph simplified =
      options.keeps_exact ? imported.simplified(float16) : imported.take_simplified(float16);
  warn_of_missing(simplified.graph, source.op_precision);
  if (options.on_simplified) options.on_simplified(simplified.graph);

  PreparedModel model{.graph = std::move(simplified.graph), .gears = std::move(simplified.gears)};
  if (options.graph_bank != nullptr)
    model.subgraphs = apply_graph_strategies(model.graph, *options.graph_bank, options.soc);
  const bool is_rounded = float16.rounding != graph::Float16Rounding::kOff;
  if (options.keeps_exact && (is_rounded || graph::has_byte_products(model.graph)))
    model.exact = imported.simplified({}, {graph::kBytePass}).graph;
  if (source.precision.allow_bf16) {
    if (options.keeps_exact && !model.exact) model.exact = model.graph;
    lower_to_bf16(model.graph, source, options);
  }
  return model;
}

ModelSource in_float32(ModelSource source) {
  source.precision = {};
  return source;
}

Compilation compile(const PreparedModel& model, CompileOptions options) {
  options.subgraphs = model.subgraphs;
  return compile(model.graph, options);
}

Compilation compile(PreparedModel&& model, CompileOptions options) {
  options.subgraphs = std::move(model.subgraphs);
  return compile(std::move(model.graph), options);
}

}  // namespace aoe::compiler
