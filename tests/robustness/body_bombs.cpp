// Control flow, functions and sequences.
#include "tests/robustness/bomb_model.h"
#include "tests/robustness/import_bombs.h"

namespace aoe::tests {
namespace {

constexpr std::size_t kDepth = 30;  ///< protobuf refuses files that nest about as deep

void relu_body(BombGraph body, const std::string& reads, const std::string& gives) {
  body.node("Relu", {reads}, {gives});
  body.output(gives);
}

/// If in If in If, each reading x and with `width` nodes of its own; `condition` decides or is an input.
void nested_if(BombGraph& graph, std::size_t depth, std::size_t width, const std::string& gives) {
  onnx::NodeProto& node = graph.node("If", {"c"}, {gives});
  for (const char* branch : {"then_branch", "else_branch"}) {
    BombGraph body = body_of(node, branch);
    const std::string stem = gives + branch[0];
    std::string last = "x";
    for (std::size_t i = 0; i < width; ++i) {
      const std::string next = stem + std::to_string(i);
      body.node("Relu", {last}, {next});
      last = next;
    }
    if (depth > 0 && branch[0] == 't') {
      nested_if(body, depth - 1, width, stem);
      body.node("Add", {last, stem}, {stem + "y"});
    } else {
      body.node("Relu", {last}, {stem + "y"});
    }
    body.output(stem + "y");
  }
}

onnx::ModelProto nested_ifs_of(std::size_t bytes, bool is_known) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  if (is_known)
    graph.flag("c", true);
  else
    graph.input("c", {}, onnx::TensorProto::BOOL);
  nested_if(graph, kDepth, bytes / (kDepth * 2 * 60), "y");
  graph.output("y");
  return model;
}
onnx::ModelProto nested_ifs(std::size_t bytes) {
  return nested_ifs_of(bytes, false);
}
onnx::ModelProto nested_ifs_that_are_decided(std::size_t bytes) {
  return nested_ifs_of(bytes, true);
}

/// A binary tree of Ifs.
void if_tree(BombGraph& graph, std::size_t depth, const std::string& gives) {
  onnx::NodeProto& node = graph.node("If", {"c"}, {gives});
  for (const char* branch : {"then_branch", "else_branch"}) {
    BombGraph body = body_of(node, branch);
    const std::string result = gives + branch[0];
    if (depth > 0)
      if_tree(body, depth - 1, result);
    else
      body.node("Relu", {"x"}, {result});
    body.output(result);
  }
}

onnx::ModelProto tree_of_ifs(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("c", {}, onnx::TensorProto::BOOL);
  std::size_t depth = 0;
  while ((std::size_t{100} << (depth + 2)) < bytes) ++depth;
  if_tree(graph, depth, "y");
  graph.output("y");
  return model;
}

/// Many Ifs, one behind the other; each reads what the one before gives.
onnx::ModelProto row_of_ifs(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("c", {}, onnx::TensorProto::BOOL);
  std::string last = "x";
  for (std::size_t i = 0; i * 100 < bytes && i < kMostNodes / 3; ++i) {
    const std::string next = numbered("v", i);
    onnx::NodeProto& node = graph.node("If", {"c"}, {next});
    relu_body(body_of(node, "then_branch"), last, "t");
    relu_body(body_of(node, "else_branch"), last, "e");
    last = next;
  }
  graph.output(last);
  return model;
}

/// Branches that give sequences of different lengths are read twice, and so is all within them.
void if_of_sequences(BombGraph& graph, std::size_t depth, const std::string& gives) {
  onnx::NodeProto& node = graph.node("If", {"c"}, {gives});
  for (const char* branch : {"then_branch", "else_branch"}) {
    BombGraph body = body_of(node, branch);
    const std::string result = gives + branch[0];
    const bool is_then = branch[0] == 't';
    if (depth > 0 && is_then)
      if_of_sequences(body, depth - 1, result);
    else
      body.node("SequenceConstruct", is_then ? Names{"x", "x"} : Names{"x"}, {result});
    body.output(result);
  }
}

onnx::ModelProto ifs_that_are_read_twice(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("c", {}, onnx::TensorProto::BOOL);
  graph.scalar("zero", 0);
  if_of_sequences(graph, kDepth, "s");
  graph.node("SequenceAt", {"s", "zero"}, {"y"});
  graph.output("y");
  return model;
}

/// Each body changes a dimension of what it carries, and so is read twice, with all within it.
void nested_loop(BombGraph& graph, std::size_t depth, std::size_t width, const std::string& reads,
                 const std::string& gives) {
  onnx::NodeProto& node = graph.node("Loop", {"n", "go", reads}, {gives});
  BombGraph body = body_of(node, "body");
  const std::string in = gives + "i";
  body.input(gives + "t", {}, onnx::TensorProto::INT64);
  body.input(gives + "c", {}, onnx::TensorProto::BOOL);
  body.input(in, {});
  std::string last = in;
  if (depth > 0) {
    last = gives + "n";
    nested_loop(body, depth - 1, width, in, last);
  }
  for (std::size_t i = 0; i < width; ++i) {
    const std::string next = gives + std::to_string(i);
    body.node("Relu", {last}, {next});
    last = next;
  }
  set_int(body.node("Concat", {last, last}, {gives + "o"}), "axis", 0);
  body.node("Identity", {gives + "c"}, {gives + "k"});
  body.output(gives + "k");
  body.output(gives + "o");
}

onnx::ModelProto nested_loops_of(std::size_t depth, std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.scalar("n", std::int64_t{1} << 62);
  graph.flag("go", true);
  nested_loop(graph, depth, bytes / ((depth + 1) * 30), "x", "y");
  graph.output("y");
  return model;
}
onnx::ModelProto nested_loops(std::size_t) {
  return nested_loops_of(kDepth, 0);
}
onnx::ModelProto nested_loops_of_many_nodes(std::size_t bytes) {
  return nested_loops_of(4, bytes);
}

/// Loops side by side.
onnx::ModelProto row_of_loops(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.scalar("n", 3);
  graph.flag("go", true);
  for (std::size_t i = 0; i * 200 < bytes && i < kMostNodes / 6; ++i)
    nested_loop(graph, 0, 0, i == 0 ? "x" : numbered("v", i - 1), numbered("v", i));
  graph.output("v0");
  return model;
}

/// A loop that carries a sequence is taken apart into its trips: as many as there are.
onnx::ModelProto unrolled_loop(std::size_t items, std::size_t nodes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.scalar("n", std::int64_t{1} << 62);
  graph.scalar("zero", 0);
  graph.flag("go", true);
  graph.node("SequenceConstruct", Names(items, "x"), {"s"});
  BombGraph body = body_of(graph.node("Loop", {"n", "go", "s"}, {"r"}), "body");
  body.input("t", {}, onnx::TensorProto::INT64);
  body.input("c", {}, onnx::TensorProto::BOOL);
  body.proto().add_input()->set_name("i");
  std::string last = "x";
  for (std::size_t i = 0; i < nodes; ++i) {
    body.node("Relu", {last}, {numbered("v", i)});
    last = numbered("v", i);
  }
  body.output("c");
  body.output("i");
  graph.node("SequenceAt", {"r", "zero"}, {"y"});
  graph.output("y");
  return model;
}
onnx::ModelProto endless_loop_of_a_sequence(std::size_t) {
  return unrolled_loop(1, 0);
}
onnx::ModelProto endless_loop_of_a_long_sequence(std::size_t bytes) {
  return unrolled_loop(bytes / 3, 0);
}
onnx::ModelProto endless_loop_of_a_large_body(std::size_t bytes) {
  return unrolled_loop(1, bytes / 20);
}

/// A sequence of many, and nodes that each make another of it.
onnx::ModelProto sequences(const std::string& type, std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.scalar("zero", 0);
  graph.node("SequenceConstruct", Names(bytes / 6, "x"), {"s"});
  std::string last = "s";
  for (std::size_t i = 0; graph.bytes() < bytes && i < kMostNodes; ++i) {
    const std::string next = numbered("v", i);
    const bool is_tensor = type == "SequenceAt" || type == "ConcatFromSequence";
    Names inputs = {last};
    if (type == "SequenceInsert") inputs.push_back("x");
    if (type == "SequenceErase" || type == "SequenceAt") inputs.push_back("zero");
    onnx::NodeProto& node = graph.node(type, inputs, {next});
    if (type == "ConcatFromSequence") set_int(node, "axis", 0);
    if (!is_tensor) last = next;
  }
  graph.node("SequenceAt", {last, "zero"}, {"y"});
  graph.output("y");
  return model;
}
onnx::ModelProto sequence_inserts(std::size_t bytes) {
  return sequences("SequenceInsert", bytes);
}
onnx::ModelProto sequence_erases(std::size_t bytes) {
  return sequences("SequenceErase", bytes);
}
onnx::ModelProto sequence_reads(std::size_t bytes) {
  return sequences("SequenceAt", bytes);
}
onnx::ModelProto sequence_identities(std::size_t bytes) {
  return sequences("Identity", bytes);
}
onnx::ModelProto sequence_joins(std::size_t bytes) {
  return sequences("ConcatFromSequence", bytes);
}

/// Bodies that see the long sequence.
onnx::ModelProto sequence_in_ifs(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("c", {}, onnx::TensorProto::BOOL);
  graph.scalar("zero", 0);
  graph.node("SequenceConstruct", Names(bytes / 6, "x"), {"s"});
  std::string last = "x";
  for (std::size_t i = 0; i * 200 < bytes && i < kMostNodes / 3; ++i) {
    const std::string next = numbered("v", i);
    onnx::NodeProto& node = graph.node("If", {"c"}, {next});
    BombGraph then_body = body_of(node, "then_branch");
    then_body.node("SequenceAt", {"s", "zero"}, {"t"});
    then_body.output("t");
    relu_body(body_of(node, "else_branch"), last, "e");
    last = next;
  }
  graph.output(last);
  return model;
}

/// As many parts as a dimension has.
onnx::ModelProto split_to_sequence(std::size_t) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {std::int64_t{1} << 40});
  graph.scalar("zero", 0);
  set_int(graph.node("SplitToSequence", {"t"}, {"s"}), "axis", 0);
  graph.node("SequenceAt", {"s", "zero"}, {"y"});
  graph.output("y");
  return model;
}

