// What is worth sharing.
#include "native/threads.h"

#include <algorithm>

namespace aoe::native {
namespace {

constexpr double kWorthSharingNs =
    8000;  ///< starting a loop on helpers that are awake takes a microsecond

}  // namespace

void Threads::share(std::int64_t extent, double cost, const Part& part) {
  if (extent <= 0) return;
  if (extent == 1 || static_cast<double>(extent) * cost < kWorthSharingNs) return part(0, extent);
  run(extent, part);
}

std::int64_t parts_of(std::int64_t blocks, std::int64_t enough, std::int64_t extent,
                      std::int64_t least) {
  if (blocks == 0) return 1;
  return std::clamp<std::int64_t>(enough / blocks, 1, std::max<std::int64_t>(1, extent / least));
}

}  // namespace aoe::native
