// Whether bytes are text: JSON, and all that is shown, can hold nothing else.
#pragma once

#include <cstddef>
#include <string_view>

namespace aoe {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Letters of what is UTF-8: bytes that continue one do not count.
std::size_t utf8_length(std::string_view text);
/// The first, and the last, `letters` of it.
std::string_view utf8_head(std::string_view text, std::size_t letters);
std::string_view utf8_tail(std::string_view text, std::size_t letters);

}  // namespace aoe
