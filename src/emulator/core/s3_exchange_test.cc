// Goal: the emulated S3 answers as S3 does, and wrongly only when it is asked to.
// Method: signed calls in a row; answers and objects are looked at.
#include "emulator/core/s3_exchange.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/md5.h"
#include "base/xml.h"
#include "emulator/core/s3_fixture.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view tag_of_one = "\"f97c5d29941bfb1b2fdab0874906ab82\"";  // md5 of "one"

class S3ExchangeTest : public testing::Test {
 protected:
  Reply ask(std::string method, std::string_view target, std::string body = {},
            std::vector<Field> fields = {}) {
    return s3.answer(signed_s3_call(unsigned_s3_call(std::move(method), target, std::move(body),
                                                     std::move(fields))),
                     s3_now);
  }
  Reply put(std::string_view key, std::string body, std::vector<Field> fields = {}) {
    return ask("PUT", "/pawl/" + std::string(key), std::move(body), std::move(fields));
  }
  Reply get(std::string_view key, std::vector<Field> fields = {}) {
    return ask("GET", "/pawl/" + std::string(key), "", std::move(fields));
  }
  Reply list(const std::string& query) { return ask("GET", "/pawl?list-type=2" + query); }
  Reply remove_many(const std::string& body) {
    return ask("POST", "/pawl?delete=", body,
               {{.name = "content-md5", .value = to_base64(md5(body))}});
  }
  void play(std::string_view script) {
    const Result<void> played = s3.play(parse_script(script).value());
    EXPECT_TRUE(played) << played.error().message;
  }
  static std::string code_of(const Reply& reply) {
    const auto body = xml::parse(reply.body);
    return body && body->name == "Error" ? std::string(body->text_of("Code")) : "";
  }
  static std::string field_of(const Reply& reply, std::string_view name) {
    for (const Field& field : reply.fields) {
      if (field.name == name) return field.value;
    }
    return {};
  }
  static std::string keys_of(const Reply& reply) {
    std::string keys;
    const auto body = xml::parse(reply.body);
    EXPECT_TRUE(body && body->name == "ListBucketResult") << reply.body;
    if (!body) return {};
    for (const xml::Element& child : body->children) {
      if (child.name == "Contents") keys.append(child.text_of("Key")).append(" ");
      if (child.name == "CommonPrefixes") keys.append(child.text_of("Prefix")).append(" ");
    }
    if (body->text_of("IsTruncated") == "true") keys.append("…");
    return keys;
  }

  S3Exchange s3;
};

TEST_F(S3ExchangeTest, KeepsObjects) {
  const Reply stored = put("a/b", "one");
  EXPECT_EQ(stored.status, 200);
  EXPECT_TRUE(stored.accepted);
  EXPECT_EQ(field_of(stored, "ETag"), tag_of_one);
  const Reply got = get("a/b");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "one");
  EXPECT_EQ(field_of(got, "ETag"), tag_of_one);
  EXPECT_EQ(field_of(got, "Last-Modified"), "Sun, 25 Jan 2026 21:15:00 GMT");
  EXPECT_EQ(ask("HEAD", "/pawl/a/b").status, 200);
  EXPECT_EQ(ask("DELETE", "/pawl/a/b").status, 204);
  EXPECT_EQ(code_of(get("a/b")), "NoSuchKey");
  EXPECT_EQ(ask("DELETE", "/pawl/a/b").status, 204) << "gone is gone";
}

TEST_F(S3ExchangeTest, CreatesOnlyWhatIsNotThere) {
  const std::vector<Field> absent = {{.name = "if-none-match", .value = "*"}};
  EXPECT_EQ(put("a", "one", absent).status, 200);
  const Reply second = put("a", "two", absent);
  EXPECT_EQ(second.status, 412);
  EXPECT_EQ(code_of(second), "PreconditionFailed");
  EXPECT_EQ(get("a").body, "one");
  EXPECT_EQ(put("a", "two", {{.name = "if-none-match", .value = "\"x\""}}).status, 501);
}

