// Distances between shapes, and Schedules moved from one shape to another.
#include "tuner/tasks/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {
using compiler::Candidate;
using nlohmann::json;
namespace {

/// How unlike shapes are: the sum of the logarithms of their ratios; infinity for other ranks.
double distance(const std::vector<Shape>& a, const std::vector<Shape>& b) {
  constexpr double kUnlike = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kUnlike;
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].size() != b[t].size()) return kUnlike;
    for (std::size_t i = 0; i < a[t].size(); ++i)
      sum +=
          std::abs(std::log2(static_cast<double>(a[t][i] + 1) / static_cast<double>(b[t][i] + 1)));
  }
  return sum;
}

/// An absent tensor is null and counts as one without a shape.
Shape shape_in(const json& tensor) {
  return tensor.is_object() ? tensor.at("shape").get<Shape>() : Shape{};
}

}  // namespace

Neighbour neighbour_of(const compiler::Task& task, bank::Strategy strategy) {
  Neighbour neighbour{reference::type_name(task.op), {}, std::move(strategy)};
  for (const compiler::TaskInput& input : task.inputs) neighbour.shapes.push_back(input.desc.shape);
  neighbour.shapes.push_back(task.out().shape);
  return neighbour;
}

std::optional<Neighbour> neighbour_of(const bank::BankEntry& entry) {
  if (!entry.set.has_winner()) return std::nullopt;
  try {
    const json task = parse_json(entry.key.description);
    Neighbour neighbour{task.at("op").at("type"), {}, entry.set.strategies.front()};
    for (const json& input : task.at("inputs")) neighbour.shapes.push_back(shape_in(input));
    neighbour.shapes.push_back(shape_in(task.at("outputs").at(0)));
    return neighbour;
  } catch (const json::exception&) {  // imported from who knows where, or of a later version
    return std::nullopt;
  }
}

std::vector<Candidate> seeds_from_neighbours(const OperatorTask& task,
                                             std::span<const Neighbour> neighbours,
                                             const compiler::Soc& soc, std::size_t count) {
  const Neighbour self = neighbour_of(task.task, {});
  std::vector<const Neighbour*> near;
  for (const Neighbour& neighbour : neighbours)
    if (neighbour.op_type == self.op_type) near.push_back(&neighbour);
  std::ranges::stable_sort(near, {},
                           [&](const Neighbour* n) { return distance(n->shapes, self.shapes); });
  std::vector<Candidate> seeds;
  for (const Neighbour* neighbour : near) {
    if (seeds.size() == count) break;
    const bank::Strategy& won = neighbour->strategy;
    for (const Candidate& own : task.heuristics) {
      if (own.impl->name() != won.impl || own.impl->version() != won.impl_version ||
          own.format.name != won.format)
        continue;
      const auto schedule = adapt(*own.impl->plan(task.task, own.format, soc), won.schedule);
      if (schedule) seeds.push_back({own.impl, own.format, *schedule});
    }
  }
  return seeds;
}

}  // namespace aoe::tuner
