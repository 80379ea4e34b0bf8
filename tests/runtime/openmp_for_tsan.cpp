// What a parallel region orders, said to the thread sanitizer, which does not see how libgomp waits: what came before the region is
// seen by its members, and what they did by who goes on behind it. Our own barriers within one are atomics, which it sees.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

namespace {

using Body = void (*)(void*);

/// Two places, so that a member that ends orders nothing for one that has yet to begin.
struct Region {
  Body body;
  void* data;
  char begin = 0, end = 0;
};

void run_member(void* of_region) {
  auto& region = *static_cast<Region*>(of_region);
  __tsan_acquire(&region.begin);
  region.body(region.data);
  __tsan_release(&region.end);
}

}  // namespace

/// In place of libgomp's, which it calls; for libraries as well.
extern "C" void GOMP_parallel(Body body, void* data, unsigned threads, unsigned flags) {
  using Parallel = void (*)(Body, void*, unsigned, unsigned);
  static const auto parallel = reinterpret_cast<Parallel>(::dlsym(RTLD_NEXT, "GOMP_parallel"));
  Region region{body, data};
  __tsan_release(&region.begin);
  parallel(run_member, &region, threads, flags);
  __tsan_acquire(&region.end);
}
