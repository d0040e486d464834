// Goal: what a queue answers is read back as it was written; what is none is refused, and nothing
//       makes a reader go too far. Method: random tasks and histories, and one of everything else,
//       there and back; cut and changed bytes.
#include "core/queue/reply_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/queue/queue_generators_fixture.h"

namespace pawl::queue {
namespace {

template <class T>
std::string bytes_of(const T& thing) {
  ByteWriter out;
  write_answer(out, thing);
  return out.take();
}

template <class T>
T read_back(std::string_view bytes) {
  ByteReader in(bytes);
  T thing;
  read_answer(in, thing);
  EXPECT_TRUE(in.good()) << in.error();
  EXPECT_EQ(in.left(), 0U);
  return thing;
}

template <class T>
std::string error_of(std::string_view bytes) {
  ByteReader in(bytes);
  T thing;
  read_answer(in, thing);
  return in.error();
}

// Of what cannot be compared: written again, it has the same bytes.
template <class T>
void expect_same(const T& thing) {
  const std::string bytes = bytes_of(thing);
  EXPECT_EQ(bytes_of(read_back<T>(bytes)), bytes);
}

Stats some_stats() {
  return {.types = {{.type = "a", .pending = 1, .due = 2, .running = 3, .completed = 4},
                    {.type = "b",
                     .failed = 5,
                     .cancelled = 6,
                     .expired = 7,
                     .oldest_due = Instant::from_ns(8)}},
          .totals = {.submitted = 1,
                     .claimed = 2,
                     .completed = 3,
                     .failed = 4,
                     .retried = 5,
                     .rescheduled = 6,
                     .timed_out = 7,
                     .cancelled = 8,
                     .expired = 9,
                     .refused = 10}};
}

RC_GTEST_PROP(ReplyBytes, ATaskIsReadBack, ()) {
  const Task task = *any::task();
  RC_ASSERT(read_back<Task>(bytes_of(task)) == task);
}

RC_GTEST_PROP(ReplyBytes, AHistoryIsReadBack, ()) {
  const History history = *any::history();
  RC_ASSERT(read_back<History>(bytes_of(history)) == history);
}

RC_GTEST_PROP(ReplyBytes, ACutAnywhereIsNoticed, ()) {
  const std::string bytes = bytes_of(Reply(Claimed{.tasks = {*any::task()}}));
  const auto end = *rc::gen::inRange(std::size_t{0}, bytes.size());
  RC_ASSERT(error_of<Reply>(bytes.substr(0, end)) != "");
}

TEST(ReplyBytes, EveryReplyIsReadBack) {
  expect_same(Reply(Refusal{.code = Code::not_found, .message = "no such task"}));
  expect_same(Reply(Submitted{.id = {.bytes = {1, 2, 3}}, .fresh = false}));
  expect_same(
      Reply(Claimed{.tasks = {Task{.terms = {.type = "t"}}, Task{.terms = {.type = "u"}}}}));
  expect_same(Reply(Changed{.status = Status::running,
                            .available_at = Instant::from_ns(5),
                            .lease_expires_at = Instant::from_ns(6),
                            .cancel_requested = true}));
  const auto refusal = std::get<Refusal>(
      read_back<Reply>(bytes_of(Reply(Refusal{.code = Code::internal, .message = "m"}))));
  EXPECT_EQ(refusal.code, Code::internal);
  EXPECT_EQ(refusal.message, "m");
}

TEST(ReplyBytes, WhatPeopleAskForIsReadBack) {
  expect_same(some_stats());
  const Stats stats = read_back<Stats>(bytes_of(some_stats()));
  ASSERT_EQ(stats.types.size(), 2U);
  EXPECT_EQ(stats.types[1].oldest_due, Instant::from_ns(8));
  EXPECT_EQ(stats.totals.refused, 10U);
  expect_same(Why{.hold = Hold::closed,
                  .scope = Scope::type,
                  .name = "n",
                  .until = Instant::from_ns(3),
                  .ahead = 4,
                  .worker = "w"});
  expect_same(std::vector<Closing>{{.scope = Scope::key, .name = "k", .until = Instant::from_ns(9)},
                                   {.scope = Scope::queue}});
  expect_same(std::vector<SetLimit>{
      {.limited = Limited::each_key, .rate = 1, .period = Duration::seconds(1), .running = 2}});
  expect_same(std::vector<Schedule>{{.set = {.name = "s", .cron = "@daily", .terms = {.type = "t"}},
                                     .next = Instant::from_ns(1),
                                     .last = Instant::from_ns(2)}});
}

TEST(ReplyBytes, AListThatPromisesMoreThanThereIsIsRefused) {
  ByteWriter out;
  out.varint(1'000'000'000'000);
  EXPECT_EQ(error_of<std::vector<Task>>(out.text()), "a list goes past the end at byte 0");
}

TEST(ReplyBytes, WhatThereIsNotIsRefused) {
  EXPECT_EQ(error_of<Reply>("\x05"), "a reply is of an unknown kind at byte 0");
  EXPECT_EQ(error_of<Reply>("\x01\x09"), "a code is unknown at byte 1");
  EXPECT_EQ(error_of<Why>("\x08"), "a kind is unknown at byte 0");
  EXPECT_NE(error_of<SetLimit>(bytes_of(Schedule{.set = {.name = "s"}})), "");
}

}  // namespace
}  // namespace pawl::queue
