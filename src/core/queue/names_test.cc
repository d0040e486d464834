// Goal: every id, state, scope and reason has one text, which reads back as it.
// Method: all of them there and back; random ids; texts that are almost right.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

#include "core/queue/command.h"
#include "core/queue/queue_generators_fixture.h"
#include "core/queue/task.h"

namespace pawl::queue {
namespace {

template <class Enum, class Parse>
void expect_names(Enum last, const Parse& parse) {
  std::set<std::string_view> names;
  for (int i = 1; i <= static_cast<int>(last); ++i) {
    const std::string_view name = to_string(static_cast<Enum>(i));
    EXPECT_EQ(parse(name), static_cast<Enum>(i)) << name;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last));
  EXPECT_FALSE(parse("").has_value());
  EXPECT_FALSE(parse("Pending").has_value());
}

TEST(QueueNames, ReadBackAsWhatTheyName) {
  expect_names(Status::expired, status_of);
  expect_names(Scope::queue, scope_of);
  expect_names(Reason::cancel_asked, reason_of);
  EXPECT_EQ(to_string(Status::pending), "pending");
  EXPECT_EQ(to_string(Status::expired), "expired");
  EXPECT_EQ(to_string(Scope::task), "task");
  EXPECT_EQ(to_string(Reason::cancel_asked), "cancel_asked");
}

TEST(TaskId, IsTwentyFourDigits) {
  TaskId id;
  id.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xab, 0xff};
  EXPECT_EQ(to_string(id), "00010203040506070809abff");
  EXPECT_EQ(parse_task_id("00010203040506070809abff").value(), id);
}

TEST(TaskId, NothingElseReadsAsOne) {
  for (const char* text :
       {"", "0", "00010203040506070809abf", "00010203040506070809abff0", "00010203040506070809ABFF",
        "00010203040506070809abfg", " 0010203040506070809abff", "../010203040506070809abf"}) {
    EXPECT_FALSE(parse_task_id(text).has_value()) << text;
  }
  EXPECT_EQ(parse_task_id("abc").error().message,
            "'abc' is not the id of a task: that is 24 digits of 0-9 and a-f, as submit and list "
            "print it");
}

RC_GTEST_PROP(TaskId, IsReadBackAsItWasPrinted, ()) {
  const TaskId id = *any::id(*rc::gen::arbitrary<std::uint8_t>());
  RC_ASSERT(parse_task_id(to_string(id)).value() == id);
}

}  // namespace
}  // namespace pawl::queue