TEST_F(S3ExchangeTest, ReplacesOnlyWhatMatches) {
  const auto match = [](std::string_view tag) {
    return std::vector<Field>{{.name = "if-match", .value = std::string(tag)}};
  };
  EXPECT_EQ(put("a", "x", match(tag_of_one)).status, 404);
  put("a", "one");
  EXPECT_EQ(put("a", "x", match("\"0\"")).status, 412);
  const std::string bare(tag_of_one.substr(1, tag_of_one.size() - 2));
  EXPECT_EQ(put("a", "x", match(bare)).status, 412) << "stricter than S3: tags have quotes";
  EXPECT_EQ(put("a", "two", match(tag_of_one)).status, 200);
  EXPECT_EQ(get("a").body, "two");
  play(R"({"settings": {"tags": "bare"}})");
  put("a", "one");
  EXPECT_EQ(put("a", "x", match(tag_of_one)).status, 412) << "as radosgw";
  EXPECT_EQ(put("a", "x", match(bare)).status, 200);
}

TEST_F(S3ExchangeTest, ReadsParts) {
  put("a", "0123456789");
  const auto part = [&](std::string range) {
    const Reply reply = get("a", {{.name = "range", .value = std::move(range)}});
    return std::to_string(reply.status) + " " +
           (reply.status == 416 ? code_of(reply) : reply.body) + " " +
           field_of(reply, "Content-Range");
  };
  EXPECT_EQ(part("bytes=0-3"), "206 0123 bytes 0-3/10");
  EXPECT_EQ(part("bytes=7-"), "206 789 bytes 7-9/10");
  EXPECT_EQ(part("bytes=8-100"), "206 89 bytes 8-9/10");
  EXPECT_EQ(part("bytes=-3"), "206 789 bytes 7-9/10");
  EXPECT_EQ(part("bytes=10-"), "416 InvalidRange ");
  EXPECT_EQ(part("bytes=5-2"), "200 0123456789 ");
  EXPECT_EQ(part("lines=1-2"), "200 0123456789 ");
}

TEST_F(S3ExchangeTest, ReadsOnCondition) {
  put("a", "one");
  EXPECT_EQ(get("a", {{.name = "if-none-match", .value = std::string(tag_of_one)}}).status, 304);
  EXPECT_EQ(get("a", {{.name = "if-none-match", .value = "\"x\""}}).status, 200);
  EXPECT_EQ(get("a", {{.name = "if-match", .value = "\"x\""}}).status, 412);
}

TEST_F(S3ExchangeTest, ListsByTheBytesOfKeys) {
  for (const char* key : {"b/2", "a/1", "b/1", "c", "b-x", "b/1/x"}) put(key, "x");
  EXPECT_EQ(keys_of(list("")), "a/1 b-x b/1 b/1/x b/2 c ");
  EXPECT_EQ(keys_of(list("&prefix=b%2F")), "b/1 b/1/x b/2 ");
  EXPECT_EQ(keys_of(list("&max-keys=2")), "a/1 b-x …");
  EXPECT_EQ(keys_of(list("&max-keys=2&start-after=b-x")), "b/1 b/1/x …");
  EXPECT_EQ(keys_of(list("&continuation-token=b%2F1&prefix=b")), "b/1/x b/2 ");
  EXPECT_EQ(keys_of(list("&delimiter=%2F")), "b-x c a/ b/ ") << "keys, then what is folded";
  EXPECT_EQ(keys_of(list("&max-keys=6")), "a/1 b-x b/1 b/1/x b/2 c ");
  EXPECT_EQ(code_of(list("&max-keys=x")), "InvalidArgument");
  EXPECT_EQ(code_of(list("&versions=")), "NotImplemented");
  EXPECT_EQ(code_of(ask("GET", "/pawl")), "NotImplemented") << "the old list";
}

TEST_F(S3ExchangeTest, ShowsTimesInWholeSeconds) {
  put("a", "x");
  EXPECT_NE(list("").body.find("<LastModified>2026-01-25T21:15:00.000Z</LastModified>"),
            std::string::npos);
}

TEST_F(S3ExchangeTest, EncodesKeysWhenItIsAsked) {
  put("a%20%26", "x");
  EXPECT_EQ(keys_of(list("")), "a & ");
  EXPECT_EQ(keys_of(list("&encoding-type=url")), "a%20%26 ");
}

TEST_F(S3ExchangeTest, RemovesSeveral) {
  for (const char* key : {"a", "b", "c"}) put(key, "x");
  const Reply removed =
      remove_many("<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>");
  EXPECT_EQ(removed.status, 200);
  EXPECT_NE(removed.body.find("<Deleted><Key>a</Key></Deleted>"), std::string::npos);
  EXPECT_EQ(keys_of(list("")), "b c ");
  EXPECT_EQ(remove_many("<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>")
                .body.find("Deleted>"),
            std::string::npos);
  EXPECT_EQ(keys_of(list("")), "c ");
  EXPECT_EQ(code_of(remove_many("<Delete>")), "MalformedXML");
  EXPECT_EQ(code_of(remove_many("<Delete></Delete>")), "MalformedXML");
  EXPECT_EQ(code_of(ask("POST", "/pawl?delete=", "<Delete/>")), "InvalidRequest") << "no sum";
}

