// fill_bank MODEL.onnx ROOT THREADS [IMPL]: a bank below ROOT as if every operator of the model had been
// tuned, with its first candidate, or that of an Impl, as the winner. For tests of what is done with a bank, which need
// neither time nor a quiet machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bank/knowledge_bank.h"
#include "base/error.h"
#include "compiler/impl.h"
#include "compiler/soc.h"
#include "compiler/task.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"

namespace aoe {
namespace {

bank::Commit strategies_of(const graph::Graph& graph, const compiler::Soc& soc,
                           std::string_view impl) {
  bank::Commit commit;
  for (const graph::NodeId id : graph.topological_order()) {
    const compiler::Task task = compiler::task_of(graph, id);
    if (!task.is_static()) continue;
    const auto candidates = compiler::default_candidates(task, soc);
    const auto won = std::ranges::find_if(candidates, [&](const compiler::Candidate& each) {
      return impl.empty() || each.impl->name() == impl;
    });
    if (won == candidates.end()) continue;
    bank::Strategy strategy = compiler::strategy_of(*won);
    strategy.measured = {1000, 2000, "faster", "test", soc.threads, 1, "2026-01-01T00:00:00Z"};
    commit.strategies.push_back({compiler::key_of(task, soc), strategy, true});
  }
  return commit;
}

}  // namespace
}  // namespace aoe

int main(int argc, char** argv) {
  using namespace aoe;
  if (argc < 4 || argc > 5) return 2;
  try {
    const compiler::Soc soc = compiler::detect_soc(std::atoi(argv[3]));
    graph::Graph graph = graph::import_onnx(argv[1], {});
    graph::run_passes(graph, {});
    bank::KnowledgeBank bank(std::filesystem::path(argv[2]) / "op" / soc.version,
                             {.soc_version = soc.version});
    bank.commit(strategies_of(graph, soc, argc > 4 ? argv[4] : ""));
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}
