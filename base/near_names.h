// What a word that nobody knows may have meant: for messages about typing errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace aoe {

/// Single-letter changes from one word to the other; two neighbours that changed places are one.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `known` that contain `given` or differ from it in at most half of its letters; nearest
/// first, at most `most`. The begin of a long name is near it; of two as near that of as many letters.
std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& known,
                                    std::size_t most = 3);

/// "did you mean a, b or c?"; empty when `near` is.
std::string did_you_mean(const std::vector<std::string>& near);

}  // namespace aoe
