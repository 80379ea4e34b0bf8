// Many nodes, values and names.
#include "tests/robustness/bomb_model.h"
#include "tests/robustness/import_bombs.h"

namespace aoe::tests {
namespace {

/// x -> v1 -> v2 -> ..., until the file is full or `most` nodes are written.
onnx::ModelProto chain_of(const std::string& type, std::size_t bytes, int most, int opset = 17) {
  onnx::ModelProto model = bomb_model(opset);
  BombGraph graph(*model.mutable_graph());
  std::string last = "x";
  for (int i = 1; i <= most && graph.bytes() < bytes; ++i) {
    const std::string next = numbered("v", static_cast<std::size_t>(i));
    graph.node(type, {last}, {next});
    last = next;
  }
  graph.output(last);
  return model;
}

onnx::ModelProto chain(std::size_t bytes) {
  return chain_of("Sigmoid", bytes, kMostNodes);
}
onnx::ModelProto longer_chain(std::size_t bytes) {
  return chain_of("Sigmoid", bytes, 1 << 30);
}
onnx::ModelProto chain_of_identities(std::size_t bytes) {
  return chain_of("Identity", bytes, kMostNodes);
}
onnx::ModelProto chain_of_transposes(std::size_t bytes) {
  return chain_of("Transpose", bytes, kMostNodes);
}
onnx::ModelProto chain_of_relus(std::size_t bytes) {
  return chain_of("Relu", bytes, kMostNodes);
}

/// Many nodes that read x; `gives_out`: each an output of the model, otherwise summed up two by two.
onnx::ModelProto fan_of(const std::string& type, std::size_t bytes, bool gives_out) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  std::string sum;
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes / (gives_out ? 1 : 2); ++i) {
    const std::string name = numbered("v", i), next = numbered("s", i);
    graph.node(type, {"x"}, {name});
    if (gives_out) {
      graph.output(name);
    } else if (sum.empty()) {
      sum = name;
    } else {
      graph.node("Add", {sum, name}, {next});
      sum = next;
    }
  }
  if (!gives_out) graph.output(sum);
  return model;
}

onnx::ModelProto fan(std::size_t bytes) {
  return fan_of("Sigmoid", bytes, false);
}
onnx::ModelProto fan_of_outputs(std::size_t bytes) {
  return fan_of("Sigmoid", bytes, true);
}
onnx::ModelProto fan_of_identity_outputs(std::size_t bytes) {
  return fan_of("Identity", bytes, true);
}
onnx::ModelProto fan_of_identities(std::size_t bytes) {
  return fan_of("Identity", bytes, false);
}

/// Equal nodes that one reads.
onnx::ModelProto fan_into_one(const std::string& type, std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  Names all;
  for (std::size_t i = 0; graph.bytes() < bytes * 3 / 4 && i + 1 < kMostNodes; ++i) {
    all.push_back(numbered("v", i));
    graph.node(type, {"x"}, {all.back()});
  }
  set_int(graph.node("Concat", all, {"y"}), "axis", 0);
  graph.output("y");
  return model;
}
onnx::ModelProto sigmoids_into_one(std::size_t bytes) {
  return fan_into_one("Sigmoid", bytes);
}
onnx::ModelProto identities_into_one(std::size_t bytes) {
  return fan_into_one("Identity", bytes);
}

onnx::ModelProto constants_into_one(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  Names all = {"x"};
  for (std::size_t i = 0; graph.bytes() < bytes * 3 / 4; ++i) {
    all.push_back(numbered("v", i));
    graph.zeros(all.back(), {1});
  }
  set_int(graph.node("Concat", all, {"y"}), "axis", 0);
  graph.output("y");
  return model;
}

/// Nodes that read the same and differ in what they do with it.
onnx::ModelProto fan_of_different(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  for (std::size_t i = 0; graph.bytes() * 2 < bytes && i < kMostNodes; ++i) {
    const std::string name = numbered("v", i);
    set_ints(graph.node("Unsqueeze", {"x"}, {name}), "axes", {static_cast<std::int64_t>(i % 2)});
    set_int(*model.mutable_graph()->mutable_node(static_cast<int>(i)), "unused",
            static_cast<std::int64_t>(i));
    graph.output(name);
  }
  model.mutable_opset_import(0)->set_version(11);
  return model;
}

