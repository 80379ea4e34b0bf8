// The last layers of networks that give images: convolutions with less than a vector of output channels, for which oneDNN's code
// has little to do with what it loads.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "compiler/impl.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

double least_ns(const std::string& line, const std::function<bool(const Candidate&)>& counts,
                int threads = 0) {
  const Task task = parse_shape_line(line).task;
  Soc soc = detect_soc();
  if (threads > 0) soc.threads = threads;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& each : default_candidates(task, soc)) {
    const auto plan = each.impl->plan(task, each.format, soc);
    if (counts(each)) least = std::min(least, plan->estimate_ns(each.schedule));
  }
  return least;
}

bool is_onednn(const Candidate& each) {
  return each.impl->name().starts_with("onednn");
}

TEST(FewOutputs, AreNotLeftToOneDnn) {
  for (const char* channels : {"1", "3"}) {
    const std::string line =
        "Conv2D in=1x64x64x64 in=" + std::string(channels) + "x64x3x3:const pads=[1,1,1,1]";
    EXPECT_LT(least_ns(line, std::not_fn(is_onednn)), least_ns(line, is_onednn)) << line;
  }
}

/// As where a text's words are rows: windows as wide as the image give one number a row.
TEST(FewOutputs, AreNotLeftToOneDnnWhereWindowsTakeWholeRows) {
  for (const char* images : {"1", "32"}) {
    const std::string line =
        "Conv2D in=" + std::string(images) + "x1x100x300 in=100x1x3x300:const -> Relu anchor";
    EXPECT_LT(2 * least_ns(line, std::not_fn(is_onednn)), least_ns(line, is_onednn)) << line;
  }
}

/// What follows oneDNN's matrix product is computed number by number: far slower than to convert what ours gives.
TEST(FewOutputs, AreNotLeftToOneDnnWhereAnActivationFollows) {
  for (const char* step : {"Relu anchor", "LeakyRelu anchor alpha=0.2", "Sigmoid anchor"}) {
    const std::string line = std::string("Conv2D in=1x6x1024x20 in=64x6x1x1:const -> ") + step;
    const auto is_dense_onednn = [](const Candidate& each) {
      return is_onednn(each) && each.format.outputs[0] == Format::kND;
    };
    EXPECT_LT(10 * least_ns(line, std::not_fn(is_onednn)), least_ns(line, is_dense_onednn)) << line;
  }
}

/// As of the first layers of mobile networks: what the library begins it writes as soon.
TEST(FewProductsOfASum, AreNotLeftToOneDnn) {
  const std::string line = "MatMulV2 in=1024x32 in=32x192:const -> Relu anchor";
  for (const int threads : {1, 2})
    EXPECT_LT(1.3 * least_ns(line, std::not_fn(is_onednn), threads),
              least_ns(line, is_onednn, threads))
        << threads;
}

}  // namespace
}  // namespace aoe::compiler
