// Folded constants and what they cost.
#include "tests/robustness/bomb_model.h"
#include "tests/robustness/import_bombs.h"

namespace aoe::tests {
namespace {

/// Nodes that compute constants, and behind them one element of each result added to x. Each of `fill` writes nodes that give
/// the names it returns.
template <typename Fill>
onnx::ModelProto folding(std::size_t count, Fill fill, int opset = 17) {
  onnx::ModelProto model = bomb_model(opset);
  BombGraph graph(*model.mutable_graph());
  std::string sum = "x";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string result = fill(graph, i), top = numbered("top", i), next = numbered("sum", i);
    set_int(graph.node("ReduceMax", {result}, {top}), "keepdims", 0);
    graph.node("Add", {sum, top}, {next});
    sum = next;
  }
  graph.output(sum);
  return model;
}

/// A constant of `count` float zeros.
std::string zeros(BombGraph& graph, std::size_t i, std::int64_t count) {
  const std::string size = numbered("size", i), name = numbered("zeros", i);
  graph.ints(size, {count});
  graph.node("ConstantOfShape", {size}, {name});
  return name;
}

constexpr std::int64_t kLarge = std::int64_t{250}
                                << 20;  ///< elements: a GB of floats, less a little

onnx::ModelProto large_zeros(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) { return zeros(graph, i, kLarge); });
}

onnx::ModelProto large_expand(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string shape = numbered("shape", i), name = numbered("e", i);
    graph.ints(shape, {kLarge, 1});
    graph.node("Expand", {zeros(graph, i, 1), shape}, {name});
    return name;
  });
}

onnx::ModelProto large_tile(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string repeats = numbered("repeats", i), name = numbered("t", i);
    graph.ints(repeats, {kLarge / 2});
    graph.node("Tile", {zeros(graph, i, 2), repeats}, {name});
    return name;
  });
}

onnx::ModelProto large_range(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string end = numbered("end", i), name = numbered("r", i), real = numbered("f", i);
    graph.scalar(end, kLarge / 2);
    if (i == 0) graph.scalar("zero", 0), graph.scalar("one", 1);
    graph.node("Range", {"zero", end, "one"}, {name});
    set_int(graph.node("Cast", {name}, {real}), "to", onnx::TensorProto::FLOAT);
    return real;
  });
}

onnx::ModelProto large_one_hot(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string depth = numbered("depth", i), name = numbered("h", i);
    if (i == 0) graph.ints("places", {1, 2, 3}), graph.zeros("values", {2});
    graph.scalar(depth, kLarge / 3);
    graph.node("OneHot", {"places", depth, "values"}, {name});
    return name;
  });
}

onnx::ModelProto large_pad(std::size_t) {
  return folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string pads = numbered("pads", i), name = numbered("p", i);
    graph.ints(pads, {kLarge / 2, kLarge / 2 - 1});
    graph.node("Pad", {zeros(graph, i, 1), pads}, {name});
    return name;
  });
}

onnx::ModelProto large_resize(const char* mode) {
  onnx::ModelProto model = folding(4, [](BombGraph& graph, std::size_t i) {
    const std::string sizes = numbered("sizes", i), shape = numbered("shape", i),
                      flat = zeros(graph, i, 4), name = numbered("r", i), image = numbered("g", i);
    graph.ints(shape, {1, 1, 2, 2});
    graph.ints(sizes, {1, 1, 15'000, 15'000});
    graph.node("Reshape", {flat, shape}, {image});
    graph.node("Resize", {image, "", "", sizes}, {name});
    return name;
  });
  for (auto& node : *model.mutable_graph()->mutable_node())
    if (node.op_type() == "Resize") set_text(node, "mode", mode);
  return model;
}
onnx::ModelProto large_nearest(std::size_t) {
  return large_resize("nearest");
}
onnx::ModelProto large_cubic(std::size_t) {
  return large_resize("cubic");
}

