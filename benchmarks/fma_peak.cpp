// A generated loop of multiply-adds, timed.
#include "benchmarks/fma_peak.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "compiler/loopnest/codegen.h"
#include "compiler/loopnest/loopnest.h"
#include "runtime/jit_module.h"

namespace aoe::benchmarks {
namespace loopnest = compiler::loopnest;
namespace {

constexpr std::int64_t kSteps = 100000, kChains = 12;

loopnest::Function fma_loop(const compiler::Soc& soc) {
  loopnest::Builder b("peak");
  const auto out = b.buffer("out", loopnest::Access::kReadWrite);
  const int lanes = soc.vector_lanes;
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

}  // namespace

double fma_peak_gflops(const compiler::Soc& soc) {
  constexpr int kTries = 20;
  const loopnest::Function function = fma_loop(soc);
  const runtime::JitModule code(loopnest::compile_shared_object(std::span(&function, 1), soc),
                                "peak");
  const auto run = code.find("peak");
  const double flops = 2.0 * soc.vector_lanes * kChains * kSteps * soc.threads;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
#pragma omp parallel num_threads(soc.threads)
    {
      std::vector<float> sums(static_cast<std::size_t>(kChains * soc.vector_lanes));
      void* buffers[] = {sums.data()};
      run(buffers, 0, 1, nullptr);
    }
    const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops / ns.count());
  }
  return best;
}

}  // namespace aoe::benchmarks
