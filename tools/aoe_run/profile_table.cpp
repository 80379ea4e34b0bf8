// Sorting and printing step times.
#include "tools/aoe_run/profile_table.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <string>

namespace aoe::tools {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + word;
  return text;
}

std::string shortened(const std::string& text, std::size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit - 3) + "...";
}

/// By node name, from the tuning section; steps it does not list, such as format changes, go by their kind.
std::map<std::string, std::string> impls_of(const runtime::Om& om) {
  std::map<std::string, std::string> impls;
  if (!om.tuning.is_object() || !om.tuning.contains("nodes")) return impls;
  for (const nlohmann::json& node : om.tuning["nodes"])
    if (node.is_object() && node.contains("node") && node.contains("impl"))
      impls[node["node"].get<std::string>()] = node["impl"].get<std::string>();
  return impls;
}

const char* kind_name(runtime::StepKind kind) {
  switch (kind) {
    case runtime::StepKind::kJit:
      return "generated";
    case runtime::StepKind::kOneDnn:
      return "onednn";
    case runtime::StepKind::kReference:
      return "reference";
    case runtime::StepKind::kNone:
      return "none";
    case runtime::StepKind::kControl:
      return "control";
  }
  return "";
}

}  // namespace

StepTimes::StepTimes(const runtime::GearedOm& model, std::size_t gear)
    : om_(model.oms.at(gear)), total_ns_(om_.steps.size(), 0.0) {
  for (std::size_t before = 0; before < gear; ++before) first_op_ += model.oms[before].steps.size();
}

void StepTimes::add(const std::vector<profiler::Event>& events) {
  for (const profiler::Event& event : events)
    if (const std::size_t step = profiler::op_index_of(event.value) - first_op_;
        event.kind == profiler::EventKind::kTask && step < total_ns_.size())
      total_ns_[step] += profiler::to_ns(event.end_ticks - event.begin_ticks);
}

void StepTimes::print(std::ostream& out) const {
  std::vector<std::size_t> order(total_ns_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return total_ns_[a] > total_ns_[b]; });
  const double all_ns = std::accumulate(total_ns_.begin(), total_ns_.end(), 0.0);
  const std::map<std::string, std::string> impls = impls_of(om_);

  constexpr const char* kRow = "{:<40} {:<32} {:<8} {:<14} {:>12} {:>8}\n";
  fmt::print(out, kRow, "op", "type", "task", "impl", "time_us", "share_%");
  for (const std::size_t i : order) {
    const runtime::OmStep& step = om_.steps[i];
    if (step.kind == runtime::StepKind::kNone) continue;
    const auto impl = impls.find(step.name);
    fmt::print(out, kRow, shortened(step.name, 40), shortened(joined(step.op_types), 32),
               step.task_type(), impl == impls.end() ? kind_name(step.kind) : impl->second,
               fmt::format("{:.3f}", total_ns_[i] / std::max(runs_, 1) / 1e3),
               fmt::format("{:.2f}", all_ns > 0 ? 100 * total_ns_[i] / all_ns : 0.0));
  }
  fmt::print(out, kRow, "all ops", "", "", "",
             fmt::format("{:.3f}", all_ns / std::max(runs_, 1) / 1e3), "100.00");
}

}  // namespace aoe::tools