/// Weights of a file's size, each time multiplied in another way.
template <typename Fill>
onnx::ModelProto on_weights(std::size_t bytes, std::size_t count, Fill fill) {
  const auto rows = static_cast<std::int64_t>(bytes / (1024 * sizeof(float)));
  return folding(count, [&](BombGraph& graph, std::size_t i) {
    if (i == 0) graph.zeros("w", {rows, 1024});
    return fill(graph, i);
  });
}

std::string unary(BombGraph& graph, const std::string& type, const std::string& from,
                  std::size_t i) {
  const std::string name = numbered("u", i);
  graph.node(type, {from}, {name});
  return name;
}

onnx::ModelProto dear_sigmoids(std::size_t bytes) {
  return on_weights(
      bytes, 4000, [](BombGraph& graph, std::size_t i) { return unary(graph, "Sigmoid", "w", i); });
}
onnx::ModelProto dear_transposes(std::size_t bytes) {
  return on_weights(bytes, 4000, [](BombGraph& graph, std::size_t i) {
    return unary(graph, "Transpose", "w", i);
  });
}
onnx::ModelProto dear_softmaxes(std::size_t bytes) {
  return on_weights(
      bytes, 4000, [](BombGraph& graph, std::size_t i) { return unary(graph, "Softmax", "w", i); });
}
onnx::ModelProto dear_sorts(std::size_t bytes) {
  return on_weights(bytes, 4000, [](BombGraph& graph, std::size_t i) {
    if (i == 0) graph.ints("k", {1000});
    const std::string name = numbered("u", i);
    graph.node("TopK", {"w", "k"}, {name, numbered("at", i)});
    return name;
  });
}
onnx::ModelProto dear_uniques(std::size_t bytes) {
  return on_weights(bytes, 4000,
                    [](BombGraph& graph, std::size_t i) { return unary(graph, "Unique", "w", i); });
}
onnx::ModelProto dear_nonzeros(std::size_t bytes) {
  return on_weights(bytes, 4000, [](BombGraph& graph, std::size_t i) {
    const std::string name = unary(graph, "NonZero", "w", i), real = numbered("f", i);
    set_int(graph.node("Cast", {name}, {real}), "to", onnx::TensorProto::FLOAT);
    return real;
  });
}
onnx::ModelProto dear_products(std::size_t bytes) {
  return on_weights(bytes, 4000, [](BombGraph& graph, std::size_t i) {
    if (i == 0) graph.node("Transpose", {"w"}, {"t"});
    const std::string name = numbered("u", i);
    graph.node("MatMul", {"t", "w"}, {name});
    return name;
  });
}

/// Sums of all weights: small results, known while shapes are inferred, and so in each body anew.
onnx::ModelProto dear_bodies(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("c", {}, onnx::TensorProto::BOOL);
  graph.zeros("w", {static_cast<std::int64_t>(bytes / 8)});
  std::string last = "x";
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::string next = numbered("v", i);
    onnx::NodeProto& node = graph.node("If", {"c"}, {next});
    for (const char* branch : {"then_branch", "else_branch"}) {
      BombGraph body = body_of(node, branch);
      const std::string sum = next + branch[0], result = sum + "y";
      set_int(body.node("ReduceSum", {"w"}, {sum}), "keepdims", 0);
      body.node("Add", {last, sum}, {result});
      body.output(result);
    }
    last = next;
  }
  graph.output(last);
  return model;
}

