// Goal: a record is written as docs/formats.md says, always reads back, and shows any change.
// Method: a pinned chain of two records, then events of every kind at random.
#include "core/audit/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"
#include "base/sha256.h"

namespace pawl::audit {
namespace {

Event limit_event() {
  return {.type = EventType::limit,
          .timestamp = Instant::from_ns(1'769'375'700'000'000'000),
          .operation = "POST /orders",
          .correlation = {.tenant_id = "acme", .request_id = "r-1"},
          .details = {{"policy", "global"}, {"allowed", false}, {"retry_after_ms", 1500}}};
}

Event request_event() {
  return {.type = EventType::request,
          .timestamp = Instant::from_ns(1'769'375'700'250'000'000),
          .operation = "GET /\n\"é\"",
          .correlation = {},
          .details = {{"status", 200}, {"amount", json::Number{"1.10"}}}};
}

std::string line_of(Chain& chain, const Event& event) {
  std::string out;
  chain.link(draft(event).value(), out);
  EXPECT_EQ(out.back(), '\n');
  out.pop_back();
  return out;
}

TEST(Chain, WritesTheTwoRecordsOfTheFormatsPage) {
  const std::string zeros(64, '0');
  const std::string first = "235345675dca6fcb4a9bc090f6be3488ad8e632f06f08bdd0a5a1d654864414c";
  const std::string second = "ef45b821df7e21e7d724326fda24e72389f69af09f6a60073ee425a8442c3694";
  Chain chain;
  EXPECT_EQ(line_of(chain, limit_event()),
            R"({"allowed":false,"event_type":"limit","hash":")" + first +
                R"(","operation":"POST /orders","policy":"global","prev":")" + zeros +
                R"(","request_id":"r-1","retry_after_ms":1500,"seq":1,"tenant_id":"acme",)"
                R"("timestamp":"2026-01-25T21:15:00.000Z"})");
  EXPECT_EQ(line_of(chain, request_event()),
            R"({"amount":1.10,"event_type":"request","hash":")" + second +
                R"(","operation":"GET /\n\"é\"","prev":")" + first +
                R"(","seq":2,"status":200,"timestamp":"2026-01-25T21:15:00.250Z"})");
  EXPECT_EQ(chain.head().seq, 2u);
}

TEST(Chain, GoesOnAfterAHeadAsIfItHadNeverStopped) {
  Chain whole;
  line_of(whole, limit_event());
  const std::string expected = line_of(whole, request_event());

  Chain first;
  const Link head = read_link(line_of(first, limit_event())).value();
  EXPECT_EQ(head, first.head());
  Chain second(head);
  EXPECT_EQ(line_of(second, request_event()), expected);
}

TEST(Chain, TheHashIsOverTheLineWithoutTheHashMember) {
  Chain chain;
  std::string line = line_of(chain, limit_event());
  const std::string member = "\"hash\":\"" + chain.head().hash + "\",";
  line.erase(line.find(member), member.size());
  EXPECT_EQ(to_hex(sha256(line)), chain.head().hash);
}

TEST(Draft, RefusesARecordThatCouldGrowOverTheBound) {
  Event event = request_event();
  event.operation.clear();
  const std::size_t rest = draft(event)->text.size() + std::string(R"("operation":"",)").size();
  // The longest place in a chain: two hashes and a number of 20 digits, with names and commas.
  const std::size_t room = bounds::audit_event_bytes_max - rest - (74 + 74 + 27);

  event.operation = std::string(room, 'x');
  ASSERT_TRUE(draft(event).has_value());
  Chain chain(Link{.seq = 18'446'744'073'709'551'614u, .prev = {}, .hash = std::string(64, 'a')});
  const std::string line = line_of(chain, event);
  EXPECT_EQ(line.size(), bounds::audit_event_bytes_max);
  EXPECT_TRUE(read_link(line).has_value());

  event.operation += 'x';
  const Result<Draft> refused = draft(event);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_NE(refused.error().message.find("at most 65536"), std::string::npos);
}

json::Value nested(std::size_t levels) {
  json::Value value = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    value = i % 2 == 0 ? json::Value(json::Array{std::move(value)})
                       : json::Value(json::Object{{"in", std::move(value)}});
  }
  return value;
}

TEST(Draft, RefusesADetailNestedTooDeepToReadBack) {
  Event event = limit_event();
  event.details = {{"deep", nested(bounds::json_depth_max - 1)}};
  Chain chain;
  EXPECT_TRUE(read_link(line_of(chain, event)).has_value());
  event.details = {{"deep", nested(bounds::json_depth_max)}};
  ASSERT_FALSE(draft(event).has_value());
  EXPECT_NE(draft(event).error().message.find("'deep'"), std::string::npos);
}

