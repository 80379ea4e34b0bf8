// slice_batch: a row of ops on a batch of images is carried out image by image (or by a few images): graph/subgraphs/batch_parts.h.
#include <algorithm>

#include "graph/rewrite.h"
#include "graph/subgraphs/batch_parts.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kMostNodes = 20;   ///< a subgraph holds little more
constexpr std::size_t kFewestNodes = 2;  ///< between which something passes
constexpr std::int64_t kMostParts = 16;  ///< each is a copy of all nodes

/// Numbers of parts: single images, and a few together.
std::vector<RewriteParams> choices_of(std::int64_t images) {
  std::vector<RewriteParams> choices;
  for (const std::int64_t parts : {images, images / 2, images / 4})
    if (parts >= 2 && parts <= kMostParts && images % parts == 0)
      choices.push_back({{"parts", parts}});
  return choices;
}

Place place_of(const Graph& graph, const std::vector<NodeId>& nodes, const Hardware& hardware) {
  std::int64_t large = 0;
  for (const NodeId id : nodes)
    if (4 * element_count(shape_of(graph, graph.nodes[id].outputs[0])) >= hardware.l2_bytes)
      ++large;  // smaller ones stay there as they are
  const bool is_worth_it = 2 * large > static_cast<std::int64_t>(nodes.size());
  return {.nodes = nodes,
          .choices = choices_of(batch_of(graph, nodes.front())),
          .expected_share = is_worth_it ? 0.2 : 0};
}

std::vector<Place> find_slice_batch(const Graph& graph, const Hardware& hardware) {
  std::vector<Place> places;
  for (const std::vector<NodeId>& row : batch_rows(graph, kMostNodes))
    if (row.size() >= kFewestNodes && !choices_of(batch_of(graph, row.front())).empty())
      places.push_back(place_of(graph, row, hardware));
  return places;
}

Result<void> apply_slice_batch(Graph& graph, const std::vector<NodeId>& nodes,
                               const RewriteParams& params) {
  const std::int64_t images = nodes.empty() ? 0 : batch_of(graph, nodes.front());
  if (!std::ranges::all_of(nodes,
                           [&](NodeId id) { return can_be_cut(graph, graph.nodes[id], images); }))
    return Unexpected("not all ops treat the images of one batch apart");
  const auto given = params.find("parts");
  const std::int64_t parts = given == params.end() ? 0 : given->second;
  if (parts < 2 || parts > kMostParts || images % parts != 0)
    return Unexpected(std::to_string(parts) + " parts of " + std::to_string(images) + " images");
  cut_batch(graph, nodes, parts);
  return {};
}

}  // namespace

void register_slice_batch(RewriteRegistry& registry) {
  registry.add(
      {.kind = "slice_batch", .version = 1, .find = find_slice_batch, .apply = apply_slice_batch});
}

}  // namespace aoe::graph
