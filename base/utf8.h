// Whether bytes are text: JSON, and all that is shown, can hold nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aoe {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Letters of what is UTF-8: bytes that continue one do not count.
std::size_t utf8_length(std::string_view text);
/// The first, and the last, `letters` of it.
std::string_view utf8_head(std::string_view text, std::size_t letters);
std::string_view utf8_tail(std::string_view text, std::size_t letters);

/// Nothing that a terminal would obey, and no line breaks: a space for each control character, ASCII's and U+0080 to
/// U+009F. For whatever is shown and holds names, which come from models. What is not UTF-8 keeps its other bytes.
std::string printable(std::string text);

}  // namespace aoe
