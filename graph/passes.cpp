// The runner of all passes.
#include "graph/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "all_passes.inc"
#include "base/file.h"
#include "base/log.h"
#include "graph/verify.h"
#include "profiler/recorder.h"

namespace aoe::graph {

std::vector<Pass> PassRegistry::in_order() const {
  std::vector<Pass> ordered = passes_;
  std::ranges::sort(ordered, [](const Pass& a, const Pass& b) {
    return a.order != b.order ? a.order < b.order : a.name < b.name;
  });
  return ordered;
}

const PassRegistry& passes() {
  static const PassRegistry registry = [] {
    PassRegistry filled;
    register_all_passes(filled);
    return filled;
  }();
  return registry;
}

namespace {

bool run_pass(const Pass& pass, Graph& graph) {
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

}  // namespace

std::vector<PassResult> run_passes(Graph& graph, const PassOptions& options) {
  PassRegistry registry = passes();
  for (const Pass& pass : options.also) registry.add(pass);
  const std::vector<Pass> all = registry.in_order();
  for (const std::string& name : options.disabled)
    if (std::ranges::find(all, name, &Pass::name) == all.end())
      logger("graph")->warn("there is no pass '{}' to switch off", name);
  verify(graph, "the import");
  std::vector<PassResult> results;
  for (const Pass& pass : all) {
    if (options.disabled.contains(pass.name)) continue;
    results.push_back({pass.name, run_pass(pass, graph)});
    if (!options.dump_dir.empty()) dump(graph, options.dump_dir, results.size(), pass.name);
  }
  graph.compact();
  return results;
}

}  // namespace aoe::graph
