// See letter_case.h.
#include "reference/texts/letter_case.h"

#include <wctype.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/utf8.h"
#include "reference/texts/texts.h"

namespace aoe::reference {
namespace {

bool has_dotless_i(const std::string& locale) {
  constexpr std::array kLanguages = {"tr", "az", "crh", "tt"};
  return std::ranges::find(kLanguages, locale.substr(0, locale.find('_'))) != kLanguages.end();
}

locale_t opened(const std::string& name) {
  return newlocale(LC_CTYPE_MASK, name.c_str(), nullptr);
}

/// Of one character that is well-formed.
wint_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  wint_t code = lead & (0xFFU >> (character.size() + 1));
  for (const char byte : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  return code;
}

void append(std::string& text, wint_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

CaseRules::CaseRules(const std::string& locale) : locale_(opened(locale)) {
  if (locale_ == nullptr && !has_dotless_i(locale)) locale_ = opened("C.UTF-8");
  if (locale_ == nullptr)
    throw Error(ExitCode::kData, "the locale '" + locale + "' is not installed", "",
                "install it, in Debian with the package locales-all");
}

CaseRules::~CaseRules() {
  freelocale(locale_);
}

std::string CaseRules::changed(std::string_view text, LetterCase to) const {
  if (to == LetterCase::kAsIs) return std::string(text);
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = character_end(text, begin);
    const std::string_view character = text.substr(begin, end - begin);
    begin = end;
    if (!is_utf8(character)) {
      result += character;
      continue;
    }
    const wint_t code = code_point(character);
    append(result,
           to == LetterCase::kUpper ? towupper_l(code, locale_) : towlower_l(code, locale_));
  }
  return result;
}

}  // namespace aoe::reference
