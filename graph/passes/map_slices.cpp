// map_slices: ops along axes whose lengths only a run can tell become one node that has them as bodies, for parts of some
// lengths (slice_regions.h): what is compiled for those is what models of known sizes get, fused, packed and tuned.
#include "graph/analysis/slice_regions.h"
#include "graph/rewrite.h"
#include "reference/slicing.h"

namespace aoe::graph {
namespace {

/// Of all regions: their nodes stand in up to three bodies each, every one of which goes through all passes and code generation.
constexpr std::size_t kMostNodes = 10'000, kMostRegions = 256;

std::vector<std::int64_t> sliced_axes(const Graph& graph, const std::vector<ValueId>& values,
                                      const SliceAxes& axes) {
  std::vector<std::int64_t> last;
  for (const ValueId value : values)
    last.push_back(sliced_axis(graph.values[value].desc, axes).value_or(reference::kWhole));
  return last;
}

bool map_region(Graph& graph, const SliceRegion& region, const Hardware& hardware) {
  const Subgraph subgraph = subgraph_of(graph, region.nodes);
  Node node{.name = graph.nodes[region.nodes.front()].name + "_slices", .op = call_of("MapSlices")};
  const SliceCost cost = slice_cost(graph, region);
  for (const std::int64_t slices : part_sizes(cost, hardware)) {
    std::optional<Graph> part = graph_of_part(graph, subgraph, region.axes, slices);
    if (!part) return false;
    node.bodies.push_back(std::make_shared<const Graph>(std::move(*part)));
  }
  node.op.attrs.set("axes", sliced_axes(graph, subgraph.inputs, region.axes));
  node.op.attrs.set("output_axes", sliced_axes(graph, subgraph.outputs, region.axes));
  if (region.axes.dims > 1) node.op.attrs.set("dims", std::int64_t{region.axes.dims});
  if (region.is_in_place) node.op.attrs.set("in_place", std::int64_t{1});
  node.op.attrs.set("part_cost", static_cast<float>(part_cost(cost, hardware)));
  if (const std::optional<PieceCost> piece = piece_cost(cost, hardware)) {
    node.op.attrs.set("longest_piece", piece->longest);
    node.op.attrs.set("piece_cost", static_cast<float>(piece->piece));
    node.op.attrs.set("share_cost", static_cast<float>(piece->share));
  }
  node.inputs = subgraph.inputs;
  node.outputs = subgraph.outputs;
  for (const NodeId id : region.nodes) graph.remove_node(id);
  graph.add_node(std::move(node));
  return true;
}

}  // namespace

Pass map_slices_pass(const Hardware& hardware) {
  const auto run = [hardware](Graph& graph) {
    std::size_t nodes = 0, regions = 0;
    for (const SliceRegion& region : slice_regions(graph, hardware)) {
      nodes += region.nodes.size();
      if (nodes > kMostNodes || regions == kMostRegions) break;
      regions += map_region(graph, region, hardware) ? 1 : 0;
    }
    return regions > 0;
  };
  return {"map_slices", run};
}

bool map_slices(Graph& graph) {
  return map_slices_pass({}).run(graph);
}

}  // namespace aoe::graph
