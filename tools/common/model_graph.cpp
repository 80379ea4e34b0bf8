// Importing with or without gears.
#include "tools/common/model_graph.h"

#include "graph/passes.h"

namespace aoe::tools {

graph::GearedGraph read_graph(const ModelFlags& model, graph::PassOptions passes) {
  passes.also.push_back(
      graph::float16_pass(model.precision.float16, model.float32_products, nullptr));
  if (model.gears) return graph::import_gears(model.model, model.import, *model.gears, passes);
  graph::GearedGraph read{.graph = graph::import_onnx(model.model, model.import), .gears = {}};
  graph::run_passes(read.graph, passes);
  return read;
}

graph::GearedGraph read_graph_in_float32(ModelFlags model, const graph::PassOptions& passes) {
  model.precision = {};
  return read_graph(model, passes);
}

}  // namespace aoe::tools
