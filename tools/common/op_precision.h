// Precision by operator: --op_select_implmode with --optypelist_for_implmode, --op_precision_mode, --keep_dtype and
// --modify_mixlist; the same in aoe and atc.
#pragma once

#include <boost/program_options.hpp>
#include <set>
#include <string>

#include "graph/graph.h"

namespace aoe::tools {

/// Types are IR types ("Conv2D") or ONNX types ("Conv"); names those of the model's nodes.
struct OpPrecision {
  struct Selection {
    bool all = false;
    std::set<std::string> types, names;
    std::set<std::string> other_names, other_types;  ///< that are not meant, whatever else holds
  };
  Selection high;  ///< float32 with plain sums: no Winograd, no Strassen, no lower precision
  Selection kept;  ///< no lower precision in mixed precision modes
};

void add_op_precision_flags(boost::program_options::options_description& flags);

/// Error(kUsage) on files that cannot be read and on unknown words and types.
OpPrecision read_op_precision(const boost::program_options::variables_map& flags);

/// Marks `precision.high`, behind the passes: a fused node is meant when any node it was made of is. Warns of names that the
/// graph does not have.
void ask_high_precision(graph::Graph& graph, const OpPrecision& precision);

/// Names of the nodes that keep float32, for those who round by name.
std::set<std::string> names_kept(const graph::Graph& graph, const OpPrecision& precision);

/// Marks `precision.kept` for choose_bf16(), which must follow; forget_kept_dtypes() behind it.
void keep_dtypes(graph::Graph& graph, const OpPrecision& precision);

}  // namespace aoe::tools
