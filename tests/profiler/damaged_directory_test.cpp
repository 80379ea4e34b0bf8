// A whole directory of a real collection, cut and with bytes flipped in all of its files: what is whole is imported, what is lost
// is said, and nothing is harmed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "profiler/collect/collection.h"
#include "profiler/collect/memory_block.h"
#include "profiler/database/importer.h"
#include "tests/profiler/generations.h"
#include "tests/temp_dir.h"

namespace aoe::profiler {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kRuns = 100;

/// Collects some of everything that there is; little, because it is imported thousands of times.
fs::path collect_something(const fs::path& output, Generation generation) {
  Collection collection(
      {.generation = generation, .output = output, .system = {true, true, true, true}});
  collection.add_model(
      {{"model_id", 1}, {"model_name", "m"}, {"ops", {{{"name", "a"}}, {{"name", "b"}}}}});
  const MemoryBlock block("arena m", 4096);
  for (std::uint32_t run = 1; run <= kRuns; ++run) {
    const std::uint64_t begin = now_ticks();
    for (std::uint32_t op = 0; op < 2; ++op) {
      record(EventKind::kCounter, 0, begin, 7, task_value(op, run << kModelBits | 1));
      record(EventKind::kTask, intern("op " + std::to_string(run % 50)), begin, now_ticks(),
             task_value(op, run << kModelBits | 1));
    }
    record(EventKind::kApi, intern("aclmdlExecute"), begin, now_ticks(), 20000);
  }
  collection.stop();
  return collection.directory();
}

struct FileBytes {
  fs::path path;
  std::string bytes;
};

class DamagedDirectory : public ::testing::TestWithParam<Generation> {
 protected:
  void SetUp() override {
    for (const auto& entry : fs::recursive_directory_iterator(directory_))
      if (entry.is_regular_file())
        files_.push_back({entry.path(), read_file(entry.path(), ExitCode::kData)});
    const ImportResult whole = import_raw(directory_);
    ASSERT_TRUE(whole.losses.empty());
    records_ = whole.events;
    ASSERT_GE(records_, std::size_t{kRuns} * 5);
    set_log_level("null");  // thousands of losses
  }
  void TearDown() override { set_log_level("warning"); }
  void write(const FileBytes& file, std::string_view bytes) const {
    std::ofstream(file.path, std::ios::binary) << bytes;
  }
  /// Imports what is there. What is missing is among the losses.
  std::size_t import_damaged() const {
    const ImportResult result = import_raw(directory_);
    for (const RawLoss& loss : result.losses) EXPECT_FALSE(loss.why.empty());
    EXPECT_LE(result.events, records_);
    EXPECT_TRUE(result.events == records_ || !result.losses.empty());
    return result.events;
  }

  const aoe::tests::TempDir temp_;
  const fs::path directory_ = collect_something(temp_.path(), GetParam());
  std::vector<FileBytes> files_;
  std::size_t records_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Raw, DamagedDirectory,
                         ::testing::Values(Generation::kProf, Generation::kJob),
                         ::testing::PrintToStringParamName());

TEST_P(DamagedDirectory, EachFileCutAtEachPage) {
  for (const FileBytes& file : files_) {
    for (std::size_t cut = 0; cut < file.bytes.size(); cut += 4096) {
      SCOPED_TRACE(file.path.filename().string() + " cut at " + std::to_string(cut));
      write(file, std::string_view(file.bytes).substr(0, cut));
      import_damaged();
    }
    write(file, file.bytes);
  }
  EXPECT_EQ(import_damaged(), records_);
}

TEST_P(DamagedDirectory, RandomBytesFlippedInAnyFile) {
  const char* const wanted =
      std::getenv("AOE_FLIP_TRIES");  // the run with the label `slow` sets it
  const int tries = wanted == nullptr ? 200 : std::atoi(wanted);
  std::size_t damaged_imports = 0;
  for (int seed = 0; seed < tries && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<unsigned>(seed));
    const FileBytes& file = files_[random() % files_.size()];
    std::string damaged = file.bytes;
    const auto flips = 1 + random() % 8;
    for (unsigned long i = 0; i < flips && !damaged.empty(); ++i)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    write(file, damaged);
    if (import_damaged() < records_) ++damaged_imports;
    write(file, file.bytes);
  }
  EXPECT_GT(damaged_imports, 0u);  // the damage did hit records
  EXPECT_EQ(import_damaged(), records_);
}

}  // namespace
}  // namespace aoe::profiler
