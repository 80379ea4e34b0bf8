// Dynamic gears: one model at several input sizes, imported once for each and joined into one graph
// of disjoint parts, which every later stage (passes, compiler, tuner) takes as it takes any graph:
// equal ops of several gears are one task, and the time of the model is that of all gears, one
// inference of each. Parts run one after the other and share memory, but for their outputs, which
// last to the end of all. What belongs to a gear has gear_prefix() (base/gears.h) in front of its name.
//
//   GearRequest request = parse_gears(GearKind::kBatch, "1,4,8", "data:-1,3,224,224");
//   GearedGraph model = join_gears(import_each_gear(import, {}, request), request, {});
//   compiler::split_gears(compiler::compile(model.graph, ...).om, model.gears);  // one om per gear
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/gears.h"
#include "graph/graph.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"

namespace aoe::graph {

struct GearRequest {
  GearKind kind = GearKind::kBatch;
  std::vector<GearValues> values;
  std::vector<std::pair<std::string, Shape>> input_shapes;  ///< kUnknownDim where gears differ
};

/// The flag that asks for gears of this kind, "--dynamic_batch_size".
std::string gear_flag(GearKind kind);

/// `values` is the text of gear_flag(kind), `input_shapes` that of --input_shape. Error(kUsage) when
/// they are malformed or do not fit each other.
GearRequest parse_gears(GearKind kind, const std::string& values, const std::string& input_shapes);

/// With the sizes of one gear in place.
std::map<std::string, Shape> input_shapes_of(const GearRequest& request, std::size_t gear);

struct GearedGraph {
  /// The inputs of gear 0, then those of gear 1, ...; outputs likewise. Equal constants are shared.
  Graph graph;
  Gears gears;
};

/// Reads the model: import_onnx() of whatever it comes from.
using ImportModel = std::function<Graph(const ImportOptions&)>;

/// The model in every gear, before any pass (options.input_shapes do not count). Equal constants are shared. Throws as `import`
/// does, naming the gear.
std::vector<Graph> import_each_gear(const ImportModel& import, const ImportOptions& options,
                                    const GearRequest& request);

/// Runs the passes on each of import_each_gear() and joins them. Throws, naming the gear.
GearedGraph join_gears(std::vector<Graph> graphs, const GearRequest& request,
                       const PassOptions& passes);

}  // namespace aoe::graph
