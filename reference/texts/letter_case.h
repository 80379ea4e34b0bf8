// Upper and lower case of texts, character by character, by the rules of a locale.
#pragma once

#include <locale.h>

#include <string>
#include <string_view>

namespace aoe::reference {

enum class LetterCase { kAsIs, kLower, kUpper };

class CaseRules {
 public:
  /// A locale that is not installed has the rules of Unicode, which all languages share but those with a dotless i.
  /// Throws Error(kData) for those, and where there are no rules of Unicode either.
  explicit CaseRules(const std::string& locale);
  ~CaseRules();
  CaseRules(const CaseRules&) = delete;
  CaseRules& operator=(const CaseRules&) = delete;

  std::string changed(std::string_view text, LetterCase to) const;

 private:
  locale_t locale_;
};

}  // namespace aoe::reference
