// Goal: what is sent is what S3 asks for, a put once, a read again while it makes sense; and no
// ending of the store leaves a call without an answer.
// Method: a client that is a function of the request, with clock and timers moved by hand.
#include "adapter/s3/s3_object_store.h"

#include <deque>
#include <functional>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/calendar.h"
#include "base/md5.h"
#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"

namespace pawl {
namespace {

using If = PutObject::If;

class FakeClient final : public HttpClient {
 public:
  void send(HttpRequest request, Done done) override {
    sent.push_back(std::move(request));
    auto reply = answer(sent.back());
    if (reply) return done(*std::move(reply));
    held.push_back(std::move(done));
  }

  // None: it is held.
  std::function<std::optional<Result<HttpAnswer>>(const HttpRequest&)> answer;
  std::vector<HttpRequest> sent;
  std::deque<Done> held;
};

HttpAnswer object(std::string body) {
  return {.status = 200,
          .fields = {{"etag", "\"t\""}, {"date", "Sun, 25 Jan 2026 21:14:58 GMT"}},
          .body = std::move(body),
          .complete = true};
}
HttpAnswer failing(int status, const std::string& code, std::vector<HttpField> fields = {}) {
  return {.status = status,
          .fields = std::move(fields),
          .body = "<Error><Code>" + code + "</Code></Error>",
          .complete = true};
}
std::unexpected<Error> lost(Outcome outcome) {
  return std::unexpected(Error(Code::unavailable, outcome, "the line is dead"));
}

class S3ObjectStoreTest : public testing::Test {
 protected:
  S3ObjectStoreTest() {
    clock.set_wall(parse_instant("2026-01-25T21:15:00Z").value());
    open("s3://tasks/q?endpoint=http://h:9000");
  }
  void open(const std::string& url) {
    store = std::make_unique<S3ObjectStore>(
        parse_s3_url(url).value(),
        S3Access{.credentials = {.access_key = "AKIA", .secret_key = Secret<std::string>("hush")},
                 .region = "us-east-1"},
        S3ObjectStore::World{.client = client, .clock = clock, .timers = timers});
  }
  // In order; the last one for ever.
  void answer_with(std::vector<Result<HttpAnswer>> answers) {
    client.answer = [answers = std::move(answers), next = std::size_t{0}](
                        const HttpRequest&) mutable -> std::optional<Result<HttpAnswer>> {
      return answers[std::min(next++, answers.size() - 1)];
    };
  }
  void hold() {
    client.answer = [](const HttpRequest&) { return std::nullopt; };
  }

  std::optional<Result<PutAnswer>> put(PutObject put) {
    auto answer = std::make_shared<std::optional<Result<PutAnswer>>>();
    store->put(std::move(put), [answer](Result<PutAnswer> got) { *answer = std::move(got); });
    timers.advance(Duration::minutes(5));
    return *answer;
  }
  std::optional<Result<Object>> get(GetObject get) {
    auto answer = std::make_shared<std::optional<Result<Object>>>();
    store->get(std::move(get), [answer](Result<Object> got) { *answer = std::move(got); });
    timers.advance(Duration::minutes(5));
    return *answer;
  }
  static std::string field_of(const HttpRequest& request, std::string_view name) {
    for (const HttpField& field : request.fields) {
      if (field.name == name) return field.value;
    }
    return {};
  }

