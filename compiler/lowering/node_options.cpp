// Fixed, banked and default candidates of a node, and which of them keep its Format.
#include "compiler/lowering/node_options.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/stop_scope.h"
#include "compiler/lowering/format_assignment.h"

namespace aoe::compiler {
namespace {

/// The option whose tensors are in the same Formats; the end where there is none.
std::vector<NodeOption>::iterator of_formats(std::vector<NodeOption>& options,
                                             const FormatChoice& formats) {
  return std::ranges::find_if(options, [&](const NodeOption& each) {
    return each.candidate.format.inputs == formats.inputs &&
           each.candidate.format.outputs == formats.outputs;
  });
}

/// Keeps the fastest option of each FormatChoice.
void add_option(std::vector<NodeOption>& options, NodeOption added) {
  const auto same = of_formats(options, added.candidate.format);
  if (same == options.end())
    options.push_back(std::move(added));
  else if (added.time_ns < same->time_ns)
    *same = std::move(added);
}

std::vector<NodeOption> from_bank(const Task& task, const bank::TaskKey& key,
                                  const CompileOptions& options) {
  std::vector<NodeOption> found;
  const auto set = options.strategies == nullptr ? std::nullopt : options.strategies->find(key);
  if (!set) return found;
  for (const bank::Strategy& strategy : set->strategies) {
    Result<Candidate> candidate = candidate_of(strategy, task, options.soc);
    if (candidate)
      add_option(found, {*candidate, strategy.measured.time_ns});
    else
      logger("compiler")
          ->info("repo_key={} format={} strategy is not used: {}", key.repo_key(), strategy.format,
                 candidate.error());
  }
  return found;
}

/// Of several threads: a model one of whose steps is a library's waits for OpenMP's team in all, and a body's in each of its runs,
/// which are many and short.
double for_its_team(const Candidate& candidate, const CompileOptions& options) {
  constexpr double kOfBody = 1.3;
  const bool needs_team = options.soc.threads > 1 && candidate.impl->name().starts_with("onednn");
  return options.leaves_weights && needs_team ? kOfBody : 1;
}

std::vector<NodeOption> from_defaults(const Task& task, const CompileOptions& options) {
  std::vector<NodeOption> found;
  for (Candidate& candidate : default_candidates(task, options.soc)) {
    const auto plan = candidate.impl->plan(task, candidate.format, options.soc);
    const double time_ns = plan->estimate_ns(candidate.schedule) * for_its_team(candidate, options);
    add_option(found, {std::move(candidate), time_ns});
  }
  return found;
}

/// How much slower than the default of this shape the model of costs may expect what won for another one. The heuristic takes
/// what the model likes best, so a winner is nearly always expected to be a little slower.
constexpr double kMostExpectedLoss = 1.1;

/// Whether the model of costs can tell this Schedule from what it takes by default. Some Impls' estimates know of no axis, or not
/// of the one in question; what they do not contradict they do not support either.
bool is_told_apart(const Plan& plan, const Schedule& schedule, double expected_ns) {
  return schedule == plan.heuristic() || expected_ns != plan.estimate_ns(plan.heuristic());
}

/// What won for a neighbour takes the place of the default of the same Format where it is legal here and the model of costs does
/// not contradict. Its time is the default's estimate, less what it has won there.
bool take_from(const Neighbour& neighbour, const Task& task, const Soc& soc,
               std::vector<NodeOption>& defaults) {
  bool is_taken = false;
  for (const bank::Strategy& strategy : neighbour.set.strategies) {
    const bank::Measurement& m = strategy.measured;
    if (m.verdict != "faster" || m.time_ns <= 0 || m.default_time_ns <= m.time_ns) continue;
    Result<Candidate> candidate = candidate_of(strategy, task, soc);
    if (!candidate) continue;
    const auto same = of_formats(defaults, candidate->format);
    if (same == defaults.end()) continue;
    if (same->candidate.impl == candidate->impl && same->candidate.schedule == candidate->schedule)
      continue;
    const auto plan = candidate->impl->plan(task, candidate->format, soc);
    const double expected_ns = plan->estimate_ns(candidate->schedule);
    if (expected_ns > kMostExpectedLoss * same->time_ns ||
        !is_told_apart(*plan, candidate->schedule, expected_ns))
      continue;
    *same = {std::move(*candidate), same->time_ns * m.time_ns / m.default_time_ns,
             neighbour.repo_key};
    is_taken = true;
  }
  return is_taken;
}

/// The nearest of which something can be taken.
void improve(std::vector<NodeOption>& defaults, const Task& task, const bank::TaskKey& key,
             const Neighbours& neighbours, const Soc& soc) {
  const auto found = neighbours.find(key.description);
  if (found == neighbours.end()) return;
  for (const Neighbour& each : found->second)
    if (take_from(each, task, soc, defaults)) return;
}

/// For the tasks of which the bank knows nothing.
Neighbours find_neighbours(const graph::Graph& graph, const CompileOptions& options) {
  if (options.near == nullptr) return {};
  std::map<std::string, bank::TaskKey> missed;
  for (const graph::NodeId id : graph.topological_order()) {
    bank::TaskKey key = key_of(task_of(graph, id), options.soc);
    if (options.strategies == nullptr || !options.strategies->find(key))
      missed.emplace(key.description, key);
  }
  std::vector<bank::TaskKey> tasks;
  for (auto& [description, key] : missed) tasks.push_back(std::move(key));
  return tasks.empty() ? Neighbours() : options.near->near(tasks);
}

/// The default of the same Format gives way to what packs its weights as `other` does.
void pack_alike(std::vector<NodeOption>& defaults, const Task& task, const NodeReport& other,
                const Soc& soc) {
  constexpr double kMostLoss = 1.1;
  const Impl* const impl = impls().find(other.impl);
  if (impl == nullptr || !impl->supports(task, soc)) return;
  for (const FormatChoice& format : impl->formats(task, soc)) {
    const auto same = of_formats(defaults, format);
    if (format.name != other.format || same == defaults.end()) continue;
    const auto plan = impl->plan(task, format, soc);
    const std::vector<std::string> axes = plan->packing_axes();
    if (axes.empty()) return;
    Schedule schedule = plan->heuristic();
    for (const std::string& axis : axes) schedule[axis] = other.schedule.at(axis);
    if (!plan->is_legal(schedule)) return;
    const double time_ns = plan->estimate_ns(schedule);
    if (time_ns <= kMostLoss * same->time_ns) *same = {{impl, format, schedule}, time_ns};
  }
}

/// Of a node that shall keep a Format: whether it would store so what it makes and take so what it
/// reads of others that keep the same. What comes from elsewhere may come as it likes: a first
/// convolution reads the image as it is.
bool keeps_format(const graph::Graph& graph, const graph::Node& node, const FormatChoice& choice) {
  const auto fits = [&](Format format) {
    return format == Format::kUndefined || dense(format) == dense(*node.kept_format);
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == graph::kNone) continue;
    const graph::NodeId producer = graph.values[node.inputs[i]].producer;
    if (producer != graph::kNone && graph.nodes[producer].kept_format == node.kept_format &&
        !fits(choice.inputs[i]))
      return false;
  }
  return std::ranges::all_of(choice.outputs, fits);
}

struct SourcedOptions {
  std::string source;  ///< as in NodeOptions
  std::vector<NodeOption> options;
};

/// Of one graph; equal tasks, as blocks repeat them, are planned once.
class TaskOptions {
 public:
  TaskOptions(const graph::Graph& graph, const CompileOptions& options)
      : graph_(graph), options_(options), neighbours_(find_neighbours(graph, options)) {}