TEST_F(S3ExchangeTest, HasBuckets) {
  EXPECT_EQ(code_of(ask("GET", "/other/a")), "NoSuchBucket");
  EXPECT_EQ(ask("HEAD", "/other").status, 404);
  EXPECT_EQ(ask("PUT", "/other").status, 200);
  EXPECT_EQ(code_of(ask("PUT", "/other")), "BucketAlreadyOwnedByYou");
  EXPECT_EQ(ask("HEAD", "/other").status, 200);
  EXPECT_EQ(ask("PUT", "/other/a", "x").status, 200);
  EXPECT_EQ(code_of(ask("DELETE", "/other")), "BucketNotEmpty");
  EXPECT_EQ(ask("DELETE", "/other/a").status, 204);
  EXPECT_EQ(ask("DELETE", "/other").status, 204);
  EXPECT_EQ(code_of(ask("PUT", "/ab")), "InvalidBucketName");
  EXPECT_EQ(code_of(ask("GET", "/")), "NotImplemented");
}

TEST_F(S3ExchangeTest, RefusesWhatItDoesNotImplement) {
  EXPECT_EQ(code_of(ask("POST", "/pawl/a?uploads=")), "NotImplemented");
  EXPECT_EQ(code_of(ask("PUT", "/pawl?versioning=")), "NotImplemented");
  put("there", "one");
  for (const char* name : {"x-amz-copy-source", "x-amz-write-offset-bytes", "x-amz-acl",
                           "x-amz-meta-colour", "x-amz-checksum-crc32"}) {
    EXPECT_EQ(code_of(put("there", "two", {{.name = name, .value = "1"}})), "NotImplemented");
  }
  EXPECT_EQ(code_of(ask("DELETE", "/pawl/there", "", {{.name = "if-match", .value = "\"x\""}})),
            "NotImplemented");
  EXPECT_EQ(get("there").body, "one");
  EXPECT_EQ(code_of(put(std::string(1025, 'k'), "x")), "KeyTooLongError");
  for (const char* target : {"/pawl/%zz", "/pawl/%FF", "/pawl/a%0Ab"}) {
    EXPECT_EQ(code_of(s3.answer(unsigned_s3_call("PUT", target), s3_now)), "InvalidURI") << target;
  }
}

TEST_F(S3ExchangeTest, FailsBeforeOrAfterTheWork) {
  play(R"({"script": [
    {"when": {"call": "put", "nth": 1}, "do": "error_before", "code": "SlowDown"},
    {"when": {"call": "put", "nth": 2}, "do": "error_after"},
    {"when": {"call": "put", "nth": 3}, "do": "error_after", "code": "PreconditionFailed"},
    {"when": {"call": "put", "nth": 4}, "do": "error_before", "code": "ConditionalRequestConflict"},
    {"when": {"call": "put", "nth": 5}, "do": "error_before", "code": "TooManyRequests"},
    {"when": {"call": "put", "nth": 6}, "do": "rate_limited", "reset": 7}]})");
  EXPECT_EQ(put("1", "x").status, 503);
  const Reply after = put("2", "x");
  EXPECT_EQ(after.status, 500);
  EXPECT_TRUE(after.accepted);
  EXPECT_EQ(put("3", "x").status, 412) << "although it is ours";
  EXPECT_EQ(put("4", "x").status, 409);
  EXPECT_EQ(put("5", "x").status, 429);
  const Reply slow = put("6", "x");
  EXPECT_EQ(slow.status, 503);
  EXPECT_EQ(field_of(slow, "Retry-After"), "7");
  EXPECT_EQ(keys_of(list("")), "2 3 ");
}

TEST_F(S3ExchangeTest, LosesAnswers) {
  play(R"({"script": [{"when": {"call": "put"}, "do": "drop_after_accept"},
                      {"when": {"call": "get"}, "do": "half_answer"}]})");
  EXPECT_EQ(put("a", "one").wire, Wire::drop);
  const Reply half = get("a");
  EXPECT_EQ(half.wire, Wire::half);
  EXPECT_EQ(half.body, "one");
}

