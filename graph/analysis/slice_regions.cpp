// Growing regions along the order of the nodes. Tested by tests/graph/map_slices_test.cpp.
#include "graph/analysis/slice_regions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Nodes and regions, and what they wait for.
class Units {
 public:
  explicit Units(const Graph& graph) : graph_(graph), by_node_(graph.nodes.size(), kNone) {}

  int add() {
    before_.emplace_back();
    return static_cast<int>(before_.size()) - 1;
  }

  /// Whether the node can become part of the unit without waiting for what waits for it.
  bool takes(int unit, const Node& node) const {
    return std::ranges::none_of(node.inputs, [&](ValueId input) {
      const int producer = unit_of(input);
      return producer != kNone && producer != unit && waits_for(producer, unit);
    });
  }

  /// Whether the unit makes what the node reads.
  bool makes(int unit, const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ValueId input) { return unit_of(input) == unit; });
  }

  void put(NodeId id, int unit) {
    by_node_[id] = unit;
    for (const ValueId input : graph_.nodes[id].inputs)
      if (const int producer = unit_of(input); producer != kNone && producer != unit)
        before_[unit].insert(producer);
  }

 private:
  int unit_of(ValueId value) const {
    if (value == kNone || graph_.values[value].producer == kNone) return kNone;
    return by_node_[graph_.values[value].producer];
  }

  /// Also where it takes too long to tell.
  bool waits_for(int later, int earlier) const {
    std::vector<int> open = {later};
    std::set<int> seen = {later};
    while (!open.empty()) {
      const int unit = open.back();
      open.pop_back();
      if (--looks_left_ < 0) return true;
      for (const int before : before_[unit]) {
        if (before == earlier) return true;
        if (seen.insert(before).second) open.push_back(before);
      }
    }
    return false;
  }

  const Graph& graph_;
  std::vector<int> by_node_;
  std::vector<std::set<int>> before_;
  mutable std::int64_t looks_left_ = 1'000'000;  ///< of a model of a million nodes
};

/// A large constant of which slices choose rows: each body would hold it anew.
bool chooses_of_table(const Graph& graph, const Node& node) {
  constexpr std::size_t kLarge = 64 << 10;
  return reference::is_kind(node.op.type, reference::OpKind::kMove) &&
         std::ranges::any_of(node.inputs, [&](ValueId id) {
           return id != kNone && graph.values[id].constant &&
                  graph.values[id].constant->size_bytes() > kLarge;
         });
}

/// Code for known sizes is faster at it than what takes any.
bool gains(const Node& node) {
  using reference::OpKind;
  const OpKind kind = reference::ops().find(node.op.type)->kind;
  return reference::sums_products(node.op.type) || kind == OpKind::kElementwise ||
         kind == OpKind::kWindow || kind == OpKind::kReduction || kind == OpKind::kNormalisation;
}

/// For how many slices weights are to be read that they take a small part of the time.
double slices_for_weights(const SliceCost& cost) {
  constexpr double kFlopsPerByte = 32;  // what a byte from memory takes several times over
  return kFlopsPerByte * cost.weights / std::max(cost.flops, 1.0);
}

/// How many slices an op likes best at once: weights are read for many rows of a product, while images fill a cache.
enum class Appetite { kAny, kMany, kFew };

Appetite appetite_of(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kMany = 8, kShareOfL2 = 16;
  const double large = static_cast<double>(hardware.l2_bytes) / kShareOfL2;
  if (cost.weights > large && slices_for_weights(cost) >= kMany) return Appetite::kMany;
  return cost.bytes > large ? Appetite::kFew : Appetite::kAny;
}

/// Regions in the making.
class Regions {
 public:
  Regions(const Graph& graph, const Hardware& hardware)
      : graph_(graph), hardware_(hardware), lengths_(graph), units_(graph) {}

  void add(NodeId id) {
    const Node& node = graph_.nodes[id];
    const std::optional<SliceLength> length = lengths_.add(node);
    if (!length || chooses_of_table(graph_, node)) return units_.put(id, units_.add());
    const Appetite appetite = appetite_of(slice_cost(graph_, {{id}, length->axes}), hardware_);
    Region& region = region_for(node, *length, appetite);
    if (region.appetite == Appetite::kAny) region.appetite = appetite;
    region.nodes.push_back(id);
    units_.put(id, region.unit);
  }

