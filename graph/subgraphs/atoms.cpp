// Cutting at single tensors, and choosing rows of atoms.
#include "graph/subgraphs/atoms.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/analysis/node_rows.h"
#include "graph/parts.h"
#include "graph/subgraph.h"

namespace aoe::graph {
namespace {

/// More readers than any branch has: an operand of the whole model.
constexpr std::size_t kMostBranches = 8;

using Rows = std::vector<std::vector<NodeId>>;

bool is_count_or_condition(const TensorDesc& desc) {
  return (desc.dtype == DataType::kBool || desc.dtype == DataType::kInt64) &&
         is_static(desc.shape) && element_count(desc.shape) == 1;
}

/// `nodes`, in topological order, as the longest rows (node_rows.h) of nodes with one output.
Rows rows_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  Rows rows;
  std::map<NodeId, std::size_t> row_of;
  for (const NodeId id : nodes) {
    const std::vector<ValueId>& inputs = graph.nodes[id].inputs;
    const NodeId before =
        inputs.empty() || inputs[0] == kNone ? kNone : graph.values[inputs[0]].producer;
    const auto at = row_of.find(before);
    const bool follows = at != row_of.end() && graph.nodes[before].outputs.size() == 1 &&
                         is_row(graph, {before, id});
    if (!follows) rows.emplace_back();
    row_of[id] = follows ? at->second : rows.size() - 1;
    rows[row_of[id]].push_back(id);
  }
  return rows;
}

/// Row after row, those they read from before them, otherwise as they begin in `nodes`. Rows never wait for each other: what
/// a row makes is read at its end only.
std::vector<NodeId> row_by_row(const Graph& graph, const std::vector<NodeId>& nodes) {
  const Rows rows = rows_of(graph, nodes);
  std::map<NodeId, std::size_t> row_of;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const NodeId id : rows[row]) row_of[id] = row;
  std::vector<std::set<std::size_t>> readers_of(rows.size());
  std::vector<std::size_t> missing(rows.size(), 0);
  for (const auto& [id, row] : row_of) {
    for (const ValueId input : graph.nodes[id].inputs) {
      const auto from = row_of.find(input == kNone ? kNone : graph.values[input].producer);
      if (from == row_of.end() || from->second == row) continue;
      if (readers_of[from->second].insert(row).second) ++missing[row];
    }
  }
  std::set<std::size_t> ready;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (missing[row] == 0) ready.insert(row);
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const std::size_t row = *ready.begin();
    ready.erase(ready.begin());
    order.insert(order.end(), rows[row].begin(), rows[row].end());
    for (const std::size_t reader : readers_of[row])
      if (--missing[reader] == 0) ready.insert(reader);
  }
  return order;
}

}  // namespace

std::vector<std::vector<NodeId>> atoms_of(const Graph& graph) {
  const std::vector<NodeId> order = graph.topological_order();
  const std::vector<NodeId> part = parts_of(graph);
  std::vector<std::size_t> position(graph.nodes.size(), 0);
  std::map<NodeId, std::size_t> part_begin, part_end;  // positions; parts follow each other
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    part_begin.try_emplace(part[order[i]], i);
    part_end[part[order[i]]] = i + 1;
  }

  // passing[p]: how many values are made before the border behind position p and read beyond it.
  std::vector<int> change(order.size() + 1, 0);
  const auto note = [&](ValueId value, std::size_t first, std::size_t end) {
    const std::vector<NodeId>& readers = graph.consumers(value);
    if (graph.values[value].constant || readers.size() > kMostBranches ||
        is_count_or_condition(graph.values[value].desc))
      return;
    std::size_t last = graph.is_output(value) ? end : 0;
    for (const NodeId reader : readers) last = std::max(last, position[reader]);
    if (last <= first) return;
    ++change[first];
    --change[last];
  };
  for (std::size_t p = 0; p < order.size(); ++p)
    for (const ValueId output : graph.nodes[order[p]].outputs)
      if (output != kNone) note(output, p, part_end[part[order[p]]]);

  for (const ValueId input : graph.inputs) {  // there from the start of its part
    if (graph.consumers(input).empty()) continue;
    const NodeId its_part = part[graph.consumers(input).front()];
    note(input, part_begin[its_part], part_end[its_part]);
  }
  std::vector<std::vector<NodeId>> atoms;
  std::vector<NodeId> atom;
  int passing = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    atom.push_back(order[p]);
    passing += change[p];
    if (passing > 1 && p + 1 < part_end[part[order[p]]]) continue;
    if (atom.size() > kMostSubgraphNodes) {
      for (const NodeId id : row_by_row(graph, atom)) atoms.push_back({id});
    } else {
      atoms.push_back(std::move(atom));
    }
    atom.clear();
  }
  return atoms;
}

std::vector<WeightedRange> choose_ranges(std::size_t atom_count,
                                         std::vector<WeightedRange> candidates) {
  std::vector<double> best(atom_count + 1, 0);
  std::vector<const WeightedRange*> last(atom_count + 1, nullptr);
  std::ranges::stable_sort(candidates, {}, [](const WeightedRange& c) { return c.range.end; });
  auto next = candidates.cbegin();
  for (std::size_t end = 1; end <= atom_count; ++end) {
    best[end] = best[end - 1];
    for (; next != candidates.cend() && next->range.end == end; ++next) {
      const double total = best[next->range.begin] + next->gain;
      if (next->gain <= 0 || total <= best[end]) continue;
      best[end] = total;
      last[end] = &*next;
    }
  }
  std::vector<WeightedRange> chosen;
  for (std::size_t end = atom_count; end > 0;) {
    if (last[end] == nullptr) {
      --end;
      continue;
    }
    chosen.push_back(*last[end]);
    end = last[end]->range.begin;
  }
  std::ranges::reverse(chosen);
  return chosen;
}

std::vector<NodeId> nodes_of(const std::vector<std::vector<NodeId>>& atoms, AtomRange range) {
  std::vector<NodeId> nodes;
  for (std::size_t i = range.begin; i < range.end; ++i)
    nodes.insert(nodes.end(), atoms[i].begin(), atoms[i].end());
  return nodes;
}

}  // namespace aoe::graph
