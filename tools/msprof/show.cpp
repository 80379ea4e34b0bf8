// msprof show: the four tables of a profile on the terminal.
#include <algorithm>
#include <iostream>

#include "profiler/database/profile_directory.h"
#include "profiler/export/api_names.h"
#include "profiler/export/metrics.h"
#include "profiler/export/op_times.h"
#include "profiler/export/text_file.h"
#include "profiler/export/timeline.h"
#include "tools/common/flags.h"
#include "tools/common/terminal_table.h"
#include "tools/common/tool.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/directory_flag.h"
#include "tools/msprof/post_processing.h"

namespace aoe::tools {
using namespace profiler;  // NOLINT: this file is about nothing else
namespace {

std::string us(std::int64_t ns) {
  std::string text;
  append_us(text, ns);
  return text;
}

std::string real(const std::optional<double>& value, int decimals = 3) {
  std::string text;
  if (value)
    append_real(text, *value, decimals);
  else
    text = "N/A";
  return text;
}

std::string percent_text(std::int64_t part_ns, std::int64_t all_ns) {
  return real(all_ns == 0 ? 0 : 100 * static_cast<double>(part_ns) / static_cast<double>(all_ns),
              2);
}

std::string op_name(const OpTimes& op) {
  return op.op == nullptr ? "N/A" : op.op->name;
}

TerminalTable core_metrics(const Database& profile, std::vector<OpTimes> ops, std::size_t most) {
  const std::int64_t all_ns = typical_ns(ops);
  std::ranges::stable_sort(ops, std::ranges::greater{}, &OpTimes::typical_ns);
  const bool is_cut = ops.size() > most;
  if (is_cut) ops.resize(most);
  TerminalTable table(
      "Core metrics" + std::string(is_cut ? " (the slowest ops; --all shows all)" : ""),
      {{"Layer Name"},
       {"Layer Type"},
       {"Median(us)", Align::kRight},
       {"Ratio(%)", Align::kRight},
       {"GFLOPS", Align::kRight},
       {"Roofline(%)", Align::kRight},
       {"Memory Bound", Align::kRight}});
  for (const OpTimes& op : ops) {
    const TaskFigures task = figures_of(profile, profile.model(op.model_id), op.op, op.median_ns);
    std::optional<double> gflops;
    if (task.flops && task.duration_ns > 0)
      gflops = *task.flops / static_cast<double>(task.duration_ns);
    table.row({op_name(op), op.op == nullptr ? "N/A" : op.op->type, us(op.median_ns),
               percent_text(op.typical_ns(), all_ns), real(gflops, 1),
               real(roofline_share(task), 1), real(analytic_memory_bound(task), 2)});
  }
  return table;
}

TerminalTable op_statistic(const Database& profile) {
  TerminalTable table("Op statistic", {{"OP Type"},
                                       {"Task Type"},
                                       {"Typical Time Ratio(%)", Align::kRight},
                                       {"Typical Time(us)", Align::kRight},
                                       {"Total Time(us)", Align::kRight},
                                       {"Count", Align::kRight},
                                       {"Avg(us)", Align::kRight},
                                       {"Max(us)", Align::kRight},
                                       {"Min(us)", Align::kRight}});
  std::vector<TypeTimes> types = type_times(profile, {});
  std::ranges::stable_sort(types, std::ranges::greater{}, &TypeTimes::typical_ns);
  std::int64_t all_ns = 0;
  for (const TypeTimes& type : types) all_ns += type.typical_ns;
  for (const TypeTimes& type : types)
    table.row({type.op_type, type.task_type, percent_text(type.typical_ns, all_ns),
               us(type.typical_ns), us(type.stats.total_ns), std::to_string(type.stats.count),
               real(type.stats.average_us()), us(type.stats.max_ns), us(type.stats.min_ns)});
  return table;
}

TerminalTable acl_statistic(const Database& profile) {
  TerminalTable table("Acl statistic", {{"Type"},
                                        {"Name"},
                                        {"Total Time Ratio(%)", Align::kRight},
                                        {"Total Time(us)", Align::kRight},
                                        {"Count", Align::kRight},
                                        {"Avg(us)", Align::kRight},
                                        {"Max(us)", Align::kRight},
                                        {"Min(us)", Align::kRight}});
  const std::vector<ApiTimes> calls = call_times(profile, {}, /*by_thread=*/false);
  std::int64_t all_ns = 0;
  for (const ApiTimes& call : calls) all_ns += call.stats.total_ns;
  for (const ApiTimes& call : calls)
    table.row({std::string(job_api_type(call.type, call.name)), call.name,
               real(call.stats.percent_of(all_ns), 2), us(call.stats.total_ns),
               std::to_string(call.stats.count), real(call.stats.average_us()),
               us(call.stats.max_ns), us(call.stats.min_ns)});
  return table;
}

TerminalTable frequency(const Database& profile) {
  TerminalTable table("Frequency", {{"Device ID", Align::kRight},
                                    {"Processor"},
                                    {"Cores", Align::kRight},
                                    {"Frequency(MHz)", Align::kRight}});
  Statement row = profile.connection().prepare("SELECT id, name FROM NPU_INFO");
  while (row.step())
    table.row({std::to_string(row.integer(0)), std::string(row.text(1)),
               profile.meta("CORES").value_or("N/A"), real(profile.frequency_mhz(), 0)});
  return table;
}

void show(const std::filesystem::path& directory, std::size_t most) {
  const Database profile = open_profile(directory);
  const std::filesystem::path timelines = timeline_directory(directory);
  if (profile.generation() == Generation::kJob && !std::filesystem::exists(timelines))
    export_timelines(profile, timelines, timestamp_now(), {});  // as SS928's show does
  std::cout << directory.string() << "\n\n";
  const TerminalTable tables[] = {core_metrics(profile, op_times(profile, {}), most),
                                  op_statistic(profile), acl_statistic(profile),
                                  frequency(profile)};
  for (const TerminalTable& table : tables) {
    table.print(std::cout);
    std::cout << '\n';
  }
}

}  // namespace

int run_show_command(int argc, char** argv) {
  Tool tool{.name = "msprof show",
            .synopsis = "msprof show -dir DIR [--all]",
            .summary =
                "Prints core metrics, op statistic, acl statistic and frequency of a profile; "
                "imports it first if need be."};
  DirectoryFlag directory(argc, argv);
  DirectoryFlag::declare(tool);
  tool.flags.add_options()("all", "every op, not the 20 slowest");
  tool.run = [](const po::variables_map& flags) {
    constexpr std::size_t kMostOps = 20;
    for (const auto& path : DirectoryFlag::directories(flags))
      show(path, flags.contains("all") ? SIZE_MAX : kMostOps);
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

}  // namespace aoe::tools
