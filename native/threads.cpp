// What is worth sharing.
#include "native/threads.h"

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

}  // namespace aoe::native
