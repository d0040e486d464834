// Goal: an error keeps what became of its effect, on every way it takes.
// Method: each value by its name; PAWL_TRY through a chain of functions.
#include "pawl/result.h"

#include <gtest/gtest.h>
#include <memory>
#include <type_traits>

namespace pawl {
namespace {

TEST(Outcome, MayBeSentAgainOnlyWhenNotApplied) {
  EXPECT_TRUE(may_send_again(Outcome::not_applied));
  EXPECT_FALSE(may_send_again(Outcome::applied));
  EXPECT_FALSE(may_send_again(Outcome::unknown));
}

TEST(Outcome, HasNames) {
  EXPECT_EQ(to_string(Outcome::not_applied), "not_applied");
  EXPECT_EQ(to_string(Outcome::applied), "applied");
  EXPECT_EQ(to_string(Outcome::unknown), "unknown");
}

TEST(Code, IsTheExitCodeOfTheCommandLine) {
  struct Row {
    Code code;
    int exit_code;
    std::string_view name;
  };
  for (const Row& row :
       {Row{Code::invalid, 1, "invalid"}, Row{Code::usage, 2, "usage"},
        Row{Code::refused, 3, "refused"}, Row{Code::unresolved, 4, "unresolved"},
        Row{Code::not_found, 5, "not_found"}, Row{Code::unavailable, 6, "unavailable"},
        Row{Code::internal, 70, "internal"}}) {
    EXPECT_EQ(static_cast<int>(row.code), row.exit_code);
    EXPECT_EQ(to_string(row.code), row.name);
  }
}

TEST(Failure, HadNoEffect) {
  const Result<int> result = failure(Code::refused, "the limit is reached");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), Error(Code::refused, Outcome::not_applied, "the limit is reached"));
}

Result<std::unique_ptr<int>> make(bool works) {
  if (!works) return std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer"));
  return std::make_unique<int>(41);
}

Result<void> check(bool works) {
  if (!works) return failure(Code::invalid, "bad");
  return {};
}

Result<int> use(bool makes, bool checks) {
  const std::unique_ptr<int> made = PAWL_TRY(make(makes));
  PAWL_TRY(check(checks));
  return *made + 1;
}

TEST(Try, GivesTheValueOrReturnsTheErrorUnchanged) {
  EXPECT_EQ(use(true, true).value(), 42);
  EXPECT_EQ(use(false, true).error(), Error(Code::unavailable, Outcome::unknown, "no answer"));
  EXPECT_EQ(use(true, false).error(), Error(Code::invalid, Outcome::not_applied, "bad"));
}

// The move of a Result writes through one of two types, where its bytes were written before.
void store(bool as_long, void* where, long value) {
  if (as_long) {
    *static_cast<long*>(where) = value;
  } else {
    *static_cast<long long*>(where) = value;
  }
}

long stored(long* first, void* second, bool as_long) {
  *first = 1;
  store(as_long, second, 2);
  return *first;
}

TEST(Compiler, ReadsWhatWasWrittenLast) {
  long (*volatile opaque)(long*, void*, bool) = stored;
  long value = 0;
  EXPECT_EQ(opaque(&value, &value, true), 2);
}

static_assert(!std::is_default_constructible_v<Error>);
static_assert(!std::is_constructible_v<Error, Code, std::string>);

}  // namespace
}  // namespace pawl
