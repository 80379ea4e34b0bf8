// Names and texts of gears.
#include "base/gears.h"

#include <algorithm>
#include <iterator>

#include "base/gear_names.h"
#include "base/words.h"

namespace aoe {
namespace {
constexpr std::string_view kKindNames[] = {"batch", "image", "dims"};
}  // namespace

std::string_view name(GearKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<GearKind> gear_kind_from_name(std::string_view name) {
  const auto found = std::ranges::find(kKindNames, name);
  if (found == std::end(kKindNames)) return std::nullopt;
  return static_cast<GearKind>(found - std::begin(kKindNames));
}

std::string gear_text(const GearValues& values) {
  return joined(values, ",", [](std::int64_t value) { return std::to_string(value); });
}

std::string gear_prefix(const GearValues& values) {
  return "gear[" + gear_text(values) + "]:";
}

std::string_view without_gear(std::string_view name) {
  if (!name.starts_with("gear[")) return name;
  const std::size_t end = name.find("]:");
  return end == std::string_view::npos ? name : name.substr(end + 2);
}

std::optional<std::size_t> Gears::find(const GearValues& wanted) const {
  const auto found = std::ranges::find(values, wanted);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

std::string to_string(const Gears& gears) {
  const bool is_list = gears.kind == GearKind::kDims;
  std::string text = std::string(name(gears.kind)) + (is_list ? " " : " sizes ");
  const char* const separator = gears.kind == GearKind::kBatch ? ", " : "; ";
  for (std::size_t i = 0; i < gears.count(); ++i)
    text += (i > 0 ? separator : "") + gear_text(gears.values[i]);
  return text;
}

}  // namespace aoe
