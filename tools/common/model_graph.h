// The model that the flags name, as a graph behind all passes; the same in aoe and atc.
#pragma once

#include "graph/gears.h"
#include "tools/common/model_flags.h"

namespace aoe::tools {

/// The passes that the flags ask for, on top of `passes`.
graph::PassOptions passes_of(const ModelFlags& model, graph::PassOptions passes);

/// Behind passes_of(). Without gears `gears` is empty and the graph that of one shape. Throws as import_onnx() does.
graph::GearedGraph read_graph(const ModelFlags& model, graph::PassOptions passes);
/// The same in float32, whatever --precision_mode says.
graph::GearedGraph read_graph_in_float32(ModelFlags model, const graph::PassOptions& passes);

}  // namespace aoe::tools