  std::vector<SliceRegion> take() {
    std::vector<SliceRegion> all;
    for (Region& region : regions_) all.push_back({std::move(region.nodes), region.axes});
    return all;
  }

 private:
  struct Region {
    int unit;
    SliceAxes axes;
    Appetite appetite = Appetite::kAny;
    std::vector<NodeId> nodes = {};
  };

  /// The one that makes what the node reads, before others; a new one where none takes it.
  Region& region_for(const Node& node, const SliceLength& length, Appetite appetite) {
    std::vector<std::size_t>& growing = growing_[length];
    std::optional<std::size_t> taking;
    for (const std::size_t i : growing) {
      const Region& region = regions_[i];
      const bool fits = region.appetite == appetite || region.appetite == Appetite::kAny ||
                        appetite == Appetite::kAny;
      if (fits && units_.takes(region.unit, node) && (!taking || units_.makes(region.unit, node)))
        taking = i;
    }
    if (taking) return regions_[*taking];
    // Its like before it will hardly take more: what follows reads what the new one makes.
    std::erase_if(growing, [&](std::size_t i) { return regions_[i].appetite == appetite; });
    growing.push_back(regions_.size());
    return regions_.emplace_back(Region{.unit = units_.add(), .axes = length.axes});
  }

  const Graph& graph_;
  const Hardware& hardware_;
  SliceLengths lengths_;
  Units units_;
  std::vector<Region> regions_;
  std::map<SliceLength, std::vector<std::size_t>> growing_;  ///< regions that may still take nodes
};

TensorDesc with_slices(TensorDesc desc, const SliceAxes& axes, std::int64_t slices) {
  const std::optional<int> last = sliced_axis(desc, axes);
  if (!last) return desc;
  const auto end = desc.shape.begin() + *last;
  std::fill(end - std::min(*last, axes.dims - 1), end, 1);
  *end = slices;
  return desc;
}

/// All that its ops read and make but constants and single elements has one shape.
bool is_of_one_shape(const Graph& graph, const SliceRegion& region) {
  const Shape* shape = nullptr;
  const auto fits = [&](ValueId id) {
    if (id == kNone) return true;
    const Shape& own = shape_of(graph, id);
    if (is_static(own) && element_count(own) == 1) return true;
    if (graph.values[id].constant) return false;
    if (shape == nullptr) shape = &own;
    return own == *shape;
  };
  return std::ranges::all_of(region.nodes, [&](NodeId id) {
    const Node& node = graph.nodes[id];
    return reference::is_kind(node.op.type, reference::OpKind::kElementwise) &&
           std::ranges::all_of(node.inputs, fits) && std::ranges::all_of(node.outputs, fits);
  });
}

/// Parts of elementwise ops on values of one shape shall lie in one piece: along an inner dimension alone they would be copied, row by
/// row, so that each element is a slice.
void lay_in_place(const Graph& graph, SliceRegion& region) {
  const Node& node = graph.nodes[region.nodes.front()];
  if (node.outputs.front() == kNone) return;  // no elementwise op
  const TensorDesc& desc = graph.values[node.outputs.front()].desc;
  const std::optional<int> axis = sliced_axis(desc, region.axes);
  if (!axis || !is_of_one_shape(graph, region)) return;
  region.is_in_place = true;
  const auto first = desc.shape.begin() + std::max(0, *axis + 1 - region.axes.dims);
  if (std::all_of(desc.shape.begin(), first, [](std::int64_t dim) { return dim == 1; })) return;
  region.axes = {.dims = *axis + 1, .behind = static_cast<int>(desc.shape.size()) - 1 - *axis};
}

/// An elementwise op that makes more bytes than it reads, of one value: bytes become floats.
bool widens(const Graph& graph, const Node& node) {
  if (!reference::is_kind(node.op.type, reference::OpKind::kElementwise) ||
      node.outputs.size() != 1 || node.outputs[0] == kNone || graph.is_output(node.outputs[0]))
    return false;
  const bool reads_one = std::ranges::all_of(node.inputs | std::views::drop(1), [&](ValueId id) {
    return id == kNone || graph.values[id].constant != nullptr;
  });
  return reads_one &&
         size_bytes(dtype_of(graph, node.outputs[0])) > size_bytes(dtype_of(graph, node.inputs[0]));
}