/// A body for each element.
onnx::ModelProto sequence_map(std::size_t bytes) {
  onnx::ModelProto model = bomb_model();
  BombGraph graph(*model.mutable_graph());
  graph.scalar("zero", 0);
  graph.node("SequenceConstruct", Names(bytes / 6, "x"), {"s"});
  BombGraph body = body_of(graph.node("SequenceMap", {"s"}, {"m"}), "body");
  body.input("i", {2});
  for (std::size_t i = 0; i * 20 < bytes / 2; ++i) body.node("Relu", {"i"}, {numbered("v", i)});
  body.output("v0");
  graph.node("SequenceAt", {"m", "zero"}, {"y"});
  graph.output("y");
  return model;
}

/// Scan of opset 8: a body for each row of the batch.
onnx::ModelProto batched_scan(std::size_t) {
  onnx::ModelProto model = bomb_model(8);
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {std::int64_t{1} << 40, 1, 2});
  onnx::NodeProto& node = graph.node("Scan", {"", "t"}, {"y"});
  set_int(node, "num_scan_inputs", 1);
  BombGraph body = body_of(node, "body");
  body.input("i", {2});
  relu_body(body, "i", "o");
  graph.output("y");
  return model;
}

onnx::FunctionProto& function(onnx::ModelProto& model, const std::string& name) {
  onnx::FunctionProto& made = *model.add_functions();
  made.set_domain("local");
  made.set_name(name);
  made.add_input("x");
  made.add_output("y");
  *made.mutable_opset_import() = model.opset_import();
  return made;
}