  ManualClock clock;
  ManualTimers timers{clock};
  FakeClient client;
  std::unique_ptr<S3ObjectStore> store;
};

TEST_F(S3ObjectStoreTest, PutsOnAConditionOrWithout) {
  answer_with({object("")});
  ASSERT_TRUE(*put({.name = "a", .body = "1"}));
  ASSERT_TRUE(*put({.name = "a", .body = "2", .only = If::absent}));
  ASSERT_TRUE(*put({.name = "a", .body = "3", .only = If::match, .tag = "\"t\""}));
  ASSERT_EQ(client.sent.size(), 3U);
  EXPECT_EQ(client.sent[0].method, "PUT");
  EXPECT_EQ(client.sent[0].url, "http://h:9000/tasks/q/a");
  EXPECT_EQ(client.sent[0].body, "1");
  EXPECT_EQ(field_of(client.sent[0], "if-none-match"), "");
  EXPECT_EQ(field_of(client.sent[1], "if-none-match"), "*");
  EXPECT_EQ(field_of(client.sent[2], "if-match"), "\"t\"");
}

TEST_F(S3ObjectStoreTest, SendsBareTagsWhereTheUrlSaysSo) {
  open("s3://tasks?endpoint=http://h:9000&etag=bare");
  answer_with({object("")});
  ASSERT_TRUE(*put({.name = "a", .only = If::match, .tag = "\"t\""}));
  EXPECT_EQ(field_of(client.sent[0], "if-match"), "t");
}

TEST_F(S3ObjectStoreTest, SendsAPutOnceWhateverComesOfIt) {
  for (const Result<HttpAnswer>& answer : std::vector<Result<HttpAnswer>>{
           lost(Outcome::unknown), lost(Outcome::not_applied), failing(503, "SlowDown"),
           failing(500, "InternalError"), failing(409, "ConditionalRequestConflict")}) {
    client.sent.clear();
    answer_with({answer});
    ASSERT_TRUE(put({.name = "a", .only = If::absent}).has_value());
    EXPECT_EQ(client.sent.size(), 1U);
  }
}

TEST_F(S3ObjectStoreTest, SaysOfALostPutWhatTheClientKnows) {
  answer_with({lost(Outcome::unknown), lost(Outcome::not_applied)});
  EXPECT_EQ(put({.name = "a"})->error().outcome, Outcome::unknown);
  EXPECT_EQ(put({.name = "a"})->error().outcome, Outcome::not_applied);
}

TEST_F(S3ObjectStoreTest, ReadsAgainUntilAnAnswerComes) {
  answer_with({lost(Outcome::unknown), failing(503, "SlowDown"), object("body")});
  const auto got = get({.name = "a"});
  ASSERT_TRUE(got && *got) << (*got).error().message;
  EXPECT_EQ((*got)->body, "body");
  EXPECT_EQ(client.sent.size(), 3U);
  EXPECT_EQ(store->counts().gets, 3U) << "all of them are paid for";
}

TEST_F(S3ObjectStoreTest, GivesUpReadingAndSaysWhy) {
  answer_with({failing(503, "SlowDown")});
  const auto got = get({.name = "a"});
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().code, Code::unavailable);
  EXPECT_NE(got->error().message.find("SlowDown"), std::string::npos);
  EXPECT_EQ(client.sent.size(), std::size_t{S3ObjectStore::reads_attempts_max});
}

TEST_F(S3ObjectStoreTest, DoesNotReadAgainWhatWasRefusedOrIsNotThere) {
  for (const HttpAnswer& answer : {failing(403, "AccessDenied"), failing(404, "NoSuchKey")}) {
    client.sent.clear();
    answer_with({answer});
    EXPECT_FALSE(*get({.name = "a"}));
    EXPECT_EQ(client.sent.size(), 1U);
  }
}

TEST_F(S3ObjectStoreTest, WaitsAsLongAsTheStoreSays) {
  answer_with({failing(503, "SlowDown", {{"retry-after", "20"}}), object("body")});
  bool done = false;
  store->get({.name = "a"}, [&](const Result<Object>& got) { done = got.has_value(); });
  timers.advance(Duration::milliseconds(19'999));
  EXPECT_EQ(client.sent.size(), 1U);
  timers.advance(Duration::seconds(10));
  EXPECT_TRUE(done);
}

TEST_F(S3ObjectStoreTest, SignsEveryAttemptAtItsTime) {
  answer_with({failing(503, "SlowDown", {{"retry-after", "20"}}), object("body")});
  get({.name = "a"});
  EXPECT_EQ(field_of(client.sent[0], "x-amz-date"), "20260125T211500Z");
  EXPECT_GE(field_of(client.sent[1], "x-amz-date"), "20260125T211520Z");
}

TEST_F(S3ObjectStoreTest, KeepsAStormOfReadsWithinABudget) {
  answer_with({failing(500, "InternalError")});
  for (int i = 0; i < 500; ++i) store->get({.name = "a"}, [](const Result<Object>&) {});
  timers.advance(Duration::minutes(1));
  EXPECT_LT(client.sent.size(), 900U) << "not four times the reads";
}

TEST_F(S3ObjectStoreTest, AsksForPartsByRange) {
  answer_with({object("0123456789")});
  get({.name = "a"});
  get({.name = "a", .offset = 3, .bytes = 4});
  get({.name = "a", .offset = 7});
  EXPECT_EQ(field_of(client.sent[0], "range"), "");
  EXPECT_EQ(field_of(client.sent[1], "range"), "bytes=3-6");
  EXPECT_EQ(field_of(client.sent[2], "range"), "bytes=7-");
}

TEST_F(S3ObjectStoreTest, ListsBelowItsPrefix) {
  answer_with({HttpAnswer{
      .status = 200,
      .body = "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>q/log/2</Key>"
              "<LastModified>2026-01-25T21:14:58.000Z</LastModified><Size>5</Size></Contents>"
              "</ListBucketResult>",
      .complete = true}});
  Listing found;
  store->list({.under = "log/", .after = "log/1", .limit = 7},
              [&](const Result<Listing>& got) { found = got.value(); });
  EXPECT_EQ(client.sent[0].url,
            "http://h:9000/tasks?list-type=2&max-keys=7&prefix=q%2Flog%2F&start-after=q%2Flog%2F1");
  ASSERT_EQ(found.entries.size(), 1U);
  EXPECT_EQ(found.entries[0].name, "log/2");
  EXPECT_TRUE(found.more);
}

TEST_F(S3ObjectStoreTest, RemovesSeveralAtOnce) {
  answer_with({failing(503, "SlowDown"),
               HttpAnswer{.status = 200, .body = "<DeleteResult/>", .complete = true}});
  std::optional<Result<void>> removed;
  store->remove({"a", "b/c"}, [&](Result<void> got) { removed = got; });
  timers.advance(Duration::minutes(1));
  ASSERT_TRUE(removed && *removed);
  ASSERT_EQ(client.sent.size(), 2U) << "a second time does no harm";
  const HttpRequest& request = client.sent[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://h:9000/tasks?delete=");
  EXPECT_NE(request.body.find("<Object><Key>q/a</Key></Object><Object><Key>q/b/c</Key></Object>"),
            std::string::npos);
  EXPECT_EQ(field_of(request, "content-md5"), to_base64(md5(request.body)));
  EXPECT_EQ(store->counts().deletes, 2U);
}

TEST_F(S3ObjectStoreTest, SendsNothingOfAWrongName) {
  answer_with({object("")});
  EXPECT_EQ(put({.name = "../a"})->error().code, Code::invalid);
  EXPECT_EQ(get({.name = "a//b"})->error().code, Code::invalid);
  std::string longest(200, 'a');
  while (longest.size() < 1020) longest += "/" + std::string(200, 'a');
  longest.resize(1023);
  const auto behind = put({.name = longest});
  EXPECT_EQ(behind->error().code, Code::invalid) << "with the prefix it is too long";
  EXPECT_TRUE(client.sent.empty());
}

TEST_F(S3ObjectStoreTest, TellsTheStoresTimeAndWhatWasSent) {
  EXPECT_EQ(store->time_sample(), std::nullopt);
  answer_with({object("body")});
  get({.name = "a"});
  put({.name = "a", .body = "12345"});
  const auto sample = store->time_sample();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->store, parse_instant("2026-01-25T21:14:58Z").value());
  EXPECT_EQ(sample->resolution, Duration::seconds(1));
  EXPECT_LE(sample->asked, sample->answered);
  const RequestCounts counts = store->counts();
  EXPECT_EQ(counts.gets, 1U);
  EXPECT_EQ(counts.puts, 1U);
  EXPECT_EQ(counts.bytes_up, 5U);
  EXPECT_EQ(counts.bytes_down, 8U);
  EXPECT_EQ(store->name(), "s3://tasks/q at http://h:9000");
}

TEST_F(S3ObjectStoreTest, TakesTheTimeOfNobodyElse) {
  const HttpField date = {"date", "Mon, 25 Jan 2027 21:14:58 GMT"};
  const auto answered = [&](HttpAnswer answer) {
    answer.fields.push_back(date);
    answer_with({std::move(answer)});
    put({.name = "a", .body = "12345"});
    return store->time_sample().has_value();
  };
  const HttpAnswer page = {.status = 200, .body = "<html></html>", .complete = true};
  EXPECT_FALSE(answered(page)) << "a proxy's";
  HttpAnswer trouble = failing(502, "Bad");
  trouble.fields = {{"x-amz-request-id", "1"}};
  EXPECT_FALSE(answered(trouble));
  HttpAnswer half = failing(404, "NoSuchKey");
  half.complete = false;
  EXPECT_FALSE(answered(half));
  EXPECT_TRUE(answered(failing(412, "PreconditionFailed")));
}

TEST_F(S3ObjectStoreTest, AnswersWhatIsUnderWayWhenItGoes) {
  hold();
  std::vector<Code> codes;
  store->get({.name = "held"},
             [&](const Result<Object>& got) { codes.push_back(got.error().code); });
  answer_with({failing(503, "SlowDown")});
  store->get({.name = "waits"},
             [&](const Result<Object>& got) { codes.push_back(got.error().code); });
  EXPECT_TRUE(codes.empty());
  store.reset();
  client.held.front()(lost(Outcome::unknown));
  EXPECT_EQ(codes, std::vector{Code::unavailable}) << "not sent again";
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(codes.size(), 2U);
  EXPECT_EQ(client.sent.size(), 2U);
}

TEST_F(S3ObjectStoreTest, GivesUpWaitingWhenTimersClose) {
  answer_with({failing(503, "SlowDown")});
  std::optional<Code> code;
  store->get({.name = "a"}, [&](const Result<Object>& got) { code = got.error().code; });
  EXPECT_EQ(code, std::nullopt);
  timers.close();
  EXPECT_EQ(code, Code::unavailable);
}

TEST_F(S3ObjectStoreTest, NeverRepeatsAKeyInAnError) {
  answer_with({HttpAnswer{.status = 403,
                          .body = "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message>"
                                  "<AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>",
                          .complete = true}});
  const auto got = get({.name = "a"});
  EXPECT_EQ(got->error().message.find("AKIA"), std::string::npos) << got->error().message;
  EXPECT_EQ(got->error().message.find("hush"), std::string::npos);
}

}  // namespace
}  // namespace pawl
