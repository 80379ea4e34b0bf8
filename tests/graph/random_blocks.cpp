// Draws blocks over the values there are.
#include "tests/graph/random_blocks.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "graph/rewrite.h"
#include "graph/shape_inference.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::kNone;
using graph::NodeId;
using graph::ValueId;

class BlockWriter {
 public:
  explicit BlockWriter(std::uint32_t seed) : random_(seed) {
    graph_.name = "blocks_" + std::to_string(seed);
    const std::int64_t channels = 4 * (1 + below(4)), size = 3 + below(5);
    const std::int64_t images = below(2) == 0 ? 2 + below(3) : 1;
    const ValueId input = graph_.add_value(
        "x", {.dtype = DataType::kFloat, .shape = {images, channels, size, size + below(3)}});
    graph_.inputs.push_back(input);
    pool_.push_back(input);
  }

  Graph draw(int blocks) {
    for (int i = 0; i < blocks; ++i) add_block();
    for (const ValueId value : pool_)
      if (graph_.values[value].producer != kNone &&
          (graph_.consumers(value).empty() || below(12) == 0))
        graph_.outputs.push_back(value);
    return std::move(graph_);
  }

 private:
  std::int64_t below(std::uint32_t limit) { return static_cast<std::int64_t>(random_() % limit); }
  ValueId pick() {
    return pool_[static_cast<std::size_t>(below(static_cast<std::uint32_t>(pool_.size())))];
  }
  const Shape& shape(ValueId value) const { return graph_.values[value].desc.shape; }

  ValueId floats(const Shape& of) {
    std::vector<double> values(static_cast<std::size_t>(element_count(of)));
    for (double& value : values) value = 0.125 * static_cast<double>(1 + below(15)) - 1;
    return graph::add_floats(graph_, "c", of, values);
  }

  ValueId add(const std::string& type, std::vector<ValueId> inputs, reference::Attrs attrs = {}) {
    const std::string name = "n" + std::to_string(graph_.nodes.size());
    const ValueId output = graph_.add_value(name + "_out", {.shape = graph::kUnknownRankShape});
    const NodeId id = graph_.add_node({.name = name,
                                       .op = graph::call_of(type, std::move(attrs)),
                                       .inputs = std::move(inputs),
                                       .outputs = {output},
                                       .origins = {name}});
    graph::ShapeInference(graph_).infer_node(id);
    return output;
  }

  struct Window {
    std::int64_t kernel = 1, stride = 1, pad = 0;
  };
  Window window(const Shape& of) {
    Window w{.kernel = 1 + 2 * below(3), .stride = 1 + below(2)};
    if (w.kernel > std::min(of[2], of[3])) w.kernel = 1;
    w.pad = below(2) * (w.kernel / 2);
    return w;
  }

  ValueId convolution(ValueId input, std::int64_t out, std::int64_t groups, const Window& w,
                      bool has_bias) {
    reference::Attrs attrs;
    attrs.set("group", groups);
    attrs.set("strides", std::vector<std::int64_t>{w.stride, w.stride});
    attrs.set("pads", std::vector<std::int64_t>(4, w.pad));
    std::vector<ValueId> inputs = {input,
                                   floats({out, shape(input)[1] / groups, w.kernel, w.kernel})};
    if (has_bias) inputs.push_back(floats({out}));
    return add("Conv2D", std::move(inputs), std::move(attrs));
  }

  ValueId maybe_relu(ValueId value) { return below(2) == 0 ? add("Relu", {value}) : value; }

  void add_block() {
    switch (below(18)) {
      case 0:
      case 1:
        return add_parallel_convolutions();
      case 2:
      case 3:
        return add_shuffled_unit();
      case 4:
        return add_inverted_residual();
      case 5:
        return add_pooled_convolution();
      case 6:
      case 7:
        return shape(pool_.front())[0] == 1 ? add_parallel_products() : add_inverted_residual();
      case 8:
      case 9:
        return add_shared_activation();
      case 10: {
        reference::Attrs attrs;
        attrs.set("axis", std::int64_t{-1});
        return pool_.push_back(add("SoftmaxV2", {pick()}, std::move(attrs)));
      }
      case 11:
        return add_image_attention();
      case 12:
        return add_layer_norm();
      case 13:
      case 14:
      case 15:
      case 16:
        return add_stem();
      default:
        pool_.push_back(maybe_relu(add("Sigmoid", {pick()})));
    }
  }

