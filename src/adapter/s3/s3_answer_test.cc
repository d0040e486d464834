// Goal: every answer of S3, and of what is not S3, is taken for what it is.
// Method: the table of s3_answer.h, row by row, with bodies as S3 and radosgw write them.
#include "adapter/s3/s3_answer.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using If = PutObject::If;
using Verdict = PutAnswer::Verdict;

const S3Asked put_asked{.what = "put log/1",
                        .store = "s3://tasks",
                        .now = parse_instant("2026-01-25T21:15:00Z").value(),
                        .changes = true};
const S3Asked get_asked{.what = "get log/1", .store = "s3://tasks", .now = put_asked.now};

HttpAnswer answer(int status, std::string body = {}, std::vector<HttpField> fields = {}) {
  return {.status = status, .fields = std::move(fields), .body = std::move(body), .complete = true};
}
HttpAnswer error(int status, const std::string& code, const std::string& more = {},
                 std::vector<HttpField> fields = {}) {
  return answer(status,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code +
                    "</Code><Message>Words of it</Message>" + more +
                    "<RequestId>1</RequestId></Error>",
                std::move(fields));
}
HttpAnswer tagged(int status, std::string body, std::vector<HttpField> more = {}) {
  more.push_back({"etag", "\"t\""});
  return answer(status, std::move(body), std::move(more));
}

