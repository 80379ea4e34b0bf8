// The rough machine model: two FMA ports, three cache levels, memory.
#include "compiler/roofline.h"

#include <algorithm>

namespace aoe::compiler {
namespace {

// Of a current server core under load. They only rank Impls against each other: what counts is
// their proportion. An om carries the peaks for reports.
constexpr double kCyclesPerNs = 4.0;
constexpr double kFmaPorts = 2.0;
constexpr double kL2BytesPerNs = 150.0;
constexpr double kL3BytesPerNs = 80.0;
constexpr double kMemoryBytesPerNs = 16.0;      // of one core
constexpr double kMemoryBytesPerNsAll = 100.0;  // of all cores together

}  // namespace

double peak_gflops(const Soc& soc) {
  return kCyclesPerNs * kFmaPorts * 2.0 * soc.vector_lanes * soc.threads;
}

double memory_gb_s(const Soc& soc) {
  return std::min(kMemoryBytesPerNs * soc.threads, kMemoryBytesPerNsAll);
}

double compute_ns(const Soc& soc, double flops, double efficiency) {
  return flops / (peak_gflops(soc) * efficiency);
}

double memory_ns(const Soc& soc, double bytes) {
  const double threads = soc.threads;
  if (bytes <= static_cast<double>(soc.l2_bytes) * threads)
    return bytes / (kL2BytesPerNs * threads);
  if (bytes <= static_cast<double>(soc.l3_bytes)) return bytes / (kL3BytesPerNs * threads);
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

double launch_ns(const Soc& soc) {
  return soc.threads > 1 ? 2000.0 : 100.0;
}

}  // namespace aoe::compiler
