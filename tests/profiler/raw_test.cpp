// Raw data: what is written is read back; damaged data gives what is whole and says what is lost.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "profiler/raw/raw_reader.h"
#include "profiler/raw/raw_writer.h"
#include "tests/profiler/generations.h"
#include "tests/profiler/raw_memory.h"
#include "tests/temp_dir.h"

namespace aoe::profiler {
namespace {

namespace fs = std::filesystem;
using tests::add_events;
using tests::add_strings;
using tests::event_number;
using tests::RawMemory;

fs::path make_directory(const aoe::tests::TempDir& temp, Generation generation) {
  const fs::path directory = temp / "raw";
  if (generation == Generation::kProf) {
    fs::create_directories(directory / "host/data");
    fs::create_directories(directory / "device_0/data");
  } else {
    fs::create_directories(directory / "data");
  }
  return directory;
}

class RawBothGenerations : public ::testing::TestWithParam<Generation> {
 protected:
  RawWriterOptions options() const { return {.directory = directory_, .generation = GetParam()}; }

  aoe::tests::TempDir temp_;
  const fs::path directory_ = make_directory(temp_, GetParam());
};
INSTANTIATE_TEST_SUITE_P(Raw, RawBothGenerations,
                         ::testing::Values(Generation::kProf, Generation::kJob),
                         ::testing::PrintToStringParamName());

TEST_P(RawBothGenerations, EverythingComesBack) {
  {
    RawWriter writer(options());
    add_events(writer, Stream::kTasks, 10, 3);  // before the strings: the reader puts them first
    add_strings(writer, {{7, "conv1"}, {9, ""}});
    const std::string thread =
        std::string("\x39\x30\0\0\0\0\0\0", 8) + std::string("\x02\0\x04\0main", 8);
    ASSERT_TRUE(writer.add(Stream::kDictionary, ChunkKind::kThreads, thread));
    const nlohmann::json model = {{"model_id", 1}, {"ops", nlohmann::json::array()}};
    ASSERT_TRUE(writer.add(Stream::kModels, ChunkKind::kModel, cbor_bytes(model)));
    const RawCounters counters{
        .task_begin_ns = 5, .thread = 2, .op_index = 3, .run_and_model = 0x1001, .values = {1, 2}};
    ASSERT_TRUE(writer.add(Stream::kTasks, ChunkKind::kCounters,
                           {reinterpret_cast<const char*>(&counters), sizeof counters}));
    const RawSample sample{.time_ns = 8, .value = 0.5, .series = 7};
    ASSERT_TRUE(writer.add(Stream::kSystem, ChunkKind::kSamples,
                           {reinterpret_cast<const char*>(&sample), sizeof sample}));
  }
  RawMemory memory;
  EXPECT_TRUE(read_raw(directory_, memory).empty());
  EXPECT_EQ(memory.strings, (std::map<std::uint32_t, std::string>{{7, "conv1"}, {9, ""}}));
  ASSERT_EQ(memory.threads.size(), 1u);
  EXPECT_EQ(memory.threads[2], "12345 main");
  ASSERT_EQ(memory.models.size(), 1u);
  EXPECT_EQ(memory.models[0].at("model_id"), 1);
  ASSERT_EQ(memory.events.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(event_number(memory.events[i]), 10 + i);
  EXPECT_EQ(memory.strings_when_first_event_came, 2u);
  ASSERT_EQ(memory.counters.size(), 1u);
  EXPECT_EQ(memory.counters[0].run_and_model, 0x1001u);
  EXPECT_EQ(memory.counters[0].values[1], 2u);
  ASSERT_EQ(memory.samples.size(), 1u);
  EXPECT_EQ(memory.samples[0].value, 0.5);
}

TEST_P(RawBothGenerations, SlicesReadInTheirOrder) {
  RawWriterOptions small = options();
  small.slice_bytes = 200;
  constexpr std::uint64_t kChunks = 30;  // slice_10 must follow slice_9, not slice_1
  {
    RawWriter writer(small);
    for (std::uint64_t i = 0; i < kChunks; ++i) add_events(writer, Stream::kApi, i * 4, 4);
  }
  RawMemory memory;
  EXPECT_TRUE(read_raw(directory_, memory).empty());
  ASSERT_EQ(memory.events.size(), 4 * kChunks);
  for (std::uint64_t i = 0; i < memory.events.size(); ++i)
    EXPECT_EQ(event_number(memory.events[i]), i);
}

TEST_P(RawBothGenerations, StorageLimitDropsTheOldestAndKeepsWhatOthersNeed) {
  RawWriterOptions limited = options();
  limited.storage_limit_bytes = 64 << 10;
  constexpr std::uint64_t kChunks = 200;
  {
    RawWriter writer(limited);
    add_strings(writer, {{1, "kept"}});
    for (std::uint64_t i = 0; i < kChunks; ++i) add_events(writer, Stream::kTasks, i * 100, 100);
    EXPECT_EQ(writer.stop_reason(), "");
    EXPECT_GT(writer.dropped_slices(), 0u);
  }
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory_))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, *limited.storage_limit_bytes);
  EXPECT_GE(bytes, *limited.storage_limit_bytes * 3 / 4);  // no more than needed was dropped

