// parallel_for: indices shared out to threads that end with it. For work of milliseconds and more; what runs with a model has
// threads that stay (runtime/threads/helper_threads.h).
//
//   parallel_for(files.size(), threads, [&](std::size_t i) { read(files[i]); });
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace aoe {

/// Calls `make_work()` in each thread, this one among them, and what that returns with every index from 0 to `count` that the
/// thread takes next. Where the system starts fewer threads, those that there are do it all. What one of them throws ends the
/// loop and is thrown here.
template <typename MakeWork>
void parallel_for_with(std::size_t count, int threads, const MakeWork& make_work) {
  std::atomic<std::size_t> next = 0;
  std::mutex failing;
  std::exception_ptr failure;
  const auto take_some = [&] {
    try {
      auto work = make_work();
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {  // a thread's wall: rethrown below
      next = count;
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const auto wanted = std::min(count, static_cast<std::size_t>(std::max(1, threads)));
    try {
      while (others.size() + 1 < wanted) others.emplace_back(take_some);
    } catch (const std::system_error&) {  // its limit of threads
    }
    if (count > 0) take_some();
  }
  if (failure) std::rethrow_exception(failure);
}

template <typename Work>
void parallel_for(std::size_t count, int threads, const Work& work) {
  parallel_for_with(count, threads, [&work] { return [&work](std::size_t i) { work(i); }; });
}

}  // namespace aoe
