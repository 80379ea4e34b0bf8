// An om with gears: what was written is read back, nothing else is accepted, and each gear runs.
#include "tests/runtime/geared_om.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "runtime/aligned_memory.h"
#include "runtime/geared_executor.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::geared_om;
using tests::kBatches;

GearedOm parse(const std::string& bytes) {
  const auto copy = std::make_shared<const AlignedMemory>(bytes.size());
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  return GearedOm::parse({static_cast<const char*>(copy->data()), bytes.size()}, copy, "test.om");
}

void expect_refused(const std::string& bytes, const std::string& what) {
  try {
    parse(bytes);
    ADD_FAILURE() << what << " was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm) << what;
    EXPECT_EQ(e.where(), "test.om") << what;
  }
}

std::uint32_t format_version(const std::string& bytes) {
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + 8, sizeof version);
  return version;
}

TEST(GearedOm, ReadsBackWhatWasWritten) {
  const std::string bytes = geared_om().serialize();
  EXPECT_EQ(format_version(bytes), 2u);
  const GearedOm model = parse(bytes);
  EXPECT_EQ(model.gears, geared_om().gears);
  ASSERT_EQ(model.oms.size(), 3u);
  EXPECT_EQ(model.arena_bytes(), 64u);
  for (std::size_t g = 0; g < 3; ++g) {
    const Om& om = model.oms[g];
    EXPECT_EQ(om.tensors[om.inputs[0]].desc.shape, (Shape{kBatches[g], 3}));
    EXPECT_EQ(om.tuning, (nlohmann::json{{"rows", kBatches[g]}}));
    EXPECT_EQ(om.weights_view.data(), model.oms[0].weights_view.data()) << "stored once";
    EXPECT_EQ(om.weights_view.size(), 12u);
  }
  EXPECT_EQ(model.serialize(), bytes);
}

TEST(GearedOm, WithoutGearsIsAnOmAsEver) {
  const std::string bytes = tests::small_om().serialize();
  EXPECT_EQ(format_version(bytes), 1u) << "older programs can read it";
  const GearedOm model = parse(bytes);
  EXPECT_TRUE(model.gears.empty());
  ASSERT_EQ(model.oms.size(), 1u);
  EXPECT_EQ(model.serialize(), bytes);
}

TEST(GearedOm, IsRefusedByProgramsForOneShape) {
  const aoe::tests::TempDir dir;
  write_file_atomically(dir / "m.om", geared_om().serialize());
  try {
    Om::load(dir / "m.om");
    ADD_FAILURE() << "it was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm);
    EXPECT_NE(std::string(e.what()).find("batch sizes 1, 4, 2"), std::string::npos) << e.what();
  }
}

TEST(GearedOm, RefusesTruncationAndFlippedBitsAtEveryByte) {
  const std::string bytes = geared_om().serialize();
  for (std::size_t i = 0; i < bytes.size(); i += i < 8192 ? 1 : 7) {
    expect_refused(bytes.substr(0, i), "truncation at " + std::to_string(i));
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i * 5 % 8)));
    expect_refused(damaged, "a flipped bit of byte " + std::to_string(i));
  }
}

TEST(GearedOm, RefusesAVersionOfTheFuture) {
  std::string bytes = geared_om().serialize();
  bytes[8] = 3;
  expect_refused(bytes, "version 3");
}

/// The checksums of these files are right; what they say is not.
TEST(GearedOm, RefusesInconsistentGears) {
  struct Case {
    const char* name;
    std::function<void(GearedOm&)> spoil;
  };
  const Case cases[] = {
      {"the same gear twice", [](GearedOm& m) { m.gears.values[1] = m.gears.values[0]; }},
      {"a gear without sizes", [](GearedOm& m) { m.gears.values[1].clear(); }},
      {"a gear with more sizes", [](GearedOm& m) { m.gears.values[1].push_back(2); }},
      {"a gear of size 0", [](GearedOm& m) { m.gears.values[1] = {0}; }},
      {"an axis out of range",
       [](GearedOm& m) {
         m.gears.dynamic_axes[0] = {0, 2};
       }},
      {"an input that is not described", [](GearedOm& m) { m.gears.dynamic_axes.clear(); }},
      {"an axis that changes unsaid", [](GearedOm& m) { m.gears.dynamic_axes[0] = {1}; }},
      {"an output of another name", [](GearedOm& m) { m.oms[1].tensors[3].name = "z"; }},
      {"an input of another type",
       [](GearedOm& m) { m.oms[2].tensors[0].desc.dtype = DataType::kInt32; }},
      {"another number of threads", [](GearedOm& m) { m.oms[2].threads = 9; }},
  };
  for (const Case& c : cases) {
    GearedOm model = geared_om();
    c.spoil(model);
    expect_refused(model.serialize(), c.name);
  }
}

TEST(GearedExecutor, RunsEachGearInOneArena) {
  GearedExecutor executor(parse(geared_om().serialize()), {.threads = 1});
  ASSERT_EQ(executor.gear_count(), 3u);
  for (const std::size_t g : {1, 0, 2, 1}) {
    const auto rows = static_cast<std::size_t>(kBatches[g]);
    std::vector<float> x(3 * rows, 1), y(3 * rows);
    const Tensor inputs[] = {{floats({kBatches[g], 3}), x.data()}};
    Tensor outputs[] = {{floats({kBatches[g], 3}), y.data()}};
    executor.gear(g).run(inputs, outputs);
    for (std::size_t row = 0; row < rows; ++row)
      EXPECT_EQ(std::vector(y.begin() + 3 * row, y.begin() + 3 * row + 3),
                (std::vector<float>{2, 0, 4}));
  }
}

}  // namespace
}  // namespace aoe::runtime
