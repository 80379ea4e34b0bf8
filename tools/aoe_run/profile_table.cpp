// Sorting and printing step times.
#include "tools/aoe_run/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "base/statistics.h"
#include "runtime/backend.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "+") + word;
  return text;
}

/// By node name, from the tuning section; steps it does not list, such as format changes, go by their backend.
std::map<std::string, std::string> impls_of(const runtime::Om& om) {
  std::map<std::string, std::string> impls;
  if (!om.tuning.is_object() || !om.tuning.contains("nodes")) return impls;
  for (const nlohmann::json& node : om.tuning["nodes"])
    if (node.is_object() && node.contains("node") && node.contains("impl"))
      impls[node["node"].get<std::string>()] = node["impl"].get<std::string>();
  return impls;
}

/// What the step needs at the peaks that the om states, of what it took.
std::optional<double> roofline_share(const runtime::Om& om, const runtime::OmStep& step,
                                     double time_ns) {
  if (!om.peak_gflops || !om.memory_gb_s || time_ns <= 0) return std::nullopt;
  return std::max(step.flops / *om.peak_gflops, step.bytes / *om.memory_gb_s) / time_ns;
}

}  // namespace

StepTimes::StepTimes(const runtime::GearedOm& model, std::size_t gear)
    : om_(model.oms.at(gear)), runs_ns_(om_.steps.size()) {
  for (std::size_t before = 0; before < gear; ++before) first_op_ += model.oms[before].steps.size();
}

void StepTimes::add_run(const std::vector<profiler::Event>& events) {
  for (std::vector<double>& runs : runs_ns_) runs.push_back(0);
  for (const profiler::Event& event : events)
    if (const std::size_t step = profiler::op_index_of(event.value) - first_op_;
        event.kind == profiler::EventKind::kTask && step < runs_ns_.size())
      runs_ns_[step].back() += profiler::to_ns(event.end_ticks - event.begin_ticks);
}

std::vector<OpTime> StepTimes::ops() const {
  const std::map<std::string, std::string> impls = impls_of(om_);
  std::vector<OpTime> ops;
  double all_ns = 0;
  for (std::size_t i = 0; i < runs_ns_.size(); ++i) {
    const runtime::OmStep& step = om_.steps[i];
    if (!step.backend->traits().runs) continue;
    const auto impl = impls.find(step.name);
    const double median_ns = runs_ns_[i].empty() ? 0 : median(runs_ns_[i]);
    all_ns += median_ns;
    ops.push_back(
        {.name = step.name,
         .type = joined(step.op_types),
         .task = step.task_type(),
         .impl = impl == impls.end() ? std::string(step.backend->traits().library) : impl->second,
         .median_ns = median_ns,
         .flops = step.flops,
         .bytes = step.bytes,
         .roofline = roofline_share(om_, step, median_ns)});
  }
  for (OpTime& op : ops) op.share = all_ns > 0 ? op.median_ns / all_ns : 0;
  std::ranges::stable_sort(ops, std::ranges::greater{}, &OpTime::median_ns);
  return ops;
}

void print_ops(std::ostream& out, const std::vector<OpTime>& ops) {
  TerminalTable table("", {{"op"},
                           {"type"},
                           {"task"},
                           {"impl"},
                           {"median_us", Align::kRight},
                           {"share_%", Align::kRight},
                           {"roofline_%", Align::kRight}});
  double all_ns = 0;
  for (const OpTime& op : ops) {
    all_ns += op.median_ns;
    table.row({op.name, op.type, op.task, op.impl, fmt::format("{:.3f}", op.median_ns / 1e3),
               fmt::format("{:.2f}", 100 * op.share),
               op.roofline ? fmt::format("{:.1f}", 100 * *op.roofline) : "N/A"});
  }
  table.row({"all ops", "", "", "", fmt::format("{:.3f}", all_ns / 1e3), "100.00", ""});
  table.print(out);
}

}  // namespace aoe::tools
