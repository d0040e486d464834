// Goal: a queue's URL says which store or broker it is, and what cannot be one is refused with what
//       can. Method: pinned texts.
#include "base/queue_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

QueueUrl parsed(std::string_view text) {
  const auto url = parse_queue_url(text);
  EXPECT_TRUE(url) << url.error().message;
  return url.value_or(QueueUrl());
}

std::string wrong(std::string_view text) {
  const auto url = parse_queue_url(text);
  EXPECT_FALSE(url) << text;
  return url ? "" : url.error().message;
}

TEST(QueueUrl, NamesAFolderABucketABrokerOrMemory) {
  EXPECT_EQ(parsed("dir:data/queue").path, "data/queue");
  EXPECT_EQ(parsed("dir:/var/q").kind, QueueUrl::Kind::directory);
  const QueueUrl s3 = parsed("s3://tasks/a/b?endpoint=http://127.0.0.1:9000&region=eu-west-1");
  EXPECT_EQ(s3.kind, QueueUrl::Kind::s3);
  EXPECT_EQ(s3.s3.bucket, "tasks");
  EXPECT_EQ(s3.s3.prefix, "a/b");
  EXPECT_EQ(parsed("memory:").kind, QueueUrl::Kind::memory);
  EXPECT_THAT(parsed("http://one:1,two").brokers, ElementsAre("http://one:1", "http://two:8081"));
  EXPECT_THAT(parsed("https://[::1]:5").brokers, ElementsAre("https://[::1]:5"));
}

TEST(QueueUrl, SaysWhatItMayBe) {
  for (const std::string_view text : {"", "dir:", "data/queue", "redis://x", "dir", "memory"}) {
    EXPECT_THAT(wrong(text), HasSubstr("dir:PATH, s3://BUCKET/PREFIX or http://HOST:PORT"));
  }
  EXPECT_THAT(wrong("s3://"), HasSubstr("S3"));
  EXPECT_THAT(wrong("http://host:0"), HasSubstr("port"));
  EXPECT_THAT(wrong("http://host/path"), HasSubstr("nothing comes behind the port"));
}

TEST(QueueUrl, MayNameTheStoreBehindTheBrokers) {
  EXPECT_EQ(parsed("http://one:1").store, "");
  const QueueUrl folder = parsed("http://one:1,two?store=dir:/var/q");
  EXPECT_THAT(folder.brokers, ElementsAre("http://one:1", "http://two:8081"));
  EXPECT_EQ(folder.store, "dir:/var/q");
  EXPECT_EQ(parsed("http://one?store=s3://tasks/p?endpoint=http://h:1&region=r").store,
            "s3://tasks/p?endpoint=http://h:1&region=r");
  for (const std::string_view store : {"", "memory:", "http://two", "nowhere", "dir:"}) {
    EXPECT_THAT(wrong("http://one?store=" + std::string(store)), HasSubstr("behind ?store="));
  }
}

TEST(QueueUrl, RepeatsNoPassword) {
  EXPECT_THAT(wrong("http://me:hush@host"), testing::Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace pawl
