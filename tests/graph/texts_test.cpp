// Tensors of texts: places in a table of the model's texts.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/text_pool.h"
#include "graph/import/text_table.h"
#include "graph/rewrite.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::graph {
namespace {

using Numbers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

onnx::ModelProto parse(const std::string& text, int opset = 19, int ml = 4) {
  onnx::ModelProto model;
  model.ParseFromString(tests::model_bytes(text, opset));
  auto* classical = model.add_opset_import();
  classical->set_domain("ai.onnx.ml");
  classical->set_version(ml);
  return model;
}

Graph import(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  return tests::import_bytes(model.SerializeAsString(), options);
}

std::string refusal(const onnx::ModelProto& model) {
  try {
    import(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    return error.what();
  }
  ADD_FAILURE() << "was imported";
  return "";
}

ConstantPtr numbers(const Shape& shape, const Numbers& values) {
  return std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = shape},
                                    values.data());
}

template <typename T = std::int64_t>
std::vector<T> run(const Graph& graph, const std::vector<ConstantPtr>& inputs) {
  const ConstantPtr result = tests::interpret(graph, inputs).front();
  const auto* from = static_cast<const T*>(result->data());
  return std::vector<T>(from, from + element_count(result->desc().shape));
}

/// The value of an initializer.
void set_texts(onnx::ModelProto& model, const std::string& name, const Names& texts) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::STRING);
  tensor->add_dims(std::ssize(texts));
  for (const std::string& text : texts) tensor->add_string_data(text);
}

onnx::AttributeProto& attribute(onnx::ModelProto& model, const std::string& name) {
  for (auto& node : *model.mutable_graph()->mutable_node())
    for (auto& each : *node.mutable_attribute())
      if (each.name() == name) return each;
  throw std::logic_error("no attribute " + name);
}

constexpr const char* kEncoder =
    "g (string[4] x) => (int64[4] y) { y = ai.onnx.ml.LabelEncoder <keys_strings = [\"a\", \"\", "
    "\"c\"], values_int64s = [10, 20, 30], default_int64 = 7> (x) }";

TEST(TextTable, GivesEachTextOnePlace) {
  TextTable table;
  EXPECT_EQ(table.places_of({"b", "a", "b", ""}), (Numbers{0, 1, 0, 2}));
  EXPECT_EQ(table.list(), (Names{"b", "a", ""}));
  EXPECT_EQ(table.place_of(std::string("a\0", 2)), 3) << "a NUL is as good as any";
  EXPECT_THROW(table.place_of("\xff"), Error);
}

TEST(TextTable, KeepsNothingOfWhatFails) {
  TextTable table;
  table.place_of("a");
  table.during([] { TextPool::current()->place_of("b"); });
  const auto fails = [&] {
    TextPool::current()->place_of("c");
    TextPool::current()->place_of("\xff");
  };
  EXPECT_THROW(table.during(fails), Error);
  EXPECT_EQ(table.list(), (Names{"a", "b"}));
  EXPECT_EQ(TextPool::current(), nullptr);
}

TEST(Texts, AnInputIsPlacesAndTheRestIsUnknown) {
  const Graph graph = import(parse(kEncoder));
  EXPECT_EQ(graph.values[graph.inputs[0]].desc.dtype, DataType::kInt64);
  EXPECT_EQ(graph.texts, (Texts{{"a", "", "c"}, {"x"}, {}}));
  EXPECT_EQ(run(graph, {numbers({4}, {2, 1, -1, 3})}), (Numbers{30, 20, 7, 7}));
  EXPECT_EQ(run(graph, {numbers({4}, {0, INT64_MAX, INT64_MIN, 0})}), (Numbers{10, 7, 7, 10}));
}

TEST(Texts, OfSeveralEqualKeysTheFirstCounts) {
  const Graph graph = import(
      parse("g (string[3] x) => (int64[3] y) { y = ai.onnx.ml.LabelEncoder <keys_strings = [\"a\", "
            "\"b\", \"a\"], values_int64s = [1, 2, 3]> (x) }"));
  EXPECT_EQ(run(graph, {numbers({3}, {0, 1, 2})}), (Numbers{1, 2, -1}));
}

