// The host's Soc, descriptions of other ones, and what is said about names that nobody knows.
#include "compiler/soc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "runtime/host_soc.h"
#include "runtime/isa.h"
#include "tests/temp_dir.h"

namespace aoe::compiler {
namespace {

const std::string kConfigDir = AOE_TEST_DIR "/../../configs/soc";

/// What the Error says and which code it has; fails when there is none.
template <typename Call>
std::pair<ExitCode, std::string> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  ADD_FAILURE() << "no Error";
  return {};
}

/// Sets OMP_NUM_THREADS for one test.
class OmpNumThreads {
 public:
  explicit OmpNumThreads(const char* value) {
    if (const char* before = std::getenv("OMP_NUM_THREADS")) before_ = before;
    value == nullptr ? ::unsetenv("OMP_NUM_THREADS") : ::setenv("OMP_NUM_THREADS", value, 1);
  }
  ~OmpNumThreads() {
    before_.empty() ? ::unsetenv("OMP_NUM_THREADS")
                    : ::setenv("OMP_NUM_THREADS", before_.c_str(), 1);
  }

 private:
  std::string before_;
};

TEST(Soc, DetectsTheHost) {
  const Soc soc = detect_soc(3);
  EXPECT_EQ(soc.threads, 3);
  EXPECT_TRUE(soc.version.starts_with("x86_64-")) << soc.version;
  EXPECT_TRUE(soc.version.ends_with("-3t")) << soc.version;
  const bool is_wide = runtime::host_supports("avx512");
  EXPECT_EQ(soc.target->name(), is_wide ? "avx512" : "avx2");
  EXPECT_EQ(soc.vector_lanes(), is_wide ? 16 : 8);
  EXPECT_EQ(soc.vector_registers(), is_wide ? 32 : 16);
  EXPECT_FALSE(soc.llvm_cpu.empty());
  EXPECT_GE(soc.l1d_bytes, 16 << 10);
  EXPECT_GE(soc.l2_bytes, soc.l1d_bytes);
}

TEST(Soc, IsNamedAsTheRuntimeNamesIt) {
  EXPECT_EQ(detect_soc().version, runtime::host_soc_version());
  EXPECT_EQ(detect_soc(7).version, runtime::host_soc_version(7));
}

TEST(Soc, TakesItsThreadsFromOpenMpsVariable) {
  const OmpNumThreads variable("5");
  EXPECT_EQ(detect_soc().threads, 5);
  EXPECT_EQ(detect_soc(2).threads, 2) << "an explicit number wins";
}

TEST(Soc, UsesOnlyTheOutermostOfNestedThreadCounts) {
  const OmpNumThreads variable("4,2");
  EXPECT_EQ(detect_soc().threads, 4);
}

TEST(Soc, IgnoresAMalformedThreadVariable) {
  int without = 0;
  {
    const OmpNumThreads variable(nullptr);
    without = detect_soc().threads;
  }
  const OmpNumThreads variable("many");
  EXPECT_EQ(detect_soc().threads, without);
}

TEST(Soc, AcceptsTheHostsOwnVersionWithoutAFile) {
  const Soc host = detect_soc(3);
  const tests::TempDir empty;
  const Soc again = soc_from_version(host.version, empty.path());
  EXPECT_EQ(again.version, host.version);
  EXPECT_EQ(again.threads, 3);
  EXPECT_EQ(again.l2_bytes, host.l2_bytes);
  EXPECT_EQ(soc_from_version("auto", empty.path(), 3).version, host.version);
}

TEST(Soc, ReadsEveryDescriptionThatShips) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigDir)) {
    if (entry.path().extension() != ".json") continue;
    const std::string version = entry.path().stem();
    SCOPED_TRACE(version);
    const Soc soc = soc_from_version(version, kConfigDir, 4);
    EXPECT_EQ(soc.version, version + "-4t");
    EXPECT_EQ(soc.threads, 4);
    EXPECT_EQ(soc.vector_lanes(), soc.target->float_lanes());
    EXPECT_FALSE(soc.llvm_cpu.empty());
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Soc, TakesThreadsFromTheVersionElseFromTheFile) {
  const tests::TempDir dir;
  std::ofstream(dir / "x86_64-test.json") << R"({"isa": "avx2", "llvm_cpu": "haswell", "threads": 6,
             "l1d_bytes": 1024, "l2_bytes": 2048, "l3_bytes": 4096})";
  const Soc by_file = soc_from_version("x86_64-test", dir.path());
  EXPECT_EQ(by_file.version, "x86_64-test-6t");
  EXPECT_EQ(by_file.target->name(), "avx2");
  EXPECT_EQ(by_file.vector_lanes(), 8);
  EXPECT_EQ(by_file.l1d_bytes, 1024);
  EXPECT_EQ(by_file.l3_bytes, 4096);
  EXPECT_EQ(soc_from_version("x86_64-test-12t", dir.path()).threads, 12);
  EXPECT_EQ(soc_from_version("x86_64-test-12t", dir.path(), 12).threads, 12);
}

TEST(Soc, RefusesTwoThreadCountsThatDiffer) {
  const auto [code, text] = error_of([] { soc_from_version("x86_64-v3-8t", kConfigDir, 4); });
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_NE(text.find("8 threads"), std::string::npos) << text;
  EXPECT_NE(text.find("4 are asked for"), std::string::npos) << text;
}

TEST(Soc, ListsWhatIsKnownWhenANameIsNot) {
  for (const char* name : {"Ascend310P3", "x86_64-z80-2t", "../soc/x86_64-v3", ""}) {
    SCOPED_TRACE(name);
    const auto [code, text] = error_of([&] { soc_from_version(name, kConfigDir); });
    EXPECT_EQ(code, ExitCode::kUsage);
    EXPECT_NE(text.find("auto, " + detect_soc().version), std::string::npos) << text;
    EXPECT_NE(text.find("x86_64-sapphirerapids"), std::string::npos) << text;
  }
}

TEST(Soc, NamesTheDescriptionThatIsMalformed) {
  struct Case {
    const char* json;
    const char* complaint;
  };
  const Case cases[] = {
      {"{", "parse error"},
      {R"({"isa": "avx2"})", "llvm_cpu"},
      {R"({"isa": "neon"})",
       "isa is 'neon', must be avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16, avx512_fp16 or "
       "avx512_amx"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.json);
    const tests::TempDir dir;
    std::ofstream(dir / "x86_64-test.json") << each.json;
    const auto [code, text] = error_of([&] { soc_from_version("x86_64-test", dir.path()); });
    EXPECT_EQ(code, ExitCode::kUsage);
    EXPECT_NE(text.find("x86_64-test.json"), std::string::npos) << text;
    EXPECT_NE(text.find(each.complaint), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace aoe::compiler
