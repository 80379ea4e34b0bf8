// put_channels_last: over images whose height or width only a run can tell, pointwise and depthwise convolutions, and what stands
// between them and is elementwise, work on images whose channels come last. Pointwise ones are products of open rows then, for which
// map_slices has generated code with all that follows them; the others are NhwcConv2D, whose native kernel reads vectors of channels.
// Where sizes are known Formats do the same.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/windows/nhwc.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kImageRank = 4, kOutDim = 0, kInDim = 1, kHeightDim = 2, kWidthDim = 3;
/// Of a dense window: kept transformed they take four times their memory, 64 MB of these. Larger ones have few pixels in networks, and keep
/// planes.
constexpr std::int64_t kMostWeights = 4'000'000;
/// Images of so few channels, as networks begin with, cost nothing to be turned.
constexpr std::int64_t kFewChannels = 4;

const std::vector<std::int64_t> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

bool is_open_image(const Graph& graph, ValueId value) {
  if (value == kNone) return false;
  const TensorDesc& desc = graph.values[value].desc;
  return desc.dtype == DataType::kFloat && desc.shape.size() == kImageRank &&
         desc.shape[kInDim] != kUnknownDim &&
         (desc.shape[kHeightDim] == kUnknownDim || desc.shape[kWidthDim] == kUnknownDim);
}

/// One number for each channel, or one for all.
bool is_channel_vector(const Shape& shape) {
  const std::size_t rank = shape.size();
  if (rank == kImageRank) return shape[kHeightDim] == 1 && shape[kWidthDim] == 1;
  return rank + 1 == kImageRank && shape[rank - 2] == 1 && shape[rank - 1] == 1;
}

bool is_one_element(const Shape& shape) {
  return std::ranges::all_of(shape, [](std::int64_t dim) { return dim == 1; });
}

enum class Kind {
  kNone,
  kPointwise,
  kWindow,
  kDense,
  kElementwise,
  kMean,
  kPool,
  kConcat,
  kSplit,
  kResize
};

class ChannelsLast {
 public:
  explicit ChannelsLast(Graph& graph) : graph_(graph) {}

  bool run() {
    const std::vector<NodeId> order = graph_.topological_order();
    for (const NodeId id : order) take(id);
    drop_what_does_not_pay(order);
    for (const NodeId id : order)
      if (taken_.contains(id)) turn(id);
    for (const auto& [value, last] : turned_) give_back(value, last);
    return !turned_.empty();
  }

 private:
  // ---- which nodes ----

