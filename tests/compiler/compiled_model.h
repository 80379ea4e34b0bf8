// Compiles whole graphs and runs the oms, beside the graph interpreted node by node with the reference.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace aoe::compiler {

/// Options for one of the tests' Socs with this number of threads.
CompileOptions options_for(Soc soc, int threads = 1);

/// Compiles `graph` and runs it twice, on different inputs, in memory that was full of NaN before: outputs must be what
/// the reference gives for `meaning` (the graph itself, or what it was before passes), floats within 1e-4 of the
/// output's range, those of 16 bits within a few of their steps; NaN and infinities equal. Outputs whose name `is_open` holds for may have any values. All buffers end
/// at pages that nobody may touch. Reports through GoogleTest; returns the om.
runtime::Om expect_compiled_like_reference(
    const graph::Graph& graph, const CompileOptions& options, const graph::Graph& meaning,
    const std::function<bool(const std::string&)>& is_open = [](const std::string&) {
      return false;
    });
/// The same for what it means at several sizes of its inputs, one after the other.
runtime::Om expect_compiled_like_each(const graph::Graph& graph, const CompileOptions& options,
                                      std::span<const graph::Graph> meanings,
                                      const std::function<bool(const std::string&)>& is_open);
inline runtime::Om expect_compiled_like_reference(const graph::Graph& graph,
                                                  const CompileOptions& options) {
  return expect_compiled_like_reference(graph, options, graph);
}

/// The tensor of that name; fails the test when there is none.
const runtime::OmTensor& tensor(const runtime::Om& om, const std::string& name);

/// "jit:Conv2D none:ConcatV2 ...": kind and anchor of each step, in running order.
std::string steps_text(const runtime::Om& om);

}  // namespace aoe::compiler
