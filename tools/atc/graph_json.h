// A model as JSON, in the manner of the documented tool (--mode=1): a list of ops with their inputs ("producer:index"),
// descriptions and attributes. Weights show as Const ops without their values.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graph/graph.h"
#include "runtime/om/geared_om.h"

namespace aoe::tools {

/// `with_shapes`: descriptions of the tensors, too.
nlohmann::json graph_json(const graph::Graph& graph, bool with_shapes);

/// The steps as they run, one graph for each gear; attributes say how each was compiled.
nlohmann::json om_json(const runtime::GearedOm& model);

}  // namespace aoe::tools
