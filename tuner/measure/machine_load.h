// How much of the processor other programs use, from the kernel's counters in /proc/stat.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace aoe::tuner {

/// Ticks since boot, all cores together.
struct ProcessorTicks {
  double busy = 0;  ///< user, nice, system, interrupts, and what a hypervisor gave to others
  double total = 0;
};

/// Reads the line "cpu ..." of /proc/stat; nullopt when there is none or it is garbled.
std::optional<ProcessorTicks> processor_ticks_from(std::string_view proc_stat);

/// Busy cores between two readings of a machine of `cores`.
double busy_cores(const ProcessorTicks& before, const ProcessorTicks& after, int cores);

/// Watches this machine for that long, during which this process sleeps; nullopt where the kernel
/// does not say.
std::optional<double> watch_busy_cores(std::chrono::milliseconds duration, int cores);

/// "other programs use 0.9 of 2 cores; times will be noisy"; nullopt when it is too little to matter.
std::optional<std::string> load_warning(double used_cores, int cores);

}  // namespace aoe::tuner
