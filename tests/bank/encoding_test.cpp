// Stored values: what is written is read, in any schema, and damaged bytes are refused without harm.
#include "bank/encoding.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "bank/bank_file.h"
#include "bank/values.h"
#include "base/json_text.h"
#include "tests/bank/bank_fixture.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {

BankEntry full_entry() {
  Strategy strategy = test_strategy("NC1HWC0", 12.25, -7);
  strategy.schedule["zz"] = std::numeric_limits<std::int64_t>::min();
  strategy.schedule["aa"] = std::numeric_limits<std::int64_t>::max();
  strategy.rewrite = R"({"schema":1,"steps":[]})";
  strategy.provenance = {.engine = "0.1.0",
                         .cpu = "a processor",
                         .seed = std::numeric_limits<std::uint64_t>::max(),
                         .won = {1.5, 0.25, 40},
                         .by_default = {3, 0.5, 41}};
  return {test_key(1), {{test_strategy("ND", 10), strategy}}, {{test_strategy("NHWC", 1e-300)}}};
}

Record full_record() {
  return {test_strategy("ND", 1), "crashed", "signal 11", 300, {{"zeta", -0.5}, {"alpha", 1e300}}};
}

std::string text_of(const BankEntry& entry) {
  return json_text(entry_to_json(entry));
}

TEST(Encoding, AnEntryIsReadAsItWasWritten) {
  const BankEntry entry = full_entry();
  EXPECT_EQ(text_of(decode_entry(encode(entry))), text_of(entry));
  const auto confirmed = decode_part(encode(entry), entry.key, EntryPart::kConfirmed);
  const auto unconfirmed = decode_part(encode(entry), entry.key, EntryPart::kUnconfirmed);
  ASSERT_TRUE(confirmed && unconfirmed);
  EXPECT_EQ(to_json(*confirmed), to_json(entry.set));
  EXPECT_EQ(to_json(*unconfirmed), to_json(entry.unconfirmed));
  EXPECT_FALSE(decode_part(encode(entry), test_key(2), EntryPart::kConfirmed));
  EXPECT_FALSE(has_no_strategies(encode(entry)));
  EXPECT_TRUE(has_no_strategies(encode(BankEntry{entry.key, {}})));
}

TEST(Encoding, ARecordIsReadAsItWasWrittenAndHasOneForm) {
  Record record = full_record();
  const std::string bytes = encode(record);
  EXPECT_EQ(record_to_json(decode_record(bytes)), record_to_json(record));
  std::swap(record.features[0], record.features[1]);
  EXPECT_EQ(encode(record), bytes);
}

TEST(Encoding, BytesThatEndEarlyOrLateAreRefused) {
  const std::string entry = encode(full_entry()), record = encode(full_record());
  for (std::size_t size = 1; size < entry.size(); ++size)
    EXPECT_THROW(decode_entry(entry.substr(0, size)), DamagedBytes) << size;
  for (std::size_t size = 1; size < record.size(); ++size)
    EXPECT_THROW(decode_record(record.substr(0, size)), DamagedBytes) << size;
  EXPECT_THROW(decode_entry(entry + "x"), DamagedBytes);
  EXPECT_THROW(decode_record(record + "x"), DamagedBytes);
}

/// Either refused, or a value that can be written again.
TEST(Encoding, RandomBytesDoNoHarm) {
  std::mt19937 random(1);
  const std::string entry = encode(full_entry()), record = encode(full_record());
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = i % 2 == 0 ? entry : record;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bytes[1 + random() % (bytes.size() - 1)] = static_cast<char>(random());
    try {
      const std::string again =
          i % 2 == 0 ? encode(decode_entry(bytes)) : encode(decode_record(bytes));
      EXPECT_EQ(i % 2 == 0 ? encode(decode_entry(again)) : encode(decode_record(again)), again);
    } catch (const DamagedBytes&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

/// By the last version that wrote CBOR; schema1.zst is what was imported into it.
TEST(OldSchema, IsReadAndMayBeMixedWithTheNew) {
  const tests::TempDir temp;
  const std::string command =
      "tar -xJf '" BANK_FIXTURES "/schema1.tar.xz' -C '" + temp.path().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const BankContent expected = read_bank_file(BANK_FIXTURES "/schema1.zst");
  KnowledgeBank bank(temp / "schema1", {kTestSoc});
  for (const FileEntry& each : expected.entries) {
    const auto found = bank.find(each.entry.key);
    ASSERT_TRUE(found) << each.entry.key.description;
    EXPECT_EQ(to_json(*found), to_json(each.entry.set));
    const auto waits = bank.find_unconfirmed(each.entry.key);
    EXPECT_EQ(waits.has_value(), !each.entry.unconfirmed.strategies.empty());
    if (waits) {
      EXPECT_EQ(to_json(*waits), to_json(each.entry.unconfirmed));
    }
  }
  EXPECT_EQ(bank.record_count(), expected.records.size());
  EXPECT_TRUE(commit_of(expected, bank).records.empty()) << "those it has, in either form";
  bank.commit({.strategies = {{test_key(9), test_strategy("ND", 1)}}, .records = {}});
  EXPECT_EQ(bank.entries().size(), expected.entries.size() + 1);
  EXPECT_TRUE(bank.find(test_key(1)));
}

}  // namespace
}  // namespace aoe::bank
