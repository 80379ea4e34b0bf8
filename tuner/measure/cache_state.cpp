// Evicting and warming cache lines.
#include "tuner/measure/cache_state.h"

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace aoe::tuner {
namespace {

constexpr std::size_t kLineBytes = 64;

/// The sum keeps the loads alive.
std::uint64_t read_lines(const std::byte* data, std::size_t size_bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < size_bytes; at += kLineBytes)
    sum += static_cast<std::uint8_t>(data[at]);
  return sum;
}

void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value));
}

}  // namespace

WeightsIn resolved(WeightsIn weights_in, std::uint64_t model_bytes, const compiler::Soc& soc) {
  if (weights_in != WeightsIn::kAuto) return weights_in;
  return static_cast<double>(model_bytes) < static_cast<double>(soc.l3_bytes) ? WeightsIn::kL3
                                                                              : WeightsIn::kMemory;
}

CacheState::CacheState(const compiler::Soc& soc, WeightsIn weights_in)
    : weights_in_(weights_in),
      threads_(soc.threads),
      // Twice the L2 size: replacement is not exactly least recently used.
      thread_bytes_(2 * static_cast<std::size_t>(soc.l2_bytes)) {
  AOE_CHECK(weights_in != WeightsIn::kAuto, "the place of weights is not decided");
  if (weights_in_ == WeightsIn::kL2) return;
  const std::size_t bytes = static_cast<std::size_t>(threads_) * thread_bytes_;
  filler_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memset(filler_.get(), 1, bytes);
}

void CacheState::evict_weights(const void* weights, std::size_t size_bytes,
                               runtime::ThreadTeam team) const {
  if (weights_in_ == WeightsIn::kL2) return;
  evict_l2(team);
  if (weights_in_ == WeightsIn::kL3) return;
  const auto* data = static_cast<const std::byte*>(weights);
  for (std::size_t at = 0; at < size_bytes; at += kLineBytes) _mm_clflush(data + at);
  _mm_mfence();
}

void CacheState::touch(const void* data, std::size_t size_bytes) {
  keep(read_lines(static_cast<const std::byte*>(data), size_bytes));
}

void CacheState::evict_l2(runtime::ThreadTeam team) const {
  runtime::run_on_each(team, threads_, [this](int thread) {
    keep(read_lines(filler_.get() + static_cast<std::size_t>(thread) * thread_bytes_,
                    thread_bytes_));
  });
}

}  // namespace aoe::tuner