bool says(const Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

TEST(S3Answer, OfAPutIsAVerdict) {
  const auto verdict = [](const HttpAnswer& got, If only) {
    const auto read = read_put(put_asked, got, only);
    EXPECT_TRUE(read) << read.error().message;
    return read ? read->verdict : Verdict::stored;
  };
  EXPECT_EQ(read_put(put_asked, tagged(200, ""), If::absent)->tag, "\"t\"");
  EXPECT_EQ(verdict(tagged(200, ""), If::always), Verdict::stored);
  for (const If only : {If::absent, If::match}) {
    EXPECT_EQ(verdict(error(412, "PreconditionFailed"), only), Verdict::exists);
    EXPECT_EQ(verdict(answer(412), only), Verdict::exists);
    EXPECT_EQ(verdict(answer(304), only), Verdict::exists) << "an old MinIO";
    EXPECT_EQ(verdict(error(409, "ConditionalRequestConflict"), only), Verdict::busy);
  }
  EXPECT_EQ(verdict(error(409, "OperationAborted"), If::always), Verdict::busy);
  EXPECT_EQ(verdict(error(404, "NoSuchKey"), If::match), Verdict::gone);
}

TEST(S3Answer, OfAPutIsUnknownWhenItMayHaveBeenDone) {
  HttpAnswer cut = tagged(200, "");
  cut.complete = false;
  for (const HttpAnswer& got :
       {error(500, "InternalError"), error(503, "SlowDown"), error(503, "ServiceUnavailable"),
        error(429, "TooManyRequests"), answer(502, "<html>Bad Gateway</html>"), answer(504),
        error(400, "RequestTimeout"), answer(408), error(200, "InternalError"), answer(200), cut,
        answer(404, "<html>"), answer(204)}) {
    const auto read = read_put(put_asked, got, If::absent);
    ASSERT_FALSE(read) << got.status;
    EXPECT_EQ(read.error().code, Code::unavailable) << read.error().message;
    EXPECT_EQ(read.error().outcome, Outcome::unknown) << read.error().message;
    EXPECT_TRUE(says(read.error(), "s3://tasks: put log/1: ")) << read.error().message;
  }
}

TEST(S3Answer, NamesTheWaitThatWasNamed) {
  const auto wait = [](std::vector<HttpField> fields) {
    return read_put(put_asked, error(503, "SlowDown", "", std::move(fields)), If::absent)
        .error()
        .retry_after;
  };
  EXPECT_EQ(wait({}), Duration());
  EXPECT_EQ(wait({{"retry-after", "7"}}), Duration::seconds(7));
  EXPECT_EQ(wait({{"x-amz-retry-after", "2500"}}), Duration::milliseconds(2500));
}

TEST(S3Answer, SaysWhatToDoAboutARefusal) {
  const std::tuple<HttpAnswer, std::string_view> rows[] = {
      {error(403, "AccessDenied"), "s3:ListBucket"},
      {error(403, "RequestTimeTooSkewed"), "set this machine's clock"},
      {error(403, "SignatureDoesNotMatch"), "check the secret key"},
      {error(403, "InvalidAccessKeyId"), "check the access key"},
      {error(400, "ExpiredToken"), "get new ones"},
      {error(404, "NoSuchBucket"), "make the bucket"},
      {error(501, "NotImplemented"), "use another one"},
      {error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
       "write region=eu-west-1"},
      {error(301, "PermanentRedirect", "", {{"x-amz-bucket-region", "eu-west-3"}}),
       "write region=eu-west-3"},
      {error(307, "TemporaryRedirect"), "elsewhere"},
      {answer(301), "elsewhere"},
      {error(400, "InvalidArgument"), "400 InvalidArgument: Words of it"},
  };
  for (const auto& [got, words] : rows) {
    for (const auto& failed :
         {read_put(put_asked, got, If::absent).error(), read_object(get_asked, got, {}).error(),
          read_listing(get_asked, got, "").error(), read_removal(put_asked, got).error()}) {
      EXPECT_EQ(failed.code, Code::refused) << failed.message;
      EXPECT_EQ(failed.outcome, Outcome::not_applied);
      EXPECT_TRUE(says(failed, words)) << failed.message;
    }
  }
}

TEST(S3Answer, IsNoSuchObjectOnlyWhenS3SaysSo) {
  EXPECT_EQ(read_object(get_asked, error(404, "NoSuchKey"), {}).error().code, Code::not_found);
  EXPECT_EQ(read_object(get_asked, error(404, "NoSuchBucket"), {}).error().code, Code::refused);
  const auto page = read_object(get_asked, answer(404, "<html><body>Not found</body></html>"), {});
  EXPECT_EQ(page.error().code, Code::unavailable);
  EXPECT_EQ(page.error().outcome, Outcome::not_applied) << "a read changes nothing";
  EXPECT_TRUE(says(page.error(), "proxy")) << page.error().message;
}

TEST(S3Answer, IsAnObjectOrAPartOfIt) {
  EXPECT_EQ(read_object(get_asked, tagged(200, "body"), {})->body, "body");
  EXPECT_EQ(read_object(get_asked, tagged(200, "body"), {})->tag, "\"t\"");
  const GetObject part{.offset = 3, .bytes = 4};
  EXPECT_EQ(
      read_object(get_asked, tagged(206, "3456", {{"content-range", "bytes 3-6/10"}}), part)->body,
      "3456");
  EXPECT_EQ(read_object(get_asked, tagged(200, "0123456789"), part)->body, "3456")
      << "a server that does not read in parts";
  EXPECT_EQ(read_object(get_asked, tagged(200, "01"), part)->body, "");
  EXPECT_EQ(read_object(get_asked, error(416, "InvalidRange"), part)->body, "") << "behind its end";
}

TEST(S3Answer, IsNoObjectWhenItIsCutOrAnothersOrAPage) {
  HttpAnswer cut = tagged(200, "bo");
  cut.complete = false;
  const GetObject part{.offset = 3, .bytes = 4};
  EXPECT_EQ(read_object(get_asked, cut, {}).error().code, Code::unavailable);
  EXPECT_EQ(read_object(get_asked, answer(200, "<html>"), {}).error().code, Code::unavailable);
  EXPECT_EQ(read_object(get_asked, tagged(206, "0123", {{"content-range", "bytes 0-3/10"}}), part)
                .error()
                .code,
            Code::unavailable);
  EXPECT_EQ(read_object(get_asked, tagged(206, "3456"), part).error().code, Code::unavailable);
  EXPECT_EQ(read_object(get_asked, tagged(206, "34567", {{"content-range", "bytes 3-7/10"}}), part)
                .error()
                .code,
            Code::unavailable);
}

std::string entry(const std::string& key, const std::string& size = "3") {
  return "<Contents><Key>" + key + "</Key><LastModified>2026-01-25T21:14:58.000Z</LastModified>" +
         "<ETag>&quot;t&quot;</ETag><Size>" + size + "</Size></Contents>";
}
HttpAnswer listing(const std::string& inside) {
  return answer(200, "<ListBucketResult xmlns=\"x\">" + inside + "</ListBucketResult>");
}

TEST(S3Answer, IsAPageOfAList) {
  const auto read = read_listing(
      get_asked,
      listing("<IsTruncated>true</IsTruncated>" + entry("p/") + entry("p/a") + entry("p/b&amp;c")),
      "p/");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->more);
  ASSERT_EQ(read->entries.size(), 2U) << "a console's own object is passed over";
  EXPECT_EQ(read->entries[0].name, "a");
  EXPECT_EQ(read->entries[0].bytes, 3U);
  EXPECT_EQ(read->entries[0].modified, parse_instant("2026-01-25T21:14:58Z").value());
  EXPECT_EQ(read->entries[1].name, "b&c");
  EXPECT_FALSE(read_listing(get_asked, listing("<IsTruncated>false</IsTruncated>"), "p/")->more);
}