TEST(DraftDeathTest, ADetailWithTheNameOfAFixedMemberIsABug) {
  for (const std::string_view name :
       {"correlation_id", "event_type", "external_reference", "hash", "operation", "prev",
        "request_id", "seq", "tenant_id", "timestamp", "trace_id"}) {
    Event event = request_event();
    event.details = {{name, 1}};
    EXPECT_DEATH((void)draft(event), "name_is_free") << name;
  }
}

TEST(DraftDeathTest, TwoDetailsOfOneNameAreABug) {
  Event event = limit_event();
  event.details = {{"a", 1}, {"b", 1}, {"a", 2}};
  EXPECT_DEATH((void)draft(event), "name_is_free");
}

TEST(DraftDeathTest, ADetailNameThatNeedsEscapingIsABug) {
  for (const std::string_view name : {"", "Name", "with space", "quo\"te", "é"}) {
    Event event = limit_event();
    event.details = {{name, 1}};
    EXPECT_DEATH((void)draft(event), "is_name") << name;
  }
}

TEST(ReadLink, SaysWhatIsNoRecord) {
  const auto message = [](std::string_view line) { return read_link(line).error().message; };
  const std::string zeros(64, '0');
  EXPECT_EQ(message("hello"),
            "this is no audit record: line 1, column 1: expected a value, found 'h'");
  EXPECT_EQ(message("[1]"), "this is no audit record: it has no member 'seq' that counts 1, 2, …");
  for (const char* seq : {"0", "-1", "1.0", "1e3", "\"1\"", "18446744073709551616"}) {
    EXPECT_EQ(message(R"({"seq":)" + std::string(seq) + "}"), message("[1]")) << seq;
  }
  EXPECT_EQ(message(R"({"seq":1})"),
            "this is no audit record: it has no member 'prev' of 64 lower-case hexadecimal digits");
  EXPECT_EQ(message(R"({"seq":1,"prev":")" + zeros + R"(","hash":"A"})"),
            "this is no audit record: it has no member 'hash' of 64 lower-case hexadecimal digits");
  EXPECT_EQ(message(R"({"seq":1,"prev":")" + zeros + R"(","hash": ")" + zeros + R"("})"),
            "this is no audit record: its member 'hash' is not written as pawl does");
  EXPECT_EQ(message(R"({"hash":")" + zeros + R"(","prev":")" + zeros + R"(","seq":1})"),
            "the hash of record 1 does not fit its text");
  EXPECT_NE(message(std::string(bounds::audit_event_bytes_max + 1, ' ')).find("more than 65536"),
            std::string::npos);
}

rc::Gen<std::string> any_text() {
  return rc::gen::oneOf(
      rc::gen::arbitrary<std::string>(),
      rc::gen::element<std::string>("", "é", "\xE2\x80\xA8", "\xFF\xFE", "\x1B[0m",
                                    "\"hash\":\"0\",", "\U0001F600", "\x7F"));
}

Event any_event() {
  Event event;
  event.type = *rc::gen::element(EventType::limit, EventType::request, EventType::config);
  event.timestamp =
      Instant::from_ns(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000) * 1'000'000'000);
  event.operation = *any_text();
  event.correlation = {.tenant_id = *any_text(),
                       .request_id = *any_text(),
                       .external_reference = *any_text(),
                       .correlation_id = *any_text(),
                       .trace_id = *any_text()};
  for (const std::string_view name : {"zone", "a", "hashes", "prew", "limit", "e", "sequel", "0"}) {
    if (*rc::gen::arbitrary<bool>()) continue;
    const json::Object object = {{"hash", std::string(64, '0')}, {*any_text(), nullptr}};
    event.details.emplace_back(name, *rc::gen::element<json::Value>(
                                         1, -7, true, nullptr, *any_text(), json::Number{"0.10"},
                                         json::Array{1, *any_text()}, object));
  }
  return event;
}

RC_GTEST_PROP(Chain, EveryRecordReadsBackAndStandsInCanonicalOrder, ()) {
  Chain chain;
  for (int i = 0; i < 3; ++i) {
    const Link before = chain.head();
    const std::string line = line_of(chain, any_event());
    const Link link = read_link(line).value();
    RC_ASSERT(link == chain.head());
    RC_ASSERT(link.seq == before.seq + 1);
    RC_ASSERT(link.prev == before.hash);
    RC_ASSERT(line.find('\n') == std::string::npos);
    RC_ASSERT(json::print(json::parse(line).value()) == line);
  }
}

RC_GTEST_PROP(ReadLink, FindsAnySingleChangedByte, ()) {
  Chain chain;
  std::string line = line_of(chain, any_event());
  const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
  line[at] = static_cast<char>(line[at] ^ *rc::gen::inRange(1, 256));
  RC_ASSERT(!read_link(line).has_value());
}

}  // namespace
}  // namespace pawl::audit
