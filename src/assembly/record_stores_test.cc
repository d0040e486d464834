// Goal: a setting opens the store it names, or says that the store gives less than is asked.
// Method: memory, and files on a disk and in memory; servers are in record_stores_server_test.cc.
#include "assembly/record_stores.h"

#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/manual_clock.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class OpenRecords : public ::testing::Test {
 protected:
  auto open(const std::string& word, Durability at_least) {
    return open_records(parse_store(word).value(), at_least, clock_);
  }

  ManualClock clock_;
};

TEST_F(OpenRecords, MemoryPromisesNothing) {
  EXPECT_TRUE(open("memory", Durability::none));
  const auto refused = open("memory", Durability::fsync);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().message,
            "the store of records is asked for durability 'fsync' and gives 'none': memory ends "
            "with its process; name another store, as in sqlite:PATH, or ask for 'none'");
}

TEST_F(OpenRecords, AFileInMemoryGivesTheProcessAlone) {
  const std::filesystem::path folder = "/dev/shm/pawl-test-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::string word = "sqlite:" + (folder / "records.db").string();
  EXPECT_TRUE(open(word, Durability::process));
  const auto refused = open(word, Durability::fsync);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("lies in memory (tmpfs); name a file on a disk"));
}

TEST_F(OpenRecords, ASqliteFileKeepsRecords) {
  const TempFolder folder;
  const std::string word = "sqlite:" + (folder / "records.db");
  const auto begin = [&] {
    const auto store = open(word, Durability::process).value();
    std::promise<Result<idempotency::Begun>> begun;
    store->begin({.scope = "acme", .key = "k"},
                 {.lease = Duration::seconds(1), .ttl = Duration::hours(1)},
                 [&](Result<idempotency::Begun> answer) { begun.set_value(std::move(answer)); });
    return begun.get_future().get().value().verdict;
  };
  EXPECT_EQ(begin(), idempotency::Begun::Verdict::started);
  EXPECT_EQ(begin(), idempotency::Begun::Verdict::in_flight);
}

TEST_F(OpenRecords, RefusesWhatKeepsNoRecords) {
  const auto refused = open("file:records.jsonl", Durability::none);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("name memory, sqlite:PATH"));
  EXPECT_EQ(open_records({}, Durability::none, clock_).error().code, Code::invalid);
  EXPECT_EQ(open("redis://127.0.0.1:0", Durability::none).error().code, Code::invalid);
  EXPECT_EQ(open("nats://127.0.0.1:1", Durability::none).error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