/// What widens what a region makes for another one alone is that one's: the narrow values pass between them. (It waits for the first
/// one as it is.)
void widen_late(const Graph& graph, std::vector<SliceRegion>& regions) {
  std::map<NodeId, std::size_t> region_of;
  for (std::size_t i = 0; i < regions.size(); ++i)
    for (const NodeId id : regions[i].nodes) region_of[id] = i;
  for (std::size_t from = 0; from < regions.size(); ++from)
    std::erase_if(regions[from].nodes, [&](NodeId id) {
      if (!widens(graph, graph.nodes[id])) return false;
      const auto& readers = graph.consumers(graph.nodes[id].outputs[0]);
      if (readers.empty() || !region_of.contains(readers.front())) return false;
      const std::size_t to = region_of.at(readers.front());
      const bool is_of_one = std::ranges::all_of(readers, [&](NodeId reader) {
        return region_of.contains(reader) && region_of.at(reader) == to;
      });
      if (to == from || !is_of_one || regions[to].axes != regions[from].axes) return false;
      regions[to].nodes.insert(regions[to].nodes.begin(), id);
      region_of[id] = to;
      return true;
    });
}

}  // namespace

std::vector<SliceRegion> slice_regions(const Graph& graph, const Hardware& hardware) {
  Regions growing(graph, hardware);
  for (const NodeId id : graph.topological_order()) growing.add(id);
  std::vector<SliceRegion> regions = growing.take();
  widen_late(graph, regions);
  std::erase_if(regions, [&](const SliceRegion& region) {
    return std::ranges::none_of(region.nodes, [&](NodeId id) { return gains(graph.nodes[id]); });
  });
  for (SliceRegion& region : regions) lay_in_place(graph, region);
  return regions;
}

SliceCost slice_cost(const Graph& graph, const SliceRegion& region) {
  constexpr double kWinograd = 4;  // 3x3 windows of weights are read as 6x6
  SliceCost cost;
  std::set<ValueId> weights;
  const auto desc_of = [&](ValueId id) {
    if (id == kNone) return TensorDesc{};
    const Value& value = graph.values[id];
    return value.constant ? value.desc : with_slices(value.desc, region.axes, 1);
  };
  for (const NodeId id : region.nodes) {
    const Node& node = graph.nodes[id];
    const bool has_weights = reference::sums_products(node.op.type);
    const double growth =
        reference::is_kind(node.op.type, reference::OpKind::kConvolution) ? kWinograd : 1;
    std::vector<TensorDesc> inputs, outputs;
    for (const ValueId input : node.inputs) {
      inputs.push_back(desc_of(input));
      if (input == kNone) continue;
      const auto bytes = static_cast<double>(storage_bytes(inputs.back()));
      if (graph.values[input].constant)
        cost.weights += has_weights && weights.insert(input).second ? growth * bytes : 0;
      else if (!is_static(graph.values[input].desc.shape))
        cost.bytes = std::max(cost.bytes, bytes);
    }
    for (const ValueId output : node.outputs) {
      outputs.push_back(desc_of(output));
      if (output != kNone)
        cost.bytes = std::max(cost.bytes, static_cast<double>(storage_bytes(outputs.back())));
    }
    cost.flops += reference::flops(node.op, inputs, outputs);
  }
  return cost;
}

namespace {

/// Weights that stay in L3 while other weights are read.
bool are_weights_near(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kL2OfNear = 4;
  return cost.weights < kL2OfNear * static_cast<double>(hardware.l2_bytes);
}

/// Of one thread.
double slice_ns(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kPassedBytesPerNs = 40, kLeastNs = 0.01;
  return std::max({cost.flops / hardware.flops_per_ns, cost.bytes / kPassedBytesPerNs, kLeastNs});
}

/// Of which `threads` caches hold the largest value, with what is beside it.
double slices_in_l2(const SliceCost& cost, const Hardware& hardware, int threads) {
  constexpr double kPartsOfL2 = 4;
  return static_cast<double>(hardware.l2_bytes) / kPartsOfL2 * threads / std::max(cost.bytes, 1.0);
}

}  // namespace

