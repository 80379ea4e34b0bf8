// Graph passes: pure rewrites that keep the meaning. One file per pass in graph/passes/, whose order.inc lists them as they run,
// and one runner for all: it times each pass into the recorder, verifies the graph behind it, honours off-switches and notes
// "unchanged".
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

struct Pass {
  std::string name;                 ///< "fold_constants", "fold_batch_norm", "fuse_epilogues", ...
  std::function<bool(Graph&)> run;  ///< returns whether anything changed
};

struct PassOptions {
  std::set<std::string> disabled;  ///< names of passes not to run (`--fusion_switch_file`)
  std::string dump_dir;            ///< write <n>_<pass>.txt after each pass when not empty
  std::vector<Pass>
      also;  ///< run at the places that order.inc has for them, or for a pass of that name
};

struct PassResult {
  std::string name;
  bool changed = false;
};

/// In their order, without the places for others.
const std::vector<Pass>& passes();

/// Runs all passes once, in order; ends with compact(). A broken invariant behind a pass is an
/// InternalError naming it.
std::vector<PassResult> run_passes(Graph& graph, const PassOptions& options);

/// Fills in the descriptions of all values reachable from the inputs. What they say already fills
/// the dimensions that inference cannot tell, and yields to those it can.
void infer_shapes(Graph& graph);

}  // namespace aoe::graph
