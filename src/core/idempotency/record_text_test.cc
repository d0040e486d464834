// Goal: a record is kept as docs/formats.md says, reads back the same, and nothing else is taken
// for one. Method: the text of the document; one fault after the other put into a good text; random
// records there and back, and random bytes changed in them.
#include "core/idempotency/record_text.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::idempotency {
namespace {

constexpr std::string_view documented =
    "pawl-record 1 done 7 1769375700000000 0 1769462100000000 0 0 5 14 4\n"
    "print{\"status\":201}null";

Instant at_microsecond(std::int64_t n) {
  return Instant() + Duration::microseconds(n);
}

Record documented_record() {
  return {.status = Status::done,
          .fence = 7,
          .fingerprint = "print",
          .created_at = at_microsecond(1'769'375'700'000'000),
          .expires_at = at_microsecond(1'769'462'100'000'000),
          .response = {.body = "null", .metadata = R"({"status":201})"}};
}

std::string with(std::string_view found, std::string_view instead) {
  std::string text(documented);
  return text.replace(text.find(found), found.size(), instead);
}

TEST(RecordText, IsAsDocumented) {
  EXPECT_EQ(to_text(documented_record()), documented);
  EXPECT_EQ(parse_record(documented).value(), documented_record());
}

TEST(RecordText, RoundsTimesUpToMicroseconds) {
  Record record = documented_record();
  record.created_at = Instant::from_ns(1'001);
  record.expires_at = Instant::max();
  const Record read = parse_record(to_text(record)).value();
  EXPECT_EQ(read.created_at, Instant::from_ns(2'000));
  EXPECT_EQ(read.expires_at, at_microsecond(std::int64_t{1} << 53));
  record.created_at = Instant::from_ns(-5);
  EXPECT_EQ(parse_record(to_text(record)).value().created_at, Instant());
}

TEST(RecordText, RefusesWhatIsWrittenInAnotherWay) {
  const std::string cases[] = {"",
                               "\n",
                               std::string(documented) + "x",
                               std::string(documented.substr(0, documented.size() - 1)),
                               std::string(documented.substr(0, 20)),
                               with("pawl-record", "PAWL-record"),
                               with("pawl-record", " pawl-record"),
                               with("done", "gone"),
                               with("done", "Done"),
                               with(" 7 ", " 07 "),
                               with(" 7 ", " +7 "),
                               with(" 7 ", " -7 "),
                               with(" 7 ", " 0 "),
                               with(" 7 ", "  7 "),
                               with(" 7 ", " 7.0 "),
                               with(" 7 ", " 9007199254740993 "),
                               with(" 7 ", " 99999999999999999999999 "),
                               with("00 0 0 5", "00 0 2 5"),
                               with("00 0 0 5", "00 0 1 5"),
                               with(" 5 14 4\n", " 5 14\n"),
                               with(" 5 14 4\n", " 5 14 4 \n"),
                               with(" 5 14 4\n", " 5 14 4 0\n"),
                               with(" 5 14 4\n", " 5 14 4\r\n"),
                               with(" 5 14 4\n", " 5 14 4" + std::string(300, ' ') + "\n"),
                               with(" 5 14 4\n", " 4294967295 14 4\n"),
                               with(" 5 14 4\n", " 5 14 18446744073709551615\n")};
  for (const std::string& text : cases) {
    const auto record = parse_record(text);
    ASSERT_FALSE(record.has_value()) << text;
    EXPECT_EQ(record.error().code, Code::invalid);
  }
}

TEST(RecordText, RefusesWhatTheMachineCannotHaveMade) {
  const auto refused = [](Record record) { return !parse_record(to_text(record)).has_value(); };
  Record record = documented_record();
  record.lease_until = at_microsecond(1);
  EXPECT_TRUE(refused(record)) << "a lease of one that has ended";
  record = documented_record();
  record.response.tombstone = true;
  EXPECT_TRUE(refused(record)) << "a tombstone with a body";
  record = documented_record();
  record.status = Status::failed;
  record.replays = 1;
  EXPECT_TRUE(refused(record)) << "a replay of one that is not done";
  record = documented_record();
  record.response.body = std::string(bounds::record_bytes_max + 1, 'b');
  EXPECT_TRUE(refused(record));

  record = documented_record();
  record.status = Status::in_flight;
  record.lease_until = record.expires_at;
  EXPECT_TRUE(refused(record)) << "a response of one in flight";
  record.response = {};
  EXPECT_FALSE(refused(record));
  record.lease_until = record.lease_until + Duration::microseconds(1);
  EXPECT_TRUE(refused(record)) << "it would be gone before its lease is over";
}

TEST(RecordText, SaysSoWhenANewerPawlHasWrittenIt) {
  const auto record = parse_record(with(" 1 ", " 2 "));
  ASSERT_FALSE(record.has_value());
  EXPECT_NE(record.error().message.find("version '2'"), std::string::npos);
}

Record any_record() {
  const auto number = [] {
    return *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 1'000),
                           rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << 53) + 1));
  };
  Record record;
  record.status =
      *rc::gen::element(Status::in_flight, Status::done, Status::failed, Status::unknown);
  record.fence = static_cast<std::uint64_t>(number()) | 1;
  record.fingerprint = (*rc::gen::arbitrary<std::string>()).substr(0, 128);
  record.created_at = at_microsecond(number());
  record.expires_at = at_microsecond(number());
  if (record.status == Status::in_flight) {
    record.lease_until = std::min(at_microsecond(number()), record.expires_at);
    return record;
  }
  record.response.metadata = *rc::gen::arbitrary<std::string>();
  record.response.tombstone = *rc::gen::arbitrary<bool>();
  if (!record.response.tombstone) record.response.body = *rc::gen::arbitrary<std::string>();
  if (record.status == Status::done) record.replays = static_cast<std::uint64_t>(number());
  return record;
}

RC_GTEST_PROP(RecordText, ReadsBackTheSameAndHasOneTextAlone, ()) {
  const Record record = any_record();
  std::string text = to_text(record);
  RC_ASSERT(parse_record(text).value() == record);
  const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
  text[place] = *rc::gen::arbitrary<char>();
  const auto changed = parse_record(text);
  RC_ASSERT((!changed.has_value() || to_text(*changed) == text));
}

}  // namespace
}  // namespace pawl::idempotency
