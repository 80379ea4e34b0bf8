// The rough machine model: two FMA ports, three cache levels, memory.
#include "compiler/roofline.h"

#include <algorithm>

namespace aoe::compiler {
double peak_gflops(const Soc& soc) {
  const Costs& costs = soc.target->costs();
  return costs.cycles_per_ns * costs.fma_ports * 2.0 * soc.vector_lanes() * soc.threads;
}

double memory_gb_s(const Soc& soc) {
  const Costs& costs = soc.target->costs();
  return std::min(costs.memory_bytes_per_ns * soc.threads, costs.memory_bytes_per_ns_all);
}

double compute_ns(const Soc& soc, double flops, double efficiency) {
  return flops / (peak_gflops(soc) * efficiency);
}

double memory_ns(const Soc& soc, double bytes) {
  const Costs& costs = soc.target->costs();
  const double threads = soc.threads;
  if (bytes <= static_cast<double>(soc.l2_bytes) * threads)
    return bytes / (costs.l2_bytes_per_ns * threads);
  if (bytes <= static_cast<double>(soc.l3_bytes)) return bytes / (costs.l3_bytes_per_ns * threads);
  return bytes / memory_gb_s(soc);
}

double copy_ns(const Soc& soc, double read_bytes, double written_bytes) {
  const double bytes = read_bytes + written_bytes;
  const bool fits_l2 = bytes <= static_cast<double>(soc.l2_bytes) * soc.threads;
  return memory_ns(soc, fits_l2 ? bytes : bytes + written_bytes);
}

double parallel_balance(const Soc& soc, std::int64_t iterations) {
  const std::int64_t rounds = (iterations + soc.threads - 1) / soc.threads;
  return static_cast<double>(iterations) / static_cast<double>(rounds * soc.threads);
}

double pair_dot_cost(const Soc& soc) {
  return soc.has(Feature::kAmx) ? 4 : 1;
}

double launch_ns(const Soc& soc) {
  const Costs& costs = soc.target->costs();
  return soc.threads > 1 ? costs.launch_ns : costs.call_ns;
}

}  // namespace aoe::compiler
