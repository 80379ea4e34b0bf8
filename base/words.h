// Texts that are lists, and what stands around their words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aoe {

/// What stands between separators, without what is empty.
std::vector<std::string> split_words(std::string_view text, char separator);

/// Without blanks, tabs and carriage returns at both ends.
std::string trimmed(std::string_view text);

}  // namespace aoe
