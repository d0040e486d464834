// Database: one SQLite file, for the stores that must outlive the process.
//
// Why:      SQLite's C interface in one place: statements, transactions, and errors that say what
//           became of the change and what to do.
// Journal:  one of three, as the store asks; open() reads the settings back and refuses what is not
//           as asked.
//           rollback: PERSIST with synchronous=FULL, five syncs a commit. Not DELETE: only PERSIST
//           (and TRUNCATE) sync the end of the journal under FULL; after a power cut a deleted
//           journal may come back and undo what was acknowledged.
//           wal: WAL with synchronous=FULL, one sync a commit, for who waits for each. Up to SQLite
//           3.51.2 two connections that write and checkpoint a WAL at once can damage it, so only
//           one at a time is let in at all (wal_guard.h). SQLite itself never checkpoints here, not
//           even when the last one closes: tend() does.
//           unsynced: TRUNCATE with synchronous=OFF. Survives a kill, but not a power cut, which
//           may damage the file: one that is, is set aside as PATH.damaged and made anew. For what
//           is no loss.
// Contract: changes are made within transact(): all of them, durable when it returns, or none. Its
//           error is not_applied, except that a failure of the commit itself may come after the
//           point of no return and is unknown. Other processes are waited for, a busy_timeout long.
//           After an error of the disk or the file a fresh connection (reopen) is the way on.
// Files:    PATH, for its owner alone, and PATH-journal beside it; the folder is made when missing.
//           With a WAL: PATH-wal, PATH-shm and PATH-lock. PATH-wal is part of what is kept. They
//           stay, and none of them may be taken away while a process has the database open.
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

#include "adapter/sqlite/wal_guard.h"
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
  // Of a file that is damaged: what to do, and what kind of error it is.
  std::string_view if_damaged = "put back a copy of it, or move it away to start without it";
  Code damaged = Code::invalid;
};

enum class Journal : std::uint8_t { rollback, wal, unsynced };

struct DatabaseOptions {
  std::string path;
  Schema schema;
  Journal journal = Journal::rollback;
  Duration busy_timeout = bounds::sqlite_busy_timeout;
};

class Database {
 public:
  using Each = std::function<void(const Row&)>;

  // Makes the file where it is missing, and brings its schema up to date.
  static Result<Database> open(const DatabaseOptions& options);
  // The same for a file that was open before: one that is gone stays an error, so that what it held
  // is not forgotten unnoticed. (An unsynced one is made anew.)
  static Result<Database> reopen(const DatabaseOptions& options);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // One statement, its ?1, ?2 … bound to `values`; `each` sees every row it gives.
  Result<void> run(Sql sql, std::initializer_list<Value> values = {}, const Each& each = {});

  // How SQLite would go about it, a line a step: "SEARCH t USING INDEX i (x=?)".
  Result<std::string> plan(Sql sql);

  // `work` within one transaction, which holds the write lock from its start. An error of `work`
  // takes everything back.
  Result<void> transact(const std::function<Result<void>()>& work);

  // With a WAL that has grown: has its pages copied into the file, unless somebody else is in it.
  // Between transactions, when nobody waits.
  void tend();

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

  Result<void> prepare(bool was_there);
  Result<void> connect();
  Result<void> connect_to_wal();
  Result<void> look_for_damage();
  Result<void> set_aside();
  Result<void> execute(const char* sql, std::string_view doing);
  Result<sqlite3_stmt*> prepared(Sql sql);
  Result<std::int64_t> number_of(Sql sql);
  Result<void> claim_file();
  Result<void> upgrade();
  Result<void> transact_alone(const std::function<Result<void>()>& work);
  Result<void> commit();
  Error error(int code, std::string_view doing);

  DatabaseOptions options_;
  bool damaged_ = false;
  std::unique_ptr<WalGuard> guard_;  // with a WAL
  std::unique_ptr<sqlite3, Close> connection_;
  std::unordered_map<const char*, Statement> statements_;  // goes before the connection
};

}  // namespace pawl::sqlite
