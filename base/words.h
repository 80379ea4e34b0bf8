// Texts that are lists, and what stands around their words.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aoe {

/// What stands between separators, without what is empty.
std::vector<std::string> split_words(std::string_view text, char separator);

/// The words, or what `text` makes of them, in a row; no separator in front of the first that is not empty.
template <typename Words, typename Text = std::identity>
std::string joined(const Words& words, std::string_view separator, Text text = {}) {
  std::string all;
  for (const auto& word : words) {
    if (!all.empty()) all += separator;
    all += std::invoke(text, word);
  }
  return all;
}

/// Without blanks, tabs and carriage returns at both ends.
std::string trimmed(std::string_view text);

}  // namespace aoe
