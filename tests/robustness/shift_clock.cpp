// A library to preload: the time of day jumps a day ahead and back again, as when a machine's clock is set. The clocks that measure
// how long something takes go on as they are.
//
//   AOE_CLOCK_PERIOD_MS=300   so long it is today, so long tomorrow, at the same moments in all processes
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <cstdlib>

namespace {

constexpr time_t kDayS = 24 * 60 * 60;

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

int real_clock(clockid_t clock, timespec* now) {
  static auto* const function = real<int(clockid_t, timespec*)>("clock_gettime");
  return function(clock, now);
}

time_t shift() {
  static const char* const text = std::getenv("AOE_CLOCK_PERIOD_MS");
  static const long period_ms = text == nullptr ? 0 : std::atol(text);
  timespec steady = {};
  if (period_ms <= 0 || real_clock(CLOCK_MONOTONIC, &steady) != 0) return 0;
  const long ms = steady.tv_sec * 1000 + steady.tv_nsec / 1'000'000;
  return ms / period_ms % 2 == 0 ? 0 : kDayS;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = real_clock(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += shift();
  return result;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec time = {};
  if (clock_gettime(CLOCK_REALTIME, &time) != 0) return -1;
  *now = {time.tv_sec, time.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) noexcept {
  timespec clock = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &clock);
  if (now != nullptr) *now = clock.tv_sec;
  return clock.tv_sec;
}

}  // extern "C"