TEST(S3Answer, IsNoListWhenAnyOfItIsStrange) {
  HttpAnswer cut = listing("");
  cut.complete = false;
  for (const HttpAnswer& got : {listing(entry("other/a")), listing(entry("p/a", "many")),
                                listing("<Contents><Key>p/a</Key></Contents>"), answer(200, "<a>"),
                                answer(200), error(200, "InternalError"), cut}) {
    const auto read = read_listing(get_asked, got, "p/");
    ASSERT_FALSE(read) << got.body;
    EXPECT_EQ(read.error().code, Code::unavailable);
  }
}

TEST(S3Answer, OfARemovalTellsOfEachName) {
  const auto removed = [](const std::string& inside) {
    return read_removal(put_asked, answer(200, "<DeleteResult>" + inside + "</DeleteResult>"));
  };
  const auto failed = [](const std::string& code) {
    return "<Error><Key>p/a</Key><Code>" + code + "</Code><Message>Words</Message></Error>";
  };
  EXPECT_TRUE(removed(""));
  EXPECT_TRUE(removed("<Deleted><Key>p/a</Key></Deleted>"));
  EXPECT_TRUE(removed(failed("NoSuchKey"))) << "gone is gone";
  EXPECT_EQ(removed(failed("InternalError")).error().code, Code::unavailable);
  const auto denied = removed("<Deleted><Key>p/b</Key></Deleted>" + failed("AccessDenied"));
  EXPECT_EQ(denied.error().code, Code::refused);
  EXPECT_EQ(denied.error().outcome, Outcome::unknown) << "others are gone";
  EXPECT_TRUE(says(denied.error(), "AccessDenied: Words (p/a)")) << denied.error().message;
  EXPECT_EQ(read_removal(put_asked, answer(200, "")).error().code, Code::unavailable);
}

TEST(S3Answer, ThatNeverCameIsAsTheClientSays) {
  const Error lost(Code::unavailable, Outcome::unknown, "reset");
  const Error unsent(Code::unavailable, Outcome::not_applied, "refused connection");
  EXPECT_EQ(unanswered(put_asked, lost).outcome, Outcome::unknown);
  EXPECT_EQ(unanswered(put_asked, unsent).outcome, Outcome::not_applied);
  EXPECT_EQ(unanswered(get_asked, lost).outcome, Outcome::not_applied);
  EXPECT_EQ(unanswered(put_asked, lost).message, "s3://tasks: put log/1: reset");
}

TEST(S3Answer, IsCutAndVisibleInAnError) {
  const auto read = read_put(
      put_asked, error(403, "Bad\n\x01", "<a>" + std::string(5000, 'x') + "</a>"), If::absent);
  EXPECT_TRUE(says(read.error(), "403 Bad  : Words of it")) << read.error().message;
  const auto large = read_put(
      put_asked,
      answer(403, "<Error><Code>C</Code><Message>" + std::string(5000, 'x') + "</Message></Error>"),
      If::absent);
  EXPECT_LT(large.error().message.size(), 400U);
}

}  // namespace
}  // namespace pawl
