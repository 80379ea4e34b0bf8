// See texts.h.
#include "reference/texts/texts.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace aoe::reference {

bool reads_texts(std::string_view ir_type) {
  constexpr std::array<std::string_view, 8> kReaders = {
      "NumberToText", "RegexFullMatch", "StringConcat", "StringNormalizer",
      "StringSplit",  "TextRank",       "TextToNumber", "Tokenizer"};
  return std::ranges::find(kReaders, ir_type) != kReaders.end();
}

TextPool& text_pool() {
  if (TextPool* const pool = TextPool::current()) return *pool;
  throw Error(ExitCode::kFailure, "reads texts where there is no list of them");
}

bool has_texts(const InferContext& context, std::size_t input) {
  return context.has_value(input) && TextPool::current() != nullptr;
}

std::vector<const std::string*> texts_of(const Tensor& tensor) {
  const TextPool& pool = text_pool();
  const auto* places = tensor.as<std::int64_t>();
  std::vector<const std::string*> texts;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) texts.push_back(&pool.at(places[i]));
  return texts;
}

void store_texts(const std::vector<std::string>& texts, const Tensor& tensor) {
  TextPool& pool = text_pool();
  std::ranges::transform(texts, tensor.as<std::int64_t>(),
                         [&](const std::string& text) { return pool.place_of(text); });
}

std::int64_t TextRows::longest() const {
  std::size_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.size());
  return static_cast<std::int64_t>(most);
}

void TextRows::store(const Tensor& tensor) const {
  TextPool& pool = text_pool();
  auto* to = tensor.as<std::int64_t>();
  const std::int64_t width = longest(), none = width > 0 ? pool.place_of(filler) : 0;
  for (const auto& row : rows) {
    std::fill(
        std::ranges::transform(row, to, [&](const auto& text) { return pool.place_of(text); }).out,
        to + width, none);
    to += width;
  }
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return starts_character(byte); }));
}

std::size_t character_end(std::string_view text, std::size_t begin) {
  std::size_t end = std::min(begin + 1, text.size());
  while (end < text.size() && !starts_character(text[end])) ++end;
  return end;
}

double most_letters() {
  constexpr double kUsual = 16;
  const TextPool* pool = TextPool::current();
  return pool == nullptr ? kUsual : static_cast<double>(pool->longest());
}

double steps_of_texts(double count, double letters) {
  constexpr double kOfText = 64, kOfLetter = 16;
  return count * (kOfText + kOfLetter * letters);
}

double steps_through_letters(const CostContext& cost) {
  return steps_of_texts(cost.input_elements(0), most_letters());
}

}  // namespace aoe::reference
