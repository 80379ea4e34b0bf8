#include "graph/import/text_table.h"

#include "base/error.h"
#include "base/utf8.h"

namespace aoe::graph {

std::int64_t TextTable::place_of(const std::string& text) {
  std::int64_t place = 0;
  during([&] { place = pool_.place_of(text); });
  return place;
}

std::vector<std::int64_t> TextTable::places_of(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> places;
  for (const std::string& text : texts) places.push_back(place_of(text));
  return places;
}

void TextTable::during(const std::function<void()>& compute) {
  const std::size_t before = pool_.added().size();
  try {
    const TextPool::Scope scope(pool_);
    compute();
    for (std::size_t i = before; i < pool_.added().size(); ++i)
      if (!is_utf8(pool_.added()[i])) throw Error(ExitCode::kModel, "has a text that is not UTF-8");
  } catch (...) {
    pool_.forget(before);
    throw;
  }
}

}  // namespace aoe::graph