TEST(Texts, AnOutputIsPlaces) {
  const Graph graph = import(
      parse("g (int64[3] x) => (string[3] y) { y = ai.onnx.ml.LabelEncoder <keys_int64s = [5, 6], "
            "values_strings = [\"five\", \"six\"]> (x) }"));
  EXPECT_EQ(graph.texts, (Texts{{"five", "six", "_Unused"}, {}, {"y"}}));
  EXPECT_EQ(run(graph, {numbers({3}, {6, 5, 4})}), (Numbers{1, 0, 2}));
}

TEST(Texts, CategoriesOfBothKinds) {
  const char* const kMapper =
      "{ y = ai.onnx.ml.CategoryMapper <cats_strings = [\"p\", \"q\"], cats_int64s = [8, 9]> (x) }";
  const Graph to_numbers = import(parse(std::string("g (string[3] x) => (int64[3] y) ") + kMapper));
  EXPECT_EQ(run(to_numbers, {numbers({3}, {1, 0, 5})}), (Numbers{9, 8, -1}));
  const Graph to_texts = import(parse(std::string("g (int64[3] x) => (string[3] y) ") + kMapper));
  EXPECT_EQ(run(to_texts, {numbers({3}, {9, 8, 1})}), (Numbers{1, 0, 2}));
  EXPECT_EQ(to_texts.texts.list[2], "_Unused");
  const char* const kClasses =
      "{ y = ai.onnx.ml.LabelEncoder <classes_strings = [\"p\", \"q\"]> (x) }";
  const Graph old =
      import(parse(std::string("g (string[3] x) => (int64[3] y) ") + kClasses, 12, 1));
  EXPECT_EQ(run(old, {numbers({3}, {1, 0, 5})}), (Numbers{1, 0, -1}));
  const Graph one_hot =
      import(parse("g (string[2] x) => (float[2, 2] y) { y = ai.onnx.ml.OneHotEncoder "
                   "<cats_strings = [\"p\", \"q\"]> (x) }"));
  EXPECT_EQ(run<float>(one_hot, {numbers({2}, {1, 9})}), (std::vector<float>{0, 1, 0, 0}));
}

TEST(Texts, NGramsOfTexts) {
  const Graph graph = import(
      parse("g (string[4] x) => (float[3] y) { y = TfIdfVectorizer <mode = \"TF\", "
            "min_gram_length = 1, max_gram_length = 2, max_skip_count = 0, ngram_counts = [0, 2], "
            "ngram_indexes = [0, 1, 2], pool_strings = [\"a\", \"b\", \"a\", \"b\"]> (x) }"));
  EXPECT_EQ(graph.texts.list, (Names{"a", "b"}));
  EXPECT_EQ(run<float>(graph, {numbers({4}, {0, 1, 7, 0})}), (std::vector<float>{2, 1, 1}));
}

TEST(Texts, MoveAndAreCompared) {
  onnx::ModelProto model = parse(
      "g (string[2] x, bool[2] c) => (string[4] y, bool[4] is, int64[1] shape) {"
      " both = Concat <axis = 0> (x, w) i = Constant <value_string = \"n\"> ()"
      " e = Expand (i, four) four = Constant <value_ints = [4]> ()"
      " is = Equal (both, i) y = Where (is, e, both) shape = Shape (y) }");
  set_texts(model, "w", {"m", "n"});
  const Graph graph = import(model);
  EXPECT_EQ(graph.texts, (Texts{{"m", "n"}, {"x"}, {"y"}}));
  const auto results = tests::interpret(
      graph, {numbers({2}, {1, 5}),
              std::make_shared<Constant>(TensorDesc{.dtype = DataType::kBool, .shape = {2}})});
  EXPECT_EQ(to_ints(*results[0]), (Numbers{1, 5, 0, 1}));
  EXPECT_EQ(std::string(static_cast<const char*>(results[1]->data()), 4),
            std::string("\1\0\0\1", 4));
}