/// One node that reads x more often than there may be nodes.
onnx::ModelProto many_operands(const std::string& type, std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.node(type, Names(bytes / 3, "x"), {"y"});
  graph.output("y");
  return model;
}

onnx::ModelProto wide_concat(std::size_t bytes) {
  onnx::ModelProto model = many_operands("Concat", bytes);
  set_int(*model.mutable_graph()->mutable_node(0), "axis", 0);
  return model;
}
onnx::ModelProto wide_sum(std::size_t bytes) {
  return many_operands("Sum", bytes);
}
onnx::ModelProto wide_max(std::size_t bytes) {
  return many_operands("Max", bytes);
}

onnx::ModelProto wide_einsum(std::size_t bytes) {
  onnx::ModelProto model = many_operands("Einsum", bytes / 2);
  const auto count = static_cast<std::size_t>(model.graph().node(0).input_size());
  std::string equation = "a";
  for (std::size_t i = 1; i < count; ++i) equation += ",a";
  set_text(*model.mutable_graph()->mutable_node(0), "equation", equation + "->a");
  return model;
}

/// 52 letters in each of 50 operands of one element.
onnx::ModelProto einsum_of_letters(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  std::string letters, equation;
  for (char c = 'a'; c <= 'z'; ++c) letters += {c, static_cast<char>(c - 'a' + 'A')};
  graph.input("t", std::vector<std::int64_t>(letters.size(), 1));
  for (int i = 0; i < 50; ++i) equation += (i > 0 ? "," : "") + letters;
  set_text(graph.node("Einsum", Names(50, "t"), {"y"}), "equation", equation + "->");
  graph.output("y");
  return model;
}

/// The order in which operands are multiplied: each pair is a chain link.
onnx::ModelProto einsum_chain(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {2, 2});
  std::string equation;
  for (int i = 0; i < 51; ++i) {
    const auto letter = [](int n) { return static_cast<char>(n < 26 ? 'a' + n : 'A' + n - 26); };
    equation += i > 0 ? "," : "";
    equation += letter(i);
    equation += letter(i + 1);
  }
  set_text(graph.node("Einsum", Names(51, "t"), {"y"}), "equation", equation + "->");
  graph.output("y");
  return model;
}

/// Each joins the one before with itself: 2^n elements, and an error as soon as that is beyond all memory.
onnx::ModelProto doubling_concat(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  std::string last = "x";
  for (std::size_t i = 0; i < 70; ++i) {
    const std::string next = numbered("v", i);
    set_int(graph.node("Concat", {last, last}, {next}), "axis", 0);
    last = next;
  }
  graph.output(last);
  return model;
}

/// As many parts as the file has place for.
onnx::ModelProto wide_split(std::size_t bytes) {
  onnx::ModelProto model = bomb_model(11);
  BombGraph graph(*model.mutable_graph());
  const std::size_t parts = bytes / 12;
  graph.input("t", {static_cast<std::int64_t>(parts)});
  Names outputs;
  for (std::size_t i = 0; i < parts; ++i) outputs.push_back(numbered("v", i));
  set_ints(graph.node("Split", {"t"}, outputs), "split", std::vector<std::int64_t>(parts, 1));
  graph.output("v0");
  return model;
}

onnx::ModelProto many_initializers(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  for (std::size_t i = 0; graph.bytes() < bytes; ++i)
    graph.scalar(numbered("c", i), static_cast<std::int64_t>(i));
  graph.node("Relu", {"x"}, {"y"});
  graph.output("y");
  return model;
}

onnx::ModelProto many_inputs(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  for (std::size_t i = 0; graph.bytes() < bytes; ++i) graph.input(numbered("i", i), {});
  graph.node("Relu", {"x"}, {"y"});
  graph.output("y");
  return model;
}

onnx::ModelProto same_output_often(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.node("Relu", {"x"}, {"y"});
  while (graph.bytes() < bytes) graph.output("y");
  return model;
}

