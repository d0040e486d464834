// A database of words, for the tests of what every journal has to keep.
#pragma once

#include <array>
#include <cstdint>
#include <gmock/gmock.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapter/sqlite/database.h"
#include "adapter/sqlite/sqlite_fixture.h"

namespace pawl::sqlite {

using Words = std::vector<std::string>;

inline constexpr std::array<Sql, 1> one_step = {
    "CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT)"};

inline DatabaseOptions words_options(std::string path, Journal journal) {
  return {.path = std::move(path),
          .schema = {.application_id = 77, .what = "words", .steps = one_step},
          .journal = journal,
          .busy_timeout = Duration::milliseconds(20)};
}

inline Database words_opened(const DatabaseOptions& options) {
  Result<Database> database = Database::open(options);
  EXPECT_TRUE(database.has_value()) << database.error().message;
  return *std::move(database);
}

inline Result<void> add(Database& database, std::int64_t n, std::string_view word) {
  return database.transact(
      [&] { return database.run("INSERT INTO words (n, word) VALUES (?1, ?2)", {n, word}); });
}

inline Words words(Database& database) {
  Words all;
  EXPECT_TRUE(database
                  .run("SELECT word FROM words ORDER BY n", {},
                       [&](const Row& row) { all.emplace_back(row.text(0)); })
                  .has_value());
  return all;
}

// One step of the disk fails, for `more` steps; whatever is reported must be what a fresh
// connection finds. Says how often that was an error.
inline int fail_each_step(Journal journal, int more) {
  int failures = 0;
  for (int step = 1;; ++step) {
    const TempFolder folder;
    const DatabaseOptions options = words_options(folder / "words.db", journal);
    Result<void> added;
    {
      Database database = words_opened(options);
      EXPECT_TRUE(add(database, 1, "before").has_value());
      Disk::fail(step, more);
      added = add(database, 2, "after");
      if (Disk::steps < Disk::fail_from) break;  // it took fewer steps than that
      Disk::heal();
    }
    failures += added ? 0 : 1;
    Result<Database> again = Database::reopen(options);
    EXPECT_TRUE(again.has_value()) << step << ": " << again.error().message;
    if (!again) break;
    if (added) {
      EXPECT_EQ(words(*again), (Words{"before", "after"})) << step;
    } else if (added.error().outcome == Outcome::not_applied) {
      EXPECT_EQ(words(*again), Words{"before"}) << step << ": " << added.error().message;
    } else {
      EXPECT_THAT(words(*again), testing::AnyOf(Words{"before"}, Words{"before", "after"}));
    }
    EXPECT_TRUE(add(*again, 3, "on it goes").has_value()) << step;
  }
  Disk::heal();
  return failures;
}

}  // namespace pawl::sqlite