  /// The bank before the defaults, and what keeps the Format that the node shall keep before both.
  SourcedOptions of(const graph::Node& node, const Task& task, const bank::TaskKey& key) {
    const auto those_that_keep = [&](SourcedOptions all) {
      std::erase_if(all.options, [&](const NodeOption& each) {
        return node.kept_format && !keeps_format(graph_, node, each.candidate.format);
      });
      return all;
    };
    const SourcedOptions& banked = known(banked_, key, [&] {
      return SourcedOptions{"bank", from_bank(task, key, options_)};
    });
    if (SourcedOptions kept = those_that_keep(banked); !kept.options.empty()) return kept;
    const SourcedOptions& defaults = known(defaults_, key, [&] {
      SourcedOptions all{"default", from_defaults(task, options_)};
      improve(all.options, task, key, neighbours_, options_.soc);
      return all;
    });
    if (SourcedOptions kept = those_that_keep(defaults); !kept.options.empty()) return kept;
    return banked.options.empty() ? defaults : banked;
  }

 private:
  using Known = std::map<std::string, SourcedOptions>;  ///< by description of the task

  template <typename Make>
  static const SourcedOptions& known(Known& all, const bank::TaskKey& key, Make&& make) {
    const auto found = all.find(key.description);
    return found != all.end() ? found->second : all.emplace(key.description, make()).first->second;
  }