  RawMemory memory;
  const std::vector<RawLoss> losses = read_raw(directory_, memory);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NE(losses[0].why.find("chunks of this stream are missing"), std::string::npos);
  EXPECT_EQ(memory.strings.at(1), "kept");
  ASSERT_FALSE(memory.events.empty());
  EXPECT_EQ(event_number(memory.events.back()), kChunks * 100 - 1);
}

TEST(RawWriter, NearlyFullDiskStopsOnceAndLeavesSoundFiles) {
  const aoe::tests::TempDir temp;
  const fs::path directory = make_directory(temp, Generation::kProf);
  std::uint64_t free_bytes = kLeastFreeBytes + 1;
  {
    RawWriter writer({.directory = directory, .free_bytes = [&] { return free_bytes; }});
    add_events(writer, Stream::kTasks, 0, 5);
    free_bytes = kLeastFreeBytes - 1;
    EXPECT_FALSE(writer.add(Stream::kTasks, ChunkKind::kEvents, ""));
    EXPECT_EQ(writer.stop_reason(), "less than 20 MB are left on the disk");
    free_bytes = ~std::uint64_t{0};
    EXPECT_FALSE(writer.add(Stream::kTasks, ChunkKind::kEvents, ""));  // for good
  }
  RawMemory memory;
  EXPECT_TRUE(read_raw(directory, memory).empty());
  EXPECT_EQ(memory.events.size(), 5u);
}

TEST(RawWriter, NearlyFullDiskDropsTheOldestWhenALimitIsSet) {
  const aoe::tests::TempDir temp;
  const fs::path directory = make_directory(temp, Generation::kProf);
  std::uint64_t free_bytes = ~std::uint64_t{0};
  RawWriter writer({.directory = directory, .storage_limit_bytes = 1 << 20, .free_bytes = [&] {
                      // Space comes back as soon as one slice is gone.
                      return fs::exists(directory / "device_0/data/aging.task.slice_0")
                                 ? free_bytes
                                 : ~std::uint64_t{0};
                    }});
  add_events(writer, Stream::kTasks, 0, 5);
  free_bytes = 0;
  add_events(writer, Stream::kTasks, 5, 5);
  EXPECT_EQ(writer.stop_reason(), "");
  EXPECT_EQ(writer.dropped_slices(), 1u);
  RawMemory memory;
  EXPECT_EQ(read_raw(directory, memory).size(), 1u);
  ASSERT_EQ(memory.events.size(), 5u);
  EXPECT_EQ(event_number(memory.events[0]), 5u);
}

