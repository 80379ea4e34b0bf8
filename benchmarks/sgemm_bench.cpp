// sgemm_bench: float32 matrix products with constant right factors, the tuned generated kernel against
// oneDNN's own matmul, interleaved in one run, beside what the machine can do at most:
//
//   peak      multiply-adds in registers, measured here
//   roofline  the smaller of the peak and what memory lets through: bytes once through the cache level
//             (or memory) that holds the factors, at the read bandwidth measured here
#include <fmt/format.h>
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "tests/compiler/shape_line.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tuner/measure/roofs.h"
#include "tuner/measure/worker.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/search/sampler.h"
#include "tuner/search/search.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Task;

constexpr const char* kShapes[] = {"2048x2048x2048", "1x4096x4096", "16x1024x64", "128x32x2048",
                                   "384x384x64",     "4096x16x16",  "7x512x4608"};

struct Options {
  int threads = 0;
  int trials = 0;
  std::vector<std::string> shapes;
};

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- what the machine can do ----

__attribute__((target("avx2"))) void read_all(const float* data, std::size_t count) {
  __m256 sums[8] = {};
  for (std::size_t i = 0; i + 64 <= count; i += 64)
    for (std::size_t v = 0; v < 8; ++v)
      sums[v] = _mm256_add_ps(sums[v], _mm256_loadu_ps(data + i + 8 * v));
  asm volatile("" : : "r"(sums) : "memory");
}

/// GB/s of all threads together, each reading its part of `bytes` over and over.
double read_bandwidth(std::size_t bytes, int threads) {
  const std::size_t part = bytes / sizeof(float) / static_cast<std::size_t>(threads);
  const std::vector<float> data(part * static_cast<std::size_t>(threads), 1.0F);
  const int repeats = static_cast<int>(std::max<std::size_t>(2, (std::size_t{256} << 20) / bytes));
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(threads)
      for (int i = 0; i < repeats; ++i)
        read_all(data.data() + part * static_cast<std::size_t>(omp_get_thread_num()), part);
    });
    best = std::max(best, static_cast<double>(bytes) * repeats / seconds / 1e9);
  }
  return best;
}

// ---- the products ----

struct Product {
  std::int64_t m = 0, n = 0, k = 0;

  double flops() const { return 2.0 * static_cast<double>(m * n * k); }
  std::size_t bytes() const { return 4 * static_cast<std::size_t>(m * k + k * n + m * n); }
};

Product parse_product(const std::string& text) {
  Product p;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld%c", &p.m, &p.n, &p.k, &rest) != 3 || p.m < 1 ||
      p.n < 1 || p.k < 1)
    throw Error(ExitCode::kUsage, "not a shape", text, "write MxNxK, as 384x384x64");
  return p;
}

class SgemmBench {
 public:
  explicit SgemmBench(const Options& options)
      : options_(options),
        soc_(compiler::detect_soc(options.threads)),
        worker_({.soc = soc_, .policy = measure_policy(), .compile_threads = soc_.threads}) {
    worker_.set_weights_in(WeightsIn::kL2);
  }

  void run() {
    const double peak = tuner::fma_peak_gflops(soc_);
    fmt::print("{}: peak {:.0f} GFLOP/s; GFLOP/s of medians, {} trials\n\n", soc_.version, peak,
               options_.trials);
    fmt::print(
        "| m x n x k | generated | oneDNN | generated / oneDNN | roofline | share | winner |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for (const std::string& shape : options_.shapes) report(parse_product(shape), peak);
  }

 private:
  /// The factors stay where the caches keep them: what libraries' own benchmarks do.
  static MeasurePolicy measure_policy() {
    MeasurePolicy policy;
    policy.weights_in = WeightsIn::kL2;
    return policy;
  }

  void report(const Product& product, double peak) {
    const Task task =
        compiler::parse_shape_line(fmt::format("MatMulV2 in={}x{} in={}x{}:const", product.m,
                                               product.k, product.k, product.n))
            .task;
    std::optional<Candidate> generated, library;
    for (const Candidate& c : compiler::default_candidates(task, soc_)) {
      if (c.impl->name() == "gemm_packed") generated = c;
      if (c.impl->name() == "onednn_matmul") library = c;
    }
    if (!generated || !library)
      throw Error(ExitCode::kFailure, "no generated kernel or no oneDNN for this product");
    const Candidate best = search_generated(task, *generated);
    const Candidate pair[] = {best, *library};
    const std::vector<Timing> timings = worker_.race(task, pair);
    const double ours = product.flops() / timings[0].median_ns();
    const double theirs = product.flops() / timings[1].median_ns();
    const double bandwidth =
        read_bandwidth(std::max<std::size_t>(product.bytes(), 1 << 16), soc_.threads);
    const double roofline =
        std::min(peak, product.flops() / static_cast<double>(product.bytes()) * bandwidth);
    fmt::print("| {}x{}x{} | {:.1f} | {:.1f} | {:.2f} | {:.1f} | {:.0f}% | {} |\n", product.m,
               product.n, product.k, ours, theirs, ours / theirs, roofline,
               100 * std::max(ours, theirs) / roofline,
               ours >= theirs ? to_text(best) : "onednn_matmul");
    std::cout.flush();
  }

  Candidate search_generated(const Task& task, const Candidate& start) {
    const SearchTask what{
        .task = task, .soc = soc_, .default_candidate = start, .weights_in = WeightsIn::kL2};
    SearchPolicy policy;
    policy.min_expected_gain = 0;
    Random random(1);
    const SearchResult result = search(what, worker_, policy, {.trials = options_.trials}, random);
    return result.best() == nullptr ? start : result.best()->candidate;
  }

  const Options& options_;
  compiler::Soc soc_;
  WorkerMeasurer worker_;
};

ExitCode run(const tools::po::variables_map& flags) {
  Options options{.threads = std::max(1, tools::threads_of(flags)),
                  .trials = flags["trials"].as<int>()};
  if (flags.contains("shape")) options.shapes = flags["shape"].as<std::vector<std::string>>();
  if (options.shapes.empty()) options.shapes.assign(std::begin(kShapes), std::end(kShapes));
  SgemmBench(options).run();
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tuner

int main(int argc, char** argv) {
  using namespace aoe::tools;
  aoe::tuner::run_if_worker(argc, argv);
  Tool tool{.name = "sgemm_bench",
            .synopsis = "sgemm_bench [flags] [MxNxK ...]",
            .summary =
                "Matrix products: the tuned generated kernel against oneDNN's own, "
                "interleaved, and the share of the machine's roofline."};
  auto add = tool.flags.add_options();
  add("trials", number_or(64, "N"), "of the search");
  add("shape", po::value<std::vector<std::string>>(), "default: squares and awkward ones");
  add_threads_flag(tool.flags, "of the kernels; default: 1");
  tool.positional.add("shape", -1);
  tool.run = aoe::tuner::run;
  return run_tool(argc, argv, std::move(tool));
}
