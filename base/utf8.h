// Whether bytes are text: JSON, and all that is shown, can hold nothing else.
#pragma once

#include <string_view>

namespace aoe {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view bytes);

}  // namespace aoe
