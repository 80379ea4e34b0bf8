// Regular expressions as ONNX and ONNX Runtime mean them: those of RE2, whose time is linear in the text.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>

namespace aoe::reference {

using Regex = std::shared_ptr<const re2::RE2>;

/// Of several matches at one place the first alternative counts, or the longest.
enum class Match { kFirst, kLongest };

/// Compiled once for all that ask for it at a time, and kept for a while. Throws Error(kModel) that has the reason.
Regex regex(const std::string& pattern, Match match);

/// Steps as of OpDef::work, the most there may be.
double compiling_steps(const re2::RE2& expression);
/// Of one walk through a text.
double matching_steps(const re2::RE2& expression, double letters);

}  // namespace aoe::reference