TEST_F(S3ExchangeTest, PassesConditionsOverWhenItIsBroken) {
  const std::vector<Field> absent = {{.name = "if-none-match", .value = "*"}};
  put("a", "one");
  play(R"({"script": [{"when": {"call": "put"}, "do": "condition_ignored"}]})");
  EXPECT_EQ(put("a", "two", absent).status, 200);
  EXPECT_EQ(put("a", "three", absent).status, 412);
  play(R"({"settings": {"conditions": "ignored"}})");
  EXPECT_EQ(put("a", "three", absent).status, 200);
}

TEST_F(S3ExchangeTest, LiesAboutATag) {
  play(R"({"script": [{"do": "wrong_tag"}]})");
  EXPECT_NE(field_of(put("a", "one"), "ETag"), tag_of_one);
  EXPECT_EQ(field_of(get("a"), "ETag"), tag_of_one);
}

TEST_F(S3ExchangeTest, PutsErrorsIntoATwoHundred) {
  for (const char* key : {"a", "b"}) put(key, "x");
  play(R"({"script": [{"do": "error_in_200", "times": 2, "code": "AccessDenied"}]})");
  const Reply removed = remove_many("<Delete><Object><Key>a</Key></Object></Delete>");
  EXPECT_EQ(removed.status, 200);
  EXPECT_NE(removed.body.find("<Code>AccessDenied</Code>"), std::string::npos);
  const Reply stored = put("c", "x");
  EXPECT_EQ(stored.status, 200);
  EXPECT_EQ(code_of(stored), "InternalError");
  EXPECT_EQ(keys_of(list("")), "a b ") << "nothing was done";
}

TEST_F(S3ExchangeTest, RefusesScriptsThatMakeNoSense) {
  for (const std::string_view script :
       {R"({"script": [{"do": "lag"}]})",
        R"({"script": [{"when": {"call": "place"}, "do": "gzip"}]})",
        R"({"rates": {"drop_after_accept": 0.5}})", R"({"settings": {"bucket": "x"}})",
        R"({"settings": {"tags": "x"}})"}) {
    EXPECT_FALSE(s3.play(parse_script(script).value())) << script;
  }
  play(R"({"seed": 1, "rates": {"drop_after_accept": 0.5}, "calls": ["put", "get"]})");
}

TEST_F(S3ExchangeTest, CountsRequestsByKind) {
  put("a", "12345");
  get("a");
  get("none");
  list("");
  remove_many("<Delete><Object><Key>a</Key></Object></Delete>");
  put("b", "123");
  const json::Value stats = s3.stats();
  const auto number = [](const json::Value& value, std::string_view name) {
    const json::Value* found = value.find(name);
    return found != nullptr && found->if_number() != nullptr ? found->if_number()->text : "none";
  };
  const json::Value& requests = *stats.find("requests");
  EXPECT_EQ(number(requests, "puts"), "2");
  EXPECT_EQ(number(requests, "gets"), "2");
  EXPECT_EQ(number(requests, "lists"), "1");
  EXPECT_EQ(number(requests, "deletes"), "1");
  EXPECT_EQ(number(stats, "objects"), "1");
  EXPECT_EQ(number(stats, "bytes"), "3");
  EXPECT_EQ(s3.orders().find("objects")->if_array()->size(), 1U);
}

TEST_F(S3ExchangeTest, BringsItsObjectsBack) {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  ask("PUT", "/other");
  ask("PUT", "/other/b", every);
  put("a", "one");
  put("gone", "x");
  ask("DELETE", "/pawl/gone");
  put("empty", "");
  S3Exchange again;
  for (const std::string& line : s3.take_changes()) {
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Result<void> restored = again.restore(line);
    EXPECT_TRUE(restored) << restored.error().message;
  }
  EXPECT_TRUE(again.take_changes().empty());
  EXPECT_EQ(json::print(again.orders()), json::print(s3.orders()));
  EXPECT_EQ(again.answer(signed_s3_call(unsigned_s3_call("GET", "/other/b")), s3_now).body, every);
  EXPECT_FALSE(again.restore("{}"));
  EXPECT_FALSE(again.restore("no"));
}

TEST_F(S3ExchangeTest, ForgetsItsObjectsWhenItIsTold) {
  put("a", "one");
  s3.reset();
  EXPECT_EQ(keys_of(list("")), "");
}

}  // namespace
}  // namespace pawl::emulator