TEST(Texts, BranchesThatTheRunDecides) {
  onnx::ModelProto model = parse(
      "g (string[2] x, bool c) => (string[2] y) { y = If (c) <then_branch = t () => (string[2] a) "
      "{ a = Identity (x) }, else_branch = e () => (string[2] b) { b = Identity (w) }> }");
  set_texts(model, "w", {"m", "n"});
  const Graph graph = import(model);
  EXPECT_EQ(graph.texts, (Texts{{"m", "n"}, {"x"}, {"y"}}));
}

TEST(Texts, KnownOnesAreCast) {
  onnx::ModelProto model =
      parse("g (float[3] x) => (float[3] y) { f = Cast <to = 1> (w) y = Add (x, f) }");
  set_texts(model, "w", {"1.5", "-2e1", "+3"});
  const Graph graph = import(model);
  const auto zeros =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {3}});
  EXPECT_EQ(run<float>(graph, {zeros}), (std::vector<float>{1.5, -20, 3}));
  EXPECT_TRUE(graph.texts.empty());
  model.mutable_graph()->mutable_initializer(0)->set_string_data(1, "two");
  EXPECT_NE(refusal(model).find("'two' is no number"), std::string::npos);
}

TEST(Texts, WhatPlacesCannotTellIsRefused) {
  const struct {
    const char *model, *why;
  } cases[] = {
      {"g (int64[2] x) => (string[2] y) { y = StringNormalizer (x) }", "its input 0 is no texts"},
      {"g (string[2] x) => (bool[2] y) { y = RegexFullMatch <pattern = \"(\"> (x) }",
       "the expression '(' is none"},
      {"g (string[2] x, int64[1, 1] i) => (string[2] y) { y = ScatterND <reduction = \"add\"> (x, "
       "i, x) }",
       "it reads texts"},
      {"g (string[2] x) => (string[2] y) { y = Add (x, x) }", "it reads texts"},
      {"g (string[2] x, int64[2] n) => (bool[2] y) { y = Equal (x, n) }",
       "its input 1 is no texts"},
      {"g (string[2] x, int64[2] n) => (int64[2] y) { y = Reshape (n, x) }",
       "its input 0 is no texts"},
      {"g (int64[2] x) => (string[2] y) { y = Abs (x) }",
       "declared as texts and computed as numbers"},
      {"g (string[2] x) => (int64[2] y) { y = Identity (x) }",
       "declared as numbers and computed as texts"},
      {"g (string[2] x) => (int64[2] y) { y = ai.onnx.ml.LabelEncoder <keys_int64s = [1], "
       "values_int64s = [2]> (x) }",
       "its input is texts, its keys are none"},
      {"g (int64[2] x) => (int64[2] y) { y = ai.onnx.ml.LabelEncoder <keys_strings = [\"1\"], "
       "values_int64s = [2]> (x) }",
       "its keys are texts, its input is none"},
      {"g (int64[2] x) => (float[2, 1] y) { y = ai.onnx.ml.OneHotEncoder <cats_strings = [\"1\"]> "
       "(x) }",
       "its categories are texts, its input is none"},
      {"g (string[2] x) => (int64[2] y) { y = ai.onnx.ml.LabelEncoder <keys_strings = [\"1\", "
       "\"2\"], "
       "values_int64s = [2]> (x) }",
       "2 keys for 1 values"},
      {"g (int64[2] x) => (float[1] y) { y = TfIdfVectorizer <mode = \"TF\", min_gram_length = 1, "
       "max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0], "
       "pool_strings = [\"a\"]> (x) }",
       "its pool is texts, its input is none"}};
  for (const auto& each : cases) {
    const std::string said = refusal(parse(each.model, 20));
    EXPECT_NE(said.find(each.why), std::string::npos) << each.model << "\n" << said;
  }
}

