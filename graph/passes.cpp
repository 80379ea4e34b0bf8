// The runner of all passes.
#include "graph/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stop_scope.h"
#include "graph/pass_budget.h"
#include "graph/rewrite.h"
#include "graph/verify.h"
#include "profiler/recorder.h"

namespace aoe::graph {

#define PASS(name) bool name(Graph& graph);
#define PLACE(name)
#include "graph/passes/order.inc"
#undef PASS
#undef PLACE

namespace {

/// Places have no run().
std::vector<Pass> listed() {
  return {
#define PASS(name) {#name, name},
#define PLACE(name) {#name, nullptr},
#include "graph/passes/order.inc"
#undef PASS
#undef PLACE
  };
}

std::vector<Pass> with_others(const std::vector<Pass>& others) {
  std::vector<Pass> all = listed();
  for (const Pass& other : others) {
    const auto place = std::ranges::find(all, other.name, &Pass::name);
    AOE_CHECK(place != all.end(), "no place for pass " + other.name);
    place->run = other.run;
  }
  std::erase_if(all, [](const Pass& pass) { return pass.run == nullptr; });
  return all;
}

bool run_pass(const Pass& pass, Graph& graph) {
  end_if_stopped();
  bool changed = false;
  {
    profiler::Span span(profiler::EventKind::kPass, profiler::intern(pass.name));
    changed = pass.run(graph);
  }
  logger("graph")->debug("pass={} {}", pass.name, changed ? "changed" : "unchanged");
  if (changed) verify(graph, "pass " + pass.name);
  return changed;
}

void dump(const Graph& graph, const std::string& directory, std::size_t number,
          const std::string& pass) {
  std::error_code status;
  std::filesystem::create_directories(directory,
                                      status);  // the write below reports what went wrong
  write_file_atomically(
      std::filesystem::path(directory) / fmt::format("{:02}_{}.txt", number, pass),
      graph.to_text());
}

/// The passes on the bodies of nodes, each on a copy: other copies of the graph share them. `made`: of those that passes made, or
/// of those that were there before.
void run_on_bodies(Graph& graph, const PassOptions& options, bool made) {
  PassOptions inner = options;
  inner.dump_dir.clear();
  for (const NodeId id : graph.topological_order()) {
    if (graph.nodes[id].bodies.empty() || is_type(graph.nodes[id], "MapSlices") != made) continue;
    std::vector<std::shared_ptr<const Graph>> bodies;
    for (const auto& body : graph.nodes[id].bodies) {
      Graph simplified = *body;
      run_passes(simplified, inner);
      bodies.push_back(std::make_shared<const Graph>(std::move(simplified)));
    }
    graph.edit(id)->bodies = std::move(bodies);
  }
}

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = with_others({});
  return all;
}

std::vector<PassResult> run_passes(Graph& graph, const PassOptions& options) {
  const std::vector<Pass> all = with_others(options.also);
  for (const std::string& name : options.disabled)
    if (std::ranges::find(all, name, &Pass::name) == all.end())
      logger("graph")->warn("there is no pass '{}' to switch off", name);
  verify(graph, "the import");
  const PassBudget::Scope budget(graph);
  run_on_bodies(graph, options, false);
  std::vector<PassResult> results;
  for (const Pass& pass : all) {
    if (options.disabled.contains(pass.name)) continue;
    results.push_back({pass.name, run_pass(pass, graph)});
    if (!options.dump_dir.empty()) dump(graph, options.dump_dir, results.size(), pass.name);
  }
  run_on_bodies(graph, options, true);
  graph.compact();
  return results;
}

}  // namespace aoe::graph
