// See regex.h.
#include "reference/regex.h"

#include <map>
#include <mutex>
#include <utility>

#include "reference/fail.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kMostKept = 64;

std::shared_ptr<const re2::RE2> compiled(const std::string& pattern, Match match) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(match == Match::kLongest);
  auto made = std::make_shared<const re2::RE2>(pattern, options);
  if (!made->ok()) fail_model("the expression '" + pattern + "' is none: " + made->error());
  return made;
}

}  // namespace

std::shared_ptr<const re2::RE2> regex(const std::string& pattern, Match match) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Match>, std::shared_ptr<const re2::RE2>> kept;
  const std::lock_guard lock(mutex);
  const std::pair key(pattern, match);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  const auto made = compiled(pattern, match);
  if (kept.size() >= kMostKept) kept.clear();
  return kept[key] = made;
}

}  // namespace aoe::reference
