// Goal: the store keeps ObjectStore's promises on a real S3, and its signatures are believed.
// Method: the conformance suite on the server that the environment names: radosgw in a test run,
// and `pawl emulate s3` in tests/e2e/test_s3.py. PAWL_TEST_S3_OPTIONS is what the server's URL
// needs besides its endpoint; radosgw wants tags without quotes.
#include <cstdlib>
#include <gtest/gtest.h>

#include "adapter/curl/curl_http_client.h"
#include "adapter/s3/s3_object_store.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/waiting_room.h"
#include "port/answer_of.h"
#include "port/object_store_conformance.h"
#include "tests/own_server.h"

namespace pawl {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string url_of(const std::string& prefix) {
  return "s3://" + server_of_run("PAWL_TEST_S3_BUCKET", "none") + "/" + prefix +
         "?endpoint=" + server_of_run("PAWL_TEST_S3", "http://127.0.0.1:1") +
         variable("PAWL_TEST_S3_OPTIONS").value_or("&etag=bare");
}

// A store with a world of its own, as another process has it.
class RealStore {
 public:
  explicit RealStore(const std::string& url, const Environment& environment = variable)
      : client_(CurlHttpClient::open().value()),
        store_(parse_s3_url(url).value(),
               find_s3_access(parse_s3_url(url).value(), environment).value(),
               {.client = *client_, .clock = clock_, .timers = timers_}) {}

  ObjectStore& operator*() { return store_; }
  ObjectStore* operator->() { return &store_; }

 private:
  SystemClock clock_;
  WaitingRoom timers_;
  std::unique_ptr<CurlHttpClient> client_;
  S3ObjectStore store_;
};

// Of this run and this test alone.
std::string fresh_prefix() {
  static int count = 0;
  return "run-" + std::to_string(getpid()) + "/" + std::to_string(++count);
}

TEST(S3Server, StoreConforms) {
  expect_object_store_conforms([](const auto& part) {
    const std::string prefix = fresh_prefix();
    RealStore store(url_of(prefix));
    RealStore beside(url_of(prefix));
    part({.store = *store, .beside = *beside, .prefix_bytes = prefix.size() + 1});
  });
}

Result<PutAnswer> put_with(const Environment& environment, const std::string& url) {
  RealStore store(url, environment);
  return answer_of<PutAnswer>(
      [&](auto done) { store->put({.name = "a", .body = "b"}, std::move(done)); });
}

TEST(S3Server, RefusesAnotherKey) {
  const auto refused = put_with(
      [](const std::string& name) {
        return name == "AWS_SECRET_ACCESS_KEY" ? std::optional<std::string>("wrong-secret")
                                               : variable(name);
      },
      url_of(fresh_prefix()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused) << refused.error().message;
  EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
  EXPECT_NE(refused.error().message.find("SignatureDoesNotMatch"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("wrong-secret"), std::string::npos);
}

TEST(S3Server, KnowsNoOtherBucket) {
  std::string url = url_of(fresh_prefix());
  url.insert(url.find("://") + 3, "not-");
  const auto refused = put_with(variable, url);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused) << refused.error().message;
  RealStore store(url);
  const auto got =
      answer_of<Object>([&](auto done) { store->get({.name = "a"}, std::move(done)); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::refused) << "and not that there is no such object";
}

TEST(S3Server, IsNotThere) {
  RealStore store("s3://tasks?endpoint=http://127.0.0.1:" + std::to_string(free_port()));
  const auto put =
      answer_of<PutAnswer>([&](auto done) { store->put({.name = "a"}, std::move(done)); });
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unavailable);
  EXPECT_EQ(put.error().outcome, Outcome::not_applied) << "nothing has left";
}

}  // namespace
}  // namespace pawl
