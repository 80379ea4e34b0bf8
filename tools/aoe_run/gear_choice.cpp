// Comparing shapes.
#include "tools/aoe_run/gear_choice.h"

#include <algorithm>

#include "base/error.h"
#include "base/words.h"

namespace aoe::tools {
namespace {

std::string texts_of(const std::vector<Gear>& gears) {
  return joined(gears, "; ", [](const Gear& gear) { return gear_text(gear.sizes); });
}

/// The first input that has another shape in `gear`; -1: all fit.
int misfit(const Gear& gear, const std::vector<std::optional<Constant>>& given) {
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] && given[i]->desc().shape != gear.inputs[i]) return static_cast<int>(i);
  return -1;
}

std::string shapes_of(const std::vector<Gear>& gears, std::size_t input) {
  std::string shapes;
  for (const Gear& gear : gears)
    shapes +=
        (shapes.empty() ? "" : "; ") + gear_text(gear.sizes) + ": " + to_string(gear.inputs[input]);
  return shapes;
}

}  // namespace

std::size_t choose_gear(const std::vector<Gear>& gears, const std::vector<Port>& ports,
                        const std::vector<std::optional<Constant>>& given,
                        const std::string& wanted) {
  std::vector<Gear> candidates = gears;
  if (!wanted.empty()) {
    std::erase_if(candidates, [&](const Gear& gear) { return gear_text(gear.sizes) != wanted; });
    if (candidates.empty())
      throw Error(ExitCode::kUsage, "'" + wanted + "' is no gear of the model", "--gear",
                  "its gears are " + texts_of(gears));
  }
  for (const Gear& candidate : candidates)
    if (misfit(candidate, given) < 0)
      return static_cast<std::size_t>(std::ranges::find(gears, candidate.sizes, &Gear::sizes) -
                                      gears.begin());
  const auto input = static_cast<std::size_t>(misfit(candidates.front(), given));
  throw Error(ExitCode::kData,
              "is " + to_string(given[input]->desc().shape) +
                  ", which no gear has together with "
                  "the other inputs; by gear it is " +
                  shapes_of(candidates, input),
              "input '" + ports[input].name + "'");
}

}  // namespace aoe::tools
