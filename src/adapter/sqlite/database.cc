#include "adapter/sqlite/database.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "adapter/sqlite/power_cut.h"

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
  // The index of a WAL could not be made as large as it must be.
  if (code == SQLITE_IOERR_SHMSIZE) return "; make room on its disk";
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
    case SQLITE_NOTADB:
      return "; the file is something else: name another path, or move it away";
    case SQLITE_IOERR:
      return "; the disk or its file system failed: see the system's log";
    default:
      return "";
  }
}

struct Settings {
  const char* sql;
  std::string_view mode;
  std::int64_t synchronous;
};

// By the values of Journal.
constexpr std::array<Settings, 3> all_settings = {
    Settings{"PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL", "persist", 2},
    Settings{"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", "wal", 2},
    Settings{"PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF", "truncate", 0}};

const Settings& settings_of(Journal journal) {
  return all_settings[static_cast<std::size_t>(journal)];
}

bool is_damage(int code) {
  return (code & 0xff) == SQLITE_CORRUPT;
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
  guard_ = std::move(other.guard_);
  options_ = std::move(other.options_);
  damaged_ = other.damaged_;
  return *this;
}

Result<Database> Database::open(const DatabaseOptions& options) {
  PAWL_TRY(make_file(options.path));
  Database database(options);
  const Result<void> ready = database.prepare(false);
  if (ready) return database;
  if (options.journal != Journal::unsynced || !database.damaged_) {
    return std::unexpected(ready.error());
  }
  PAWL_TRY(database.set_aside());
  PAWL_TRY(make_file(options.path));
  Database anew(options);
  PAWL_TRY(anew.prepare(false));
  return anew;
}

Result<Database> Database::reopen(const DatabaseOptions& options) {
  if (options.journal == Journal::unsynced) return open(options);
  Database database(options);
  PAWL_TRY(database.prepare(true));
  return database;
}

Result<void> Database::prepare(bool was_there) {
  std::optional<WalGuard::Hold> hold;
  if (options_.journal == Journal::wal) {
    guard_ = PAWL_TRY(WalGuard::open(options_.path));
    hold.emplace(PAWL_TRY(guard_->hold(options_.busy_timeout)));
  }
  PAWL_TRY(connect());
  const std::int64_t version = PAWL_TRY(number_of("PRAGMA user_version"));
  if (guard_) PAWL_TRY(guard_->note_files());
  if (was_there && version == 0) {
    return failure(Code::unavailable, "the database '" + options_.path +
                                          "' is empty and was not before: put it back, or start "
                                          "anew without it");
  }
  // A sync that has failed may have left pages of the WAL that are on no disk, and never will be,
  // under those that follow. So after any trouble all of it goes into the file itself first.
  if (guard_ && was_there) PAWL_TRY(execute("PRAGMA wal_checkpoint(TRUNCATE)", "tidy up"));
  PAWL_TRY(upgrade());
  return options_.journal == Journal::unsynced ? look_for_damage() : Result<void>();
}

Error Database::error(int code, std::string_view doing) {
  // Text and extended code belong to the last call, which is the one that failed.
  const int extended = connection_ ? sqlite3_extended_errcode(connection_.get()) : code;
  const char* text = connection_ ? sqlite3_errmsg(connection_.get()) : sqlite3_errstr(code);
  std::string says = "cannot " + std::string(doing) + " the database '" + options_.path +
                     "': " + text + " (" + std::to_string(extended) + ")";
  if (is_damage(code)) {
    says += "; the file is damaged: " + std::string(options_.schema.if_damaged);
  } else {
    says += advice(extended);
  }
  damaged_ = damaged_ || is_data_wrong(code);
  return {is_data_wrong(code) ? options_.schema.damaged : Code::unavailable, Outcome::not_applied,
          std::move(says)};
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
  if (guard_) PAWL_TRY(connect_to_wal());
  const Settings& asked = settings_of(options_.journal);
  PAWL_TRY(execute(asked.sql, "set up"));
  return probe();
}

