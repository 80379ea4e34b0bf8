// Precision by operator: which operators are asked to be exact, and which no mixed precision mode may lower.
#pragma once

#include <set>
#include <string>

#include "graph/graph.h"

namespace aoe::compiler {

/// Types are IR types ("Conv2D"); names those of the model's nodes.
struct OpPrecision {
  struct Selection {
    bool all = false;
    std::set<std::string> types, names;
    std::set<std::string> other_names, other_types;  ///< that are not meant, whatever else holds
  };
  Selection high;  ///< float32 with plain sums: no Winograd, no Strassen, no lower precision
  Selection kept;  ///< no lower precision in mixed precision modes
};

/// Marks `precision.high`, behind the passes: a fused node is meant when any node it was made of is.
void ask_high_precision(graph::Graph& graph, const OpPrecision& precision);

/// Names of the nodes that keep float32, for those who round by name.
std::set<std::string> names_kept(const graph::Graph& graph, const OpPrecision& precision);

/// Marks `precision.kept` for choose_bf16(), which must follow; forget_kept_dtypes() behind it.
void keep_dtypes(graph::Graph& graph, const OpPrecision& precision);

/// Warns of names that the graph does not have, behind the passes.
void warn_of_missing(const graph::Graph& graph, const OpPrecision& precision);

}  // namespace aoe::compiler
