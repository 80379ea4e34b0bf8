// Export and import: nothing is lost on the way, and a file from anybody does no harm.
#include "bank/bank_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "bank/zstd_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

class BankFile : public ::testing::Test {
 protected:
  KnowledgeBank open(const std::string& name) {
    return KnowledgeBank(temp_ / name, {.soc_version = kTestSoc});
  }
  /// Confirmed, unconfirmed and both; records of a task without a strategy as well.
  void fill(KnowledgeBank& bank) {
    Record record{
        .strategy = test_strategy("ND", 3), .status = "crashed", .detail = "line\n\"two\""};
    record.features = {{"tile", 0.5}};
    Strategy told = test_strategy("ND", 10);
    told.provenance = {"1.2", "14.0", "2.6", "cpu",     "0x1",    "Linux 6",
                       "net", "conv", 7,     {1, 2, 3}, {4, 5, 6}};
    bank.commit({.strategies = {{test_key(1), told},
                                {test_key(1), test_strategy("NHWC", 11)},
                                {test_key(1), test_strategy("ND", 5), true, false},
                                {test_key(2), test_strategy("ND", 7), true, false}},
                 .records = {{test_key(1), record}, {test_key(9), {test_strategy("ND", 1)}}}});
  }
  void import(KnowledgeBank& bank, const fs::path& file) {
    bank.commit(commit_of(read_bank_file(file), bank));
  }
  /// Of what read_bank_file() throws; "" when it throws nothing.
  std::string refusal(const std::string& bytes) {
    write_file_atomically(temp_ / "bad.zst", bytes);
    try {
      read_bank_file(temp_ / "bad.zst");
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kBank);
      return e.what();
    }
  }
  static json all_of(const KnowledgeBank& bank) {
    json all = json::array();
    for (const BankEntry& entry : bank.entries())
      all.push_back({entry.key.description, to_json(entry.set), to_json(entry.unconfirmed)});
    for (const NewRecord& each : bank.all_records())
      all.push_back({to_hex(each.task.digest), to_json(each.record.strategy), each.record.status,
                     each.record.detail, each.record.seed, each.record.features});
    return all;
  }

  const tests::TempDir temp_;
  const fs::path file_ = temp_ / "bank.zst";
};

TEST_F(BankFile, BringsAllOfABankIntoAnother) {
  KnowledgeBank from = open("from"), to = open("to");
  fill(from);
  write_bank_file(file_, content_of(from, BankKind::kGraph));
  EXPECT_EQ(read_bank_file(file_).kind, BankKind::kGraph);
  import(to, file_);
  EXPECT_EQ(all_of(to), all_of(from));
  EXPECT_EQ(to.find(test_key(1))->strategies.front().measured.time_ns, 10);
  EXPECT_FALSE(to.find(test_key(2)));
  // Once more changes nothing: no record is there twice.
  import(to, file_);
  EXPECT_EQ(all_of(to), all_of(from));
}

TEST_F(BankFile, AnEmptyBankIsAFileToo) {
  KnowledgeBank from = open("from"), to = open("to");
  write_bank_file(file_, content_of(from, BankKind::kOp));
  import(to, file_);
  EXPECT_TRUE(to.entries().empty());
}

TEST_F(BankFile, FasterStrategiesStayUnlessTheFileReplacesThem) {
  KnowledgeBank from = open("from"), to = open("to");
  from.commit({{{test_key(1), test_strategy("ND", 10)}}, {}});
  to.commit({{{test_key(1), test_strategy("ND", 8)}}, {}});
  BankContent content = content_of(from, BankKind::kOp);
  write_bank_file(file_, content);
  import(to, file_);
  EXPECT_EQ(to.find(test_key(1))->strategies.front().measured.time_ns, 8);
  content.entries.front().replace = true;
  write_bank_file(file_, content);
  import(to, file_);
  EXPECT_EQ(to.find(test_key(1))->strategies.front().measured.time_ns, 10);
}

TEST_F(BankFile, CommitsOneAfterTheOtherComeToTheSameAsInABank) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  KnowledgeBank direct = open("direct"), through_a_file = open("through");
  std::vector<Commit> commits;
  for (int round = 0; round < 12; ++round) {
    Commit commit;
    if (random() % 3 == 0) commit.withdrawn.push_back(test_key(static_cast<int>(random() % 4)));
    if (random() % 3 == 0)
      commit.unconfirmed_withdrawn.push_back(test_key(static_cast<int>(random() % 4)));
    for (auto n = random() % 3; n > 0; --n)
      commit.strategies.push_back(
          {test_key(static_cast<int>(random() % 4)),
           test_strategy(random() % 2 ? "ND" : "NHWC", 1.0 + static_cast<double>(random() % 50)),
           random() % 2 == 0, random() % 2 == 0});
    commit.records.push_back({test_key(round), {test_strategy("ND", 1.0 + round)}});
    direct.commit(commit);
    commits.push_back(std::move(commit));
  }
  write_bank_file(file_, content_of(commits, BankKind::kOp, kTestSoc));
  import(through_a_file, file_);
  EXPECT_EQ(all_of(through_a_file), all_of(direct));
}

