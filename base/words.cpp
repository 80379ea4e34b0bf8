#include "base/words.h"

#include <sstream>

namespace aoe {

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);)
    if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace aoe
