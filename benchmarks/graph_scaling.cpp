// graph_scaling: what large graphs cost, stage by stage, in microseconds a node, by the number of nodes. A
// row whose numbers stay as they are, where nodes double, is a stage that grows as the model does.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "compiler/compiler.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "runtime/executor.h"
#include "tests/graph/large_models.h"
#include "tests/temp_dir.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::benchmarks {
namespace {

/// The stages of one model, in order, with what each took.
class Stages {
 public:
  explicit Stages(std::size_t nodes) : nodes_(nodes) {}

  template <typename Work>
  auto time(const std::string& stage, Work&& work) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    struct Note {  // behind the work, which may give nothing back
      Stages& stages;
      const std::string& stage;
      Clock::time_point begin;
      ~Note() {
        const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
        stages.list.emplace_back(stage, took.count() / static_cast<double>(stages.nodes_));
      }
    } const note{*this, stage, begin};
    return work();
  }

  std::vector<std::pair<std::string, double>> list;  ///< microseconds a node

 private:
  std::size_t nodes_;
};

/// A graph bank that knows nothing: what looking for its subgraphs costs.
class NoStrategies final : public bank::StrategySource {
 public:
  std::optional<bank::StrategySet> find(const bank::TaskKey&) const override { return {}; }
  std::string description() const override { return "none"; }
};

Stages run_model(const std::string& form, std::size_t nodes, const compiler::Soc& soc) {
  Stages stages(nodes);
  const tests::TempDir directory;
  const auto path = directory / "large.onnx";
  write_file_atomically(path, tests::large_model(form, nodes));
  graph::Graph graph = stages.time("import", [&] { return graph::import_onnx(path, {}); });
  for (const graph::Pass& pass : graph::passes())
    stages.time("pass " + pass.name, [&] { return pass.run(graph); });
  graph.compact();
  for (const graph::Rewrite& rewrite : graph::rewrites().all())
    stages.time("find " + rewrite.kind, [&] { return rewrite.find(graph); });
  stages.time("graph bank",
              [&] { return compiler::apply_graph_strategies(graph, NoStrategies(), soc); });
  compiler::CompileOptions options{.soc = soc};
  runtime::Om om = stages.time("compile", [&] { return compiler::compile(graph, options).om; });
  const std::string bytes = stages.time("write om", [&] { return om.serialize(); });
  write_file_atomically(directory / "large.om", bytes);
  om = stages.time("read om", [&] { return runtime::Om::load(directory / "large.om"); });
  stages.time("load", [&] { return runtime::Executor(std::move(om), {.threads = 1}); });
  return stages;
}

std::vector<std::size_t> sizes_of(int largest) {
  std::vector<std::size_t> sizes;
  for (int divisor = 8; divisor >= 1; divisor /= 2)
    sizes.push_back(static_cast<std::size_t>(largest / divisor));
  return sizes;
}

ExitCode run(const tools::po::variables_map& flags) {
  const std::vector<std::size_t> sizes = sizes_of(flags["nodes"].as<int>());
  const compiler::Soc soc = compiler::detect_soc(1);
  for (const std::string& form : tests::large_model_forms()) {
    if (flags.contains("form") && tools::text_of(flags, "form") != form) continue;
    std::vector<Stages> runs;
    fmt::print("{:<42}", form + ", us a node");
    for (const std::size_t nodes : sizes) {
      fmt::print("{:>10}", nodes);
      std::cout.flush();
      runs.push_back(run_model(form, nodes, soc));
    }
    fmt::print("\n");
    for (std::size_t i = 0; i < runs.front().list.size(); ++i) {
      fmt::print("{:<42}", runs.front().list[i].first);
      for (const Stages& each : runs) fmt::print("{:>10.2f}", each.list[i].second);
      fmt::print("\n");
    }
  }
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "graph_scaling",
      .synopsis = "graph_scaling [--nodes=N] [--form=NAME]",
      .summary =
          "What graphs of an eighth of N nodes, a quarter, a half and N cost, stage by stage.",
      .examples = "  graph_scaling --nodes=20000 --form=chain\n"};
  tool.flags.add_options()("nodes", number_or(20000, "N"), "of the largest graph")(
      "form", text("NAME"), "one alone: branches, chain, elementwise, star, transformer, updates");
  tool.run = aoe::benchmarks::run;
  return run_tool(argc, argv, std::move(tool));
}