/// What the model makes of texts.
Names texts_of(const Graph& graph, const std::vector<Names>& inputs) {
  TextPool pool(std::make_shared<const TextIndex>(graph.texts.list));
  const TextPool::Scope scope(pool);
  std::vector<ConstantPtr> given;
  for (const Names& each : inputs) {
    Numbers places;
    for (const std::string& text : each) places.push_back(pool.place_of(text));
    given.push_back(numbers({std::ssize(each)}, places));
  }
  Names texts;
  for (const std::int64_t place : to_ints(*tests::interpret(graph, given).front()))
    texts.push_back(pool.at(place));
  return texts;
}

TEST(Texts, AreComputedWhenTheModelRuns) {
  const Graph graph =
      import(parse("g (string[3] x) => (string[m] y) { u = StringNormalizer <case_change_action = "
                   "\"UPPER\", stopwords = [\"the\"]> (x) s = Constant <value_string = \"!\"> () "
                   "y = StringConcat (u, s) }",
                   20));
  EXPECT_EQ(texts_of(graph, {{"ein", "The", "Tür"}}), (Names{"EIN!", "TÜR!"}));
}

TEST(Texts, ComputedFromConstantsAreConstants) {
  onnx::ModelProto model =
      parse("g (string[2] x) => (bool[2] y) { s = StringConcat (w, w) y = Equal (x, s) }", 20);
  set_texts(model, "w", {"a", "b"});
  const Graph graph = import(model);
  EXPECT_EQ(graph.texts.list, (Names{"a", "b", "aa", "bb"}));
  EXPECT_EQ(run<bool>(graph, {numbers({2}, {2, 0})}), (std::vector<bool>{true, false}));
}

TEST(Texts, NumbersAndBack) {
  const Graph graph = import(parse(
      "g (string[3] x) => (string[3] y) { f = Cast <to = 1> (x) t = Add (f, f) y = Cast <to = "
      "8> (t) }"));
  EXPECT_EQ(texts_of(graph, {{"1.5", " 2x", "-inf"}}), (Names{"3", "4", "-INF"}));
}

TEST(Texts, DifferentOnesInOrder) {
  const Graph graph =
      import(parse("g (string[4] x) => (string[m] y) { y = Unique <sorted = 1> (x) }"));
  EXPECT_EQ(texts_of(graph, {{"b", "a", "c", "a"}}), (Names{"a", "b", "c"}));
}

TEST(Texts, UniqueHasNoFifthOutput) {
  const std::string said =
      refusal(parse("g (string[4] x) => (string[m] y, int64[n] e) { y, a, b, c, e = Unique (x) }"));
  EXPECT_NE(said.find("has 4 outputs, the model asks for 5"), std::string::npos) << said;
}

TEST(Texts, GoThroughLoopsAndSequences) {
  const Graph loop = import(parse(
      "g (string[1] x, int64 trips) => (string[1] y) { y = Loop (trips, , x) <body = b (int64 i, "
      "bool "
      "c, string[1] a) => (bool d, string[1] z) { d = Identity (c) z = StringConcat (a, a) }> }",
      20));
  EXPECT_EQ(loop.texts.outputs, (Names{"y"}));
  const Graph sequence = import(
      parse("g (string[2] x, string[1] z) => (string[3] y) { s = SequenceConstruct (x, z) y = "
            "ConcatFromSequence <axis = 0> (s) }"));
  EXPECT_EQ(texts_of(sequence, {{"a", "b"}, {"c"}}), (Names{"a", "b", "c"}));
}

