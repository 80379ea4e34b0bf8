// The rough machine model: its peaks, and that an om carries those of the machine it was compiled for.
#include "compiler/roofline.h"

#include <gtest/gtest.h>

#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

using tests::import_text;

TEST(Roofline, PeaksGrowWithLanesAndThreads) {
  Soc soc;
  soc.target = find_target("avx2");
  soc.threads = 1;
  const double one_core = peak_gflops(soc);
  EXPECT_GT(one_core, 0);
  EXPECT_DOUBLE_EQ(compute_ns(soc, 1e6, 0.5), 2e6 / one_core);
  soc.target = find_target("avx512");
  soc.threads = 3;
  EXPECT_DOUBLE_EQ(peak_gflops(soc), 6 * one_core);
}

TEST(Roofline, MemoryIsSharedByAllCores) {
  Soc soc;
  soc.threads = 1;
  const double one_core = memory_gb_s(soc);
  soc.threads = 2;
  EXPECT_DOUBLE_EQ(memory_gb_s(soc), 2 * one_core);
  soc.threads = 1000;
  const double all = memory_gb_s(soc);
  EXPECT_LT(all, 1000 * one_core);
  const auto bytes = 1000.0 * static_cast<double>(soc.l2_bytes + soc.l3_bytes);
  EXPECT_DOUBLE_EQ(memory_ns(soc, bytes), bytes / all);
}

TEST(Roofline, AnOmCarriesThePeaksOfItsMachine) {
  const graph::Graph graph = import_text("g (float[4,64] x) => (float[4,64] y) { y = Relu (x) }");
  for (Soc soc : loopnest::test_socs())
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(soc.version + ", threads " + std::to_string(threads));
      const CompileOptions options = options_for(soc, threads);
      const runtime::Om om = expect_compiled_like_reference(graph, options);
      soc.threads = threads;
      EXPECT_EQ(om.peak_gflops, peak_gflops(soc));
      EXPECT_EQ(om.memory_gb_s, memory_gb_s(soc));
    }
}

class MeasuredMachine final : public bank::StrategySource {
 public:
  std::optional<bank::StrategySet> find(const bank::TaskKey&) const override { return {}; }
  std::string description() const override { return "a bank that knows the machine"; }
  std::optional<bank::Roofs> roofs() const override { return bank::Roofs{100, 10, ""}; }
};

TEST(Roofline, AnOmCarriesWhatTheBankHasMeasured) {
  const graph::Graph graph = import_text("g (float[4,64] x) => (float[4,64] y) { y = Relu (x) }");
  const MeasuredMachine bank;
  CompileOptions options = options_for(loopnest::test_socs().front(), 1);
  EXPECT_FALSE(compile(graph, options).om.has_measured_roofs);
  options.strategies = &bank;
  const auto bytes = std::make_shared<const std::string>(compile(graph, options).om.serialize());
  const runtime::Om om = runtime::Om::parse(*bytes, bytes, "measured");
  EXPECT_EQ(om.peak_gflops, 100);
  EXPECT_EQ(om.memory_gb_s, 10);
  EXPECT_TRUE(om.has_measured_roofs);
}

}  // namespace
}  // namespace aoe::compiler