  /// Most of them alike, now and then one of another window.
  void add_parallel_convolutions() {
    const ValueId input = pick();
    const Window w = window(shape(input));
    const bool has_bias = below(2) == 0, has_relu = below(2) == 0;
    std::vector<ValueId> branches;
    for (std::int64_t i = 0, count = 2 + below(3); i < count; ++i) {
      const bool is_odd = below(6) == 0;
      const ValueId y = convolution(input, 1 + below(20), 1, is_odd ? window(shape(input)) : w,
                                    has_bias != (below(8) == 0));
      branches.push_back(has_relu ? add("Relu", {y}) : y);
    }
    const bool may_join = std::ranges::all_of(branches, [&](ValueId b) {
      return shape(b)[2] == shape(branches[0])[2] && shape(b)[3] == shape(branches[0])[3];
    });
    if (may_join && below(2) == 0) {
      reference::Attrs attrs;
      attrs.set("axis", std::int64_t{1});
      pool_.push_back(add("ConcatV2", branches, std::move(attrs)));
    } else {
      pool_.insert(pool_.end(), branches.begin(), branches.end());
    }
  }

  void add_shuffled_unit() {
    ValueId x = pick();
    const std::int64_t groups = 2 + below(2), channels = groups * (2 + below(4));
    x = maybe_relu(convolution(x, channels, 1, {}, true));
    const Shape s = shape(x);
    const ValueId split =
        graph::add_ints(graph_, "s", {s[0], groups, channels / groups, s[2], s[3]});
    reference::Attrs perm;
    perm.set("perm", std::vector<std::int64_t>{0, 2, 1, 3, 4});
    const ValueId joined = graph::add_ints(graph_, "s", s);
    x = add("Reshape", {add("Transpose", {add("Reshape", {x, split})}, perm), joined});
    if (below(8) == 0) pool_.push_back(x);  // read elsewhere, too
    x = convolution(x, channels, channels, window(s), below(2) == 0);
    x = maybe_relu(x);
    pool_.push_back(maybe_relu(convolution(x, groups * (1 + below(4)), groups, {}, true)));
  }

  void add_inverted_residual() {
    const ValueId x = pick();
    const std::int64_t wide = shape(x)[1] * 2;
    const ValueId a = add("Relu", {convolution(x, wide, 1, {}, true)});
    const ValueId b = add("Relu", {convolution(a, wide, wide, window(shape(a)), true)});
    const ValueId y = convolution(b, shape(x)[1], 1, {}, true);
    pool_.push_back(shape(y) == shape(x) && below(2) == 0 ? add("Add", {y, x}) : y);
  }

  ValueId transposed(ValueId x, const std::vector<std::int64_t>& perm) {
    reference::Attrs attrs;
    attrs.set("perm", perm);
    return add("Transpose", {x}, std::move(attrs));
  }

  ValueId reshaped(ValueId x, const std::vector<std::int64_t>& to) {
    return add("Reshape", {x, graph::add_ints(graph_, "s", to)});
  }

  ValueId projected(ValueId x, std::int64_t columns, bool is_gemm, bool has_bias) {
    const std::int64_t depth = shape(x).back();
    reference::Attrs attrs;
    attrs.set("transB", std::int64_t{1});
    if (is_gemm)
      return has_bias
                 ? add("Gemm", {x, floats({columns, depth}), floats({columns})}, std::move(attrs))
                 : add("Gemm", {x, floats({columns, depth})}, std::move(attrs));
    const ValueId y = add("MatMulV2", {x, floats({depth, columns})});
    return has_bias ? add("Add", {y, floats({columns})}) : y;
  }

