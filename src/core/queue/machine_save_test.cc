// Goal: what a machine wrote is read back whole, and nothing that is damaged is read as something
//       else, nor ends the process.
// Method: a machine with one of everything; its bytes cut at every place and changed at every
//         place. That a machine goes on the same is in machine_property_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/command_bytes.h"
#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::HasSubstr;

class SaveTest : public MachineTest {
 protected:
  std::string bytes() const {
    ByteWriter out;
    machine_.save(out);
    return out.take();
  }
  Result<Machine> load(std::string_view bytes) const {
    ByteReader in(bytes);
    return Machine::load(in, 0, settings_);
  }
  // One of everything.
  void fill() {
    one(SetLimit{
        .limited = Limited::each_key, .rate = 5, .period = Duration::seconds(1), .running = 4});
    one(SetLimit{.limited = Limited::type, .name = "trade", .running = 2});
    one(SetSchedule{.name = "daily",
                    .cron = "@daily",
                    .zone = "UTC",
                    .terms = {.type = "report", .input = "{}"},
                    .next = now()});
    one(Fire{.name = "daily", .due = now(), .next = now() + Duration::hours(24), .id = id_of(50)});
    TaskTerms terms = {
        .type = "mail", .input = "{\"to\":1}", .key = "a", .unique = "one", .max_reschedules = 3};
    terms.retry.delays = {Duration::seconds(1), Duration::seconds(5)};
    submit(1, terms);
    terms.unique = "";
    terms.key = "b";
    for (std::uint32_t i = 2; i <= 6; ++i) submit(i, terms);
    one(Submit{.id = id_of(7),
               .terms = terms,
               .delay = Duration::seconds(9),
               .time_to_live = Duration::hours(2)});
    claim(1);
    complete(claim(1).at(0));
    pass(Duration::seconds(1));
    claim(1);
    one(Cancel{.id = id_of(6), .by = "ops", .why = "no need"});
    pass(Duration::seconds(1));
    reschedule(claim(1).at(0), Duration::seconds(10), Scope::type);
    one(Close{.scope = Scope::key, .name = "nobody", .until = now() + Duration::hours(1)});
  }
};

TEST_F(SaveTest, ReadsBackWhatItWrote) {
  fill();
  const auto again = load(bytes());
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ByteWriter out;
  again->save(out);
  EXPECT_EQ(out.text(), bytes());
  EXPECT_EQ(again->list({}), machine_.list({}));
  EXPECT_EQ(again->sequence(), machine_.sequence());
  EXPECT_EQ(again->now(), machine_.now());
  EXPECT_EQ(again->limits().size(), 2U);
  EXPECT_EQ(again->closings(now()).size(), 2U);
  EXPECT_EQ(again->schedules()[0].last, machine_.schedules()[0].last);
  EXPECT_EQ(again->stats(now()).totals.claimed, machine_.stats(now()).totals.claimed);
}

// To set it is to remove the one before, which is where the rest of it would go.
TEST_F(SaveTest, RefusesAScheduleWithoutATime) {
  ByteWriter out;
  out.varint(1);  // the format
  out.varint(0);  // the sequence
  write_instant(out, now());
  out.varint(1);  // the next arrival
  for (int i = 0; i < 10; ++i) out.varint(0);
  out.varint(0);  // limits
  out.varint(2);
  const TaskTerms terms = {.type = "report", .input = "{}"};
  for (const char* cron : {"@daily", ""}) {
    write_command(out, SetSchedule{.name = "a", .cron = cron, .zone = "UTC", .terms = terms});
    write_instant(out, now());
    write_optional_instant(out, {});
  }
  const auto again = load(out.text());
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message, HasSubstr("a schedule that cannot be set"));
}

// Nothing waited for it, so there is nothing to spread, and a snapshot does not have it any more:
// were it known still, what was read back would refuse what this one takes.
TEST_F(SaveTest, AKeyThatIsOpenAgainIsForgottenHereToo) {
  one(Close{.scope = Scope::key,
            .name = "a",
            .until = now() + Duration::seconds(5),
            .spread = Duration::seconds(60)});
  pass(Duration::seconds(6));
  tick();
  auto again = load(bytes());
  ASSERT_TRUE(again.has_value()) << again.error().message;
  std::vector<Command> closings;
  for (std::size_t i = 0; i < bounds::queue_limits_max; ++i) {
    closings.push_back(Close{.scope = Scope::key,
                             .name = "key" + std::to_string(i),
                             .until = now() + Duration::hours(1)});
  }
  closings.push_back(Close{.scope = Scope::key, .name = "a", .until = now() + Duration::hours(1)});
  const Reply here = all(closings).back();
  const Reply there = again->apply(now(), closings).back();
  EXPECT_EQ(refusal(here), refusal(there));
}

TEST_F(SaveTest, KnowsEveryStateThatIsCutShort) {
  fill();
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto again = load(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(again.has_value()) << size;
    EXPECT_THAT(again.error().message, HasSubstr("damaged"));
  }
}

TEST_F(SaveTest, LivesWithWhateverADamagedStateSays) {
  fill();
  const std::string whole = bytes();
  const std::vector<Command> some = {Claim{.worker = "w", .count = 9}, Cancel{.id = id_of(7)},
                                     SetLimit{.limited = Limited::each_key}};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'\x01', '\x7f', '\x80'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      auto again = load(damaged);
      if (!again) continue;  // a checksum stands around it; here it is enough to go on
      again->apply(now() + Duration::hours(1), some);
      again->apply(Instant::max(), some);
      again->next_change({}, now());
      again->stats(now());
    }
  }
}

TEST_F(SaveTest, SaysThatANewerPawlWroteIt) {
  std::string newer = bytes();
  newer[0] = '\x02';
  EXPECT_EQ(load(newer).error().message,
            "was written by a newer pawl (format 2); this one reads format 1: update pawl");
  EXPECT_EQ(load(newer).error().code, Code::refused);
  newer[0] = '\0';
  EXPECT_THAT(load(newer).error().message, HasSubstr("is damaged: there is no format 0"));
}

TEST_F(SaveTest, ForgetsKeysThatHaveNothingLeftToRemember) {
  const std::string empty = bytes();
  for (std::uint32_t i = 0; i < 100; ++i) {
    submit(i, {.type = "t" + std::to_string(i), .input = "{}", .key = "k" + std::to_string(i)});
    claim(1);
    complete(i);
  }
  pass(settings_.kept);
  tick();
  EXPECT_EQ(machine_.tasks(), 0U);
  EXPECT_LT(bytes().size(), empty.size() + 20);
}

}  // namespace
}  // namespace pawl::queue