/// Nodes without names, whose values all have one stem.
onnx::ModelProto one_name_for_all(std::size_t bytes) {
  onnx::ModelProto model = chain_of("Sigmoid", bytes, kMostNodes);
  for (auto& node : *model.mutable_graph()->mutable_node()) node.set_name("n");
  return model;
}

onnx::ModelProto long_name(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  const std::string name(bytes / 3, 'n');
  graph.node("Sigmoid", {"x"}, {name}).set_name(name);
  graph.node("Sigmoid", {name}, {"y"});
  graph.output("y");
  return model;
}

onnx::ModelProto long_attribute(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {2, 2});
  set_text(graph.node("Einsum", {"t"}, {"y"}), "equation", std::string(bytes, 'i') + "->i");
  graph.output("y");
  return model;
}

onnx::ModelProto long_list(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  set_ints(graph.node("Transpose", {"x"}, {"y"}), "perm", std::vector<std::int64_t>(bytes, 0));
  graph.output("y");
  return model;
}

/// A shape of as many dimensions as there is place for, and nodes that have it.
onnx::ModelProto many_dimensions(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.ints("shape", std::vector<std::int64_t>(bytes / 4, 1));
  graph.node("Expand", {"x", "shape"}, {"v0"});
  std::string last = "v0";
  for (std::size_t i = 1; graph.bytes() < bytes; ++i) {
    const std::string next = numbered("v", i);
    graph.node("Sigmoid", {last}, {next});
    last = next;
  }
  graph.output(last);
  return model;
}

/// Chains of what may be one kernel, which could be tried in many ways.
onnx::ModelProto lattice(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  std::string a = "x", b = "x";
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes / 2; ++i) {
    const std::string c = numbered("a", i), d = numbered("b", i);
    graph.node("Add", {a, b}, {c});
    graph.node("Mul", {a, b}, {d});
    a = c, b = d;
  }
  graph.node("Add", {a, b}, {"y"});
  graph.output("y");
  return model;
}

/// Slices of slices.
onnx::ModelProto chain_of_slices(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.ints("zero", {0});
  graph.ints("two", {2});
  std::string last = "x";
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes; ++i) {
    const std::string next = numbered("v", i);
    graph.node("Slice", {last, "zero", "two"}, {next});
    last = next;
  }
  graph.output(last);
  return model;
}

/// Products with weights, each with what follows it.
onnx::ModelProto chain_of_products(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {1, 2});
  graph.zeros("w", {2, 2});
  std::string last = "t";
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes / 3; ++i) {
    const std::string a = numbered("a", i), b = numbered("b", i), c = numbered("c", i);
    graph.node("MatMul", {last, "w"}, {a});
    graph.node("Add", {a, "x"}, {b});
    graph.node("Relu", {b}, {c});
    last = c;
  }
  graph.output(last);
  return model;
}

}  // namespace

std::vector<Bomb> graph_bombs() {
  return {{"chain", chain},
          {"longer_chain", longer_chain},
          {"chain_of_identities", chain_of_identities},
          {"chain_of_transposes", chain_of_transposes},
          {"chain_of_relus", chain_of_relus},
          {"chain_of_slices", chain_of_slices},
          {"chain_of_products", chain_of_products},
          {"lattice", lattice},
          {"fan", fan},
          {"fan_of_identities", fan_of_identities},
          {"fan_of_outputs", fan_of_outputs},
          {"fan_of_identity_outputs", fan_of_identity_outputs},
          {"sigmoids_into_one", sigmoids_into_one},
          {"identities_into_one", identities_into_one},
          {"constants_into_one", constants_into_one},
          {"fan_of_different", fan_of_different},
          {"wide_concat", wide_concat},
          {"wide_sum", wide_sum},
          {"wide_max", wide_max},
          {"wide_einsum", wide_einsum},
          {"wide_split", wide_split},
          {"einsum_of_letters", einsum_of_letters},
          {"einsum_chain", einsum_chain},
          {"doubling_concat", doubling_concat},
          {"many_initializers", many_initializers},
          {"many_inputs", many_inputs},
          {"same_output_often", same_output_often},
          {"one_name_for_all", one_name_for_all},
          {"long_name", long_name},
          {"long_attribute", long_attribute},
          {"long_list", long_list},
          {"many_dimensions", many_dimensions}};
}

}  // namespace aoe::tests
