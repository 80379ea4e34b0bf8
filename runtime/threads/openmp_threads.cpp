// Asking for threads before libgomp does, which ends the process where it gets none.
#include "runtime/threads/openmp_threads.h"

#include <latch>
#include <thread>
#include <vector>

#include "runtime/threads/signals_blocked.h"

namespace aoe::runtime {
namespace {

/// Of the calling thread's team, which libgomp keeps until a region of another size.
thread_local int threads_had = 1;

/// Starts so many threads that are all there at the same time, and ends them.
void start_at_once(int threads) {
  const SignalsBlocked blocked;
  std::latch is_over(1);
  std::vector<std::thread> started;
  const auto end_all = [&] {
    is_over.count_down();
    for (std::thread& each : started) each.join();
  };
  try {
    for (int i = 0; i < threads; ++i) started.emplace_back([&] { is_over.wait(); });
  } catch (...) {
    end_all();
    throw;
  }
  end_all();
}

}  // namespace

void ask_for_openmp_threads(int threads) {
  if (threads > threads_had) start_at_once(threads - threads_had);
  if (threads > 1) threads_had = threads;
}

void forget_openmp_threads() {
  threads_had = 1;
}

}  // namespace aoe::runtime
