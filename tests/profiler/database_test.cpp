// Import: what the raw data hold is what the tables hold.
#include "profiler/database/database.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "profiler/database/importer.h"
#include "profiler/database/profile_directory.h"
#include "tests/profiler/synthetic_profile.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using aoe::tests::TempDir;

std::int64_t number(const Database& profile, const std::string& sql) {
  Statement row = profile.connection().prepare(sql);
  EXPECT_TRUE(row.step()) << sql;
  return row.integer(0);
}

std::string text(const Database& profile, const std::string& sql) {
  Statement row = profile.connection().prepare(sql);
  EXPECT_TRUE(row.step()) << sql;
  return std::string(row.text(0));
}

Database imported(SyntheticProfile& profile) {
  profile.flush();
  return Database(import_raw(profile.directory()).database);
}

TEST(Importer, KeepsEveryEventWithUnixTimes) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 100, 7);
  const Database profile = imported(raw);
  EXPECT_EQ(number(profile, "SELECT count(*) FROM TASK"), 700);
  EXPECT_EQ(number(profile, "SELECT count(*) FROM CANN_API WHERE type = 20000"), 100);
  EXPECT_EQ(number(profile, "SELECT count(*) FROM MODEL_EXECUTION"), 100);
  EXPECT_EQ(number(profile, "SELECT sum(endNs - startNs) FROM TASK"), 700 * 3001);
  EXPECT_EQ(number(profile, "SELECT min(startNs) FROM CANN_API"),
            1'000'000'000 + kMonotonicToUnixNs);
  EXPECT_EQ(number(profile, "SELECT startTimeNs FROM SESSION_TIME_INFO"),
            1'000'000'000 + kMonotonicToUnixNs);
  EXPECT_EQ(number(profile, "SELECT DISTINCT globalPid FROM TASK"), kProcessId);
  EXPECT_EQ(number(profile, "SELECT DISTINCT globalTid FROM CANN_API"),
            kProcessId << 32 | kThreadId);
  // Each task leads to the call that launched it.
  EXPECT_EQ(number(profile,
                   "SELECT count(*) FROM TASK t JOIN CANN_API a USING(connectionId) "
                   "WHERE type = 20000 AND t.startNs BETWEEN a.startNs AND a.endNs"),
            700);
}

TEST(Importer, HasTheLevelsBetweenACallAndItsTasks) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 100, 7);
  const Database profile = imported(raw);
  const std::string of_level =
      "SELECT count(*) FROM CANN_API api JOIN STRING_IDS s ON s.id = api.name "
      "JOIN ENUM_API_TYPE level ON level.id = api.type WHERE level.name || '@' || s.value = ";
  EXPECT_EQ(number(profile, of_level + "'acl@aclmdlExecute'"), 100);
  EXPECT_EQ(number(profile, of_level + "'model@ModelExecute'"), 100);
  EXPECT_EQ(number(profile, of_level + "'node@launch'"), 700);
  const std::string inside =
      "SELECT count(*) FROM CANN_API within JOIN CANN_API around USING(connectionId, globalTid) "
      "WHERE within.startNs >= around.startNs AND within.endNs <= around.endNs ";
  EXPECT_EQ(number(profile, inside + "AND within.type = 15000 AND around.type = 20000"), 100);
  EXPECT_EQ(number(profile, inside + "AND within.type = 10000 AND around.type = 15000"), 700);
}

TEST(Importer, FindsWhenTheDeviceComputesAndWhenNot) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.model(synthetic_model({synthetic_op("a", "Conv2D", {{1}}, {{1}})}));
  raw.task(0, run_and_model(1, 1), 1000, 2000);
  raw.task(0, run_and_model(2, 1), 2000, 2500);
  raw.task(0, run_and_model(3, 1), 1500, 4000, /*thread=*/1);  // over the one before
  raw.task(0, run_and_model(4, 1), 4999, 5500);                // 999 ns later: the same stretch
  raw.task(0, run_and_model(5, 1), 6500, 6600);
  const Database profile = imported(raw);
  const auto sum_ns = [&](const char* type) {
    return number(profile, std::string("SELECT sum(endNs - startNs) FROM OVERLAP_ANALYSIS "
                                       "WHERE type = ") +
                               type);
  };
  EXPECT_EQ(number(profile, "SELECT count(*) FROM OVERLAP_ANALYSIS"), 3);
  EXPECT_EQ(sum_ns("0"), 4500 + 100);
  EXPECT_EQ(sum_ns("3"), 1000);
}

