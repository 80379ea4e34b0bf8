// Importing with or without gears.
#include "tools/common/model_graph.h"

#include <utility>

#include "graph/passes.h"

namespace aoe::tools {

namespace {

/// What the flags keep in float32 is known by type as well: of the graph as it is then.
graph::Pass float16_pass(const ModelFlags& model) {
  graph::Pass pass = graph::float16_pass(model.precision.float16, {}, nullptr);
  pass.run = [rounding = model.precision.float16, products = model.float32_products,
              precision = model.op_precision](graph::Graph& graph) {
    std::set<std::string> kept = products;
    kept.merge(names_kept(graph, precision));
    return graph::float16_pass(rounding, std::move(kept), nullptr).run(graph);
  };
  return pass;
}

}  // namespace

graph::PassOptions passes_of(const ModelFlags& model, graph::PassOptions passes) {
  passes.also.push_back(float16_pass(model));
  passes.disabled.insert(model.disabled_passes.begin(), model.disabled_passes.end());
  return passes;
}

graph::GearedGraph read_graph(const ModelFlags& model, graph::PassOptions passes) {
  passes = passes_of(model, std::move(passes));
  graph::GearedGraph read;
  if (model.gears) {
    read = graph::import_gears(model.model, model.import, *model.gears, passes);
  } else {
    read.graph = graph::import_onnx(model.model, model.import);
    graph::run_passes(read.graph, passes);
  }
  ask_high_precision(read.graph, model.op_precision);
  return read;
}

graph::GearedGraph read_graph_in_float32(ModelFlags model, const graph::PassOptions& passes) {
  model.precision = {};
  return read_graph(model, passes);
}

}  // namespace aoe::tools
