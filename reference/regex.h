// Regular expressions as ONNX and ONNX Runtime mean them: those of RE2, whose time is linear in the text.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>

namespace aoe::reference {

/// Of several matches at one place the first alternative counts, or the longest.
enum class Match { kFirst, kLongest };

/// Compiled once for all that ask for it at a time, and kept for a while. Throws Error(kModel) that has the reason.
std::shared_ptr<const re2::RE2> regex(const std::string& pattern, Match match);

}  // namespace aoe::reference
