// Parsing /proc.
#include "profiler/collect/system_sampler.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "profiler/recorder.h"

namespace aoe::profiler {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// The number behind `key`, as in "MemTotal:   16384 kB"; 0 when it is not there.
double number_behind(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  at = text.find_first_not_of(" \t", at + key.size());
  if (at == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return static_cast<double>(value);
}

}  // namespace

ProcFiles read_proc(const SystemSampling& wanted) {
  ProcFiles files;
  if (wanted.system_cpu) files.stat = content_of("/proc/stat");
  if (wanted.system_memory) files.meminfo = content_of("/proc/meminfo");
  const std::string process = "/proc/" + (wanted.pid == 0 ? "self" : std::to_string(wanted.pid));
  if (wanted.process_cpu) files.process_stat = content_of(process + "/stat");
  if (wanted.process_memory) files.process_status = content_of(process + "/status");
  return files;
}

void SystemSampler::add(const std::string& series, double value) {
  samples_.push_back({.time_ns = now_ns_, .value = value, .series = intern(series)});
}

std::vector<RawSample> SystemSampler::sample(std::int64_t now_ns, const ProcFiles& files) {
  now_ns_ = now_ns;
  samples_.clear();
  if (wanted_.system_cpu) sample_system_cpu(files.stat);
  if (wanted_.system_memory)
    add("system memory used (KB)",
        number_behind(files.meminfo, "MemTotal:") - number_behind(files.meminfo, "MemAvailable:"));
  if (wanted_.process_cpu) sample_process_cpu(files.process_stat, now_ns);
  if (wanted_.process_memory)
    add("process memory (KB)", number_behind(files.process_status, "VmRSS:"));
  return samples_;
}

/// Lines "cpu<n> user nice system idle iowait irq softirq steal ...", in clock ticks since the start of the machine.
void SystemSampler::sample_system_cpu(std::string_view stat) {
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (!name.starts_with("cpu") || name == "cpu") continue;
    CpuTime now;
    std::uint64_t ticks = 0;
    for (int field = 0; field < 8 && fields >> ticks; ++field) {
      now.all += ticks;
      const bool is_idle = field == 3 || field == 4;
      if (!is_idle) now.busy += ticks;
    }
    const auto [entry, is_first] = cpus_.try_emplace(name, now);
    const CpuTime before = std::exchange(entry->second, now);
    if (!is_first && now.all > before.all)
      add("system " + name + " (%)", 100.0 * static_cast<double>(now.busy - before.busy) /
                                         static_cast<double>(now.all - before.all));
  }
}

void SystemSampler::sample_process_cpu(std::string_view process_stat, std::int64_t now_ns) {
  // The name in parentheses may hold anything; utime and stime are the 12th and 13th fields behind it.
  const std::size_t name_end = process_stat.rfind(')');
  if (name_end == std::string_view::npos) return;
  std::istringstream fields{std::string(process_stat.substr(name_end + 1))};
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  if (!(fields >> user_ticks >> system_ticks)) return;
  const std::uint64_t ticks = user_ticks + system_ticks;
  static const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (process_time_ns_ != 0 && now_ns > process_time_ns_)
    add("process cpu (%)", 100.0 * static_cast<double>(ticks - process_ticks_) / ticks_per_s /
                               (static_cast<double>(now_ns - process_time_ns_) / 1e9));
  process_ticks_ = ticks;
  process_time_ns_ = now_ns;
}

}  // namespace aoe::profiler
