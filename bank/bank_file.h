// A bank, or part of one, as a single file: what `aoe_bank export` writes and `import` takes.
//
// The file is one zstd frame with a checksum (`zstd -dc FILE` shows it) of JSON lines. The first one
// says what follows, and how much:
//   {"kind":"aoe knowledge bank export","version":1,"bank":"op","soc_version":"...","entries":2,"records":1}
// then that many entries and records, each as the bank stores it (values.h):
//   {"entry":{"schema":1,"description":"...","soc_version":"...","strategies":[...]}}
//   {"record":{"task":"<digest of the description, 32 hexadecimal digits>","schema":1,...}}
// An entry may say "replace":true: its strategies were compared with the stored ones side by side
// and take their place, whatever the times say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "bank/location.h"

namespace aoe::bank {

struct FileEntry {
  BankEntry entry;
  bool replace = false;
};

struct BankContent {
  BankKind kind = BankKind::kOp;
  std::string soc_version;
  std::vector<FileEntry> entries;
  std::vector<NewRecord> records;
};

/// All that a bank holds.
BankContent content_of(const KnowledgeBank& bank, BankKind kind);

/// What a bank that is empty would be told by these commits, one after the other.
BankContent content_of(const std::vector<Commit>& commits, BankKind kind,
                       const std::string& soc_version);

/// By rename. Error(kOutput).
void write_bank_file(const std::filesystem::path& path, const BankContent& content);

/// The file may come from anybody: it is checked as a whole before anything is returned, and limits
/// hold for its size, lines and nesting. Error(kBank) says what is wrong, and in which line.
BankContent read_bank_file(const std::filesystem::path& path);

/// What brings the content into the bank: strategies where they are faster than the stored ones or
/// say `replace`, records that are not there yet.
Commit commit_of(const BankContent& content, const KnowledgeBank& bank);

}  // namespace aoe::bank