Result<void> Database::connect_to_wal() {
  // Whoever closes would checkpoint without holding the guard.
  const int code = sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                                     static_cast<int*>(nullptr));
  if (code != SQLITE_OK) return std::unexpected(error(code, "set up"));
  // In place of the hook that checkpoints by itself.
  sqlite3_wal_hook(
      connection_.get(),
      [](void* guard, sqlite3*, const char*, int pages) {
        static_cast<WalGuard*>(guard)->pages = pages;
        return SQLITE_OK;
      },
      guard_.get());
  return {};
}

void Database::tend() {
  if (!guard_ || guard_->pages < bounds::sqlite_wal_pages_max) return;
  const Result<WalGuard::Hold> hold = guard_->hold(Duration());
  if (!hold || !guard_->check()) return;  // whoever commits next tries it
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             nullptr, nullptr);
  if (code == SQLITE_OK) guard_->pages = 0;
}

Result<void> Database::look_for_damage() {
  std::string found;
  PAWL_TRY(run("PRAGMA quick_check(1)", {}, [&](const Row& row) { found = row.text(0); }));
  if (found == "ok") return {};
  damaged_ = true;
  return failure(options_.schema.damaged,
                 "the database '" + options_.path + "' is damaged: " + found);
}

// The file alone: a journal of what it holds would not help what comes after it.
Result<void> Database::set_aside() {
  statements_.clear();
  connection_.reset();
  const std::string aside = options_.path + ".damaged";
  (void)::unlink((options_.path + "-journal").c_str());
  if (::rename(options_.path.c_str(), aside.c_str()) == 0 || errno == ENOENT) return {};
  return failure(Code::unavailable, "the database '" + options_.path +
                                        "' is damaged and cannot be set aside as '" + aside +
                                        "': " + reason(errno) + "; move it away by hand");
}

Result<void> Database::probe() {
  const Settings& asked = settings_of(options_.journal);
  std::string mode;
  PAWL_TRY(run("PRAGMA journal_mode", {}, [&](const Row& row) { mode = row.text(0); }));
  const std::int64_t synchronous = PAWL_TRY(number_of("PRAGMA synchronous"));
  if (mode == asked.mode && synchronous == asked.synchronous) return {};
  return failure(Code::unavailable,
                 "the database '" + options_.path +
                     "' would not keep what it acknowledges: asked for journal_mode=" +
                     std::string(asked.mode) +
                     " and synchronous=" + std::to_string(asked.synchronous) + ", found " + mode +
                     " and " + std::to_string(synchronous) +
                     "; it must be a file on a local disk that no other program sets up otherwise");
}

bool Database::is_in_memory() const {
  return lies_in_memory(options_.path);
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

Result<std::string> Database::plan(Sql sql) {
  const std::string asked = std::string("EXPLAIN QUERY PLAN ") + sql.text();
  sqlite3_stmt* prepared_now = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), asked.c_str(), -1, &prepared_now, nullptr);
  const Statement statement(prepared_now);
  if (code != SQLITE_OK) return std::unexpected(error(code, "read"));
  std::string steps;
  while (sqlite3_step(statement.get()) == SQLITE_ROW) {
    steps.append(Row(statement.get()).text(3)).append("\n");
  }
  return steps;
}

Result<std::int64_t> Database::number_of(Sql sql) {
  std::int64_t number = 0;
  PAWL_TRY(run(sql, {}, [&](const Row& row) { number = row.number(0); }));
  return number;
}

Result<void> Database::transact(const std::function<Result<void>()>& work) {
  if (!guard_) return transact_alone(work);
  const WalGuard::Hold hold = PAWL_TRY(guard_->hold(options_.busy_timeout));
  PAWL_TRY(guard_->check());
  return transact_alone(work);
}

Result<void> Database::transact_alone(const std::function<Result<void>()>& work) {
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
