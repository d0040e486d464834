// Goal: a key means one thing however it is spelled, a record's key never mixes two intents up, and
// nothing of one client's answer is given to another moment or person. Method: tables of spellings;
// properties over random keys; every field that must not be kept by name.
#include "core/request/write.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::request {
namespace {

using idempotency::Status;
using Kind = KeyFound::Kind;

WriteRules rules() {
  return {.header = "Idempotency-Key",
          .methods = {"POST", "DELETE"},
          .require = {*PathPattern::parse("/pay/**")},
          .store_statuses = {{200, 299}, {400, 499}},
          .body_limit = 10,
          .ttl = Duration::hours(24),
          .lease = Duration::seconds(60),
          .store_deadline = Duration::milliseconds(50)};
}

KeyFound key_in(std::string_view request) {
  std::string text(request);
  text += "\r\n\r\n";
  http::RequestHead head;
  const auto parsed = http::parse_request(text, head);
  EXPECT_TRUE(parsed && *parsed == http::HeadProgress::complete) << request;
  return find_key(rules(), head);
}

std::string post(std::string_view fields, std::string_view path = "/a") {
  std::string out = "POST ";
  out.append(path).append(" HTTP/1.1\r\nHost: t\r\n").append(fields);
  return out.append(fields.empty() ? "Content-Length: 0" : "\r\nContent-Length: 0");
}

TEST(FindKey, TakesAKeyBareAndQuotedAsTheSame) {
  EXPECT_EQ(key_in(post("Idempotency-Key: k-1")).key, "k-1");
  EXPECT_EQ(key_in(post("idempotency-key: \"k-1\"")).key, "k-1");
  EXPECT_EQ(key_in(post("Idempotency-Key: \"a\\\"b\\\\c\"")).key, "a\"b\\c");
  EXPECT_EQ(key_in(post("Idempotency-Key: k-1")).kind, Kind::key);
}

TEST(FindKey, RefusesWhatCanBeReadInTwoWays) {
  for (const std::string_view bad :
       {"Idempotency-Key: ", "Idempotency-Key: \"\"", "Idempotency-Key: \"a", "Idempotency-Key: \"",
        "Idempotency-Key: \"a\";b=1", "Idempotency-Key: \"a\\b\"", "Idempotency-Key: \"a\"b\"",
        "Idempotency-Key: a\r\nIdempotency-Key: a", "Idempotency-Key: caf\xc3\xa9"}) {
    EXPECT_EQ(key_in(post(bad)).kind, Kind::invalid) << bad;
  }
  EXPECT_EQ(key_in(post("Idempotency-Key: " + std::string(255, 'k'))).kind, Kind::key);
  EXPECT_EQ(key_in(post("Idempotency-Key: " + std::string(256, 'k'))).kind, Kind::invalid);
}

TEST(FindKey, LooksAtWritesAloneAndAsksWhereOneIsRequired) {
  EXPECT_EQ(key_in("GET /pay/1 HTTP/1.1\r\nHost: t\r\nIdempotency-Key: k").kind, Kind::none);
  EXPECT_EQ(key_in(post("")).kind, Kind::none);
  EXPECT_EQ(key_in(post("", "/pay/1")).kind, Kind::missing);
  EXPECT_EQ(key_in(post("", "/pay/1?x=1")).kind, Kind::missing);
  EXPECT_EQ(key_in(post("", "//pay/./1")).kind, Kind::missing) << "spelling does not help";
}

TEST(RecordKey, ReadsBackAndFits) {
  const WriteKey key{.method = "POST", .path = "/orders", .key = "a b c"};
  EXPECT_EQ(to_record_key(key), "POST /orders a b c");
  EXPECT_EQ(parse_record_key(to_record_key(key)), key);
  EXPECT_EQ(parse_record_key(to_record_key(key, std::string(64, 'f'))), key);
  EXPECT_EQ(parse_record_key("webhook ENDPOINT x"), std::nullopt);
  EXPECT_EQ(parse_record_key("no"), std::nullopt);
}

TEST(RecordKey, ALongPathIsHashedAndStillTellsPathsApart) {
  WriteKey key{.method = "DELETE",
               .path = "/" + std::string(8000, 'a'),
               .key = std::string(bounds::idempotency_key_bytes_max, 'k')};
  const std::string first = to_record_key(key, std::string(64, 'f'));
  EXPECT_LE(first.size(), bounds::record_key_bytes_max);
  key.path.back() = 'b';
  EXPECT_NE(to_record_key(key, std::string(64, 'f')), first);
  EXPECT_EQ(parse_record_key(first)->key, key.key);
}

std::string printable(bool with_space) {
  const auto character =
      with_space ? rc::gen::inRange<char>(0x20, 0x7f) : rc::gen::inRange<char>(0x21, 0x7f);
  return *rc::gen::suchThat(rc::gen::container<std::string>(character),
                            [](const std::string& s) { return !s.empty() && s.size() < 100; });
}

RC_GTEST_PROP(RecordKey, NoTwoIntentsShareOne, ()) {
  const WriteKey a{.method = "POST", .path = "/" + printable(false), .key = printable(true)};
  const WriteKey b{.method = "POST", .path = "/" + printable(false), .key = printable(true)};
  RC_ASSERT((to_record_key(a) == to_record_key(b)) == (a == b));
}

TEST(FingerprintOf, IsOfQueryAndBody) {
  const auto bytes = [](std::string_view query, std::string_view body) {
    return fingerprint_of(Fingerprint::bytes, query, "application/json", body);
  };
  EXPECT_EQ(bytes("?a=1", "x"), bytes("?a=1", "x"));
  EXPECT_NE(bytes("?a=1", "x"), bytes("?a=2", "x"));
  EXPECT_NE(bytes("?a", "b"), bytes("?a\nb", ""));
  EXPECT_NE(bytes("", "{\"a\":1}"), bytes("", "{ \"a\":1}"));
}

TEST(CredentialsOf, TellThoseApartWhoProveThemselvesDifferently) {
  const auto of = [](std::string_view name, std::string_view value) {
    http::Fields fields;
    EXPECT_TRUE(fields.add({"Accept", "*/*"}));
    EXPECT_TRUE(fields.add({name, value}));
    return credentials_of(fields);
  };
  for (const char* name : {"authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Apikey"}) {
    EXPECT_NE(of(name, "alice"), "") << name;
    EXPECT_NE(of(name, "alice"), of(name, "bob")) << name;
    EXPECT_EQ(of(name, "alice"), of(name, "alice")) << name;
  }
  for (const char* name : {"X-CSRF-Token", "Idempotency-Key", "X-Request-Id"}) {
    EXPECT_EQ(of(name, "alice"), "") << name << " may be another in a retry";
  }
}

TEST(FingerprintOf, CanonicalJsonIsOneWhateverItsSpelling) {
  const auto print = [](std::string_view type, std::string_view body) {
    return fingerprint_of(Fingerprint::json, "", type, body);
  };
  const auto json = [&](std::string_view body) { return print("application/json", body); };
  EXPECT_EQ(json("{\"a\":1,\"b\":2}"), json("{ \"b\":2.0, \"a\":1 }"));
  EXPECT_EQ(print("application/vnd.x+json; charset=utf-8", "{\"a\":1}"), json("{\"a\":1}"));
  EXPECT_NE(json("{\"a\":1}"), json("{\"a\":2}"));
  EXPECT_NE(json("{\"a\":1.00000000000000001}"), json("{\"a\":1}"))
      << "digits that a double does not hold are money";
  EXPECT_NE(print("text/plain", "{\"a\":1}"), print("text/plain", "{ \"a\":1}"));
  EXPECT_NE(json("{broken"), json("{ broken")) << "by its bytes";
}

std::string kept_fields(std::string_view fields) {
  std::string text = "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n";
  text.append(fields).append("\r\n\r\n");
  http::ResponseHead head;
  EXPECT_TRUE(http::parse_response(text, false, head)) << fields;
  const auto replayed = replayed_head(
      {.body = {}, .metadata = answer_metadata(head.status, head.reason, head.fields)});
  EXPECT_TRUE(replayed.has_value());
  EXPECT_EQ(replayed->status, 201);
  EXPECT_EQ(replayed->reason, "Made");
  return replayed->fields;
}

TEST(AnswerMetadata, KeepsWhatAClientNeeds) {
  for (const std::string field : {"Content-Type: application/json", "Location: /orders/1",
                                  "ETag: \"x\"", "X-Total-Count: 7", "Link: </a>; rel=next"}) {
    EXPECT_EQ(kept_fields(field), field + "\r\n");
  }
}

TEST(AnswerMetadata, KeepsNothingOfOneClientOneConnectionOrOneMoment) {
  for (const std::string_view field : {"Set-Cookie: a=b",
                                       "set-cookie2: a=b",
                                       "WWW-Authenticate: Basic",
                                       "Authorization: Bearer x",
                                       "Proxy-Authenticate: Basic",
                                       "Authentication-Info: x",
                                       "X-Auth-Token: t",
                                       "X-CSRF-Token: t",
                                       "X-Session-Id: s",
                                       "RateLimit: \"a\";r=1",
                                       "RateLimit-Policy: \"a\";q=1",
                                       "X-RateLimit-Remaining: 1",
                                       "X-Rate-Limit-Reset: 1",
                                       "Retry-After: 1",
                                       "Date: Sun, 06 Nov 1994 08:49:37 GMT",
                                       "Age: 1",
                                       "Via: 1.1 x",
                                       "X-Request-Id: r",
                                       "Connection: close",
                                       "Keep-Alive: timeout=5",
                                       "Trailer: X",
                                       "Idempotent-Replay: true"}) {
    EXPECT_EQ(kept_fields(field), "") << field;
  }
  EXPECT_EQ(kept_fields("Connection: X-Hop\r\nX-Hop: 1\r\nX-Stays: 2"), "X-Stays: 2\r\n");
}

TEST(ReplayedHead, IsHostileUntilParsed) {
  for (const std::string_view bad :
       {"", "1", "{}", R"({"status":99,"headers":[]})", R"({"status":600,"headers":[]})",
        R"({"status":"200","headers":[]})", R"({"status":200})", R"({"status":200,"headers":{}})",
        R"({"status":200,"headers":[["a"]]})", R"({"status":200,"headers":[["a",1]]})",
        R"({"status":200,"headers":[["a","b\r\nSet-Cookie: x"]]})",
        R"({"status":200,"headers":[["a b","c"]]})"}) {
    EXPECT_FALSE(replayed_head({.body = {}, .metadata = std::string(bad)})) << bad;
  }
}

TEST(CompletionOf, AStoredAnswerIsKeptWholeOrAsATombstone) {
  auto how = completion_of(rules(), 201, {.body = "0123456789", .metadata = "{}"});
  EXPECT_EQ(how.status, Status::done);
  EXPECT_EQ(how.response.body, "0123456789");
  EXPECT_EQ(how.ttl, Duration::hours(24));
  how = completion_of(rules(), 404, {.body = "0123456789+", .metadata = "{}"});
  EXPECT_EQ(how.status, Status::done);
  EXPECT_TRUE(how.response.tombstone);
  EXPECT_EQ(how.response.body, "");
}

TEST(CompletionOf, WhatIsNotStoredIsFreeProtectedOrUnknownByWhatItMeans) {
  for (const int status : {408, 409, 425, 429}) {
    EXPECT_EQ(completion_of(rules(), status, {}).status, Status::failed) << status;
  }
  for (const int status : {500, 502, 503, 504, 599}) {
    const auto how = completion_of(rules(), status, {});
    EXPECT_EQ(how.status, Status::unknown) << status;
    EXPECT_GE(how.ttl, bounds::record_unknown_ttl) << "not forgotten like a result";
  }
  const auto moved = completion_of(rules(), 303, {.body = "x", .metadata = "{}"});
  EXPECT_EQ(moved.status, Status::done) << "it was applied";
  EXPECT_TRUE(moved.response.tombstone);
  WriteRules few = rules();
  few.store_statuses = {{200, 299}};
  EXPECT_EQ(completion_of(few, 404, {}).status, Status::failed);
}

}  // namespace
}  // namespace pawl::request