TEST(Texts, ListsThatAreNoTextsAreRefused) {
  const struct {
    const char *input, *output, *node, *list;
  } cases[] = {
      {"float[1, 1]", "float[1, 1]", "ai.onnx.ml.TreeEnsembleRegressor <nodes_treeids = [0]>",
       "nodes_modes"},
      {"string[2]", "float[1]",
       "TfIdfVectorizer <mode = \"TF\", min_gram_length = 1, max_gram_length = 1, "
       "max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0]>",
       "pool_strings"},
      {"string[2]", "int64[2]", "ai.onnx.ml.LabelEncoder <values_int64s = [1]>", "keys_strings"},
      {"string[2]", "int64[2]", "ai.onnx.ml.LabelEncoder <default_int64 = 0>", "classes_strings"},
      {"string[2]", "int64[2]", "ai.onnx.ml.CategoryMapper <cats_int64s = [1]>", "cats_strings"},
      {"string[2]", "float[2, 1]", "ai.onnx.ml.OneHotEncoder <zeros = 1>", "cats_strings"},
      {"string[2]", "string[2]", "StringNormalizer <is_case_sensitive = 1>", "stopwords"},
      {"string[2]", "string[2, 1]",
       "com.microsoft.Tokenizer <mark = 0, mincharnum = 1, pad_value = \"\">", "separators"}};
  const std::pair<const char*, const char*> kinds[] = {
      {" = [1]", "ints"}, {" = [1.5]", "floats"}, {" = 1", "int"}, {" = \"a\"", "string"}};
  for (const auto& each : cases)
    for (const auto& [value, kind] : kinds) {
      std::string node = each.node;
      node.insert(node.size() - 1, ", " + std::string(each.list) + value);
      const std::string text = "g (" + std::string(each.input) + " x) => (" + each.output +
                               " y) { y = " + node + " (x) }";
      const std::string why = "attribute '" + std::string(each.list) + "' is of kind " + kind;
      const std::string said = refusal(parse(text, 20, 2));
      EXPECT_NE(said.find(why), std::string::npos) << text << "\n" << said;
    }
}

TEST(Texts, DamagedOnesAreRefused) {
  onnx::ModelProto model = parse("g (string[2] x) => (bool[2] y) { y = Equal (x, w) }");
  set_texts(model, "w", {"a", "b"});
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.set_string_data(0, "\xff");
  EXPECT_NE(refusal(model).find("has a text that is not UTF-8"), std::string::npos);
  tensor.set_string_data(0, "a");
  tensor.set_dims(0, 3);
  EXPECT_NE(refusal(model).find("holds 2 elements, its shape 3 needs 3"), std::string::npos);
  tensor.set_dims(0, -1);
  EXPECT_NE(refusal(model).find("has a negative dimension"), std::string::npos);

  model = parse(kEncoder);
  attribute(model, "values_int64s").add_ints(1);
  EXPECT_NE(refusal(model).find("3 keys for 4 values"), std::string::npos);
  attribute(model, "keys_strings").clear_strings();
  EXPECT_NE(refusal(model).find("0 keys for 4 values"), std::string::npos);
}

TEST(Texts, KeysFarApartNeedNoTable) {
  onnx::ModelProto model = parse(
      "g (string[1] x) => (bool[999] e, int64[1] y) { e = Equal (x, w) y = ai.onnx.ml.LabelEncoder "
      "<keys_strings = [\"0\", \"999\"], values_int64s = [1, 2]> (x) }");
  Names texts;
  for (int i = 0; i < 999; ++i) texts.push_back(std::to_string(i));
  set_texts(model, "w", texts);
  const Graph graph = import(model);
  EXPECT_EQ(to_ints(*tests::interpret(graph, {numbers({1}, {999})})[1]), (Numbers{2}));
  EXPECT_EQ(to_ints(*tests::interpret(graph, {numbers({1}, {998})})[1]), (Numbers{-1}));
}

TEST(Texts, ManyOfThem) {
  onnx::ModelProto model = parse(kEncoder);
  for (int i = 0; i < 100'000; ++i) {
    attribute(model, "keys_strings").add_strings("text " + std::to_string(i));
    attribute(model, "values_int64s").add_ints(i);
  }
  const Graph graph = import(model);
  EXPECT_EQ(run(graph, {numbers({4}, {3, 100'002, 100'003, 0})}), (Numbers{0, 99'999, 7, 10}));
}

TEST(Texts, HaveNoOtherType) {
  ImportOptions options;
  options.types = parse_output_type("y:0:INT32");
  const onnx::ModelProto model = parse("g (string[2] x) => (string[2] y) { y = Identity (x) }");
  EXPECT_THROW(import(model, options), Error);
  options.types = parse_output_type("FP32");
  EXPECT_EQ(import(model, options).texts.outputs, (Names{"y"}));
}

}  // namespace
}  // namespace aoe::graph
