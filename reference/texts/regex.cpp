// See regex.h.
#include "reference/texts/regex.h"

#include <map>
#include <mutex>
#include <utility>

#include "reference/fail.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kMostKept = 64;

Regex compiled(const std::string& pattern, Match match) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(match == Match::kLongest);
  auto made = std::make_shared<const re2::RE2>(pattern, options);
  if (!made->ok()) fail_model("the expression '" + pattern + "' is none: " + made->error());
  return made;
}

}  // namespace

Regex regex(const std::string& pattern, Match match) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Match>, Regex> kept;
  const std::lock_guard lock(mutex);
  const std::pair key(pattern, match);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  const auto made = compiled(pattern, match);
  if (kept.size() >= kMostKept) kept.clear();
  return kept[key] = made;
}

double compiling_steps(const re2::RE2& expression) {
  constexpr double kOfInstruction = 1500;
  return kOfInstruction * expression.ProgramSize();
}

double matching_steps(const re2::RE2& expression, double letters) {
  // Where the states that it may be in do not fit in its memory.
  constexpr double kOfInstruction = 20;
  return kOfInstruction * expression.ProgramSize() * letters;
}

}  // namespace aoe::reference
