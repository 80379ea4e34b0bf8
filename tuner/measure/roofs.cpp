// Generated loops, timed: chains of multiply-adds, and sums of all of a large array.
#include "tuner/measure/roofs.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/utc.h"
#include "compiler/loopnest/codegen.h"
#include "compiler/loopnest/loopnest.h"
#include "runtime/jit_module.h"
#include "runtime/thread_team.h"

namespace aoe::tuner {
namespace loopnest = compiler::loopnest;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSteps = 100000, kChains = 12;
constexpr int kTries = 20;

loopnest::Function fma_loop(const compiler::Soc& soc) {
  loopnest::Builder b("peak");
  const auto out = b.buffer("out", loopnest::Access::kReadWrite);
  const int lanes = soc.vector_lanes();
  b.parallel(1, [&](loopnest::Int) {
    std::vector<loopnest::Local> sums;
    for (int i = 0; i < kChains; ++i) sums.push_back(b.local(b.load(out, i * lanes, lanes)));
    const auto x = b.local(b.load(out, 0, lanes));
    b.loop("i", 0, kSteps, 1, [&](loopnest::Int) {
      for (const auto& sum : sums) b.assign(sum, fma(b.get(sum), b.get(x), b.get(x)));
    });
    for (int i = 0; i < kChains; ++i)
      b.store(out, i * lanes, b.get(sums[static_cast<std::size_t>(i)]));
  });
  return b.finish();
}

/// Thread t sums part t, `elements` long, of `x` into its own lanes of `sums`.
loopnest::Function read_loop(const compiler::Soc& soc, std::int64_t elements) {
  loopnest::Builder b("read");
  const auto x = b.buffer("x", loopnest::Access::kRead);
  const auto sums = b.buffer("sums", loopnest::Access::kReadWrite);
  const int lanes = soc.vector_lanes();
  b.parallel(soc.threads, [&](loopnest::Int thread) {
    std::vector<loopnest::Local> chains;
    for (int i = 0; i < kChains; ++i)
      chains.push_back(b.local(b.load(sums, thread * (kChains * lanes) + i * lanes, lanes)));
    b.loop("i", 0, elements, kChains * lanes, [&](loopnest::Int at) {
      for (int i = 0; i < kChains; ++i) {
        const auto& chain = chains[static_cast<std::size_t>(i)];
        b.assign(chain, b.get(chain) + b.load(x, thread * elements + at + i * lanes, lanes));
      }
    });
    for (int i = 0; i < kChains; ++i)
      b.store(sums, thread * (kChains * lanes) + i * lanes,
              b.get(chains[static_cast<std::size_t>(i)]));
  });
  return b.finish();
}

/// The least time of some calls of `body(thread)` on all threads at once. Another process may have a core for as long as
/// twenty short calls take: 9.7 GFLOP/s were measured so where there are 235.
double least_ns(int threads, const std::function<void(int thread)>& body) {
  constexpr auto kShortest = std::chrono::milliseconds(200);
  const Clock::time_point begin = Clock::now();
  double least = 0;
  for (int i = 0; i < kTries || Clock::now() - begin < kShortest; ++i) {
    const Clock::time_point start = Clock::now();
    runtime::run_on_each(runtime::ThreadTeam::kHelpers, threads, body);
    const std::chrono::duration<double, std::nano> ns = Clock::now() - start;
    least = i == 0 ? ns.count() : std::min(least, ns.count());
  }
  return least;
}

/// Four times what the last cache holds, as far as there is room; a multiple of what the loop takes at a time.
std::int64_t elements_per_thread(const compiler::Soc& soc) {
  constexpr std::int64_t kLeast = 64 << 20, kMost = 512 << 20;
  const auto room = static_cast<std::int64_t>(available_memory_bytes() / 4);
  const std::int64_t bytes = std::min(std::clamp(4 * soc.l3_bytes, kLeast, kMost), room);
  const std::int64_t step = kChains * soc.vector_lanes();
  return std::max<std::int64_t>(1, bytes / std::int64_t{sizeof(float)} / soc.threads / step) * step;
}

}  // namespace

double fma_peak_gflops(const compiler::Soc& soc) {
  const loopnest::Function function = fma_loop(soc);
  const runtime::JitModule code(loopnest::compile_shared_object(std::span(&function, 1), soc),
                                "peak");
  const auto run = code.find("peak");
  const double ns = least_ns(soc.threads, [&](int) {
    std::vector<float> sums(static_cast<std::size_t>(kChains * soc.vector_lanes()));
    void* buffers[] = {sums.data()};
    run(buffers, 0, 1, nullptr);
  });
  return 2.0 * soc.vector_lanes() * kChains * kSteps * soc.threads / ns;
}

double read_gb_s(const compiler::Soc& soc) {
  const std::int64_t part = elements_per_thread(soc);
  const loopnest::Function function = read_loop(soc, part);
  const runtime::JitModule code(loopnest::compile_shared_object(std::span(&function, 1), soc),
                                "read");
  const auto run = code.find("read");
  const auto all = static_cast<std::size_t>(part * soc.threads);
  const auto x = std::make_unique_for_overwrite<float[]>(all);
  std::vector<float> sums(static_cast<std::size_t>(kChains * soc.vector_lanes() * soc.threads));
  // Pages lie where the thread that touches them first runs.
  runtime::run_on_each(runtime::ThreadTeam::kHelpers, soc.threads,
                       [&](int thread) { std::fill_n(x.get() + thread * part, part, 0.0f); });
  void* buffers[] = {x.get(), sums.data()};
  const double ns =
      least_ns(soc.threads, [&](int thread) { run(buffers, thread, thread + 1, nullptr); });
  return static_cast<double>(all * sizeof(float)) / ns;
}

bank::Roofs measure_roofs(const compiler::Soc& soc) {
  return {fma_peak_gflops(soc), read_gb_s(soc), utc_text(std::chrono::system_clock::now())};
}

}  // namespace aoe::tuner