  Kind kind_of_convolution(const Node& node) const {
    const auto& attrs = node.op.attrs;
    if (!is_open_image(graph_, node.inputs[0]) || !is_open_image(graph_, node.outputs[0]) ||
        attrs.get_int("input_shuffle", 1) != 1 || !is_float_constant(graph_, node, 1) ||
        (has_input(node, 2) && !is_float_constant(graph_, node, 2)))
      return Kind::kNone;
    const Shape& weight = shape_of(graph_, node.inputs[1]);
    const std::int64_t groups = attrs.get_int("group", 1);
    const auto pads = attrs.get_ints("pads", {});
    if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; })) return Kind::kNone;
    if (groups == 1 && weight[kHeightDim] * weight[kWidthDim] == 1 && is_all(node, "strides", 1) &&
        is_all(node, "pads", 0))
      return Kind::kPointwise;
    const bool is_depthwise = weight[kInDim] == 1 && weight[kOutDim] == groups &&
                              shape_of(graph_, node.inputs[0])[kInDim] == groups;
    const bool is_first = groups == 1 && weight[kInDim] <= kFewChannels;
    if (is_depthwise || is_first) return Kind::kWindow;
    return groups == 1 && element_count(weight) <= kMostWeights ? Kind::kDense : Kind::kNone;
  }

  bool is_elementwise(const Node& node) const {
    if (!reference::is_elementwise(node.op) || node.op.body != nullptr ||
        node.outputs.size() != 1 || !is_open_image(graph_, node.outputs[0]))
      return false;
    const Shape& shape = shape_of(graph_, node.outputs[0]);
    return std::ranges::all_of(node.inputs, [&](ValueId input) {
      if (input == kNone) return true;
      const Shape& given = shape_of(graph_, input);
      return is_one_element(given) || is_channel_vector(given) ||
             (is_open_image(graph_, input) && given[kInDim] == shape[kInDim]);
    });
  }

  bool reads_turned(const Node& node) const {
    return std::ranges::any_of(node.inputs,
                               [&](ValueId value) { return will_turn_.contains(value); });
  }

  Kind kind_of(const Node& node) const {
    if (node.is_dead || !node.bodies.empty() || node.outputs.empty()) return Kind::kNone;
    if (is_type(node, "Conv2D")) return kind_of_convolution(node);
    if (!reads_turned(node)) return Kind::kNone;
    if (is_type(node, "GlobalAveragePool")) return Kind::kMean;
    if (is_type(node, "MaxPoolV3") || is_type(node, "AvgPoolV2"))
      return node.outputs.size() == 1 ? Kind::kPool : Kind::kNone;
    if (is_type(node, "ConcatV2")) return kind_of_concat(node);
    if (is_type(node, "SplitV")) return is_along_channels(node) ? Kind::kSplit : Kind::kNone;
    if (is_type(node, "Resize")) return is_by_scales(node) ? Kind::kResize : Kind::kNone;
    return is_elementwise(node) ? Kind::kElementwise : Kind::kNone;
  }

  static bool is_along_channels(const Node& node) {
    const std::int64_t axis = node.op.attrs.get_int("axis", 0);
    return axis == static_cast<std::int64_t>(kInDim) ||
           axis == static_cast<std::int64_t>(kInDim) - 4;
  }

  /// Which are known, one for each dimension.
  bool is_by_scales(const Node& node) const {
    constexpr std::size_t kRegion = 1, kScales = 2, kSizes = 3;
    const bool has_region =
        has_input(node, kRegion) && shape_of(graph_, node.inputs[kRegion]) != Shape{0};
    return !has_region && is_float_constant(graph_, node, kScales) &&
           shape_of(graph_, node.inputs[kScales]) == Shape{kImageRank} &&
           !has_input(node, kSizes) && !node.op.attrs.has("axes");
  }

  Kind kind_of_concat(const Node& node) const {
    return is_along_channels(node) &&
                   std::ranges::all_of(node.inputs,
                                       [&](ValueId value) { return will_turn_.contains(value); })
               ? Kind::kConcat
               : Kind::kNone;
  }

  void take(NodeId id) {
    const Node& node = graph_.nodes[id];
    const Kind kind = kind_of(node);
    if (kind == Kind::kNone) return;
    taken_.emplace(id, kind);
    if (kind == Kind::kMean) return;
    for (const ValueId output : node.outputs)
      if (output != kNone) will_turn_.insert(output);
  }

  /// The representative of the nodes that are joined by turned images.
  NodeId root(NodeId id) {
    for (auto above = parent_.find(id); above != parent_.end(); above = parent_.find(id)) {
      if (const auto next = parent_.find(above->second); next != parent_.end())
        above->second = next->second;  // the path is half as long the next time
      id = above->second;
    }
    return id;
  }

  void join(NodeId one, NodeId other) {
    if (one != other) parent_[one] = other;
  }

  bool is_image_between(ValueId value) const {
    return is_open_image(graph_, value) && shape_of(graph_, value)[kInDim] > kFewChannels;
  }

  /// Whether someone besides the taken nodes reads it.
  bool is_read_outside(ValueId value) const {
    return graph_.is_output(value) ||
           std::ranges::any_of(graph_.consumers(value),
                               [&](NodeId reader) { return !taken_.contains(reader); });
  }

  /// What a convolution gains.
  static int gain(Kind kind) {
    return kind == Kind::kPointwise || kind == Kind::kWindow || kind == Kind::kDense ? 1 : 0;
  }

  /// Each image that has to be turned takes about as long as two convolutions save.
  void drop_what_does_not_pay(const std::vector<NodeId>& order) {
    constexpr int kConvolutionsOfImage = 2, kFewest = 3;
    std::map<ValueId, NodeId> maker;
    for (const NodeId id : order) {
      if (!taken_.contains(id)) continue;
      for (const ValueId value : graph_.nodes[id].inputs)
        if (maker.contains(value)) join(root(maker[value]), root(id));
      for (const ValueId value : graph_.nodes[id].outputs) maker[value] = id;
    }
    struct Sum {
      int gain = 0, images = 0;
    };
    std::map<NodeId, Sum> sums;
    std::set<ValueId> outside;
    for (const auto& [id, kind] : taken_) {
      const Node& node = graph_.nodes[id];
      Sum& sum = sums[root(id)];
      sum.gain += gain(kind);
      for (const ValueId value : node.inputs)
        if (value != kNone && is_image_between(value) && !will_turn_.contains(value) &&
            outside.insert(value).second)
          ++sum.images;
      for (const ValueId value : node.outputs)
        if (is_image_between(value) && is_read_outside(value)) ++sum.images;
    }
    std::erase_if(taken_, [&](const auto& each) {
      const Sum& sum = sums[root(each.first)];
      return sum.gain < std::max(kFewest, kConvolutionsOfImage * sum.images);
    });
  }

  // ---- turning them ----

  void transpose(ValueId from, std::vector<std::int64_t> perm, ValueId to) {
    reference::Attrs attrs;
    attrs.set("perm", std::move(perm));
    graph_.add_node({.name = graph_.unused_name(graph_.values[to].name + "_turned"),
                     .op = call_of("Transpose", attrs),
                     .inputs = {from},
                     .outputs = {to}});
  }

  TensorDesc last_desc(ValueId value) const {
    TensorDesc desc = graph_.values[value].desc;
    desc.shape = reference::channels_last(desc.shape);
    return desc;
  }

  /// An image with its channels last; of what is broadcast, its channels.
  ValueId last(ValueId value) {
    if (value == kNone || is_one_element(shape_of(graph_, value))) return value;
    const auto found = turned_.find(value);
    if (found != turned_.end()) return found->second;
    const Shape& shape = shape_of(graph_, value);
    const std::string name = graph_.values[value].name + "_channels_last";
    if (const ConstantPtr constant = graph_.values[value].constant;
        constant != nullptr && is_channel_vector(shape)) {
      TensorDesc desc = constant->desc();  // the elements are in order as they are
      desc.shape =
          shape.size() == kImageRank ? reference::channels_last(shape) : Shape{1, 1, shape[0]};
      return add_constant(graph_, name, std::make_shared<Constant>(desc, constant->data()));
    }
    const auto asked = asked_.find(value);
    if (asked != asked_.end()) return asked->second;
    const bool is_image = shape.size() == kImageRank;
    const ValueId result = add_intermediate(
        graph_, name,
        is_image ? last_desc(value)
                 : TensorDesc{.dtype = dtype_of(graph_, value), .shape = {1, 1, shape[0]}});
    transpose(value, is_image ? kToLast : std::vector<std::int64_t>{1, 2, 0}, result);
    return asked_[value] = result;
  }

  ValueId add_turned(ValueId value) {
    return turned_[value] = add_intermediate(graph_, graph_.values[value].name + "_channels_last",
                                             last_desc(value));
  }

  void turn(NodeId id) {
    Node node = graph_.nodes[id];
    switch (taken_.at(id)) {
      case Kind::kPointwise:
        return turn_pointwise(id, node);
      case Kind::kMean:
        return turn_mean(id, node);
      case Kind::kPool:
        node.op.type = "Nhwc" + node.op.type;
        node.op.version = 1;
        node.inputs[0] = last(node.inputs[0]);
        break;
      case Kind::kSplit:
        node.op.attrs.set("axis", std::int64_t{3});
        node.inputs[0] = last(node.inputs[0]);
        break;
      case Kind::kResize: {
        constexpr std::size_t kScales = 2;
        const std::vector<double> scales = to_doubles(*constant_input(graph_, node, kScales));
        node.inputs[0] = last(node.inputs[0]);
        node.inputs[kScales] = add_floats(graph_, node.name + "_scales", {kImageRank},
                                          {scales[0], scales[2], scales[3], scales[1]});
        break;
      }
      case Kind::kDense:
      case Kind::kWindow:
        turn_window(node);
        break;
      case Kind::kConcat:
        node.op.attrs.set("axis", std::int64_t{3});
        [[fallthrough]];
      default:
        for (ValueId& input : node.inputs) input = last(input);
    }
    for (ValueId& output : node.outputs)
      if (output != kNone) output = add_turned(output);
    replace_nodes(graph_, {id}, std::move(node));
  }

  void turn_window(Node& node) {
    node.op.type = "NhwcConv2D";
    const ValueId x = node.inputs[0];
    const bool is_first = shape_of(graph_, x)[kInDim] <= kFewChannels &&
                          node.op.attrs.get_int("group", 1) == 1 && !turned_.contains(x);
    if (is_first)
      node.op.attrs.set(reference::kReadsPlanes, std::int64_t{1});
    else
      node.inputs[0] = last(x);
  }

  void turn_pointwise(NodeId id, const Node& node) {
    const ValueId x = last(node.inputs[0]);
    const ValueId weights = add_constant(graph_, graph_.values[node.inputs[1]].name + "_turned",
                                         as_right_factor(*constant_input(graph_, node, 1)));
    const ValueId result = add_turned(node.outputs[0]);
    Node product{
        .name = node.name, .op = call_of("MatMulV2"), .inputs = {x, weights}, .outputs = {result}};
    if (!has_input(node, 2)) {
      replace_nodes(graph_, {id}, std::move(product));
      return;
    }
    const ValueId sums =
        add_intermediate(graph_, node.name + "_product", graph_.values[result].desc);
    product.outputs = {sums};
    replace_nodes(graph_, {id}, std::move(product));
    graph_.add_node({.name = graph_.unused_name(node.name + "_bias"),
                     .op = call_of("Add"),
                     .inputs = {sums, node.inputs[2]},
                     .outputs = {result}});
  }

  void turn_mean(NodeId id, const Node& node) {
    const ValueId result = node.outputs[0];
    const ValueId mean = add_intermediate(graph_, node.name + "_channels_last", last_desc(result));
    Node reduce{.name = node.name,
                .op = call_of("ReduceMean"),
                .inputs = {last(node.inputs[0]), add_ints(graph_, node.name + "_axes", {1, 2})},
                .outputs = {mean}};
    reduce.op.attrs.set("keepdims", std::int64_t{1});
    replace_nodes(graph_, {id}, std::move(reduce));
    transpose(mean, kToFirst, result);
  }

  /// For those who read it as it was.
  void give_back(ValueId value, ValueId last) {
    if (graph_.consumers(value).empty() && !graph_.is_output(value)) return;
    transpose(last, kToFirst, value);
  }

  Graph& graph_;
  std::map<NodeId, Kind> taken_;
  std::set<ValueId> will_turn_;                ///< what taken nodes make
  std::map<NodeId, NodeId> parent_;            ///< of nodes that are joined by turned images
  std::map<ValueId, ValueId> turned_, asked_;  ///< made so; transposed
};

}  // namespace

bool put_channels_last(Graph& graph) {
  return ChannelsLast(graph).run();
}

}  // namespace aoe::graph
