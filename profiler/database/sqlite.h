// SQLite with RAII and Errors: the border to the library; sqlite3.h is included in sqlite.cpp alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace aoe::profiler {

class Connection;

/// A prepared statement. Parameters count from 1, columns from 0. Texts handed to bind() must live
/// until the statement has run; texts read from a column live until the next step().
class Statement {
 public:
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::nullptr_t);
  template <typename T>
  Statement& bind(int parameter, const std::optional<T>& value) {
    return value ? bind(parameter, *value) : bind(parameter, nullptr);
  }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, std::int64_t>) Statement& bind(int parameter,
                                                                                      T value) {
    return bind(parameter, static_cast<std::int64_t>(value));
  }
  /// Binds 1, 2, ... and runs to the end.
  template <typename... Values>
  void run(const Values&... values) {
    int parameter = 0;
    (bind(++parameter, values), ...);
    finish();
  }

  bool step();  ///< true: there is a row; false: done, and the statement is ready to run again

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  ///< empty when NULL

 private:
  friend class Connection;
  Statement(sqlite3* database, sqlite3_stmt* statement, const std::string* path);
  void finish();

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_;
};

/// One database file. Not for several threads at once.
class Connection {
 public:
  /// An empty database that is fast to fill and safe only as a whole: no journal, no syncing. Write
  /// it beside its final name and rename. Throws Error(kOutput).
  static Connection create(const std::filesystem::path& path);
  /// Throws Error(kData) when the file is missing or not a database.
  static Connection open_read_only(const std::filesystem::path& path);

  void execute(const std::string& sql);
  Statement prepare(std::string_view sql) const;

 private:
  Connection(const std::filesystem::path& path, int flags);
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<std::string> path_;  ///< statements keep a pointer to it
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace aoe::profiler
