// Tokenizer of com.microsoft: the words of each text, between separators or what an expression finds, or its characters.
#include <algorithm>

#include "reference/fail.h"
#include "reference/texts/regex.h"
#include "reference/texts/texts.h"

namespace aoe::reference {
namespace {

using Tokens = std::vector<std::string_view>;

class Splitter {
 public:
  explicit Splitter(const Attrs& attrs)
      : least_(static_cast<std::size_t>(attrs.get_int("mincharnum", 1))) {
    const std::vector<std::string> separators = attrs.get_strings("separators");
    const std::string words = attrs.get_string("tokenexp", "");
    if (separators.empty() && words.empty()) fail_model("it has neither separators nor tokenexp");
    is_by_character_ = separators.size() == 1 && separators.front().empty();
    if (is_by_character_ && least_ > 1)
      fail_model("its words are single characters, shorter than mincharnum");
    if (is_by_character_) return;
    finds_words_ = separators.empty();
    for (const std::string& each : finds_words_ ? std::vector{words} : separators)
      add_expression(each);
  }

  /// After each word a text may have to be walked through again as a whole.
  double steps(double texts, double letters) const {
    double steps = 0;
    for (const Regex& each : expressions_)
      steps += compiling_steps(*each) + texts * letters * matching_steps(*each, letters);
    return steps;
  }

  Tokens operator()(std::string_view text) const {
    if (is_by_character_) return characters(text);
    if (finds_words_) return found_words(text);
    Tokens tokens = {text};
    for (const Regex& separator : expressions_) {
      Tokens finer;
      for (const std::string_view token : tokens) split(token, *separator, finer);
      tokens = std::move(finer);
    }
    return tokens;
  }

 private:
  void add_expression(const std::string& pattern) {
    constexpr int kMostInstructions = 1'000'000;
    expressions_.push_back(regex(pattern, Match::kLongest));
    instructions_ += expressions_.back()->ProgramSize();
    if (instructions_ > kMostInstructions) fail_model("its expressions are too many or too large");
  }

  static Tokens characters(std::string_view text) {
    Tokens tokens;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = character_end(text, begin);
      tokens.push_back(text.substr(begin, end - begin));
    }
    return tokens;
  }

  static bool is_between_characters(std::string_view text, std::size_t at) {
    return at == text.size() || starts_character(text[at]);
  }

  /// The next match in `text` from `begin` on; false: none. Expressions may match bytes of a character: such a match is none.
  static bool find(const re2::RE2& expression, std::string_view text, std::size_t begin,
                   std::size_t& at, std::size_t& length) {
    const re2::StringPiece whole(text.data(), text.size());
    re2::StringPiece match;
    for (; begin <= text.size(); begin = character_end(text, at)) {
      if (!expression.Match(whole, begin, text.size(), re2::RE2::UNANCHORED, &match, 1))
        return false;
      at = static_cast<std::size_t>(match.data() - text.data());
      length = match.size();
      if (is_between_characters(text, at) && is_between_characters(text, at + length)) return true;
    }
    return false;
  }

  bool is_long_enough(std::string_view token) const { return character_count(token) >= least_; }

  /// An empty match separates as well, with the character behind it.
  void split(std::string_view text, const re2::RE2& separator, Tokens& tokens) const {
    const auto add = [&](std::size_t begin, std::size_t end) {
      const std::string_view token = text.substr(std::min(begin, text.size()), end - begin);
      if (begin < end && is_long_enough(token)) tokens.push_back(token);
    };
    std::size_t begin = 0, at = 0, length = 0;
    while (find(separator, text, begin, at, length)) {
      add(begin, at);
      begin = length > 0 ? at + length : std::max(character_end(text, at), at + 1);
    }
    add(begin, text.size());
  }

  /// Behind a match that is too short it is looked for from its second character on.
  Tokens found_words(std::string_view text) const {
    Tokens tokens;
    std::size_t begin = 0, at = 0, length = 0;
    while (find(*expressions_.front(), text, begin, at, length)) {
      const std::string_view token = text.substr(at, length);
      const bool is_taken = is_long_enough(token);
      if (is_taken) tokens.push_back(token);
      begin = is_taken ? at + length : std::max(character_end(text, at), at + 1);
    }
    return tokens;
  }

  std::size_t least_;
  bool is_by_character_ = false, finds_words_ = false;
  std::vector<Regex> expressions_;  ///< of words, or of separators
  int instructions_ = 0;            ///< of all expressions
};

TextRows tokenized(const Attrs& attrs, const Tensor& tensor) {
  const Splitter splitter(attrs);
  TextRows result{.rows = {}, .filler = attrs.get_string("pad_value", "")};
  for (const std::string* text : texts_of(tensor)) {
    const Tokens tokens = splitter(*text);
    result.rows.emplace_back(tokens.begin(), tokens.end());
  }
  // Where no text has a word there are no marks either.
  if (attrs.get_int("mark", 0) == 0 || result.longest() == 0) return result;
  for (auto& row : result.rows) {
    row.insert(row.begin(), "\x02");
    row.emplace_back("\x03");
  }
  return result;
}

std::vector<TensorDesc> infer_tokenizer(const InferContext& context) {
  const Splitter is_sound(context.attrs);
  Shape shape = context.shape(0);
  shape.push_back(has_texts(context, 0) ? tokenized(context.attrs, context.inputs[0]).longest()
                                        : kUnknownDim);
  return {{.dtype = DataType::kInt64, .shape = std::move(shape)}};
}

void compute_tokenizer(const OpContext& context) {
  tokenized(context.attrs, context.inputs[0]).store(context.outputs[0]);
}

double tokenizer_steps(const CostContext& cost) {
  return steps_through_letters(cost) +
         Splitter(cost.attrs).steps(cost.input_elements(0), most_letters());
}

}  // namespace

void register_tokenizer(OpRegistry& registry) {
  registry.add(
      {.type = "Tokenizer",
       .onnx_domain = "com.microsoft",
       .signature =
           {"l:1-2",
            "!mark=0..1 !pad_value=string !mincharnum=1.. separators=strings tokenexp=string"},
       .kind = OpKind::kSearch,
       .infer = infer_tokenizer,
       .compute = compute_tokenizer,
       .work = tokenizer_steps,
       .infers_from_values = true});
}

}  // namespace aoe::reference
