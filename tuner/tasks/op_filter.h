// Which operators a run tunes: what `--tune_ops_file` lists.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace aoe::tuner {

/// Both empty: everything. An op passes when it is in either set.
struct OpFilter {
  std::set<std::string>
      names;  ///< node names after fusion, "loop/op" in bodies; one without its gear means all gears
  std::set<std::string> types;  ///< IR types; a fused op that contains one passes

  bool empty() const { return names.empty() && types.empty(); }
  bool passes(std::string_view node, const std::vector<std::string>& op_types) const;
};

/// Throws Error(kUsage) that begins with `where` and lists near names when the graph has no
/// operator of a listed name, or no graph can have one of a listed type. A type that only this
/// graph lacks is said on the log: one file may serve several models.
void check_filter(const OpFilter& filter, const graph::Graph& graph, const std::string& where);

}  // namespace aoe::tuner