  /// Products of one input; in half of the cases an attention reads the first three.
  void add_parallel_products() {
    const ValueId image = add("Sigmoid", {pick()});  // keeps the softmax from saturating
    const std::int64_t rows = shape(image)[1], depth = shape(image)[2] * shape(image)[3];
    const std::int64_t heads = 1 + below(3), width = 2 + below(3);
    const bool is_attention = below(2) == 0, is_gemm = !is_attention && below(2) == 0;
    const ValueId x = is_gemm ? reshaped(image, {rows, depth}) : reshaped(image, {1, rows, depth});
    const bool has_bias = below(2) == 0, has_relu = below(4) == 0;
    std::vector<ValueId> y;
    for (std::int64_t i = 0, count = (is_attention ? 3 : 2) + below(2); i < count; ++i) {
      const std::int64_t columns = is_attention && i < 3 ? heads * width : 1 + below(6);
      y.push_back(projected(x, columns, is_gemm, has_bias != (below(12) == 0)));
      if (has_relu) y.back() = add("Relu", {y.back()});
    }
    if (is_attention) {
      pool_.push_back(attention(y, {1, rows, heads, width}));
      y.erase(y.begin(), y.begin() + (below(6) == 0 ? 2 : 3));  // the third may be read elsewhere
    }
    for (const ValueId each : y) pool_.push_back(reshaped(each, {1, rows, shape(each).back(), 1}));
  }

  /// As exporters write it.
  ValueId attention(const std::vector<ValueId>& qkv, const std::vector<std::int64_t>& heads) {
    const ValueId q = transposed(reshaped(qkv[0], heads), {0, 2, 1, 3});
    const ValueId k = transposed(reshaped(qkv[1], heads), {0, 2, 3, 1});
    const ValueId v = transposed(reshaped(qkv[2], heads), {0, 2, 1, 3});
    const ValueId scores = add("Mul", {add("MatMulV2", {q, k}), floats({})});
    reference::Attrs last;
    last.set("axis", std::int64_t{-1});
    const ValueId shares = add("SoftmaxV2", {scores}, std::move(last));
    return transposed(add("MatMulV2", {shares, v}), {0, 2, 1, 3});
  }

  /// Rows of an image look at each other, with channels as heads.
  void add_image_attention() {
    const ValueId q = add("Sigmoid", {pick()}), k = add("Tanh", {q});
    const Shape of = shape(q);
    ValueId scores = add("MatMulV2", {q, transposed(k, {0, 1, 3, 2})});
    if (below(2) == 0) scores = add("Mul", {scores, floats({})});
    const Shape masks[] = {{of[2], of[2]}, {of[0], 1, 1, of[2]}, {of[1], of[2], 1}};
    if (below(2) == 0) scores = add("Add", {scores, floats(masks[below(3)])});
    reference::Attrs last;
    last.set("axis", std::int64_t{-1});
    const ValueId shares = add("SoftmaxV2", {scores}, std::move(last));
    const ValueId y = add("MatMulV2", {shares, below(2) == 0 ? q : k});
    pool_.push_back(below(2) == 0 ? transposed(y, {0, 2, 1, 3}) : maybe_relu(y));
  }

  /// As one operator, or as exporters write it without.
  void add_layer_norm() {
    constexpr double kEpsilon = 0.01;
    ValueId x = add("Sigmoid", {pick()});
    const auto axis = static_cast<std::size_t>(1 + below(3));
    const Shape row(shape(x).begin() + static_cast<std::ptrdiff_t>(axis), shape(x).end());
    // In rows that are nearly constant, rounding errors would become as large as what is left.
    std::vector<double> teeth(static_cast<std::size_t>(element_count(row)), 1);
    for (std::size_t i = 0; i < teeth.size(); i += 2) teeth[i] = -1;
    x = add("Add", {x, graph::add_floats(graph_, "teeth", row, teeth)});
    reference::Attrs attrs;
    if (below(2) == 0) {
      attrs.set("axis", static_cast<std::int64_t>(axis));
      attrs.set("epsilon", static_cast<float>(kEpsilon));
      std::vector<ValueId> inputs = {x, floats(row)};
      if (below(2) == 0) inputs.push_back(floats(row));
      return pool_.push_back(add("LayerNorm", std::move(inputs), std::move(attrs)));
    }
    std::vector<std::int64_t> axes;
    for (std::size_t d = axis; d < 4; ++d) axes.push_back(static_cast<std::int64_t>(d));
    const auto mean = [&](ValueId of) {
      return add("ReduceMean", {of, graph::add_ints(graph_, "axes", axes)});
    };
    const ValueId distance = add("Sub", {x, mean(x)});
    const ValueId variance = mean(add("Mul", {distance, distance}));
    const ValueId epsilon = graph::add_floats(graph_, "epsilon", {}, {kEpsilon});
    ValueId y = add("Div", {distance, add("Sqrt", {add("Add", {variance, epsilon})})});
    if (below(2) == 0) y = add("Add", {add("Mul", {y, floats(row)}), floats(row)});
    pool_.push_back(y);
  }

