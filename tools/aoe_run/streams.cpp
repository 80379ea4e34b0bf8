// Threads that begin together.
#include "tools/aoe_run/streams.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>

#include "base/check.h"

namespace aoe::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// By the system's clock: the first question to the profiler's waits until the process is 20 ms old.
double run_once_ns(Session& session) {
  const Clock::time_point begin = Clock::now();
  session.run();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

std::vector<double> run_stream(Session& session, const RunPlan& plan,
                               const std::function<void()>& after_run) {
  std::vector<double> latencies_ns;
  double sum_ns = 0;
  const auto is_enough = [&] {
    return plan.seconds > 0 ? sum_ns >= plan.seconds * 1e9
                            : latencies_ns.size() >= static_cast<std::size_t>(plan.repeat);
  };
  do {
    latencies_ns.push_back(run_once_ns(session));
    sum_ns += latencies_ns.back();
    if (after_run) after_run();
  } while (!is_enough());
  return latencies_ns;
}

void warm_up(Session& session, const RunPlan& plan) {
  for (int i = 0; i < plan.warmup; ++i) session.run();
}

/// What one thread has to tell.
struct Stream {
  std::vector<double> latencies_ns;
  std::exception_ptr error;
};

}  // namespace

RunTimes run_streams(const std::vector<Session*>& sessions, const RunPlan& plan,
                     const std::function<void()>& before_first,
                     const std::function<void()>& after_run) {
  AOE_CHECK(!sessions.empty() && (sessions.size() == 1 || (!before_first && !after_run)),
            "streams");
  RunTimes times;
  if (sessions.size() == 1) {
    warm_up(*sessions.front(), plan);
    if (before_first) before_first();
    const auto begin = Clock::now();
    times.latencies_ns = run_stream(*sessions.front(), plan, after_run);
    times.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
    return times;
  }
  std::vector<Stream> streams(sessions.size());
  Clock::time_point begin;
  std::barrier start(static_cast<std::ptrdiff_t>(sessions.size()),
                     [&]() noexcept { begin = Clock::now(); });
  {
    std::vector<std::jthread> threads;
    const auto give_up = [&](std::size_t i) {
      streams[i].error = std::current_exception();
      start.arrive_and_drop();  // the others must not wait for it
    };
    const auto run_one = [&](std::size_t i) {
      bool has_begun = false;
      try {
        AscendCl::use_in_this_thread();
        warm_up(*sessions[i], plan);
        has_begun = true;
        start.arrive_and_wait();
        streams[i].latencies_ns = run_stream(*sessions[i], plan, {});
      } catch (...) {
        if (!has_begun) return give_up(i);
        streams[i].error = std::current_exception();
      }
    };
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      try {
        threads.emplace_back(run_one, i);
      } catch (const std::system_error&) {  // no thread is to be had
        give_up(i);
      }
    }
  }
  times.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const Stream& stream : streams) {
    if (stream.error) std::rethrow_exception(stream.error);
    times.latencies_ns.insert(times.latencies_ns.end(), stream.latencies_ns.begin(),
                              stream.latencies_ns.end());
  }
  return times;
}

}  // namespace aoe::tools
