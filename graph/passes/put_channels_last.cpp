// put_channels_last: over images whose height or width only a run can tell, pointwise and depthwise convolutions, and what stands
// between them and is elementwise, work on images whose channels come last, of float32 or bytes. Pointwise ones are products of open rows
// then, for which map_slices has generated code with all that follows them; the others are NhwcConv2D or NhwcQuantConv2D, whose native
// kernels read vectors of channels. Where sizes are known Formats do the same.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/analysis/open_images.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/windows/nhwc.h"

namespace aoe::graph {
namespace {

const std::vector<std::int64_t> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

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

  void take(NodeId id) {
    const Node& node = graph_.nodes[id];
    const ImageOp kind =
        image_op_of(graph_, node, [&](ValueId value) { return will_turn_.contains(value); });
    if (kind == ImageOp::kOther) return;
    taken_.emplace(id, kind);
    if (kind == ImageOp::kMean) return;
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
      sum.gain += is_convolution(kind) ? 1 : 0;
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
      case ImageOp::kPointwise:
        return turn_pointwise(id, node);
      case ImageOp::kMean:
        return turn_mean(id, node);
      case ImageOp::kPool:
        node.op.type = "Nhwc" + node.op.type;
        node.op.version = 1;
        node.inputs[0] = last(node.inputs[0]);
        break;
      case ImageOp::kSplit:
        node.op.attrs.set("axis", std::int64_t{3});
        node.inputs[0] = last(node.inputs[0]);
        break;
      case ImageOp::kResize: {
        constexpr std::size_t kScales = 2;
        const std::vector<double> scales = to_doubles(*constant_input(graph_, node, kScales));
        node.inputs[0] = last(node.inputs[0]);
        node.inputs[kScales] = add_floats(graph_, node.name + "_scales", {kImageRank},
                                          {scales[0], scales[2], scales[3], scales[1]});
        break;
      }
      case ImageOp::kDense:
      case ImageOp::kWindow:
        turn_window(node);
        break;
      case ImageOp::kConcat:
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
    node.op.type = "Nhwc" + node.op.type;
    node.op.version = reference::ops().find(node.op.type)->versions.back();
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
    const bool has_bytes = is_type(node, "QuantConv2D");
    Node product{.name = node.name,
                 .op = call_of(has_bytes ? "QuantMatMul" : "MatMulV2"),
                 .inputs = {x, weights},
                 .outputs = {result}};
    if (has_bytes)  // bias and multipliers are of the product
      product.inputs.insert(product.inputs.end(), node.inputs.begin() + 2, node.inputs.end());
    if (has_bytes || !has_input(node, 2)) {
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
  std::map<NodeId, ImageOp> taken_;
  std::set<ValueId> will_turn_;                ///< what taken nodes make
  std::map<NodeId, NodeId> parent_;            ///< of nodes that are joined by turned images
  std::map<ValueId, ValueId> turned_, asked_;  ///< made so; transposed
};

}  // namespace

bool put_channels_last(Graph& graph) {
  return ChannelsLast(graph).run();
}

}  // namespace aoe::graph