onnx::NodeProto& add_node(onnx::FunctionProto& to, const std::string& type, const std::string& from,
                          const std::string& gives) {
  onnx::NodeProto& node = *to.add_node();
  if (type[0] == 'f') node.set_domain("local");
  node.set_op_type(type);
  node.add_input(from);
  node.add_output(gives);
  return node;
}

onnx::ModelProto with_functions() {
  onnx::ModelProto model = bomb_model();
  auto& local = *model.add_opset_import();
  local.set_domain("local");
  local.set_version(1);
  BombGraph graph(*model.mutable_graph());
  graph.node("f0", {"x"}, {"y"}).set_domain("local");
  graph.output("y");
  return model;
}

/// Each calls the next twice.
onnx::ModelProto doubling_functions(std::size_t) {
  onnx::ModelProto model = with_functions();
  for (std::size_t i = 0; i < 40; ++i) {
    onnx::FunctionProto& made = function(model, numbered("f", i));
    const std::string next = i < 39 ? numbered("f", i + 1) : "Relu";
    add_node(made, next, "x", "a");
    add_node(made, next, "a", "y");
  }
  return model;
}

/// Each calls the next, and has an attribute of very many short texts, which take far more memory than they have bytes.
onnx::ModelProto functions_of_many_texts(std::size_t bytes) {
  onnx::ModelProto model = with_functions();
  constexpr std::size_t kCalls = 60;
  for (std::size_t i = 0; i < kCalls; ++i) {
    onnx::FunctionProto& made = function(model, numbered("f", i));
    add_node(made, i + 1 < kCalls ? numbered("f", i + 1) : "Relu", "x", "y");
    onnx::AttributeProto& texts = *add_node(made, "Relu", "x", "unused").add_attribute();
    texts.set_name("texts");
    texts.set_type(onnx::AttributeProto::STRINGS);
    for (std::size_t k = 0; k < bytes / kCalls / 3; ++k) texts.add_strings("t");
  }
  return model;
}