std::vector<std::int64_t> part_sizes(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kMostBytes = 64 << 20;
  constexpr double kMostSlices = 64 << 10;
  constexpr double kShareOfL3 = 2;  // more weights each part reads from memory
  constexpr std::int64_t kStep = 8;
  const double bytes = std::max(cost.bytes, 1.0);
  const double wanted =
      std::max(slices_in_l2(cost, hardware, hardware.threads), slices_for_weights(cost));
  const double slices = std::clamp(std::min(wanted, kMostBytes / bytes), 1.0, kMostSlices);
  std::vector<std::int64_t> sizes = {
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slices)))};
  const std::int64_t longest = sizes.front(), middle = 3 * longest / 8;
  const bool reads_memory = cost.weights > static_cast<double>(hardware.l3_bytes) / kShareOfL3;
  // So many rows are about as long multiplied as their weights are read: two parts of fewer would read them twice. One row takes as
  // long as eight.
  if (reads_memory && middle > longest / kStep) sizes.push_back(middle);
  if (reads_memory && longest > 1) sizes.push_back(std::max<std::int64_t>(1, longest / kStep));
  // Half of the longest: else what fills a little more than that is a third empty, or many short parts.
  if (!reads_memory && longest >= kStep) sizes.push_back(longest / 2);
  // Threads that carry whole parts out share slices evenly by short ones: those of eight rows of a product take hardly longer for a row.
  const std::optional<PieceCost> pieces = piece_cost(cost, hardware);
  const auto has_enough = [&] {
    if (!pieces) return sizes.size() >= 4;
    return std::ranges::count_if(sizes, [&](auto size) { return size <= pieces->longest; }) >= 4;
  };
  std::int64_t size = pieces ? sizes.back() : longest;
  while (!reads_memory && size > 1 && !has_enough()) {
    size = std::max<std::int64_t>(1, size / (pieces ? kStep / 2 : kStep));
    sizes.push_back(size);
  }
  return sizes;
}

double part_cost(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kNsOfPart = 1000, kNsOfTeam = 1000;  // who shares it waits for the others
  const double weights =
      cost.weights /
      (are_weights_near(cost, hardware) ? hardware.l3_bytes_per_ns : hardware.memory_bytes_per_ns);
  return (kNsOfPart + (hardware.threads > 1 ? kNsOfTeam : 0) + weights) /
         (slice_ns(cost, hardware) / hardware.threads);
}

std::optional<PieceCost> piece_cost(const SliceCost& cost, const Hardware& hardware) {
  constexpr double kNsOfPiece = 500, kL2OfNearest = 0.75, kL2BytesPerNs = 400;
  if (!are_weights_near(cost, hardware)) return {};
  const double l2 = static_cast<double>(hardware.l2_bytes);
  const double again =
      cost.weights < kL2OfNearest * l2 ? kL2BytesPerNs : 2 * hardware.l3_bytes_per_ns;
  const double slice = slice_ns(cost, hardware), most = slices_in_l2(cost, hardware, 1);
  return PieceCost{.piece = (kNsOfPiece + cost.weights / again) / slice,
                   .share = cost.weights / hardware.l3_bytes_per_ns / slice,
                   .longest = static_cast<std::int64_t>(
                       std::bit_ceil(static_cast<std::uint64_t>(std::clamp(most, 1.0, 65536.0))))};
}

std::optional<Graph> graph_of_part(const Graph& graph, const Subgraph& region,
                                   const SliceAxes& axes, std::int64_t slices) {
  Graph part = extract(graph, region);
  std::vector<TensorDesc> expected;
  for (Value& value : part.values) {
    if (!value.constant) value.desc = with_slices(value.desc, axes, slices);
    expected.push_back(value.desc);
  }
  try {
    infer_shapes(part);
  } catch (const Error& error) {
    logger("graph")->info("not cut into slices: {}", error.what());
    return {};
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (part.values[i].desc != expected[i]) return {};
  return part;
}

}  // namespace aoe::graph
