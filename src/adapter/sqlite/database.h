// Database: one SQLite file, for the stores that must outlive the process.
//
// Why:      SQLite's C interface in one place: statements, transactions, and errors that say what
//           became of the change and what to do.
// Journal:  the rollback journal, PERSIST, with synchronous=FULL. Not WAL: several processes share
//           a file, and up to SQLite 3.51.2 two connections that write and checkpoint a WAL at once
//           can damage it. Not DELETE: only PERSIST (and TRUNCATE) sync the end of the journal
//           under FULL; after a power cut a deleted journal may come back and undo what was
//           acknowledged. open() reads both settings back and refuses what is not as asked.
// Contract: changes are made within transact(): all of them, durable when it returns, or none. Its
//           error is not_applied, except that a failure of the commit itself may come after the
//           point of no return and is unknown. Other processes are waited for, a busy_timeout long.
//           After an error of the disk or the file a fresh connection (reopen) is the way on.
// Files:    PATH, for its owner alone, and PATH-journal beside it; the folder is made when missing.
//           The file must lie on a local disk: network file systems lie about locks.
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/bounds.h"
#include "pawl/result.h"
#include "pawl/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pawl::sqlite {

// A statement's text: a constant of the program, never put together from what somebody sent.
class Sql {
 public:
  consteval Sql(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  const char* text() const { return text_; }

 private:
  const char* text_;
};

using Bytes = std::span<const std::byte>;
using Value = std::variant<std::int64_t, std::string_view, Bytes>;

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The row a statement stands on. What it gives out lives until the next one.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  std::int64_t number(int column) const;
  std::string_view text(int column) const;
  Bytes bytes(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// What a file holds. `steps` lead from an empty file to the newest form, the n-th from version n-1
// to n; none is ever changed once it has been shipped.
struct Schema {
  std::int32_t application_id;  // tells the files of pawl's stores, and of other programs, apart
  std::string_view what;        // "limit counters", for messages
  std::span<const Sql> steps;
};

struct DatabaseOptions {
  std::string path;
  Schema schema;
  Duration busy_timeout = bounds::sqlite_busy_timeout;
};

class Database {
 public:
  using Each = std::function<void(const Row&)>;

  // Makes the file where it is missing, and brings its schema up to date.
  static Result<Database> open(const DatabaseOptions& options);
  // The same for a file that was open before: one that is gone stays an error, so that what it held
  // is not forgotten unnoticed.
  static Result<Database> reopen(const DatabaseOptions& options);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // One statement, its ?1, ?2 … bound to `values`; `each` sees every row it gives.
  Result<void> run(Sql sql, std::initializer_list<Value> values = {}, const Each& each = {});

  // `work` within one transaction, which holds the write lock from its start. An error of `work`
  // takes everything back.
  Result<void> transact(const std::function<Result<void>()>& work);

  // That a commit is on the disk when it is acknowledged, as far as SQLite can be asked.
  Result<void> probe();
  // The file lies on a file system that a power cut empties, whatever is synced.
  bool is_in_memory() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit Database(const DatabaseOptions& options);

  Result<void> connect();
  Result<void> execute(const char* sql, std::string_view doing);
  Result<sqlite3_stmt*> prepared(Sql sql);
  Result<std::int64_t> number_of(Sql sql);
  Result<void> claim_file();
  Result<void> upgrade();
  Result<void> commit();
  Error error(int code, std::string_view doing) const;

  DatabaseOptions options_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::unordered_map<const char*, Statement> statements_;  // goes before the connection
};

}  // namespace pawl::sqlite
