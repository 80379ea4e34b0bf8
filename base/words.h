// Texts that are lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aoe {

/// What stands between separators, without what is empty.
std::vector<std::string> split_words(std::string_view text, char separator);

}  // namespace aoe
