// Random candidates for the nodes of a graph.
#pragma once

#include <map>
#include <string>

#include "compiler/impl.h"
#include "graph/graph.h"
#include "tests/seeds.h"

namespace aoe::compiler {

/// By node name: a candidate of any Impl and Format for most nodes, half of them with a random Schedule; the rest get what
/// an untuned compile would take (nodes whose shapes are not static, always).
std::map<std::string, Candidate> random_candidates(const graph::Graph& graph, const Soc& soc,
                                                   tests::Random& random);

/// One line for each: node, Impl, Format, Schedule.
std::string to_text(const std::map<std::string, Candidate>& fixed);

}  // namespace aoe::compiler