TEST(Importer, DescribesTasksByTheirOps) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 3, 2);
  const Database profile = imported(raw);
  EXPECT_EQ(text(profile,
                 "SELECT group_concat(n.value || ' ' || t.value || ' ' || s.value, '|') "
                 "FROM COMPUTE_TASK_INFO c JOIN STRING_IDS n ON n.id = c.name "
                 "JOIN STRING_IDS t ON t.id = c.opType JOIN STRING_IDS s ON s.id = c.inputShapes "
                 "WHERE c.globalTaskId <= 2"),
            "conv0 Conv2D 1,64,56,56;64,64,3,3|conv1 Relu 1,64,56,56;64,64,3,3");
  ASSERT_EQ(profile.models().size(), 1u);
  EXPECT_EQ(profile.op(1, 1)->name, "conv1");
  EXPECT_EQ(profile.op(1, 2), nullptr);
  EXPECT_EQ(*profile.op(1, 0)->flops, 2000);
}

TEST(Importer, UnwrapsRunNumbers) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.model(synthetic_model({synthetic_op("a", "Relu", {{1}}, {{1}})}));
  const std::uint32_t wraps_at = 1u << 20;
  std::int64_t now_ns = 0;
  for (std::uint32_t run = 400'000; run < wraps_at + 500'000; run += 100'000, now_ns += 10)
    raw.task(0, run_and_model(run % wraps_at, 1), now_ns, now_ns + 5);
  // Two threads: one is a little behind.
  raw.task(0, run_and_model((wraps_at - 10) % wraps_at, 1), now_ns, now_ns + 5);
  const Database profile = imported(raw);
  EXPECT_EQ(number(profile, "SELECT max(run) FROM TASK"), 1'500'000);
  EXPECT_EQ(number(profile, "SELECT count(DISTINCT run) FROM TASK"), 13);
  EXPECT_EQ(number(profile, "SELECT run FROM TASK ORDER BY startNs DESC LIMIT 1"), wraps_at - 10);
}

TEST(Importer, TotalsMemoryByComponent) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.memory("arena resnet", 1000, 10, 10);
  raw.memory("weights resnet", 500, 11, 11);
  raw.memory("arena resnet", 200, 20, 20);
  raw.memory("arena resnet", 1000, 10, 30);  // the first block's release
  const Database profile = imported(raw);
  EXPECT_EQ(text(profile,
                 "SELECT group_concat(s.value || ' ' || size || ' ' || totalAllocate, '|') "
                 "FROM NPU_OP_MEM JOIN STRING_IDS s ON s.id = component"),
            "arena 1000 1000|weights 500 500|arena 200 1200|arena -1000 200");
}

TEST(Importer, SaysAndStoresWhatIsLost) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 3000, 7);
  raw.flush();
  const std::filesystem::path slice =
      raw.directory() / slice_name(Stream::kTasks, Generation::kProf, 0);
  const auto size = std::filesystem::file_size(slice);
  std::filesystem::resize_file(slice, size - 1000);
  const ImportResult result = import_raw(raw.directory());
  ASSERT_FALSE(result.losses.empty());
  const Database profile(result.database);
  EXPECT_EQ(number(profile, "SELECT count(*) FROM RAW_LOSS"),
            static_cast<std::int64_t>(result.losses.size()));
  const std::int64_t tasks = number(profile, "SELECT count(*) FROM TASK");
  EXPECT_LT(tasks, 21'000);
  EXPECT_GE(tasks, 21'000 - 2 * 4096);
}

TEST(Importer, ReplacesTheDatabaseOfAnEarlierImport) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kJob);
  fill_with_runs(raw, 10, 2);
  EXPECT_EQ(number(imported(raw), "SELECT count(*) FROM TASK"), 20);
  EXPECT_EQ(number(imported(raw), "SELECT count(*) FROM TASK"), 20);
  EXPECT_EQ(import_raw(raw.directory()).database, raw.directory() / "sqlite" / "profile.db");
  EXPECT_TRUE(std::filesystem::exists(raw.directory() / "log" / "import.log"));
}

TEST(Importer, RefusesWhatIsNoProfile) {
  TempDir dir;
  EXPECT_THROW(import_raw(dir.path()), Error);
  EXPECT_THROW(Database(dir.path() / "missing.db"), Error);
}

TEST(Database, RefusesADamagedFile) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 10, 2);
  raw.flush();
  const std::filesystem::path path = import_raw(raw.directory()).database;
  std::filesystem::resize_file(path, 100);
  EXPECT_THROW(Database{path}, Error);
}

TEST(Database, NamesTheIterationsThereAre) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 5, 2);
  const Database profile = imported(raw);
  EXPECT_EQ(profile.iteration(1, 3).run, 3);
  try {
    profile.iteration(1, 6);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model 1 has 5"), std::string::npos) << error.what();
  }
}

TEST(ProfileDirectories, FindsThoseBelow) {
  TempDir dir;
  SyntheticProfile prof(dir.path(), Generation::kProf);
  SyntheticProfile job(dir.path(), Generation::kJob);
  EXPECT_EQ(profile_directories(dir.path()).size(), 2u);
  EXPECT_EQ(profile_directories(job.directory().string() + "/").front(), job.directory());
  EXPECT_THROW(profile_directories(dir.path() / "nothing"), Error);
}

}  // namespace
}  // namespace aoe::profiler::tests