/// Windows larger than what they are on, with pads to match.
onnx::ModelProto huge_window(const std::string& type, std::int64_t kernel, std::int64_t pad) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {1, 1, 4, 4});
  onnx::NodeProto& node = graph.node(type, {"t"}, {"y"});
  set_ints(node, "kernel_shape", {kernel, kernel});
  set_ints(node, "pads", {pad, pad, pad, pad});
  graph.output("y");
  return model;
}
onnx::ModelProto huge_max_pool(std::size_t) {
  return huge_window("MaxPool", 1'000'000, 999'999);
}
onnx::ModelProto huge_average_pool(std::size_t) {
  return huge_window("AveragePool", 1'000'000, 999'999);
}
onnx::ModelProto huge_kernel(std::size_t) {
  return huge_window("MaxPool", std::int64_t{1} << 40, std::int64_t{1} << 40);
}

/// Of constants: what the window costs is not what its result has.
onnx::ModelProto folded_windows(const std::string& type, std::int64_t kernel) {
  return folding(100, [&](BombGraph& graph, std::size_t i) {
    const std::string shape = numbered("shape", i), name = numbered("p", i),
                      image = numbered("g", i);
    graph.ints(shape, {1, 1, 100, 100});
    graph.node("ConstantOfShape", {shape}, {image});
    onnx::NodeProto& node = graph.node(type, {image}, {name});
    set_ints(node, "kernel_shape", {kernel, kernel});
    set_ints(node, "pads", std::vector<std::int64_t>(4, kernel - 1));
    return name;
  });
}
onnx::ModelProto folded_max_pools(std::size_t) {
  return folded_windows("MaxPool", 1000);
}
onnx::ModelProto folded_average_pools(std::size_t) {
  return folded_windows("AveragePool", 1000);
}

onnx::ModelProto dilated_convolution(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {1, 1, 4, 4});
  graph.zeros("w", {1, 1, 3, 3});
  onnx::NodeProto& node = graph.node("Conv", {"t", "w"}, {"y"});
  set_ints(node, "dilations", {1'000'000'000, 1'000'000'000});
  set_ints(node, "pads", std::vector<std::int64_t>(4, 1'000'000'000));
  graph.output("y");
  return model;
}

/// A matrix of 16 MB for each transform.
onnx::ModelProto many_transforms(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  std::string last = "x";
  for (std::size_t i = 0; i < 1000 && graph.bytes() < bytes; ++i) {
    const std::string signal = numbered("t", i), spectrum = numbered("d", i);
    graph.input(signal, {1, static_cast<std::int64_t>(1400 + i), 1});
    set_int(graph.node("DFT", {signal}, {spectrum}), "axis", 1);
    graph.output(spectrum);
  }
  return model;
}

/// A mask of up to 16 MB for each attention.
onnx::ModelProto many_attentions(std::size_t bytes) {
  onnx::ModelProto model = bomb_model(23);
  BombGraph graph(*model.mutable_graph());
  for (std::size_t i = 0; i < 500 && graph.bytes() < bytes; ++i) {
    const std::string q = numbered("q", i), y = numbered("y", i);
    graph.input(q, {1, 1, static_cast<std::int64_t>(1500 + i), 8});
    set_int(graph.node("Attention", {q, q, q}, {y}), "is_causal", 1);
    graph.output(y);
  }
  return model;
}

/// Nodes that each have the weights of all others, and something behind them that passes work into weights.
template <typename Fill>
onnx::ModelProto sharing_weights(std::size_t bytes, Fill fill) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  constexpr std::int64_t kChannels = 64;
  const auto outputs = static_cast<std::int64_t>(bytes / 2 / (kChannels * sizeof(float)));
  graph.input("t", {1, kChannels, 1, 1});
  graph.zeros("w", {outputs, kChannels, 1, 1});
  graph.zeros("scale", {outputs});
  std::string sum;
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes / 4; ++i) {
    const std::string result = fill(graph, i), next = numbered("sum", i);
    if (!sum.empty()) graph.node("Add", {sum, result}, {next});
    sum = sum.empty() ? result : next;
  }
  graph.output(sum);
  return model;
}

onnx::ModelProto weights_with_norms(std::size_t bytes) {
  return sharing_weights(bytes, [](BombGraph& graph, std::size_t i) {
    const std::string made = numbered("c", i), normed = numbered("n", i);
    graph.node("Conv", {"t", "w"}, {made});
    graph.node("BatchNormalization", {made, "scale", "scale", "scale", "scale"}, {normed});
    return normed;
  });
}

onnx::ModelProto weights_with_pads(std::size_t bytes) {
  return sharing_weights(bytes, [](BombGraph& graph, std::size_t i) {
    if (i == 0) graph.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
    const std::string padded = numbered("p", i), made = numbered("c", i);
    graph.node("Pad", {"t", "pads"}, {padded});
    graph.node("Conv", {padded, "w"}, {made});
    return made;
  });
}

/// Weights of bytes, whose sums zero points are multiplied by.
onnx::ModelProto weights_of_bytes(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  constexpr std::int64_t kInputs = 512;
  const auto outputs = static_cast<std::int64_t>(bytes / 2 / kInputs);
  graph.input("t", {1, kInputs});
  graph.byte_zeros("w", {kInputs, outputs});
  std::string sum;
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes / 4; ++i) {
    const std::string n = std::to_string(i);
    graph.node("DynamicQuantizeLinear", {"t"}, {"q" + n, "s" + n, "z" + n});
    graph.node("MatMulInteger", {"q" + n, "w", "z" + n}, {"m" + n});
    set_int(graph.node("Cast", {"m" + n}, {"f" + n}), "to", onnx::TensorProto::FLOAT);
    if (!sum.empty()) graph.node("Add", {sum, "f" + n}, {"a" + n});
    sum = sum.empty() ? "f" + n : "a" + n;
  }
  graph.output(sum);
  return model;
}