TEST(RawWriter, DirectoryThatCannotBeWrittenStopsIt) {
  const aoe::tests::TempDir temp;
  RawWriter writer({.directory = temp / "nowhere"});
  EXPECT_FALSE(writer.add(Stream::kTasks, ChunkKind::kEvents, ""));
  EXPECT_NE(writer.stop_reason().find("cannot be written: No such file"), std::string::npos);
}

TEST(RawReader, RefusesWhatIsNoRawDirectory) {
  const aoe::tests::TempDir temp;
  RawMemory memory;
  EXPECT_THROW(read_raw(temp / "nowhere", memory), Error);
  EXPECT_THROW(read_raw(temp.path(), memory), Error);
  fs::create_directories(temp / "data");  // looks like one, but is empty
  EXPECT_THROW(read_raw(temp.path(), memory), Error);
}

TEST(RawReader, InfoFilesComeBackOrAreLosses) {
  const aoe::tests::TempDir temp;
  const fs::path directory = make_directory(temp, Generation::kProf);
  write_file_atomically(directory / "host/info.json", R"({"pid": 42})");
  write_file_atomically(directory / "host/sample.json", R"({"pid": )");
  std::vector<RawLoss> losses;
  const RawInfo info = read_info(directory, losses);
  EXPECT_EQ(info.generation, Generation::kProf);
  EXPECT_EQ(info.info.at("pid"), 42);
  EXPECT_TRUE(info.sample.empty());
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].file.filename(), "sample.json");
}

// A reader that called itself for each level would run out of stack.
TEST(RawReader, DocumentsThatNestDeeplyAreLosses) {
  const aoe::tests::TempDir temp;
  const fs::path directory = make_directory(temp, Generation::kProf);
  write_file_atomically(directory / "host/info.json", std::string(5'000'000, '['));
  write_file_atomically(directory / "host/sample.json", "{}");
  std::vector<RawLoss> losses;
  EXPECT_TRUE(read_info(directory, losses).info.empty());
  EXPECT_EQ(losses.size(), 1u);
  {
    RawWriter writer({.directory = directory});
    ASSERT_TRUE(writer.add(Stream::kModels, ChunkKind::kModel, std::string(1 << 20, '\x81')));
  }
  RawMemory memory;
  EXPECT_EQ(read_raw(directory, memory).size(), 1u);
  EXPECT_TRUE(memory.models.empty());
}

// ---- damage ----

/// A directory with one stream of task events, as bytes.
class RawDamage : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kChunks = 40;
  static constexpr std::uint64_t kEventsInChunk = 25;

  void SetUp() override {
    RawWriter writer({.directory = directory_});
    for (std::uint64_t i = 0; i < kChunks; ++i)
      add_events(writer, Stream::kTasks, i * kEventsInChunk, kEventsInChunk);
  }
  std::string bytes() const { return read_file(file_, ExitCode::kData); }
  void write(std::string_view content) const { std::ofstream(file_, std::ios::binary) << content; }

  /// Each event that is read is one that was written, whole, once and in order; what is missing is said.
  void expect_sound(const std::string& what) const {
    SCOPED_TRACE(what);
    RawMemory memory;
    const std::vector<RawLoss> losses = read_raw(directory_, memory);
    std::int64_t last = -1;
    for (const RawEvent& event : memory.events) {
      EXPECT_TRUE(tests::is_untorn(event));
      EXPECT_GT(static_cast<std::int64_t>(event_number(event)), last);
      last = static_cast<std::int64_t>(event_number(event));
    }
    EXPECT_EQ(memory.events.size() % kEventsInChunk, 0u);
    const std::uint64_t whole_chunks = fs::file_size(file_) / kChunkBytes;
    EXPECT_EQ(losses.empty(), memory.events.size() == whole_chunks * kEventsInChunk &&
                                  fs::file_size(file_) % kChunkBytes == 0);
  }

  static constexpr std::uint64_t kChunkBytes =
      sizeof(ChunkHeader) + kEventsInChunk * sizeof(RawEvent);
  const aoe::tests::TempDir temp_;
  const fs::path directory_ = make_directory(temp_, Generation::kProf);
  const fs::path file_ = directory_ / "device_0/data/aging.task.slice_0";
};

