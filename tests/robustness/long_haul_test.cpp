// A process that serves and tunes for long: models are tuned, loaded, run by two threads, and unloaded, in turn. Its memory, descriptors,
// mappings, threads and temporary files do not grow. A user's program: it has the two shared libraries, and nothing else of ours.

#include <aoe/aoe.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <aoe/session.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

namespace fs = std::filesystem;

/// Each model once: thread pools, LLVM's tables, RocksDB's caches and malloc's arenas are filled then, and stay.
constexpr std::size_t kWarmUpRounds = 3;
/// What one om leaves behind is more than the noise, even in the shortest haul.
constexpr std::size_t kLoadsPerRound = 50;
/// Holes in malloc's arenas, which differ from round to round.
constexpr double kMemoryNoiseMb = 6;
constexpr double kHeapNoiseMb = 0.5;
/// A bank's blocks stay in a cache of all banks, of 32 MB at most: 7 KB with each tuning were measured.
constexpr double kCachedPerTuningMb = 0.01;
constexpr std::size_t kMappingNoise = 10;

double seconds_of_haul() {
  const char* const text = std::getenv("AOE_HAUL_S");
  return text == nullptr ? 0 : std::atof(text);
}

std::size_t entries(const fs::path& directory) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

/// What this process holds.
struct Holdings {
  double resident_mb = 0;
  double heap_mb = 0;  ///< of it, what malloc has given out: exact
  std::size_t descriptors = 0, threads = 0, mappings = 0, temporary_files = 0;
};

Holdings holdings(const fs::path& temporary) {
  // A thread that has been joined may still be listed for a moment.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Holdings now;
  std::ifstream pages("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  pages >> all >> resident;
  now.resident_mb = static_cast<double>(resident) * 4096 / 1e6;
  now.heap_mb = static_cast<double>(::mallinfo2().uordblks) / 1e6;
  now.descriptors = entries("/proc/self/fd");
  now.threads = entries("/proc/self/task");
  std::ifstream maps("/proc/self/maps");
  now.mappings = static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
  now.temporary_files = entries(temporary);
  return now;
}

std::ostream& operator<<(std::ostream& out, const Holdings& now) {
  return out << now.resident_mb << " MB (heap " << now.heap_mb << "), " << now.descriptors
             << " descriptors, " << now.threads << " threads, " << now.mappings << " mappings, "
             << now.temporary_files << " temporary files";
}

class LongHaul : public testing::Test {
 protected:
  LongHaul() {
    for (const char* const each : {"tmp", "work"}) fs::create_directory(directory_ / each);
    ::setenv("TMPDIR", temporary().c_str(), 1);
    make("mobilenetv2", "--image=64");
    make("bert-base", "--sequence=16");
    make("lstm-tagger", "--sequence=16");
    EXPECT_EQ(Aoe::AoeInitialize({{"work_path", (directory_ / "work").string()}}), AOE_SUCCESS);
  }
  ~LongHaul() override {
    EXPECT_EQ(Aoe::AoeFinalize(), AOE_SUCCESS);
    ::unsetenv("TMPDIR");
    ::unsetenv("TUNE_BANK_PATH");
  }

  fs::path temporary() const { return directory_ / "tmp"; }

  void make(const std::string& network, const std::string& size) {
    const fs::path model = directory_ / (network + ".onnx");
    const std::string command = std::string(AOE_MAKE_MODEL) + " " + network + " --small " + size +
                                " --output=" + model.string();
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    models_.push_back(model);
  }

  /// Into a bank that knows nothing, so that there is something to do each time; the om it wrote.
  fs::path tune(const fs::path& model) {
    const fs::path bank = directory_ / "bank", tuned = directory_ / "tuned";
    fs::remove_all(bank);
    fs::create_directory(bank);
    ::setenv("TUNE_BANK_PATH", bank.c_str(), 1);
    std::uint64_t session = 0;
    EXPECT_EQ(Aoe::AoeCreateSession(session), AOE_SUCCESS);
    const AoeGraph graph{.path = model.c_str()};
    EXPECT_EQ(AoeSetTuningGraph(session, &graph), AOE_SUCCESS) << AoeGetLastError();
    const Aoe::Options few = {{"job_type", "2"}, {"preset", AOE_TEST_DIR "/../brief_preset.json"},
                              {"trials", "3"},   {"search_limit", "2"},
                              {"threads", "2"},  {"output", tuned.string()}};
    EXPECT_EQ(Aoe::AoeTuningGraph(session, few), AOE_SUCCESS) << AoeGetLastError();
    EXPECT_EQ(AoeDestroySession(session), AOE_SUCCESS);
    return tuned.string() + ".om";
  }

  /// Loaded, run by two threads, unloaded.
  static void serve(const fs::path& om) {
    const Session model(om.string());
    const auto client = [&model] {
      std::vector<std::vector<unsigned char>> memory;
      std::map<std::string, TensorView> feed;
      for (const Port& input : model.inputs()) {
        memory.emplace_back(input.bytes);
        feed[input.name] = {memory.back().data(), input.shape, input.type};
      }
      for (int i = 0; i < 5; ++i) EXPECT_EQ(model.run(feed).size(), model.outputs().size());
    };
    std::thread other(client);
    client();
    other.join();
  }

  Holdings round(std::size_t number) {
    const fs::path om = tune(models_[number % models_.size()]);
    for (std::size_t i = 0; i < kLoadsPerRound; ++i) serve(om);
    return holdings(temporary());
  }

  const TempDir directory_;
  std::vector<fs::path> models_;
};

/// The most of each.
Holdings most(const Holdings& a, const Holdings& b) {
  return {.resident_mb = std::max(a.resident_mb, b.resident_mb),
          .heap_mb = std::max(a.heap_mb, b.heap_mb),
          .descriptors = std::max(a.descriptors, b.descriptors),
          .threads = std::max(a.threads, b.threads),
          .mappings = std::max(a.mappings, b.mappings),
          .temporary_files = std::max(a.temporary_files, b.temporary_files)};
}

TEST_F(LongHaul, NothingGrowsWhileModelsAreTunedLoadedRunAndUnloaded) {
  Holdings warm;
  for (std::size_t i = 0; i < kWarmUpRounds; ++i) warm = most(warm, round(i));
  std::cout << "warm: " << warm << std::endl;

  const auto begin = std::chrono::steady_clock::now();
  double elapsed_s = 0, told_s = 0;
  Holdings now, peak;
  std::size_t rounds = 0;
  for (; elapsed_s < seconds_of_haul() || rounds < kWarmUpRounds; ++rounds) {
    now = round(rounds);
    peak = most(peak, now);
    elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (elapsed_s < told_s) continue;
    std::cout << static_cast<int>(elapsed_s) << " s, round " << rounds + 1 << ": " << now
              << std::endl;
    told_s = elapsed_s + 120;
  }
  std::cout << rounds << " rounds, " << rounds * kLoadsPerRound << " loads; the last: " << now
            << "; the most: " << peak << std::endl;

  EXPECT_LE(peak.resident_mb, warm.resident_mb + kMemoryNoiseMb);
  EXPECT_LE(peak.heap_mb,
            warm.heap_mb + kHeapNoiseMb + kCachedPerTuningMb * static_cast<double>(rounds));
  EXPECT_LE(peak.mappings, warm.mappings + kMappingNoise);
  EXPECT_EQ(peak.descriptors, warm.descriptors);
  EXPECT_EQ(peak.threads, warm.threads);
  EXPECT_LE(peak.temporary_files, 1u);  // that of base/measuring_notice.h stays
}

}  // namespace
}  // namespace aoe::tests
