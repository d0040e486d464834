// Goal: a setting opens the audit log it names, and says so where it names none.
// Method: files of a folder of the test's own; streams are in record_stores_server_test.cc.
#include "assembly/audit_sinks.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/audit/sample_event.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

std::int64_t lines_in(const std::string& path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

TEST(OpenAudit, OpensAFile) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_audit({.sinks = {parse_store("file:" + path).value()}});
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->append(audit::sample_event()));
  ASSERT_TRUE((*sink)->flush());
  EXPECT_EQ(lines_in(path), 1);
}

TEST(OpenAudit, WritesToEveryFileOfAList) {
  const TempFolder folder;
  const std::string one = folder / "one.jsonl";
  const std::string two = folder / "two.jsonl";
  const auto sink = open_audit(
      {.sinks = {parse_store("file:" + one).value(), parse_store("file:" + two).value()}});
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->append(audit::sample_event()));
  ASSERT_TRUE((*sink)->flush());
  EXPECT_EQ(lines_in(one), 1);
  EXPECT_EQ(lines_in(two), 1);
}

TEST(OpenAudit, ALogThatCannotBeUsedIsUnavailableAndNoFaultOfTheSetting) {
  const TempFolder folder;
  const auto sink = open_audit({.sinks = {parse_store("file:" + folder.path().string()).value()}});
  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().code, Code::unavailable);
}

TEST(OpenAudit, RefusesWhatIsNoLog) {
  for (const char* word : {"memory", "sqlite:a.db", "redis://127.0.0.1:1", "nats://127.0.0.1:1"}) {
    const auto sink = open_audit({.sinks = {parse_store(word).value()}});
    ASSERT_FALSE(sink) << word;
    EXPECT_EQ(sink.error().code, Code::invalid) << word;
  }
  EXPECT_THAT(open_audit({.sinks = {parse_store("memory").value()}}).error().message,
              HasSubstr("name file:PATH or nats://HOST:PORT/STREAM"));
}

}  // namespace
}  // namespace pawl
