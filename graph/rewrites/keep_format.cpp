// keep_format: a row or a whole module of image ops is compiled in one Format, with conversions at
// its border only. Formats are otherwise chosen for the model from the times of single ops and
// conversions; in the model, behind and before other ops, these times may be others.
#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/ceil_div.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/atoms.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

/// Parameter: the number of the Format, which is Ascend's and stable (aclFormat).
constexpr const char* kFormat = "format";
constexpr std::array kFormats = {Format::kNHWC, Format::kNC1HWC0, Format::kND};

constexpr std::size_t kFewestOfModule = 2, kFewestOfRow = 3;
constexpr std::size_t kMostOfRow = 8;  ///< longer rows are cut: their ends may differ in what suits
/// At a guess: most regions are in the better Format already.
constexpr double kExpectedShare = 0.02;

bool has_image_formats(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  return def != nullptr && def->has_image_formats;
}

/// Light on arithmetic, which poolings and local normalisations are: what such ops take depends most on the Format, and
/// on that of their neighbours.
bool is_light(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  return has_image_formats(node) && def->factors == 0 && def->kind != reference::OpKind::kMove;
}

/// Of float32 alone: what reads other types has no image Formats.
bool is_elementwise(const Graph& graph, const Node& node) {
  return reference::is_elementwise(node.op) && std::ranges::all_of(node.inputs, [&](ValueId input) {
           return input == kNone || dtype_of(graph, input) == DataType::kFloat;
         });
}

/// Of more than one pixel: others are the same bytes in every Format, but for padding.
bool is_image(const TensorDesc& desc) {
  return desc.dtype == DataType::kFloat && desc.shape.size() == 4 && is_static(desc.shape) &&
         desc.shape[2] * desc.shape[3] > 1;
}

/// That keeps no Format yet.
bool is_candidate(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  return !node.is_dead && !node.kept_format &&
         (has_image_formats(node) || is_elementwise(graph, node)) &&
         std::ranges::all_of(node.outputs, [&](ValueId output) {
           return output == kNone || is_image(graph.values[output].desc);
         });
}

/// Few and large: modules as a whole; elsewhere rows, and in these what surrounds light ops.
class Places {
 public:
  explicit Places(const Graph& graph) : graph_(graph) {}

  std::vector<Place> run() {
    std::vector<NodeId> row;
    for (const std::vector<NodeId>& atom : atoms_of(graph_)) {
      const bool is_link = atom.size() == 1 && is_candidate(graph_, atom[0]);
      if (!is_link || (!row.empty() && !follows(row.back(), atom[0]))) {
        add_row(row);
        row.clear();
      }
      if (is_link)
        row.push_back(atom[0]);
      else
        add_module(atom);
    }
    add_row(row);
    return std::move(places_);
  }

 private:
  bool follows(NodeId first, NodeId second) const {
    const Node& node = graph_.nodes[first];
    return node.outputs.size() == 1 && sole_consumer(graph_, node.outputs[0]) == second;
  }

  void add_module(std::vector<NodeId> nodes) {
    std::erase_if(nodes, [&](NodeId id) { return !is_candidate(graph_, id); });
    if (nodes.size() >= kFewestOfModule) add(nodes);
  }

  void add_row(std::span<const NodeId> row) {
    const std::size_t pieces = ceil_div(row.size(), kMostOfRow);
    for (std::size_t i = 0; row.size() >= kFewestOfRow && i < pieces; ++i) {
      const std::size_t begin = row.size() * i / pieces, end = row.size() * (i + 1) / pieces;
      add(row.subspan(begin, end - begin));
    }
    for (std::size_t begin = 0; begin < row.size();) {
      std::size_t end = begin;
      while (end < row.size() && is_light(graph_.nodes[row[end]])) ++end;
      if (end > begin) add_surroundings(row, begin, end);
      begin = end + 1;
    }
  }

  /// Light ops [begin, end) of the row with the op before and the op behind them.
  void add_surroundings(std::span<const NodeId> row, std::size_t begin, std::size_t end) {
    const std::size_t first = begin > 0 ? begin - 1 : begin;
    const std::size_t last = std::min(end, row.size() - 1);
    if (last > first) add(row.subspan(first, last - first + 1));
  }

  void add(std::span<const NodeId> nodes) {
    const std::vector<NodeId> place(nodes.begin(), nodes.end());
    if (!known_.insert(place).second) return;
    places_.push_back({.nodes = place,
                       .choices = {{{kFormat, static_cast<std::int64_t>(Format::kNC1HWC0)}},
                                   {{kFormat, static_cast<std::int64_t>(Format::kNHWC)}}},
                       .expected_share = kExpectedShare});
  }

  const Graph& graph_;
  std::set<std::vector<NodeId>> known_;
  std::vector<Place> places_;
};

std::vector<Place> find_keep_format(const Graph& graph) {
  return Places(graph).run();
}

Result<void> apply_keep_format(Graph& graph, const std::vector<NodeId>& nodes,
                               const RewriteParams& params) {
  const auto number = params.find(kFormat);
  if (number == params.end()) return Unexpected("there is no parameter 'format'");
  const auto format = static_cast<Format>(number->second);
  if (std::ranges::find(kFormats, format) == kFormats.end())
    return Unexpected("format " + std::to_string(number->second) + " is none that images have");
  if (nodes.empty()) return Unexpected("there are no nodes");
  for (const NodeId id : nodes)
    if (!is_candidate(graph, id))
      return Unexpected("node " + std::to_string(id) +
                        " makes no image, or keeps a Format already");
  for (const NodeId id : nodes) graph.edit(id)->kept_format = format;
  return {};
}

}  // namespace

void register_keep_format(RewriteRegistry& registry) {
  registry.add(
      {.kind = "keep_format", .version = 1, .find = find_keep_format, .apply = apply_keep_format});
}

}  // namespace aoe::graph
