#include "graph/text_table.h"

#include "base/error.h"
#include "base/utf8.h"

namespace aoe::graph {

std::int64_t TextTable::place_of(const std::string& text) {
  const auto [at, is_new] = places_.try_emplace(text, std::ssize(list_));
  if (!is_new) return at->second;
  if (!is_utf8(text)) throw Error(ExitCode::kModel, "has a text that is not UTF-8");
  list_.push_back(text);
  return at->second;
}

std::vector<std::int64_t> TextTable::places_of(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> places;
  for (const std::string& text : texts) places.push_back(place_of(text));
  return places;
}

}  // namespace aoe::graph
