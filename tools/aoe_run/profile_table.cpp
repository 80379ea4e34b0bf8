// Sorting and printing step times.
#include "tools/aoe_run/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "base/statistics.h"
#include "runtime/backend.h"
#include "runtime/om/om_bodies.h"
#include "runtime/om/om_tuning.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

/// By node name, from the tuning section; steps it does not list, such as format changes, go by their backend.
std::map<std::string, std::string> impls_of(const runtime::Om& om) {
  std::map<std::string, std::string> impls;
  for (runtime::OpTuning& op : runtime::op_tunings(om.tuning))
    if (!op.impl.empty()) impls[std::move(op.node)] = std::move(op.impl);
  return impls;
}

/// What the op needs at the peaks that the om states, of what it took.
std::optional<double> roofline_share(const runtime::Om& om, const OpTime& op) {
  if (!om.peak_gflops || !om.memory_gb_s || op.median_ns <= 0) return std::nullopt;
  return std::max(op.flops / *om.peak_gflops, op.bytes / *om.memory_gb_s) / op.median_ns;
}

double median_or_zero(const std::vector<double>& figures) {
  return figures.empty() ? 0 : median(figures);
}

}  // namespace

StepTimes::StepTimes(const std::vector<const runtime::Om*>& gears, std::size_t gear)
    : om_(*gears.at(gear)) {
  for (std::size_t before = 0; before < gear; ++before)
    first_op_ += runtime::op_count(*gears[before]);
  runtime::for_each_om(om_, [&](const runtime::Om& own, const std::string& path) {
    const std::map<std::string, std::string> impls = impls_of(own);
    for (const runtime::OmStep& step : own.steps) {
      const runtime::BackendTraits& traits = step.backend->traits();
      const auto impl = impls.find(step.name);
      ops_.push_back(
          {.facts = {.name = runtime::op_name(path, step),
                     .type = step.types_text(),
                     .task = step.task_type(),
                     .impl = impl == impls.end() ? std::string(traits.library) : impl->second,
                     .flops = step.flops,
                     .bytes = step.bytes},
           .runs = traits.runs,
           .is_in_body = !path.empty(),
           .has_bodies = traits.has_bodies});
    }
  });
}

void StepTimes::add_run(const std::vector<profiler::Event>& events) {
  for (Op& op : ops_) {
    op.runs_ns.push_back(0);
    op.calls.push_back(0);
  }
  for (const profiler::Event& event : events)
    if (const std::size_t number = profiler::op_index_of(event.value) - first_op_;
        event.kind == profiler::EventKind::kTask && number < ops_.size()) {
      ops_[number].runs_ns.back() += profiler::to_ns(event.end_ticks - event.begin_ticks);
      ops_[number].calls.back() += 1;
    }
}

std::vector<OpTime> StepTimes::ops() const {
  std::vector<OpTime> ops;
  double all_ns = 0;
  for (const Op& op : ops_) {
    const double calls = median_or_zero(op.calls);
    if (!op.runs || (op.is_in_body && calls == 0)) continue;
    OpTime& time = ops.emplace_back(op.facts);
    time.median_ns = median_or_zero(op.runs_ns);
    if (op.is_in_body && !op.has_bodies) {
      time.flops *= calls;
      time.bytes *= calls;
    }
    time.roofline = roofline_share(om_, time);
    all_ns += time.median_ns;
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
