// Steps to paths, and the sentence on the slow ones. Tested by tests/runtime/step_paths_test.cpp.
#include "runtime/om/step_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/backend.h"
#include "runtime/om/om_bodies.h"

namespace aoe::runtime {
namespace {

/// Its tensors, whatever their sizes, are not looked at.
bool reads_shape_only(const OmStep& step) {
  const reference::OpDef* def = reference::ops().find(step.call.type);
  return def != nullptr && def->reads_shape_only;
}

bool has_open_sizes(const Om& om, const OmStep& step) {
  const auto is_open = [&](int id) { return id >= 0 && !is_static(om.tensors[id].desc.shape); };
  return std::ranges::any_of(step.inputs, is_open) || std::ranges::any_of(step.outputs, is_open);
}

StepPath path_of(const Om& om, const OmStep& step) {
  const BackendTraits& traits = step.backend->traits();
  StepPath path{.name = step.name,
                .types = step.types_text(),
                .path = traits.path,
                .is_plain = traits.is_plain};
  if (!traits.runs || traits.has_bodies || reads_shape_only(step)) return path;
  path.is_open = has_open_sizes(om, step);
  if (!path.is_open) path.work = std::max(step.flops, step.bytes);
  return path;
}

void add_paths(const Om& om, const std::string& at, std::vector<StepPath>& paths) {
  for (const OmStep& step : om.steps) {
    paths.push_back(path_of(om, step));
    paths.back().name = op_name(at, step);
    for (const Om& body : bodies_of(om, step)) add_paths(body, op_name(at, step) + "/", paths);
  }
}

/// What steps of one type add up to.
struct TypeSum {
  std::string types;
  int count = 0;
  double work = 0;
  int open_count = 0;
};

std::string text_of(const TypeSum& sum, double all_work) {
  std::string text = sum.types;
  if (sum.count > 1) text += fmt::format(" x{}", sum.count);
  if (sum.work > 0) text += fmt::format(" ({:.1f}%)", 100 * sum.work / all_work);
  if (sum.open_count > 0) text += " (of sizes known only when it runs)";
  return text;
}

/// The largest first; those of unknown size may be the largest.
std::vector<TypeSum> by_type(const std::vector<StepPath>& slow) {
  std::map<std::string, TypeSum> sums;
  for (const StepPath& path : slow) {
    TypeSum& sum = sums[path.types];
    sum.types = path.types;
    ++sum.count;
    sum.work += path.work;
    sum.open_count += path.is_open;
  }
  std::vector<TypeSum> list;
  for (auto& [types, sum] : sums) list.push_back(std::move(sum));
  std::ranges::stable_sort(list, [](const TypeSum& a, const TypeSum& b) {
    return std::pair(a.open_count > 0, a.work) > std::pair(b.open_count > 0, b.work);
  });
  return list;
}

/// `is_open`: of sizes that are not known there is more.
std::string share_text(double percent, bool is_open) {
  constexpr double kLeastShown = 0.05;
  if (is_open && percent < kLeastShown) return "a share of the work that only a run tells";
  return fmt::format("{}{:.1f}% of the model's work", is_open ? "at least " : "", percent);
}

}  // namespace

std::vector<StepPath> step_paths(const Om& om) {
  std::vector<StepPath> paths;
  add_paths(om, "", paths);
  return paths;
}

std::string reference_part(const GearedOm& model) {
  constexpr double kTrivialShare = 1e-3;
  constexpr std::size_t kMostTypes = 8;
  std::vector<StepPath> slow;
  std::size_t operators = 0;
  double all_work = 0, slow_work = 0;
  bool is_open = false;
  for (const Om& om : model.oms) {
    for (StepPath& path : step_paths(om)) {
      all_work += path.work;
      ++operators;
      if (!path.is_plain) continue;
      if (path.work == 0 && !path.is_open) continue;
      slow_work += path.work;
      is_open |= path.is_open;
      slow.push_back(std::move(path));
    }
  }
  if (slow.empty() || (!is_open && slow_work < kTrivialShare * all_work)) return {};
  const std::vector<TypeSum> sums = by_type(slow);
  std::string names;
  for (std::size_t i = 0; i < std::min(sums.size(), kMostTypes); ++i)
    names += (i == 0 ? "" : ", ") + text_of(sums[i], all_work);
  if (sums.size() > kMostTypes)
    names += fmt::format(" and {} more types", sums.size() - kMostTypes);
  return fmt::format("{} of {} operators, {}, run on the reference path, which is slow: {}",
                     slow.size(), operators,
                     share_text(all_work > 0 ? 100 * slow_work / all_work : 0, is_open), names);
}

}  // namespace aoe::runtime
