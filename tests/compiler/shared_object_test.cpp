// The shared object of several functions: what it exports, needs and leaves behind, and what its code looks like.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "compiler/loopnest/codegen.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

Function scale(const std::string& name, float factor) {
  Builder b(name);
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
  b.parallel(64, [&](Int p) { b.store(y, p * 8, b.load(x, p * 8, 8) * splat(factor, 8)); });
  return b.finish();
}

TEST(SharedObject, ExportsEachFunctionAndRunsRanges) {
  const std::vector<Function> functions = {scale("twice", 2.0f), scale("thrice", 3.0f)};
  const MachineCode code(compile_shared_object(functions, test_socs().front()));
  std::vector<float> x(512, 1.0f), y(512, 0.0f);
  void* const buffers[] = {x.data(), y.data()};
  code.function("twice")(buffers, 0, 10, nullptr);
  code.function("thrice")(buffers, 10, 20, nullptr);
  EXPECT_EQ(y[79], 2.0f);
  EXPECT_EQ(y[80], 3.0f);
  EXPECT_EQ(y[159], 3.0f);
  EXPECT_EQ(y[160], 0.0f);
}

TEST(SharedObject, HasTheSameBytesWhateverTheThreads) {
  std::vector<Function> functions;
  for (int i = 0; i < 6; ++i)
    functions.push_back(scale("f" + std::to_string(i), 1.0f + static_cast<float>(i)));
  const std::string one = compile_shared_object(functions, test_socs().front(), 1);
  EXPECT_EQ(one, compile_shared_object(functions, test_socs().front(), 4));
  EXPECT_EQ(one, compile_shared_object(functions, test_socs().front(), 1));
}

/// Which may be full, read-only, or not there; and who is killed while linking leaves nothing in it.
TEST(SharedObject, NeedsNoDirectoryForTemporaryFiles) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nonexistent", 1);
  const std::vector<Function> functions = {scale("twice", 2.0f)};
  EXPECT_FALSE(compile_shared_object(functions, test_socs().front()).empty());
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

