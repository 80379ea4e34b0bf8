// What each node may be compiled to: fixed candidate, else strategies of the bank, else the Impls' heuristic defaults, which
// what won for a near shape may improve.
// A node that shall keep a Format takes that from the defaults where the bank has only others.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"

namespace aoe::compiler {

struct NodeOption {
  Candidate candidate;
  double time_ns = 0;     ///< measured for strategies, estimated for defaults
  std::string near = {};  ///< repo_key of the task of another shape that it comes from
};

struct NodeOptions {
  graph::NodeId node = graph::kNone;
  Task task;
  std::string repo_key;
  std::string source;               ///< "fixed", "bank" or "default"
  std::vector<NodeOption> options;  ///< at least one; the best per FormatChoice
};

/// In topological order. Throws Error(kModel) naming a node that no Impl takes.
std::vector<NodeOptions> node_options(const graph::Graph& graph, const CompileOptions& options);

/// The fastest conversion of a value between two Layouts; also an op of its own, so the bank may know it. Throws
/// Error(kModel) when no Impl has one.
NodeOption conversion_option(const TensorDesc& desc, const Layout& from, const Layout& to,
                             const CompileOptions& options);
/// TransData; between memories with the attribute "dst_memory".
Task conversion_task(const TensorDesc& desc, const Layout& from, const Layout& to, const Soc& soc);

/// Whether both Formats store the same bytes: NC1HWC0 of one pixel and whole blocks is ND.
bool same_bytes(const TensorDesc& desc, Format a, Format b, const Soc& soc);

}  // namespace aoe::compiler
