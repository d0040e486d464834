#include "adapter/sqlite/database.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace pawl::sqlite {
namespace {

constexpr Duration busy_pause = Duration::milliseconds(1);

std::string reason(int error) {
  return std::system_category().message(error);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// A new folder is durable once its name stands in the folder around it. (SQLite syncs the one that
// holds the file itself.)
Result<void> make_folder(const std::filesystem::path& folder) {
  int made = ::mkdir(folder.c_str(), 0777);
  if (made != 0 && errno == ENOENT) {
    PAWL_TRY(make_folder(folder_of(folder)));
    made = ::mkdir(folder.c_str(), 0777);
  }
  if (made != 0 && errno == EEXIST) return {};
  if (made == 0) {
    const int around = ::open(folder_of(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = around >= 0 && ::fsync(around) == 0;
    if (around >= 0) ::close(around);
    if (synced) return {};
  }
  return failure(Code::unavailable,
                 "cannot make the folder '" + folder.string() + "': " + reason(errno) +
                     "; make it by hand, writable for this user, or name another path");
}

// Not open(): closing a descriptor of the file would drop the locks that another connection of this
// process holds on it.
Result<void> make_file(const std::string& path) {
  PAWL_TRY(make_folder(folder_of(path)));
  if (::mknod(path.c_str(), S_IFREG | 0600, 0) == 0 || errno == EEXIST) return {};
  return failure(Code::unavailable,
                 "cannot make the database '" + path + "': " + reason(errno) +
                     "; let this user write in its folder, or name another path");
}

// SQLite's own pauses grow to 100 ms, too long to find the gap between another process's commits.
int wait_for_others(void* pauses_max, int pauses) {
  if (pauses >= static_cast<int>(reinterpret_cast<std::intptr_t>(pauses_max))) return 0;
  ::usleep(static_cast<useconds_t>(busy_pause.ns() / 1'000));
  return 1;
}

std::string_view advice(int code) {
  // The second: the journal takes its mode from the file, and there is none.
  if (code == SQLITE_READONLY_DBMOVED || code == SQLITE_IOERR_FSTAT) {
    return "; it was moved or deleted while in use: put it back, or start anew without it";
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process keeps it locked: see which one has it open, and end or wait for it";
    case SQLITE_FULL:
      return "; make room on its disk";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "; let this user write to the file and in its folder";
    case SQLITE_CANTOPEN:
      return "; see that it exists and that this user may write to it and in its folder";
    case SQLITE_CORRUPT:
      return "; the file is damaged: put back a copy of it, or move it away to start without it";
    case SQLITE_NOTADB:
      return "; the file is something else: name another path, or move it away";
    case SQLITE_IOERR:
      return "; the disk or its file system failed: see the system's log";
    default:
      return "";
  }
}

bool is_data_wrong(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

// A commit that fails so has not reached the point of no return, the end of the journal.
bool is_before_the_end(int code) {
  return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_FULL;
}

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  // The pointer must not be null: that would be SQL's NULL.
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    const char* data = text->empty() ? "" : text->data();
    return sqlite3_bind_text64(statement, index, data, text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  const auto& bytes = std::get<Bytes>(value);
  const void* data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
  return sqlite3_bind_blob64(statement, index, data, bytes.size(), SQLITE_STATIC);
}

}  // namespace

std::int64_t Row::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Bytes Row::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close(connection);
}

void Database::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::Database(const DatabaseOptions& options) : options_(options) {}
Database::Database(Database&&) noexcept = default;
Database::~Database() = default;

Database& Database::operator=(Database&& other) noexcept {
  statements_ = std::move(other.statements_);
  connection_ = std::move(other.connection_);
  options_ = std::move(other.options_);
  return *this;
}

Result<Database> Database::open(const DatabaseOptions& options) {
  PAWL_TRY(make_file(options.path));
  Database database(options);
  PAWL_TRY(database.connect());
  PAWL_TRY(database.upgrade());
  return database;
}

Result<Database> Database::reopen(const DatabaseOptions& options) {
  Database database(options);
  PAWL_TRY(database.connect());
  const std::int64_t version = PAWL_TRY(database.number_of("PRAGMA user_version"));
  if (version == 0) {
    return failure(Code::unavailable, "the database '" + options.path +
                                          "' is empty and was not before: put it back, or start "
                                          "anew without it");
  }
  PAWL_TRY(database.upgrade());
  return database;
}

Error Database::error(int code, std::string_view doing) const {
  // Text and extended code belong to the last call, which is the one that failed.
  const int extended = connection_ ? sqlite3_extended_errcode(connection_.get()) : code;
  const char* text = connection_ ? sqlite3_errmsg(connection_.get()) : sqlite3_errstr(code);
  return {is_data_wrong(code) ? Code::invalid : Code::unavailable, Outcome::not_applied,
          "cannot " + std::string(doing) + " the database '" + options_.path + "': " + text + " (" +
              std::to_string(extended) + ")" + std::string(advice(extended))};
}

Result<void> Database::connect() {
  // A bare "file:x" or ":memory:" would mean something else to SQLite.
  const bool is_absolute = options_.path.starts_with('/');
  const std::string path = is_absolute ? options_.path : "./" + options_.path;
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  connection_.reset(opened);
  if (code != SQLITE_OK) return std::unexpected(error(code, "open"));
  const std::int64_t pauses = options_.busy_timeout.ns() / busy_pause.ns();
  sqlite3_busy_handler(opened, wait_for_others, reinterpret_cast<void*>(pauses));
  PAWL_TRY(execute("PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL", "set up"));
  return probe();
}

Result<void> Database::probe() {
  std::string mode;
  PAWL_TRY(run("PRAGMA journal_mode", {}, [&](const Row& row) { mode = row.text(0); }));
  const std::int64_t synchronous = PAWL_TRY(number_of("PRAGMA synchronous"));
  if (mode == "persist" && synchronous == 2) return {};
  return failure(Code::unavailable,
                 "the database '" + options_.path +
                     "' would not keep what it acknowledges: asked for journal_mode=persist and "
                     "synchronous=2, found " +
                     mode + " and " + std::to_string(synchronous) +
                     "; it must be a file on a local disk that no other program sets up otherwise");
}

bool Database::is_in_memory() const {
  struct statfs found = {};
  if (::statfs(options_.path.c_str(), &found) != 0) return false;
  return found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC;
}

Result<void> Database::execute(const char* sql, std::string_view doing) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, doing));
  return {};
}

Result<sqlite3_stmt*> Database::prepared(Sql sql) {
  Statement& kept = statements_[sql.text()];
  if (kept == nullptr) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(connection_.get(), sql.text(), -1,
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return std::unexpected(error(code, "read"));
    kept.reset(statement);
  }
  return kept.get();
}

Result<void> Database::run(Sql sql, std::initializer_list<Value> values, const Each& each) {
  sqlite3_stmt* statement = PAWL_TRY(prepared(sql));
  int index = 0;
  int code = SQLITE_OK;
  for (const Value& value : values) {
    if (code == SQLITE_OK) code = bind(statement, ++index, value);
  }
  if (code == SQLITE_OK) {
    for (code = sqlite3_step(statement); code == SQLITE_ROW; code = sqlite3_step(statement)) {
      if (each) each(Row(statement));
    }
  }
  Result<void> done;
  if (code != SQLITE_DONE) {
    done = std::unexpected(error(code, sqlite3_stmt_readonly(statement) != 0 ? "read" : "write"));
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return done;
}

Result<std::int64_t> Database::number_of(Sql sql) {
  std::int64_t number = 0;
  PAWL_TRY(run(sql, {}, [&](const Row& row) { number = row.number(0); }));
  return number;
}

Result<void> Database::transact(const std::function<Result<void>()>& work) {
  PAWL_TRY(run("BEGIN IMMEDIATE"));
  Result<void> done = work();
  if (done) done = commit();
  // Some errors have ended the transaction already. Should this fail too, whoever opens the file
  // next takes the changes back.
  if (!done && sqlite3_get_autocommit(connection_.get()) == 0) {
    (void)sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return done;
}

Result<void> Database::commit() {
  const int code = sqlite3_exec(connection_.get(), "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  Error failed = error(code, "write");
  if (!is_before_the_end(code)) {
    failed.outcome = Outcome::unknown;
    failed.message += "; nobody knows whether the last change was kept";
  }
  return std::unexpected(std::move(failed));
}

// Refuses the file of somebody else. The id is read last: another process may be setting up an
// empty file, and whoever sees any of that must see whose it is.
Result<void> Database::claim_file() {
  const std::int64_t changes = PAWL_TRY(number_of("PRAGMA schema_version"));
  const std::int64_t version = PAWL_TRY(number_of("PRAGMA user_version"));
  const std::int64_t id = PAWL_TRY(number_of("PRAGMA application_id"));
  if (id == options_.schema.application_id || (id == 0 && changes == 0 && version == 0)) return {};
  return failure(Code::invalid,
                 "the database '" + options_.path + "' does not hold " +
                     std::string(options_.schema.what) +
                     " but something else: name another path; each of pawl's stores has "
                     "a file of its own");
}

Result<void> Database::upgrade() {
  const auto newest = static_cast<std::int64_t>(options_.schema.steps.size());
  const auto version_of_file = [&] { return number_of("PRAGMA user_version"); };
  const std::int64_t version = PAWL_TRY(version_of_file());
  PAWL_TRY(claim_file());
  if (version == newest) return {};
  if (version > newest) {
    return failure(Code::invalid, "the database '" + options_.path +
                                      "' was made by a newer pawl: " + "its schema has version " +
                                      std::to_string(version) + ", this one knows up to " +
                                      std::to_string(newest) +
                                      "; use the newer pawl, or name another path");
  }
  return transact([&]() -> Result<void> {
    // Another process may have been faster.
    PAWL_TRY(claim_file());
    for (std::int64_t at = PAWL_TRY(version_of_file()); at < newest; ++at) {
      PAWL_TRY(execute(options_.schema.steps[static_cast<std::size_t>(at)].text(), "set up"));
      const std::string mark =
          "PRAGMA user_version = " + std::to_string(at + 1) +
          "; PRAGMA application_id = " + std::to_string(options_.schema.application_id);
      PAWL_TRY(execute(mark.c_str(), "set up"));
    }
    return {};
  });
}

}  // namespace pawl::sqlite
