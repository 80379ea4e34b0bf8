// SQLite's codes become Errors here.
#include "profiler/database/sqlite.h"

#include <sqlite3.h>

#include "base/check.h"
#include "base/error.h"

namespace aoe::profiler {
namespace {

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database);
  const std::string what = sqlite3_errmsg(database);
  switch (code) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
      throw Error(ExitCode::kOutput, what, path, "free space or name another directory");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw Error(ExitCode::kData, what, path, "import the raw data again: msprof --parse=on");
    default:
      throw Error(ExitCode::kFailure, what, path);
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* database, sqlite3_stmt* statement, const std::string* path)
    : database_(database), statement_(statement), path_(path) {
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), parameter, value) != SQLITE_OK) fail(database_, *path_);
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  if (sqlite3_bind_double(statement_.get(), parameter, value) != SQLITE_OK) fail(database_, *path_);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL; an empty text is not that.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC,
                          SQLITE_UTF8) != SQLITE_OK)
    fail(database_, *path_);
  return *this;
}

Statement& Statement::bind(int parameter, std::nullptr_t) {
  if (sqlite3_bind_null(statement_.get(), parameter) != SQLITE_OK) fail(database_, *path_);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_, *path_);
  sqlite3_reset(statement_.get());
  return false;
}

void Statement::finish() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Connection::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Connection::Connection(const std::filesystem::path& path, int flags)
    : path_(std::make_unique<std::string>(path.string())) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path_->c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  if (code == SQLITE_OK) return;
  const bool writing = (flags & SQLITE_OPEN_CREATE) != 0;
  throw Error(writing ? ExitCode::kOutput : ExitCode::kData, sqlite3_errstr(code), *path_,
              writing ? "" : "import the raw data first: msprof --parse=on");
}

Connection Connection::create(const std::filesystem::path& path) {
  Connection connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // Pages of 16 KiB and a cache of 64 MiB: the memory of an import of any size.
  connection.execute(
      "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536;");
  return connection;
}

Connection Connection::open_read_only(const std::filesystem::path& path) {
  Connection connection(path, SQLITE_OPEN_READONLY);
  connection.execute("PRAGMA cache_size=-65536; PRAGMA temp_store=FILE;");
  connection.prepare("SELECT count(*) FROM sqlite_master").step();  // opening alone reads nothing
  return connection;
}

void Connection::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(database_.get(), *path_);
}

Statement Connection::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    fail(database_.get(), *path_);
  AOE_CHECK(statement != nullptr, "no statement in '" + std::string(sql) + "'");
  return Statement(database_.get(), statement, path_.get());
}

}  // namespace aoe::profiler