/// Of this process, for a while.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit lowered = {value, before_.rlim_max};
    ::setrlimit(resource, &lowered);
  }
  ~Limit() { ::setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

TEST(SharedObject, MayHaveMoreFunctionsThanThereAreDescriptors) {
  std::vector<Function> functions;
  for (int i = 0; i < 40; ++i) functions.push_back(scale("f" + std::to_string(i), 2.0f));
  const Limit few(RLIMIT_NOFILE, 24);
  EXPECT_FALSE(compile_shared_object(functions, test_socs().front()).empty());
}

/// lld would end the process.
TEST(SharedObject, SaysWhichLimitIsTooLow) {
  const std::vector<Function> functions = {scale("twice", 2.0f)};
  const auto refused = [&] {
    try {
      compile_shared_object(functions, test_socs().front());
      return std::string("nothing");
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  {
    const Limit small(RLIMIT_FSIZE, 1000);
    EXPECT_NE(refused().find("ulimit -f"), std::string::npos) << refused();
  }
  ::signal(SIGXFSZ, before);
  const Limit few(RLIMIT_NOFILE, 3);
  EXPECT_NE(refused().find("ulimit -n"), std::string::npos) << refused();
}

/// A program may tune for long.
TEST(SharedObject, LeavesNoMemoryBehind) {
  constexpr int kLinks = 60;
  const auto links = [] {
    for (int i = 0; i < kLinks; ++i) {
      const std::vector<Function> functions = {scale("twice", 2.0f)};
      compile_shared_object(functions, test_socs().front());
    }
    return static_cast<double>(::mallinfo2().uordblks);
  };
  const double before = links();
  // LLVM goes on listing the temporary files that it had.
  EXPECT_LT((links() - before) / kLinks, 512.0) << "bytes a link";
}

TEST(SharedObject, IsCutOffBetweenFunctions) {
  const std::vector<Function> functions = {scale("twice", 2.0f), scale("thrice", 3.0f)};
  int asked = 0;
  const auto is_second = [&] { return ++asked == 2; };
  EXPECT_THROW(compile_shared_object(functions, test_socs().front(), 1, is_second), CutOff);
  EXPECT_EQ(asked, 2);
}

TEST(SharedObject, OfNoFunctionsIsEmpty) {
  EXPECT_EQ(compile_shared_object({}, test_socs().front()), "");
}

TEST(Dumps, ShowIrAndAssembly) {
  const Function f = scale("twice", 2.0f);
  EXPECT_NE(llvm_ir(f, test_socs().front(), false).find("define void @twice"), std::string::npos);
  EXPECT_NE(assembly(f, test_socs().front()).find("twice:"), std::string::npos);
}

/// An om names an instruction set and no core: code must not use what only this core has.
TEST(Instructions, CoreDecidesScheduleButNoInstruction) {
  for (Soc soc : test_socs()) {
    soc.llvm_cpu = "znver5";
    const std::string text = llvm_ir(scale("twice", 2.0f), soc, false);
    const std::string baseline = soc.target->name() == "avx512" ? "x86-64-v4" : "x86-64-v3";
    EXPECT_NE(text.find("\"target-cpu\"=\"" + baseline + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"tune-cpu\"=\"znver5\""), std::string::npos) << text;
    EXPECT_EQ(text.find("target-features"), std::string::npos) << text;
  }
}

/// A loop that copies or clears must stay a loop: the shared object has no memcpy to call.
TEST(SharedObject, NeedsNoLibrary) {
  for (const Soc& soc : test_socs()) {
    Builder b("copy");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
    b.parallel(1, [&](Int) {
      b.loop("i", 0, 4096, 1, [&](Int i) { b.store(y, i, b.load(x, i, 1)); });
      b.loop("i", 0, 4096, 1, [&](Int i) { b.store(y, i + 4096, splat(0.0f, 1)); });
      b.store(y, 0, tanh(b.load(x, 0, 1)) + erf(log(exp(floor(sqrt(b.load(x, 1, 1)))))));
    });
    EXPECT_EQ(assembly(b.finish(), soc).find("call"), std::string::npos);
  }
}

/// The register block that convolutions live on: no accumulator may leave its register in the inner
/// loop.
TEST(RegisterBlock, OfFourteenByTwoDoesNotSpill) {
  const Soc* soc = &test_socs().back();
  if (soc->vector_registers() != 32) GTEST_SKIP() << "needs 32 registers";
  Builder b("block");
  const Buffer x = b.buffer("x", Access::kRead), w = b.buffer("w", Access::kRead);
  const Buffer y = b.buffer("y", Access::kWrite);
  b.parallel(4, [&](Int p) {
    std::vector<Local> sums;
    for (int i = 0; i < 28; ++i) sums.push_back(b.local(splat(0.0f, 16)));
    b.loop("k", 0, 256, 1, [&](Int k) {
      const Local w0 = b.local(b.load(w, k * 32, 16)), w1 = b.local(b.load(w, k * 32 + 16, 16));
      for (int i = 0; i < 14; ++i) {
        const Vec column = b.load_broadcast(x, (p * 14 + i) * 256 + k, 16);
        b.assign(sums[2 * i], fma(b.get(w0), column, b.get(sums[2 * i])));
        b.assign(sums[2 * i + 1], fma(b.get(w1), column, b.get(sums[2 * i + 1])));
      }
    });
    for (int i = 0; i < 28; ++i) b.store(y, p * 448 + i * 16, b.get(sums[i]));
  });
  const std::string text = assembly(b.finish(), *soc);
  EXPECT_EQ(text.find("Spill"), std::string::npos) << text;
  EXPECT_EQ(text.find("(%rsp)"), std::string::npos) << text;
}

}  // namespace
}  // namespace aoe::compiler::loopnest