/// One function of very many texts, called often.
onnx::ModelProto function_called_often(std::size_t bytes) {
  onnx::ModelProto model = with_functions();
  onnx::FunctionProto& first = function(model, "f0");
  std::string last = "x";
  for (std::size_t i = 0; i < 110; ++i) {
    add_node(first, "f1", last, numbered("v", i));
    last = numbered("v", i);
  }
  add_node(first, "Relu", last, "y");
  onnx::FunctionProto& second = function(model, "f1");
  onnx::AttributeProto& texts = *add_node(second, "Relu", "x", "y").add_attribute();
  texts.set_name("texts");
  texts.set_type(onnx::AttributeProto::STRINGS);
  for (std::size_t k = 0; k < bytes / 3; ++k) texts.add_strings("t");
  return model;
}

/// A function with many inputs, each of which every node could read.
onnx::ModelProto function_of_many_inputs(std::size_t bytes) {
  onnx::ModelProto model = with_functions();
  onnx::FunctionProto& made = function(model, "f0");
  for (std::size_t i = 0; i < bytes / 24; ++i) made.add_input(numbered("i", i));
  onnx::NodeProto& node = add_node(made, "Concat", "x", "y");
  for (std::size_t i = 0; i < bytes / 24; ++i) node.add_input(numbered("i", i));
  set_int(node, "axis", 0);
  return model;
}

}  // namespace

std::vector<Bomb> body_bombs() {
  return {{"nested_ifs", nested_ifs},
          {"nested_ifs_that_are_decided", nested_ifs_that_are_decided},
          {"tree_of_ifs", tree_of_ifs},
          {"row_of_ifs", row_of_ifs},
          {"ifs_that_are_read_twice", ifs_that_are_read_twice},
          {"nested_loops", nested_loops},
          {"nested_loops_of_many_nodes", nested_loops_of_many_nodes},
          {"row_of_loops", row_of_loops},
          {"endless_loop_of_a_sequence", endless_loop_of_a_sequence},
          {"endless_loop_of_a_long_sequence", endless_loop_of_a_long_sequence},
          {"endless_loop_of_a_large_body", endless_loop_of_a_large_body},
          {"sequence_inserts", sequence_inserts},
          {"sequence_erases", sequence_erases},
          {"sequence_reads", sequence_reads},
          {"sequence_identities", sequence_identities},
          {"sequence_joins", sequence_joins},
          {"sequence_in_ifs", sequence_in_ifs},
          {"split_to_sequence", split_to_sequence},
          {"sequence_map", sequence_map},
          {"batched_scan", batched_scan},
          {"doubling_functions", doubling_functions},
          {"functions_of_many_texts", functions_of_many_texts},
          {"function_called_often", function_called_often},
          {"function_of_many_inputs", function_of_many_inputs}};
}

}  // namespace aoe::tests