/// Known small values by the thousand: each is kept as long as shapes are inferred.
onnx::ModelProto many_known_values(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.ints("size", {2048});
  graph.node("ConstantOfShape", {"size"}, {"v0"});
  std::string last = "v0";
  for (std::size_t i = 1; graph.bytes() < bytes && i < 90'000; ++i) {
    const std::string next = numbered("v", i);
    graph.node("Neg", {last}, {next});
    last = next;
  }
  set_int(graph.node("ReduceMax", {last}, {"top"}), "keepdims", 0);
  graph.node("Add", {"x", "top"}, {"y"});
  graph.output("y");
  return model;
}

onnx::ModelProto doubling_constants(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.zeros("v", {1});
  std::string last = "v";
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string next = numbered("v", i);
    set_int(graph.node("Concat", {last, last}, {next}), "axis", 0);
    last = next;
  }
  set_int(graph.node("ReduceMax", {last}, {"top"}), "keepdims", 0);
  graph.node("Add", {"x", "top"}, {"y"});
  graph.output("y");
  return model;
}

}  // namespace

std::vector<Bomb> constant_bombs() {
  return {{"large_zeros", large_zeros},
          {"large_expand", large_expand},
          {"large_tile", large_tile},
          {"large_range", large_range},
          {"large_one_hot", large_one_hot},
          {"large_pad", large_pad},
          {"large_nearest", large_nearest},
          {"large_cubic", large_cubic},
          {"doubling_constants", doubling_constants},
          {"many_known_values", many_known_values},
          {"dear_sigmoids", dear_sigmoids},
          {"dear_transposes", dear_transposes},
          {"dear_softmaxes", dear_softmaxes},
          {"dear_sorts", dear_sorts},
          {"dear_uniques", dear_uniques},
          {"dear_nonzeros", dear_nonzeros},
          {"dear_products", dear_products},
          {"dear_bodies", dear_bodies},
          {"weights_with_norms", weights_with_norms},
          {"weights_with_pads", weights_with_pads},
          {"weights_of_bytes", weights_of_bytes},
          {"huge_max_pool", huge_max_pool},
          {"huge_average_pool", huge_average_pool},
          {"huge_kernel", huge_kernel},
          {"folded_max_pools", folded_max_pools},
          {"folded_average_pools", folded_average_pools},
          {"dilated_convolution", dilated_convolution},
          {"many_transforms", many_transforms},
          {"many_attentions", many_attentions}};
}

}  // namespace aoe::tests
