// Goal: several sinks are as strict as the strictest of them: none is forgotten, no trouble is
//       hidden.
// Method: sinks that do as they are told, two at a time.
#include "assembly/sink_group.h"

#include <gtest/gtest.h>

#include "core/audit/late_fixture.h"
#include "core/audit/sample_event.h"

namespace pawl {
namespace {

struct Told {
  std::optional<Error> trouble = {};
  std::uint64_t lag = 0;
  bool has_room = true;
  std::string note = {};
  int appended = 0;
  int flushed = 0;
};

class ToldSink final : public EventSink {
 public:
  explicit ToldSink(Told& told) : told_(told) {}

  Result<void> append(audit::Event) override {
    if (told_.trouble) return std::unexpected(*told_.trouble);
    ++told_.appended;
    return {};
  }
  Result<void> flush() override {
    ++told_.flushed;
    return health();
  }
  Result<void> health() override {
    if (told_.trouble) return std::unexpected(*told_.trouble);
    return {};
  }
  std::uint64_t lag() const override { return told_.lag; }
  bool has_room() const override { return told_.has_room; }
  std::string take_note() override { return std::exchange(told_.note, {}); }

 private:
  Told& told_;
};

class SinkGroupTest : public ::testing::Test {
 protected:
  static std::vector<std::unique_ptr<EventSink>> both(Told& first, Told& second) {
    std::vector<std::unique_ptr<EventSink>> sinks;
    sinks.push_back(std::make_unique<ToldSink>(first));
    sinks.push_back(std::make_unique<ToldSink>(second));
    return sinks;
  }
  static Error full(const char* message) {
    return Error(Code::unavailable, Outcome::not_applied, message);
  }

  Told first_;
  Told second_;
  SinkGroup group_{both(first_, second_)};
};

TEST_F(SinkGroupTest, GivesEveryEventToEach) {
  ASSERT_TRUE(group_.append(audit::sample_event()));
  ASSERT_TRUE(group_.append(audit::sample_event()));
  EXPECT_EQ(first_.appended, 2);
  EXPECT_EQ(second_.appended, 2);
  EXPECT_TRUE(group_.health());
}

TEST_F(SinkGroupTest, FailsItsCallerWhicheverFails) {
  second_.trouble = full("second is full");
  const Result<void> appended = group_.append(audit::sample_event());
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message, "second is full");
  EXPECT_EQ(group_.health().error().message, "second is full");
  first_.trouble = full("first is full");
  EXPECT_EQ(group_.health().error().message, "first is full");
}

TEST_F(SinkGroupTest, FlushesAllAlsoWhenOneCannot) {
  first_.trouble = full("first is full");
  EXPECT_EQ(group_.flush().error().message, "first is full");
  EXPECT_EQ(second_.flushed, 1);
  first_.trouble.reset();
  EXPECT_TRUE(group_.flush());
}

TEST_F(SinkGroupTest, LagsAsFarAsTheSlowest) {
  first_.lag = 3;
  second_.lag = 7;
  EXPECT_EQ(group_.lag(), 7U);
}

TEST_F(SinkGroupTest, PassesEveryNoteOnOnce) {
  first_.note = "one";
  second_.note = "two";
  EXPECT_EQ(group_.take_note(), "one; two");
  second_.note = "three";
  EXPECT_EQ(group_.take_note(), "three");
  EXPECT_EQ(group_.take_note(), "");
}

TEST_F(SinkGroupTest, WhatComesLateGoesToEachAndThereIsRoomWhenAllHaveSome) {
  EXPECT_TRUE(group_.append_late(audit::request_sample()).has_value());
  EXPECT_EQ(first_.appended, 1);
  EXPECT_EQ(second_.appended, 1);
  EXPECT_TRUE(group_.has_room());
  second_.has_room = false;
  EXPECT_FALSE(group_.has_room());
}

}  // namespace
}  // namespace pawl
