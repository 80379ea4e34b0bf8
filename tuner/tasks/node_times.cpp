// Estimates, and shares by them. Tested by tests/tuner/tasks/subgraph_list_test.cpp.
#include "tuner/tasks/node_times.h"

#include <algorithm>
#include <utility>

#include "compiler/roofline.h"
#include "compiler/task.h"

namespace aoe::tuner {

double estimated_ns(const graph::Graph& graph, graph::NodeId id, const compiler::Soc& soc) {
  constexpr double kEfficiency = 0.5;
  const compiler::Task task = compiler::task_of(graph, id);
  if (!task.is_static()) return compiler::launch_ns(soc);
  return compiler::launch_ns(soc) +
         std::max(compiler::compute_ns(soc, compiler::flops(task), kEfficiency),
                  compiler::memory_ns(soc, compiler::bytes_moved(task)));
}

NodeTimes::NodeTimes(const graph::Graph& model, std::vector<double> model_ns,
                     const compiler::Soc& soc) {
  std::map<graph::NodeId, double> estimates_ns;  // of all nodes in the bodies of one
  graph::for_each_graph(model, [&](const graph::Graph& graph, const graph::BodyPath& path) {
    if (path.empty()) return;
    std::vector<double>& all = ns_[path];
    all.assign(graph.nodes.size(), 0);
    for (const graph::NodeId id : graph.topological_order()) {
      if (!graph.nodes[id].bodies.empty()) continue;  // its time is theirs
      all[id] = estimated_ns(graph, id, soc);
      estimates_ns[path.front().node] += all[id];
    }
  });
  for (auto& [path, all] : ns_) {
    const graph::NodeId control = path.front().node;
    const double of_all_ns = estimates_ns[control];
    for (double& ns : all)
      if (of_all_ns > 0) ns *= model_ns[control] / of_all_ns;
  }
  ns_[{}] = std::move(model_ns);
}

double NodeTimes::ns(const graph::BodyPath& in, graph::NodeId id) const {
  return ns_.at(in)[static_cast<std::size_t>(id)];
}

}  // namespace aoe::tuner