TEST_F(RawDamage, CutAtEveryByteOfAChunkAndAtEveryPage) {
  const std::string whole = bytes();
  ASSERT_EQ(whole.size(), kChunks * kChunkBytes);
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t i = 0; i <= kChunkBytes; ++i) cuts.push_back(3 * kChunkBytes + i);
  for (std::uint64_t page = 0; page < whole.size(); page += 4096) cuts.push_back(page);
  for (const std::uint64_t cut : cuts) {
    write(whole.substr(0, cut));
    RawMemory memory;
    const std::vector<RawLoss> losses = read_raw(directory_, memory);
    EXPECT_EQ(memory.events.size(), cut / kChunkBytes * kEventsInChunk) << "cut at " << cut;
    EXPECT_EQ(losses.empty(), cut % kChunkBytes == 0) << "cut at " << cut;
    if (!losses.empty()) {
      EXPECT_EQ(losses[0].bytes, cut % kChunkBytes);
      EXPECT_EQ(losses[0].offset, cut / kChunkBytes * kChunkBytes);
    }
  }
}

TEST_F(RawDamage, ReaderGoesOnBehindADamagedChunk) {
  std::string damaged = bytes();
  damaged[5 * kChunkBytes + 100] ^= 1;  // content
  damaged[9 * kChunkBytes + 20] ^= 1;   // header
  damaged.erase(20 * kChunkBytes + 7, 300);
  write(damaged);
  RawMemory memory;
  const std::vector<RawLoss> losses = read_raw(directory_, memory);
  EXPECT_EQ(memory.events.size(), (kChunks - 3) * kEventsInChunk);
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses[0].offset, 5 * kChunkBytes);
  EXPECT_EQ(losses[0].bytes, kChunkBytes);
  EXPECT_EQ(losses[0].why, "a chunk's content is damaged");
  EXPECT_EQ(losses[1].why, "a chunk's header is damaged");
  EXPECT_EQ(losses[2].bytes, kChunkBytes - 300);
}

TEST_F(RawDamage, ImpossibleLengthCostsNoMemory) {
  std::string damaged = bytes();
  ChunkHeader header;
  std::memcpy(&header, damaged.data(), sizeof header);
  header.payload_bytes = 0xffffffff;
  header.header_crc = header_crc(header);  // damage that a checksum does not see
  std::memcpy(damaged.data(), &header, sizeof header);
  write(damaged);
  RawMemory memory;
  const std::vector<RawLoss> losses = read_raw(directory_, memory);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].why, "a chunk is impossibly large");
  EXPECT_EQ(memory.events.size(), (kChunks - 1) * kEventsInChunk);
}

void flip_bytes_at_random(std::string& bytes, std::mt19937& random) {
  const auto flips = 1 + random() % 20;
  for (unsigned long i = 0; i < flips; ++i)
    bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
}

TEST_F(RawDamage, RandomBytesFlipped) {
  const char* const wanted =
      std::getenv("AOE_FLIP_TRIES");  // the run with the label `slow` sets it
  const int tries = wanted == nullptr ? 300 : std::atoi(wanted);
  const std::string whole = bytes();
  for (int seed = 0; seed < tries; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string damaged = whole;
    flip_bytes_at_random(damaged, random);
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    write(damaged);
    expect_sound("seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

/// Checksums made right again over damaged content: what a reader must survive that trusts them.
TEST_F(RawDamage, RandomContentUnderRightChecksums) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::error_code ignored;
    fs::remove(file_, ignored);
    RawWriter writer({.directory = directory_});
    for (int i = 0; i < 10; ++i) {
      std::string payload(random() % 200, '\0');
      for (char& c : payload) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 12);
      writer.add(Stream::kTasks, static_cast<ChunkKind>(random() % 10), payload);
    }
    RawMemory memory;
    read_raw(directory_, memory);
    SUCCEED();
  }
}

}  // namespace
}  // namespace aoe::profiler
