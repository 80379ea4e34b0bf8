// RocksStore: one open RocksDB with the bank's column families, and the border at which
// rocksdb::Status becomes Error. Only knowledge_bank.cpp uses it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aoe::bank {

/// Of what the system says, which comes through RocksDB as text: the process has no descriptors left.
bool is_lack_of_descriptors(std::string_view what);

enum class Family { kMeta, kStrategy, kRecord };

struct Write {
  Family family;
  std::string key;
  std::optional<std::string> value;  ///< nullopt: the key is erased
};

/// Values of one family, in the order of their keys.
class ValueCursor {
 public:
  virtual ~ValueCursor() = default;
  virtual bool is_at_end() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void next() = 0;
};

/// A table of a family that is made outside of any database, key by key in ascending order. Throws Error(kBank).
class TableWriter {
 public:
  explicit TableWriter(std::filesystem::path path);
  ~TableWriter();
  TableWriter(TableWriter&&) noexcept;
  void put(std::string_view key, std::string_view value);
  std::size_t count() const;
  /// Once, and only of a table that is not empty.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Table {
  Family family;
  std::filesystem::path path;
};

class RocksStore {
 public:
  /// A database that nobody else knows of, in an empty directory. Throws Error(kBank).
  static RocksStore create(const std::filesystem::path& directory);
  /// A database that nobody else knows of: a copy. Throws Error(kBank), also when a family is missing.
  static RocksStore open_for_writing(const std::filesystem::path& directory);
  /// `directory` must be a snapshot: nobody writes it. Throws Error(kBank).
  static RocksStore open_snapshot(const std::filesystem::path& directory);
  ~RocksStore();
  RocksStore(RocksStore&&) noexcept;

  std::optional<std::string> get(Family family, std::string_view key) const;
  /// Calls `take` with the value where it lies. False: there is none.
  bool read(Family family, std::string_view key,
            const std::function<void(std::string_view value)>& take) const;
  /// Keys that start with `prefix`, ascending; `visit` returns false to stop.
  void scan(Family family, std::string_view prefix,
            const std::function<bool(std::string_view key, std::string_view value)>& visit) const;
  /// Begins at the first key that is not less than `first`. It must not outlive the store.
  std::unique_ptr<ValueCursor> cursor(Family family, std::string_view first) const;
  /// Takes over tables of one family that do not overlap each other nor what is there; their files are gone then.
  void ingest(const std::vector<Table>& tables);
  /// Reads every block of every table. Throws Error(kBank) on the first that is damaged.
  void check_tables() const;
  /// Writes the batch into tables and closes the database; files that it does not need are gone when
  /// this returns. Nothing of it is synced: seal() does that (snapshots.h). Nothing is read from the store after that. `compacts`: tables are written anew, without what was
  /// written over or erased.
  void write_and_close(const std::vector<Write>& batch, bool compacts = false);

  /// A damaged database that nobody else knows of, with what can still be read. Throws Error(kBank).
  static RocksStore repair(const std::filesystem::path& directory);
  /// Adds what the store holds to RocksDB's backups in `backups`; files that are there already are shared.
  void back_up(const std::filesystem::path& backups) const;
  /// Writes the newest of the backups into an empty directory. Throws Error(kBank).
  static void restore(const std::filesystem::path& backups, const std::filesystem::path& directory);

 private:
  struct State;
  static RocksStore open(const std::filesystem::path& directory, bool creates);
  explicit RocksStore(std::unique_ptr<State> state);
  void write_all_and_close(const std::vector<Write>& batch, bool compacts);
  std::unique_ptr<State> state_;
};

}  // namespace aoe::bank
