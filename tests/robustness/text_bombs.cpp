// Texts that are computed while importing.
#include "tests/robustness/bomb_model.h"
#include "tests/robustness/import_bombs.h"

namespace aoe::tests {
namespace {

constexpr int kOpset = 20;

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

onnx::ModelProto doubling_texts(std::size_t) {
  onnx::ModelProto model = bomb_model(kOpset);
  BombGraph graph(*model.mutable_graph());
  graph.texts("t", {"ab"});
  std::string last = "t";
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string next = numbered("t", i);
    graph.node("StringConcat", {last, last}, {next});
    last = next;
  }
  graph.output(last);
  return model;
}

/// One text, read by many nodes. Half of the file is theirs.
template <typename Write>
onnx::ModelProto reading(std::size_t bytes, Write write) {
  onnx::ModelProto model = bomb_model(kOpset);
  BombGraph graph(*model.mutable_graph());
  graph.texts("t", {repeated("abcd ", bytes / 2)});
  for (int i = 0; graph.bytes() < bytes && i < kMostNodes; ++i)
    graph.output(write(graph, static_cast<std::size_t>(i)));
  return model;
}

onnx::ModelProto dear_splits(std::size_t bytes) {
  return reading(bytes, [](BombGraph& graph, std::size_t i) {
    const std::string count = numbered("c", i);
    set_text(graph.node("StringSplit", {"t"}, {numbered("p", i), count}), "delimiter",
             numbered("d", i));
    return count;
  });
}

onnx::ModelProto dear_letters(std::size_t bytes) {
  return reading(bytes, [](BombGraph& graph, std::size_t i) {
    const std::string upper = numbered("u", i);
    set_text(graph.node("StringNormalizer", {"t"}, {upper}), "case_change_action", "UPPER");
    return upper;
  });
}

/// A table of texts, and nodes that each add to it.
onnx::ModelProto dear_table(std::size_t bytes) {
  onnx::ModelProto model = bomb_model(kOpset);
  BombGraph graph(*model.mutable_graph());
  Names table;
  for (std::size_t i = 0; i < bytes / 16; ++i) table.push_back(numbered("text", i));
  graph.texts("table", table);
  graph.scalar("k", 5);
  for (int i = 0; graph.bytes() < bytes && i < kMostNodes; ++i) {
    const std::string text = numbered("t", static_cast<std::size_t>(i));
    set_int(graph.node("Cast", {"k"}, {text}), "to", onnx::TensorProto::STRING);
    graph.output(text);
  }
  return model;
}

onnx::NodeProto& tokenizer(BombGraph& graph, const std::string& to, std::int64_t least) {
  onnx::NodeProto& node = graph.node("Tokenizer", {"t"}, {to});
  node.set_domain("com.microsoft");
  set_int(node, "mark", 0);
  set_int(node, "mincharnum", least);
  set_text(node, "pad_value", "");
  graph.output(to);
  return node;
}

onnx::ModelProto tokenizer(const std::string& text, const Names& separators,
                           const std::string& words, std::int64_t least) {
  onnx::ModelProto model = bomb_model(kOpset);
  BombGraph graph(*model.mutable_graph());
  graph.texts("t", {text});
  onnx::NodeProto& node = tokenizer(graph, "y", least);
  if (separators.empty())
    set_text(node, "tokenexp", words);
  else
    set_texts(node, "separators", separators);
  return model;
}

Names numbered_all(const std::string& stem, std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(numbered(stem.c_str(), i));
  return names;
}

onnx::ModelProto many_separators(std::size_t bytes) {
  return tokenizer(repeated("abcd ", bytes / 2), numbered_all("x", bytes / 20), "", 1);
}
/// Each becomes a million bytes.
onnx::ModelProto large_separators(std::size_t bytes) {
  return tokenizer("a", numbered_all("\\p{L}{100}", bytes / 20), "", 1);
}
/// From each letter on to the end, and then the next.
onnx::ModelProto words_that_are_short(std::size_t bytes) {
  return tokenizer(repeated("a", bytes), {}, "a+", static_cast<std::int64_t>(bytes) + 1);
}
onnx::ModelProto words_that_look_ahead(std::size_t bytes) {
  return tokenizer(repeated("a", bytes), {}, "a|a.*b", 1);
}

/// Of texts that nobody knows. `write` gets the expression and the name of the result.
template <typename Write>
onnx::ModelProto matching(std::size_t bytes, Write write) {
  onnx::ModelProto model = bomb_model(kOpset);
  BombGraph graph(*model.mutable_graph());
  graph.input("t", {1}, onnx::TensorProto::STRING);
  for (int i = 0; graph.bytes() < bytes && i < kMostNodes; ++i) {
    const std::string n = std::to_string(i);
    write(graph, "\\p{L}{100}" + n, "y" + n);
  }
  return model;
}

onnx::ModelProto large_expressions(std::size_t bytes) {
  return matching(bytes, [](BombGraph& graph, const std::string& pattern, const std::string& to) {
    set_text(graph.node("RegexFullMatch", {"t"}, {to}), "pattern", pattern);
    graph.output(to);
  });
}
onnx::ModelProto large_tokenizers(std::size_t bytes) {
  return matching(bytes, [](BombGraph& graph, const std::string& pattern, const std::string& to) {
    set_text(tokenizer(graph, to, 1), "tokenexp", pattern);
  });
}

}  // namespace

std::vector<Bomb> text_bombs() {
  return {{"doubling_texts", doubling_texts},
          {"dear_splits", dear_splits},
          {"dear_letters", dear_letters},
          {"dear_table", dear_table},
          {"many_separators", many_separators},
          {"large_separators", large_separators},
          {"words_that_are_short", words_that_are_short},
          {"words_that_look_ahead", words_that_look_ahead},
          {"large_expressions", large_expressions},
          {"large_tokenizers", large_tokenizers}};
}

}  // namespace aoe::tests
