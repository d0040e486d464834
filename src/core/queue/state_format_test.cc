// Goal: the state in a snapshot has the bytes that docs/formats.md says ("State"), and such bytes
//       are read. Whoever changes them must raise the number of the format.
// Method: machines that commands brought to where they are; their bytes by hand, in the order of
//         the grammar, of nothing but numbers and texts.
#include <array>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/sha256.h"
#include "base/wire.h"
#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

// What the grammar is made of, one behind the other.
class Bytes {
 public:
  Bytes& u8(std::uint8_t value) {
    out_.u8(value);
    return *this;
  }
  Bytes& varint(std::uint64_t value) {
    out_.varint(value);
    return *this;
  }
  Bytes& zigzag(std::int64_t value) {
    out_.zigzag(value);
    return *this;
  }
  Bytes& fixed64(std::uint64_t value) {
    out_.fixed64(value);
    return *this;
  }
  Bytes& text(std::string_view value) {
    out_.bytes(value);
    return *this;
  }
  Bytes& instant(Instant value) { return fixed64(static_cast<std::uint64_t>(value.ns())); }
  Bytes& seconds(std::int64_t value) { return zigzag(value * 1'000'000'000); }
  Bytes& id(std::uint8_t number) {
    for (int i = 0; i < 11; ++i) u8(0);
    return u8(number);
  }
  // Of every task and schedule here: a second, at most 60, twice as long each time, without dice.
  Bytes& retry() { return seconds(1).seconds(60).zigzag(2000).zigzag(0).varint(0); }
  // The retries it may have, three, and what it has counted.
  Bytes& counted(std::uint64_t attempt, std::uint64_t retries, std::uint64_t reschedules,
                 std::uint64_t fence) {
    return varint(3).varint(attempt).varint(retries).varint(reschedules).varint(fence);
  }
  Bytes& past(std::uint64_t changes, const Bytes& all) {
    return varint(changes).varint(0).text(all.out_.text());
  }

  const std::string& made() const { return out_.text(); }

 private:
  ByteWriter out_;
};

class StateFormat : public MachineTest {
 protected:
  std::string saved() const {
    ByteWriter out;
    machine_.save(out);
    return out.take();
  }
  // Submitted, claimed, completed, failed, retried, rescheduled, timed out, cancelled, expired,
  // refused.
  using Numbers = std::array<std::uint64_t, 10>;
  Bytes begun(std::uint64_t sequence, std::uint64_t next_arrival, const Numbers& totals) const {
    Bytes bytes;
    bytes.varint(1).varint(sequence).instant(now()).varint(next_arrival);
    for (const std::uint64_t number : totals) bytes.varint(number);
    return bytes;
  }
  void expect(const Bytes& documented) {
    EXPECT_EQ(saved(), documented.made());
    ByteReader in(documented.made());
    auto again = Machine::load(in, 0, settings_);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(in.left(), 0U);
    EXPECT_EQ(again->list({}), machine_.list({}));
    machine_ = *std::move(again);
    EXPECT_EQ(saved(), documented.made());
  }

  const Instant start_ = now_;
};

TEST_F(StateFormat, HasOneOfEach) {
  one(SetLimit{.limited = Limited::type, .name = "mail", .running = 2});
  TaskTerms terms = plain();
  terms.type = "report";
  one(SetSchedule{.name = "daily",
                  .cron = "@daily",
                  .zone = "UTC",
                  .terms = terms,
                  .next = start_ + Duration::hours(1)});
  terms = plain();
  terms.key = "a";
  submit(1, terms);
  claim();
  pass(Duration::seconds(1));
  fail(1);
  const Instant until = start_ + Duration::hours(1);
  one(Close{.scope = Scope::key, .name = "a", .until = until, .spread = Duration::seconds(60)});

  Bytes bytes = begun(6, 3, {1, 1, 0, 0, 1, 0, 0, 0, 0, 0});
  // limits
  bytes.varint(1).u8(0x0A).u8(2).text("mail").varint(0).seconds(0).varint(2);
  // schedules: the command, then when it fires next and when it did last
  bytes.varint(1).u8(0x0B).text("daily").text("@daily").text("UTC");
  bytes.text("report").text("{}").text("").text("").zigzag(0).varint(3).u8(0).seconds(300).retry();
  bytes.u8(1).instant(until);
  bytes.instant(until).u8(0);
  // the queue's gate, types, keys
  bytes.u8(0);
  bytes.varint(1).text("mail").text("worker-1").u8(0);
  bytes.varint(1).text("a").u8(1).instant(until).seconds(60).seconds(0).u8(0).zigzag(0);
  // tasks: pending, its claim ended by a fail, with an error and a history
  bytes.varint(1).id(1).u8(1).u8(2).u8(32 + 128).zigzag(0);
  bytes.varint(1).text("mail").varint(1).text("a").varint(1).text("worker-1").varint(1).retry();
  bytes.counted(1, 1, 0, 4);
  bytes.varint(2).zigzag(start_.ns()).seconds(2).seconds(1);
  bytes.seconds(300).text("{}").text("reset");
  Bytes past;
  past.u8(2).seconds(0).text("worker-1");
  past.u8(4).seconds(1).seconds(1).varint(1).text("reset");
  bytes.past(2, past);
  expect(bytes);
}

TEST_F(StateFormat, HasGatesThatLetGoAndFillAndASchedulesFiring) {
  one(SetLimit{.limited = Limited::queue, .rate = 20, .period = Duration::seconds(1)});
  one(SetSchedule{
      .name = "daily", .cron = "@daily", .zone = "UTC", .terms = plain(), .next = start_});
  const Instant tomorrow = start_ + Duration::hours(24);
  one(Fire{.name = "daily", .due = start_, .next = tomorrow, .id = id_of(50)});
  submit(1, plain());
  one(Close{.scope = Scope::type,
            .name = "mail",
            .until = start_ + Duration::seconds(10),
            .spread = Duration::seconds(60)});
  pass(Duration::seconds(10));
  claim();

  Bytes bytes = begun(6, 3, {2, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  bytes.varint(1).u8(0x0A).u8(1).text("").varint(20).seconds(1).varint(0);
  bytes.varint(1).u8(0x0B).text("daily").text("@daily").text("UTC");
  bytes.text("mail").text("{}").text("").text("").zigzag(0).varint(3).u8(0).seconds(300).retry();
  bytes.u8(1).instant(start_);
  bytes.instant(tomorrow).u8(1).instant(start_);
  // A tenth of the rate may come at once; the rest is the pace, and one of it is to come again.
  const Instant full = now() + Duration::nanoseconds(1'000'000'000 / 19 + 1);
  bytes.u8(1).instant({}).seconds(0).seconds(0).u8(0).zigzag(full.ns());
  // One of two has gone: the other one may when half of the spread is over.
  bytes.varint(1).text("mail").text("worker-1");
  bytes.u8(1).instant({}).seconds(0).seconds(0);
  bytes.u8(1).instant(start_ + Duration::seconds(40)).instant(start_ + Duration::seconds(70));
  bytes.zigzag(0);
  bytes.varint(0);  // keys
  bytes.varint(2);
  bytes.id(50).u8(2).u8(0).u8(128).zigzag(0);
  bytes.varint(1).text("mail").varint(0).varint(1).text("worker-1").varint(1).retry();
  bytes.counted(1, 0, 0, 6);
  bytes.varint(1).zigzag(start_.ns()).seconds(0).seconds(10).seconds(10).seconds(40);
  bytes.seconds(300).text("{}");
  bytes.past(1, Bytes().u8(2).seconds(10).text("worker-1"));
  bytes.id(1).u8(1).u8(0).u8(0).zigzag(0);
  bytes.varint(1).varint(0).varint(0).varint(1);
  bytes.counted(0, 0, 0, 0);
  bytes.varint(1).seconds(0).seconds(0).seconds(0);
  bytes.seconds(300).text("{}");
  expect(bytes);
}

TEST_F(StateFormat, HasWhatATaskMayHave) {
  TaskTerms terms = plain();
  terms.input = R"({"n":1})";
  terms.key = "a";
  terms.unique = "one";
  terms.priority = -5;
  terms.max_reschedules = 3;
  const Instant dies = start_ + Duration::hours(1);
  one(Submit{.id = id_of(1), .terms = terms, .expires = dies});
  submit(2, plain());
  claim(2);
  pass(Duration::seconds(1));
  one(Reschedule{
      .id = id_of(1), .fence = 3, .delay = Duration::seconds(10), .input = R"({"n":2})"});
  one(Cancel{.id = id_of(2), .by = "ops", .why = "no need"});

  Bytes bytes = begun(5, 4, {2, 2, 0, 0, 0, 1, 0, 0, 0, 0});
  bytes.varint(0).varint(0);  // limits, schedules
  bytes.u8(0).varint(1).text("mail").text("worker-1").u8(0).varint(0);
  bytes.varint(2);
  bytes.id(2).u8(2).u8(0).u8(1 + 64 + 128).zigzag(0);
  bytes.varint(1).text("mail").varint(0).varint(1).text("worker-1").varint(1).retry();
  bytes.counted(1, 0, 0, 3);
  bytes.varint(2).zigzag(start_.ns()).seconds(0).seconds(1).seconds(0).seconds(30);
  bytes.seconds(300).text("{}").text("ops: no need");
  Bytes past;
  past.u8(2).seconds(0).text("worker-1");
  past.u8(11).seconds(1).text("ops: no need");
  bytes.past(2, past);
  bytes.id(1).u8(1).u8(3).u8(2 + 4 + 8 + 128).zigzag(-5);
  bytes.varint(1).varint(1).text("a").varint(1).varint(1);
  bytes.counted(1, 0, 1, 3);
  bytes.varint(1).seconds(0).seconds(11).seconds(1);
  bytes.seconds(300).text(R"({"n":2})");
  const std::string key =
      to_hex(sha256(R"({"correlation_id":null,"operation":"","params":{"n":1},"tenant_id":null})"));
  const Hash128 first = hash_of(key, 0);
  bytes.varint(3).instant(dies).text("one").u8(1).fixed64(first.high).fixed64(first.low);
  past = {};
  past.u8(2).seconds(0).text("worker-1");
  past.u8(5).seconds(1).seconds(10).varint(1).text("");
  bytes.past(2, past);
  expect(bytes);
}

// Tasks 1 and 2 were claimed, 5 and 6 never.
void write_tasks_that_ended(Bytes& bytes, Instant start) {
  bytes.id(1).u8(3).u8(1).u8(16 + 128).zigzag(0);
  bytes.varint(1).text("mail").varint(0).varint(1).text("worker-1").varint(1).retry();
  bytes.counted(1, 0, 0, 2);
  bytes.varint(1).zigzag(start.ns()).seconds(0).seconds(1).seconds(1);
  bytes.seconds(300).text("{}").text("[1]");
  bytes.past(2, Bytes().u8(2).seconds(0).text("worker-1").u8(3).seconds(1));
  bytes.id(2).u8(4).u8(2).u8(32 + 128).zigzag(0);
  bytes.varint(1).varint(0).varint(1).varint(1);
  bytes.counted(1, 0, 0, 2);
  bytes.varint(1).seconds(0).seconds(0).seconds(1).seconds(1);
  bytes.seconds(300).text("{}").text("reset");
  bytes.past(2, Bytes().u8(2).seconds(0).text("worker-1").u8(7).seconds(1).text("reset"));
  bytes.id(5).u8(6).u8(0).u8(4 + 128).zigzag(0);
  bytes.varint(1).varint(0).varint(0).varint(1);
  bytes.counted(0, 0, 0, 0);
  bytes.varint(3).seconds(1).seconds(0).seconds(30).seconds(5);  // its time, though told 25 s later
  bytes.seconds(300).text("{}").instant(start + Duration::seconds(6));
  bytes.past(1, Bytes().u8(9).seconds(5));
  bytes.id(6).u8(5).u8(0).u8(1 + 64 + 128).zigzag(0);
  bytes.varint(1).varint(0).varint(0).varint(1);
  bytes.counted(0, 0, 0, 0);
  bytes.varint(1).seconds(0).seconds(0).seconds(0).seconds(0);
  bytes.seconds(300).text("{}").text("ops");
  bytes.past(1, Bytes().u8(8).seconds(0).text("ops"));
}

// Task 4 after a replay, task 3 after the end of its lease.
void write_tasks_that_wait_again(Bytes& bytes) {
  bytes.id(4).u8(1).u8(5).u8(128).zigzag(0);
  bytes.varint(1).varint(0).varint(0).varint(1);
  bytes.counted(0, 0, 0, 0);
  bytes.varint(1).seconds(0).seconds(0).seconds(0);
  bytes.seconds(300).text("{}");
  bytes.past(2, Bytes().u8(8).seconds(0).text("").u8(10).seconds(0));
  bytes.id(3).u8(1).u8(4).u8(32 + 128).zigzag(0);
  bytes.varint(1).varint(0).varint(1).varint(1);
  bytes.counted(1, 1, 0, 2);
  bytes.varint(1).seconds(-1).seconds(32).seconds(31);
  bytes.seconds(300).text("{}").text("lease expired");
  Bytes past;
  past.u8(2).seconds(0).text("worker-1");
  past.u8(6).seconds(31).seconds(1).varint(1).text("lease expired");
  bytes.past(2, past);
}

TEST_F(StateFormat, HasEveryEndOfAClaimAndOfATask) {
  all({Submit{.id = id_of(1), .terms = plain()}, Submit{.id = id_of(2), .terms = plain()},
       Submit{.id = id_of(3), .terms = plain()}});
  claim(3);
  pass(Duration::seconds(1));
  all({Complete{.id = id_of(1), .fence = 2, .output = "[1]"},
       Fail{.id = id_of(2), .fence = 2, .error = "reset", .permanent = true},
       Submit{.id = id_of(4), .terms = plain()},
       Submit{.id = id_of(5), .terms = plain(), .time_to_live = Duration::seconds(5)},
       Submit{.id = id_of(6), .terms = plain()}, Cancel{.id = id_of(4)},
       Cancel{.id = id_of(6), .by = "ops"}, Replay{.id = id_of(4)}});
  pass(Duration::seconds(30));
  tick();

  Bytes bytes = begun(4, 9, {6, 3, 1, 1, 0, 0, 1, 2, 1, 0});
  bytes.varint(0).varint(0);  // limits, schedules
  bytes.u8(0).varint(1).text("mail").text("worker-1").u8(0).varint(0);
  bytes.varint(6);
  write_tasks_that_ended(bytes, start_);
  write_tasks_that_wait_again(bytes);
  expect(bytes);
}

}  // namespace
}  // namespace pawl::queue
