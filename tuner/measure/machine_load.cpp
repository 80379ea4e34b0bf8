// Differences of the first line of /proc/stat.
#include "tuner/measure/machine_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace aoe::tuner {
namespace {

/// Below it are the system's own services, and the grain of the counters.
constexpr double kNotableShare = 0.15;

std::optional<ProcessorTicks> read_processor_ticks() {
  std::ifstream file("/proc/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return processor_ticks_from(line);
}

}  // namespace

std::optional<ProcessorTicks> processor_ticks_from(std::string_view proc_stat) {
  std::istringstream line{std::string(proc_stat.substr(0, proc_stat.find('\n')))};
  std::string name;
  line >> name;
  if (name != "cpu") return std::nullopt;
  double user = 0, nice = 0, system = 0, idle = 0;
  if (!(line >> user >> nice >> system >> idle)) return std::nullopt;
  double io_wait = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;  // old kernels end earlier
  line >> io_wait >> interrupts >> soft_interrupts >> stolen;
  // The guests' columns behind these are part of user and nice.
  const double busy = user + nice + system + interrupts + soft_interrupts + stolen;
  return ProcessorTicks{.busy = busy, .total = busy + idle + io_wait};
}

double busy_cores(const ProcessorTicks& before, const ProcessorTicks& after, int cores) {
  const double total = after.total - before.total;
  if (total <= 0) return 0;
  return std::clamp((after.busy - before.busy) / total, 0.0, 1.0) * cores;
}

std::optional<double> watch_busy_cores(std::chrono::milliseconds duration, int cores) {
  const auto before = read_processor_ticks();
  std::this_thread::sleep_for(duration);
  const auto after = read_processor_ticks();
  if (!before || !after) return std::nullopt;
  return busy_cores(*before, *after, cores);
}

std::optional<std::string> load_warning(double used_cores, int cores) {
  if (used_cores < kNotableShare * cores) return std::nullopt;
  return fmt::format("other programs use {:.1f} of {} cores; times will be noisy", used_cores,
                     cores);
}

}  // namespace aoe::tuner
