// Operators that read letters. What is expected is what ONNX Runtime 1.30 gives, but where ONNX says otherwise.
#include "reference/texts/texts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/reference/op_runner.h"

namespace aoe::reference {
namespace {

using Names = std::vector<std::string>;

class TextOps : public testing::Test {
 protected:
  ConstantPtr texts(const Names& list, Shape shape = {}) {
    std::vector<double> places;
    for (const std::string& text : list)
      places.push_back(static_cast<double>(pool_.place_of(text)));
    return ints(shape.empty() ? Shape{std::ssize(list)} : shape, places);
  }
  Names read(const OpOutput& output) const {
    Names list;
    for (const double place : output.values)
      list.push_back(pool_.at(static_cast<std::int64_t>(place)));
    return list;
  }
  Names run_on(const std::string& type, const ConstantPtr& input, const Attrs& attrs,
               const Shape& shape) {
    const OpOutput output = run_checked({.type = type, .attrs = attrs}, {input}).front();
    EXPECT_EQ(output.desc.shape, shape);
    return read(output);
  }

  TextPool pool_;
  TextPool::Scope scope_{pool_};
};

Attrs normalising(const std::string& action, bool is_case_sensitive, const Names& stopwords) {
  Attrs attrs;
  attrs.set("case_change_action", action);
  attrs.set("is_case_sensitive", std::int64_t{is_case_sensitive});
  if (!stopwords.empty()) attrs.set("stopwords", stopwords);
  return attrs;
}

TEST_F(TextOps, StringNormalizer) {
  const auto run = [&](const Names& words, const Attrs& attrs, const Shape& shape) {
    return run_on("StringNormalizer", texts(words), attrs, shape);
  };
  EXPECT_EQ(run({"abc", "Äöß", "çI", "ǆ"}, normalising("UPPER", true, {}), {4}),
            (Names{"ABC", "ÄÖß", "ÇI", "Ǆ"}));
  EXPECT_EQ(run({"ABC", "ÄÖß", "𐐀"}, normalising("LOWER", true, {}), {3}),
            (Names{"abc", "äöß", "𐐨"}));
  EXPECT_EQ(run({"abc", "Abc", "x"}, normalising("NONE", true, {"abc"}), {2}), (Names{"Abc", "x"}));
  EXPECT_EQ(run({"abc", "Abc", "x"}, normalising("NONE", false, {"aBc"}), {1}), (Names{"x"}));
  EXPECT_EQ(run({"ABC", "b"}, normalising("LOWER", true, {"abc"}), {2}), (Names{"abc", "b"}));
  EXPECT_EQ(run({"abc", "abc"}, normalising("NONE", true, {"abc"}), {1}), (Names{""}));
  EXPECT_EQ(run_on("StringNormalizer", texts({"abc", "b"}, {1, 2}),
                   normalising("NONE", true, {"abc"}), {1, 1}),
            (Names{"b"}));
  EXPECT_THROW(run_on("StringNormalizer", texts({"abc", "b"}, {2, 1}), Attrs(), {}), Error);
  Attrs turkish = normalising("UPPER", true, {});
  turkish.set("locale", std::string("tr_XX"));
  EXPECT_THROW(run({"i"}, turkish, {1}), Error) << "its i is not that of other languages";
}

TEST_F(TextOps, BytesThatAreNoCharacterHaveNoCase) {
  std::string bytes = "\xC3";
  for (int i = 0; i < 40; ++i) bytes += '\x80';
  EXPECT_EQ(
      run_on("StringNormalizer", texts({"a" + bytes, "\xFF"}), normalising("UPPER", true, {}), {2}),
      (Names{"A" + bytes, "\xFF"}));
}

TEST_F(TextOps, StringConcat) {
  const OpOutput y =
      run_checked({.type = "StringConcat"}, {texts({"a", "b"}, {2, 1}), texts({"x", ""})}).front();
  EXPECT_EQ(y.desc.shape, (Shape{2, 2}));
  EXPECT_EQ(read(y), (Names{"ax", "a", "bx", "b"}));
}

TEST_F(TextOps, StringSplit) {
  const auto run = [&](const Names& list, const std::string& delimiter, std::int64_t most,
                       const std::vector<double>& counts) {
    Attrs attrs;
    if (!delimiter.empty()) attrs.set("delimiter", delimiter);
    if (most >= 0) attrs.set("maxsplit", most);
    const auto outputs =
        run_checked({.type = "StringSplit", .version = 20, .attrs = attrs}, {texts(list)}, 2);
    EXPECT_EQ(outputs[1].values, counts);
    return read(outputs[0]);
  };
  EXPECT_EQ(run({"a.b", "", ".c."}, ".", -1, {2, 0, 3}),
            (Names{"a", "b", "", "", "", "", "", "c", ""}));
  EXPECT_EQ(run({"a--b---c"}, "--", -1, {3}), (Names{"a", "b", "-c"}));
  EXPECT_EQ(run({"a.b.c"}, ".", 1, {2}), (Names{"a", "b.c"}));
  EXPECT_EQ(run({"a.b"}, ".", 0, {1}), (Names{"a.b"}));
  EXPECT_EQ(run({"  a  b \tc ", " ", "d"}, "", -1, {3, 0, 1}),
            (Names{"a", "b", "c", "", "", "", "d", "", ""}));
  EXPECT_EQ(run({"  a  b  c  "}, "", 1, {2}), (Names{"a", "b  c"}));
  EXPECT_EQ(run({"", ""}, "", -1, {0, 0}), Names());
}

TEST_F(TextOps, RegexFullMatch) {
  const auto run = [&](const Names& list, const std::string& pattern) {
    Attrs attrs;
    attrs.set("pattern", pattern);
    return run_checked({.type = "RegexFullMatch", .version = 20, .attrs = attrs}, {texts(list)})
        .front()
        .values;
  };
  EXPECT_EQ(run({"www.google.com", "a\nb", "ä"}, R"(www\.[\w.-]+\.\bcom\b|.|a.b)"),
            (std::vector<double>{1, 0, 1}));
  EXPECT_THROW(run({"a"}, "("), Error);
}

class TokenizerOp : public TextOps {
 protected:
  static Attrs words(const std::string& kind, const Attr& value, bool has_marks = false,
                     std::int64_t least = 1) {
    Attrs attrs;
    attrs.set(kind, value);
    attrs.set("mark", std::int64_t{has_marks});
    attrs.set("pad_value", std::string("#"));
    attrs.set("mincharnum", least);
    return attrs;
  }
  Names run(const Names& list, const Attrs& attrs, const Shape& shape) {
    return run_on("Tokenizer", texts(list), attrs, shape);
  }
};

TEST_F(TokenizerOp, SplitsAtSeparators) {
  EXPECT_EQ(run({"the fox", "", " äö  ü"}, words("separators", Names{" "}), {3, 2}),
            (Names{"the", "fox", "#", "#", "äö", "ü"}));
  EXPECT_EQ(run({"a,b;c d"}, words("separators", Names{" ", ",", ";"}), {1, 4}),
            (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(run({" äö  ü", "ab"}, words("separators", Names{" "}, false, 2), {2, 1}),
            (Names{"äö", "ab"}));
  EXPECT_EQ(run({"xabcabcy ab"}, words("separators", Names{"ab|abc"}), {1, 2}), (Names{"x", "y "}));
  EXPECT_EQ(run({"xabc"}, words("separators", Names{"q*"}), {1, 0}), Names());
}

TEST_F(TokenizerOp, FindsWords) {
  EXPECT_EQ(run({"the fox", "a,b", ""}, words("tokenexp", std::string("[a-z]+")), {3, 2}),
            (Names{"the", "fox", "a", "b", "#", "#"}));
  EXPECT_EQ(run({"abcabc ab"}, words("tokenexp", std::string("ab|abc")), {1, 3}),
            (Names{"abc", "abc", "ab"}));
  EXPECT_EQ(run({"ab abcd é1 abc"}, words("tokenexp", std::string("[a-z]+"), false, 3), {1, 2}),
            (Names{"abcd", "abc"}));
  EXPECT_EQ(run({"the fox"}, words("tokenexp", std::string("[a-z]*")), {1, 2}),
            (Names{"the", "fox"}));
}

TEST_F(TokenizerOp, CutsNoCharacter) {
  // Both match between the bytes of ä.
  EXPECT_EQ(run({"aäb"}, words("separators", Names{"\\B"}), {1, 1}), (Names{"aäb"}));
  EXPECT_EQ(run({"aäb"}, words("tokenexp", std::string("\\C")), {1, 2}), (Names{"a", "b"}));
}

TEST_F(TokenizerOp, RefusesExpressionsOfAnySize) {
  Names separators;
  for (int i = 0; i < 20; ++i) separators.push_back("\\p{L}{100}" + std::to_string(i));
  EXPECT_THROW(run({"a"}, words("separators", separators), {1, 1}), Error);
}

TEST_F(TokenizerOp, TakesCharacters) {
  EXPECT_EQ(run({"aé", "x"}, words("separators", Names{""}), {2, 2}), (Names{"a", "é", "x", "#"}));
  EXPECT_THROW(run({"a"}, words("separators", Names{""}, false, 2), {}), Error);
}

TEST_F(TokenizerOp, MarksBeginAndEnd) {
  EXPECT_EQ(run({"a b", "", "c"}, words("separators", Names{" "}, true), {3, 4}),
            (Names{"\2", "a", "b", "\3", "\2", "\3", "#", "#", "\2", "c", "\3", "#"}));
  EXPECT_EQ(run({"", " "}, words("separators", Names{" "}, true), {2, 0}), Names());
}

TEST_F(TextOps, NumbersAsTexts) {
  const auto run = [&](DataType dtype, const std::vector<double>& numbers) {
    return run_on("NumberToText", make_tensor(dtype, {std::ssize(numbers)}, numbers), Attrs(),
                  {std::ssize(numbers)});
  };
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(DataType::kFloat, {1.5, 0.1, 1e10, 1e-10, 123456789, -infinite, -0.0, 16777216}),
            (Names{"1.5", "0.1", "1e+10", "1e-10", "1.2345679e+08", "-INF", "-0", "16777216"}));
  EXPECT_EQ(run(DataType::kDouble, {1 / 3.0, std::nan("")}), (Names{"0.33333333", "NaN"}));
  EXPECT_EQ(run(DataType::kFloat16, {0.1, infinite}), (Names{"0.099975586", "INF"}));
  EXPECT_EQ(run(DataType::kInt8, {-3, 7}), (Names{"-3", "7"}));
  EXPECT_EQ(run(DataType::kUint8, {255}), (Names{"255"}));
  EXPECT_EQ(run(DataType::kBool, {1, 0}), (Names{"1", "0"}));
}

TEST_F(TextOps, TextsAsNumbers) {
  const auto run = [&](std::int64_t onnx_type, const Names& list) {
    Attrs attrs;
    attrs.set("to", onnx_type);
    return run_checked({.type = "TextToNumber", .attrs = attrs}, {texts(list)}).front().values;
  };
  constexpr std::int64_t kFloat = 1, kUint8 = 2, kInt8 = 3, kInt64 = 7, kBool = 9;
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(kFloat, {" 2", "+4", "1e3", "0x10", "12abc", "-INF", "infinity", ".5", "1,5"}),
            (std::vector<double>{2, 4, 1000, 16, 12, -infinite, infinite, .5, 1}));
  EXPECT_EQ(run(kInt64, {"1.5", "-7", "1e3"}), (std::vector<double>{1, -7, 1}));
  EXPECT_EQ(run(kInt8, {"300"}), (std::vector<double>{44}));
  EXPECT_EQ(run(kUint8, {"-1"}), (std::vector<double>{255}));
  EXPECT_EQ(run(kBool, {"300", "-0"}), (std::vector<double>{1, 0}));
  for (const char* text : {"abc", "", "true"}) EXPECT_THROW(run(kFloat, {text}), Error) << text;
  EXPECT_THROW(run(kInt64, {"99999999999999999999"}), Error);
}

TEST_F(TextOps, Rank) {
  EXPECT_EQ(run_checked({.type = "TextRank"}, {texts({"b", "a", "é", "b", ""})}).front().values,
            (std::vector<double>{2, 1, 3, 2, 0}));
}

// A text may be as long as a file: what it takes does not follow from the tensor's size.
TEST_F(TextOps, WorkGrowsWithTheLongestText) {
  const Attrs tokens = [] {
    Attrs attrs;
    attrs.set("tokenexp", std::string("a+"));
    return attrs;
  }();
  Attrs pattern;
  pattern.set("pattern", std::string("a+"));
  const std::vector<OpCall> calls = {{.type = "StringConcat"},
                                     {.type = "StringNormalizer"},
                                     {.type = "StringSplit"},
                                     {.type = "RegexFullMatch", .attrs = pattern},
                                     {.type = "TextToNumber"},
                                     {.type = "TextRank"},
                                     {.type = "Tokenizer", .attrs = tokens}};
  constexpr std::size_t kLetters = 1'000'000;
  text_pool().place_of(std::string(kLetters, 'a'));
  const std::vector<TensorDesc> one(2, {.dtype = DataType::kInt64, .shape = {1}});
  for (const OpCall& call : calls)
    EXPECT_GT(work(call, one, std::vector(1, one.front())), kLetters / 4) << call.type;
  EXPECT_GT(work(calls.back(), one, {}), kLetters * kLetters) << "it may look ahead from each";
}

TEST(Texts, NeedAList) {
  EXPECT_THROW(text_pool(), Error);
}

}  // namespace
}  // namespace aoe::reference
