// Edit distances.
#include "base/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace aoe {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& known,
                                    std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : known) {
    // Whoever writes the end of a long name means that name; among several the shortest is nearest.
    const bool contains = !given.empty() && name.find(given) != std::string::npos;
    const std::size_t distance = edit_distance(given, name);
    if (contains || distance <= given.size() / 2) near.emplace_back(distance, name);
  }
  std::ranges::sort(near);
  if (near.size() > most) near.resize(most);
  std::vector<std::string> names;
  for (auto& [distance, name] : near) names.push_back(std::move(name));
  return names;
}

std::string did_you_mean(const std::vector<std::string>& near) {
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
  return text.empty() ? text : "did you mean " + text + "?";
}

}  // namespace aoe