  /// An elementwise result that elementwise nodes and epilogues read.
  void add_shared_activation() {
    const ValueId x = pick();
    const Shape of = shape(x);
    ValueId e = add("Sigmoid", {x});
    if (below(2) == 0) e = add("Mul", {e, floats({1, of[1], 1, 1})});
    pool_.push_back(maybe_relu(add("Add", {convolution(x, of[1], 1, {}, below(2) == 0), e})));
    pool_.push_back(add("Tanh", {add("Sub", {e, floats({})})}));
    if (below(4) == 0) pool_.push_back(e);  // read elsewhere, too
  }

  void add_pooled_convolution() {
    const ValueId x = pick();
    const ValueId y = maybe_relu(convolution(x, 1 + below(8), 1, window(shape(x)), true));
    if (std::min(shape(y)[2], shape(y)[3]) < 3) return pool_.push_back(y);
    reference::Attrs attrs;
    attrs.set("kernel_shape", std::vector<std::int64_t>{3, 3});
    attrs.set("strides", std::vector<std::int64_t>{1 + below(2), 1 + below(2)});
    attrs.set("pads", std::vector<std::int64_t>(4, below(2)));
    pool_.push_back(add("MaxPoolV3", {y}, std::move(attrs)));
  }

  /// A large window of stride 2 over few channels and an even number of rows and columns; often pooled.
  void add_stem() {
    ValueId x = add("Sigmoid", {convolution(pick(), 1 + below(4), 1, {}, true)});
    for (const std::int64_t axis : {2, 3}) {
      reference::Attrs attrs;
      attrs.set("axis", axis);
      x = add("ConcatV2", {x, x}, std::move(attrs));
    }
    const std::int64_t kernel = 5 + below(2);
    if (std::min(shape(x)[2], shape(x)[3]) <= kernel) return pool_.push_back(x);
    reference::Attrs attrs;
    attrs.set("strides", std::vector<std::int64_t>{2, 2});
    attrs.set("pads", std::vector<std::int64_t>{below(4), below(4), below(4), below(4)});
    const ValueId weights = floats({1 + below(20), shape(x)[1], kernel, kernel + below(2)});
    x = maybe_relu(add("Conv2D", {x, weights}, std::move(attrs)));
    if (below(4) == 0 || std::min(shape(x)[2], shape(x)[3]) < 2) return pool_.push_back(x);
    reference::Attrs pooling;
    pooling.set("kernel_shape", std::vector<std::int64_t>{2, 2});
    pooling.set("strides", std::vector<std::int64_t>{1 + below(2), 1 + below(2)});
    pool_.push_back(add("MaxPoolV3", {x}, std::move(pooling)));
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<ValueId> pool_;
};

}  // namespace

Graph random_blocks(std::uint32_t seed, int blocks) {
  return BlockWriter(seed).draw(blocks);
}

Graph shuffled_and_renamed(const Graph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  Graph copy;
  copy.name = "another";
  std::vector<std::size_t> values(graph.values.size());
  std::iota(values.begin(), values.end(), std::size_t{0});
  std::ranges::shuffle(values, random);
  std::vector<ValueId> moved(values.size());
  for (const std::size_t v : values)
    moved[v] = copy.add_value("v" + std::to_string(random()) + "_" + std::to_string(v),
                              graph.values[v].desc, graph.values[v].constant);
  std::vector<NodeId> nodes = graph.topological_order();
  std::ranges::shuffle(nodes, random);
  const auto move_ids = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id != kNone) id = moved[id];
  };
  for (const NodeId id : nodes) {
    graph::Node node = graph.nodes[id];
    node.name = "m" + std::to_string(random()) + "_" + std::to_string(id);
    move_ids(node.inputs);
    move_ids(node.outputs);
    copy.add_node(std::move(node));
  }
  copy.inputs = graph.inputs;
  move_ids(copy.inputs);
  for (const ValueId output : graph.outputs) copy.outputs.push_back(moved[output]);
  return copy;
}

}  // namespace aoe::tests