  const graph::Graph& graph_;
  const CompileOptions& options_;
  const Neighbours neighbours_;
  Known banked_, defaults_;
};

/// By node.
std::map<std::string_view, const NodeReport*> packings(const CompileOptions& options) {
  std::map<std::string_view, const NodeReport*> by_node;
  if (options.packed_as != nullptr)
    for (const NodeReport& report : *options.packed_as) by_node[report.node] = &report;
  return by_node;
}

}  // namespace

std::vector<NodeOptions> node_options(const graph::Graph& graph, const CompileOptions& options) {
  std::vector<NodeOptions> all;
  TaskOptions of_tasks(graph, options);
  const auto packed_as = packings(options);
  for (const graph::NodeId id : graph.topological_order()) {
    end_if_stopped();
    const graph::Node& node = graph.nodes[id];
    NodeOptions choices{.node = id, .task = task_of(graph, id)};
    const bank::TaskKey key = key_of(choices.task, options.soc);
    choices.repo_key = key.repo_key();
    if (const auto fixed = options.fixed.find(node.name); fixed != options.fixed.end()) {
      choices.source = "fixed";
      choices.options.push_back({fixed->second, 0});
    } else {
      auto [source, candidates] = of_tasks.of(node, choices.task, key);
      choices.source = std::move(source);
      choices.options = std::move(candidates);
      if (const auto other = packed_as.find(node.name);
          other != packed_as.end() && choices.source == "default")
        pack_alike(choices.options, choices.task, *other->second, options.soc);
    }
    if (choices.options.empty())
      throw Error(ExitCode::kModel,
                  "no implementation for op type " + reference::type_name(node.op),
                  "node '" + node.name + "'");
    all.push_back(std::move(choices));
  }
  return all;
}

Task conversion_task(const TensorDesc& desc, const Layout& from, const Layout& to, const Soc& soc) {
  const TensorDesc stored = with_format(desc, to.format, soc);
  Task task;
  task.op.type = "TransData";
  task.op.attrs.set("dst_format", std::string(name(to.format)));
  task.op.attrs.set("c0", std::int64_t{stored.c0});
  if (from.memory != to.memory) task.op.attrs.set("dst_memory", std::string(name(to.memory)));
  TensorDesc logical = desc;
  logical.format = Format::kND;
  logical.c0 = 0;
  task.inputs.push_back({logical, nullptr});
  task.outputs.push_back(logical);
  return task;
}

NodeOption conversion_option(const TensorDesc& desc, const Layout& from, const Layout& to,
                             const CompileOptions& options) {
  const Task task = conversion_task(desc, from, to, options.soc);
  const Memory works_in = from.memory == Memory::kHost ? to.memory : from.memory;
  const auto fits = [&](const NodeOption& each) {
    return each.candidate.impl->memory() == works_in &&
           dense(each.candidate.format.inputs.at(0)) == dense(from.format) &&
           dense(each.candidate.format.outputs.at(0)) == dense(to.format);
  };
  for (auto list :
       {from_bank(task, key_of(task, options.soc), options), from_defaults(task, options)}) {
    std::erase_if(list, [&](const NodeOption& each) { return !fits(each); });
    if (!list.empty()) return *std::ranges::min_element(list, {}, &NodeOption::time_ns);
  }
  const auto text = [](const Layout& layout) {
    return std::string(name(layout.format)) + " in the " + std::string(name(layout.memory)) +
           "'s memory";
  };
  throw Error(ExitCode::kModel, "no implementation converts " + to_string(desc) + " from " +
                                    text(from) + " to " + text(to));
}

bool same_bytes(const TensorDesc& desc, Format a, Format b, const Soc& soc) {
  if (dense(a) == dense(b)) return true;
  const auto is_dense_in_effect = [&](Format format) {
    if (dense(format) == Format::kND) return true;
    if (desc.shape.size() < 2) return false;
    const std::int64_t pixels = std::accumulate(desc.shape.begin() + 2, desc.shape.end(),
                                                std::int64_t{1}, std::multiplies<>());
    if (format == Format::kNHWC) return pixels == 1 || desc.shape[1] == 1;
    if (format == Format::kNC1HWC0) return pixels == 1 && desc.shape[1] % soc.vector_lanes() == 0;
    return false;
  };
  return is_dense_in_effect(a) && is_dense_in_effect(b);
}

}  // namespace aoe::compiler
