// A memory-bound elementwise op whose only input comes from an op that nobody else reads: computed
// where that op writes, the tensor between them would not go through memory.
#include <algorithm>
#include <map>

#include "base/words.h"
#include "profiler/advice/advice.h"
#include "profiler/export/metrics.h"
#include "reference/op.h"

namespace aoe::profiler {
namespace {

constexpr double kLeastShare = 0.02;  // of the time of all ops, for a pair to be worth naming

/// A chain of such types, joined by '+', is elementwise as well.
bool is_elementwise(const std::string& type) {
  const std::vector<std::string> parts = split_words(type, '+');
  return !parts.empty() && std::ranges::all_of(parts, [](const std::string& part) {
    return reference::is_kind(part, reference::OpKind::kElementwise);
  });
}

/// More time for memory than for arithmetic. Where the machine's peaks are unknown, less than one
/// operation per byte says so: any processor of today computes more than that while it loads one.
bool is_memory_bound(const TaskFigures& figures) {
  if (const auto bound = analytic_memory_bound(figures)) return *bound > 1;
  const auto intensity = analytic_intensity(figures);
  return intensity && *intensity < 1;
}

struct Pair {
  const OpRow* producer;
  const OpTimes* consumer;
};

/// Pairs of one model; each tensor with exactly one reader.
std::vector<Pair> pairs_of(const ModelRow& model, const AdviceInput& input) {
  std::map<std::string, const OpRow*> producers;
  std::map<std::string, int> readers;
  for (const OpRow& op : model.ops) {
    for (const std::string& tensor : op.output_names) producers[tensor] = &op;
    for (const std::string& tensor : op.input_names) ++readers[tensor];
  }
  std::vector<Pair> pairs;
  for (const OpTimes& times : input.ops) {
    if (times.model_id != model.id || times.op == nullptr || !is_elementwise(times.op->type))
      continue;
    const TaskFigures figures = figures_of(input.profile, &model, times.op, times.median_ns);
    if (!is_memory_bound(figures) || input.share_of_ops(times.typical_ns()) < kLeastShare) continue;
    for (const std::string& tensor : times.op->input_names) {
      const auto producer = producers.find(tensor);
      if (producer == producers.end() || readers[tensor] != 1) continue;
      pairs.push_back({producer->second, &times});
      break;
    }
  }
  return pairs;
}

std::optional<Diagnosis> check_memory_bound_neighbour(const AdviceInput& input) {
  std::vector<Pair> pairs;
  for (const ModelRow& model : input.profile.models())
    for (const Pair& pair : pairs_of(model, input)) pairs.push_back(pair);
  if (pairs.empty()) return std::nullopt;
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return a.consumer->typical_ns() > b.consumer->typical_ns();
  });
  std::int64_t sum_ns = 0;
  Evidence evidence{
      .columns = {"Op Name", "OP Type", "Fusable With", "Its Type", "Typical Time(us)", "Ratio"}};
  for (const Pair& pair : pairs) {
    sum_ns += pair.consumer->typical_ns();
    if (evidence.rows.size() == kMostEvidence) continue;
    evidence.rows.push_back({pair.consumer->op->name, pair.consumer->op->type, pair.producer->name,
                             pair.producer->type, microseconds(pair.consumer->typical_ns()),
                             percent(input.share_of_ops(pair.consumer->typical_ns()))});
  }
  return Diagnosis{
      std::to_string(pairs.size()) +
          " elementwise ops wait for memory that the op before them has just written; "
          "they take " +
          percent(input.share_of_ops(sum_ns)) + " of the time of all ops.",
      "Fuse each with the op before it: see that no --fusion_switch_file of atc or aoe "
      "switches the fusion off, and that the tensor between them is no output of the "
      "model.",
      std::move(evidence)};
}

}  // namespace

void register_memory_bound_neighbour(RuleRegistry& registry) {
  registry.add({.name = "memory_bound_neighbour",
                .type = "Memory",
                .subtype = "Memory Bound With Fusable Neighbour",
                .view = AdviceView::kOpSummary,
                .check = check_memory_bound_neighbour});
}

}  // namespace aoe::profiler