TEST_F(BankFile, DamageIsRefusedWhereverItIs) {
  KnowledgeBank from = open("from");
  fill(from);
  write_bank_file(file_, content_of(from, BankKind::kOp));
  const std::string good = read_file(file_, ExitCode::kBank);
  EXPECT_EQ(refusal(good), "");
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refusal(good.substr(0, size)), "") << "cut at " << size;
  EXPECT_NE(refusal(good + "x"), "");
  EXPECT_NE(refusal(good + good), "");
  // A bit that says nothing is all that may change; what is read is what was written.
  const auto read_again = [&](const fs::path& file) {
    write_bank_file(temp_ / "again.zst", read_bank_file(file));
    return read_file(temp_ / "again.zst", ExitCode::kBank);
  };
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    if (!refusal(bytes).empty()) continue;
    ++accepted;
    EXPECT_EQ(read_again(temp_ / "bad.zst"), good) << "byte " << at;
  }
  EXPECT_LE(accepted, 5U);
}

/// What is whole, and says what no export of ours says.
TEST_F(BankFile, HostileTextIsRefusedWithItsLine) {
  const std::string soc = kTestSoc;
  const auto header = [&](int entries, int records) {
    return json_text(json{{"kind", "aoe knowledge bank export"},
                          {"version", 1},
                          {"bank", "op"},
                          {"soc_version", soc},
                          {"entries", entries},
                          {"records", records}}) +
           "\n";
  };
  const auto entry = [&](const std::string& description, const std::string& strategies,
                         const std::string& soc_version) {
    return R"({"entry":{"schema":1,"description":)" + json_text(json(description)) +
           R"(,"soc_version":)" + json_text(json(soc_version)) + R"(,"strategies":)" + strategies +
           "}}\n";
  };
  ASSERT_EQ(refusal(compress_text(header(1, 0) + entry("{}", "[]", soc))), "");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  const std::pair<const char*, std::string> cases[] = {
      {"is empty", ""},
      {"no export", "{}\n"},
      {"no JSON object", "[]\n"},
      {"line 1 is damaged", "nonsense\n"},
      {"no export", R"({"kind":7})"
                    "\n"},
      {"version 2", R"({"kind":"aoe knowledge bank export","version":2})"
                    "\n"},
      {"unknown kind", R"({"kind":"aoe knowledge bank export","version":1,"bank":"river"})"
                       "\n"},
      {"line 1", R"({"kind":"aoe knowledge bank export","version":1,"bank":"op","soc_version":1})"
                 "\n"},
      {"as many entries", header(2, 0) + entry("{}", "[]", soc)},
      {"as many entries", header(0, 0) + entry("{}", "[]", soc)},
      {"as many entries", header(-1, 0)},
      {"whole line", header(1, 0) + R"({"entry":)"},
      {"another soc_version", header(1, 0) + entry("{}", "[]", "other")},
      {"no JSON object", header(1, 0) + entry("[]", "[]", soc)},
      {"line 2", header(1, 0) + entry("nonsense", "[]", soc)},
      {"line 2", header(1, 0) + entry("{}", "7", soc)},
      {"line 2", header(1, 0) + entry("{}", R"([{"format":1}])", soc)},
      {"line 2", header(1, 0) + "{}\n"},
      {"line 2", header(0, 1) + R"({"record":{"task":1}})"
                                "\n"},
      {"schema or task", header(0, 1) + R"({"record":{"schema":2,"task":"00"}})"
                                        "\n"},
      {"nested too deeply", header(1, 0) + deep + "\n"},
      {"too long", header(1, 0) + std::string(2 << 20, ' ') + "\n"},
  };
  for (const auto& [wanted, text] : cases) {
    const std::string said = refusal(compress_text(text));
    EXPECT_NE(said.find(wanted), std::string::npos)
        << "'" << wanted << "' is not in '" << said << "' of " << text.substr(0, 200);
  }
  EXPECT_NE(refusal("{}\n").find("zstd"), std::string::npos);
}

TEST_F(BankFile, ASmallFileThatGrowsIsBounded) {
  const std::string bomb = compress_text(std::string(64 << 20, '\n'));
  EXPECT_LT(bomb.size(), 100000U);
  EXPECT_NE(refusal(bomb), "");
  EXPECT_THROW(decompress_text(bomb, 1 << 20, [](std::string_view) {}), std::runtime_error);
}

}  // namespace
}  // namespace aoe::bank
