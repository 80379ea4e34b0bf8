// Edit distances, and what stands nearest by them.
#include "base/near_names.h"

#include <algorithm>
#include <compare>
#include <numeric>

namespace aoe {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), second(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    second.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0), row[j - 1] + 1, above[j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], second[j - 2] + 1);
    }
  }
  return row.back();
}

namespace {

/// Of a known name: what decides first stands first.
struct Nearness {
  std::size_t changes = 0, letters_apart = 0;
  std::string_view name;
  auto operator<=>(const Nearness&) const = default;
};

/// Whoever writes the begin of a long name means that name, as if with one change.
Nearness nearness(std::string_view given, std::string_view name, std::size_t distance) {
  const bool is_begin = !given.empty() && name.starts_with(given);
  return {is_begin ? std::min<std::size_t>(distance, 1) : distance,
          std::max(given.size(), name.size()) - std::min(given.size(), name.size()), name};
}

}  // namespace

std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& known,
                                    std::size_t most) {
  std::vector<Nearness> near;
  for (const std::string& name : known) {
    const bool contains = !given.empty() && name.find(given) != std::string::npos;
    const std::size_t distance = edit_distance(given, name);
    if (contains || distance <= given.size() / 2) near.push_back(nearness(given, name, distance));
  }
  std::ranges::sort(near);
  if (near.size() > most) near.resize(most);
  std::vector<std::string> names;
  for (const Nearness& each : near) names.emplace_back(each.name);
  return names;
}

std::string did_you_mean(const std::vector<std::string>& near) {
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
  return text.empty() ? text : "did you mean " + text + "?";
}

}  // namespace aoe
