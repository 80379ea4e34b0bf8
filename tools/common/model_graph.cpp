// Importing with or without gears.
#include "tools/common/model_graph.h"

#include "graph/passes.h"

namespace aoe::tools {

graph::GearedGraph read_graph(const ModelFlags& model, const graph::PassOptions& passes) {
  if (model.gears) return graph::import_gears(model.model, model.import, *model.gears, passes);
  graph::GearedGraph read{.graph = graph::import_onnx(model.model, model.import), .gears = {}};
  graph::run_passes(read.graph, passes);
  return read;
}

}  // namespace aoe::tools
