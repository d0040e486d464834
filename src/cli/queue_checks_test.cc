// Goal: doctor says of the queue's store what it found.
// Method: folders of its own, whose objects are changed by hand; samples by hand.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "adapter/system/system_clock.h"
#include "cli/checks.h"
#include "cli/queue_session.h"
#include "core/queue/segment.h"
#include "tests/temp_folder.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;

constexpr Instant noon = Instant::from_ns(1'800'000'000'000'000'000);

TEST(QueueChecks, TakeNoResolutionForAnError) {
  const TimeSample sample{.store = noon,
                          .resolution = Duration::seconds(1),
                          .asked = noon + Duration::milliseconds(900),
                          .answered = noon + Duration::milliseconds(950)};
  EXPECT_EQ(check_queue_clock(sample).health, Health::ok);
}

TEST(QueueChecks, WarnOfAClockThatIsWrong) {
  const TimeSample ahead{.store = noon,
                         .resolution = Duration::seconds(1),
                         .asked = noon + Duration::seconds(31),
                         .answered = noon + Duration::seconds(32)};
  EXPECT_EQ(check_queue_clock(ahead).health, Health::warn);
  EXPECT_THAT(check_queue_clock(ahead).found, HasSubstr("30s ahead of the store's"));
  const TimeSample behind{.store = noon,
                          .asked = noon - Duration::seconds(11),
                          .answered = noon - Duration::seconds(10)};
  EXPECT_THAT(check_queue_clock(behind).found, HasSubstr("10s behind the store's"));
  EXPECT_EQ(check_queue_clock(std::nullopt).health, Health::warn);
}

TEST(QueueChecks, MakeNothing) {
  const TempFolder folder;
  SystemClock clock;
  config::Config config;
  config.queue.url = "dir:" + (folder / "queue");
  const auto findings = check_queue_store(config, clock);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].health, Health::ok);
  EXPECT_THAT(findings[0].found, HasSubstr("not there yet"));
  EXPECT_FALSE(std::filesystem::exists(folder / "queue"));
}

// A queue of one task, in a folder.
class QueueChecksOfALog : public ::testing::Test {
 protected:
  QueueChecksOfALog() {
    config.queue.url = "dir:" + folder / "queue";
    auto session = QueueSession::open(config, Opens::give).value();
    const queue::TaskTerms terms = {.type = "t", .input = "{}"};
    EXPECT_TRUE(session->give_one(queue::Submit{.id = session->new_id(terms), .terms = terms}));
    session->close();
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder / "queue/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path path = folder / "queue/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::vector<Finding> failures() {
    std::vector<Finding> found = check_queue_store(config, clock);
    EXPECT_EQ(found.back().found, "1 task pending (1 due), 0 running, 0 failed");
    std::erase_if(found, [](const Finding& finding) { return finding.health != Health::fail; });
    return found;
  }

  const TempFolder folder;
  SystemClock clock;
  config::Config config;
};

TEST_F(QueueChecksOfALog, LeaveNothingBehind) {
  EXPECT_TRUE(failures().empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder / "queue/probe"));
}

TEST_F(QueueChecksOfALog, FindASnapshotThatIsDamaged) {
  EXPECT_TRUE(failures().empty());
  const std::string name = queue::snapshot_name(0, 1);
  write(name, "no snapshot");
  const auto found = failures();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].found, HasSubstr(name));
  EXPECT_THAT(found[0].found, HasSubstr("is damaged"));
}

TEST_F(QueueChecksOfALog, FindATimeThatIsFarAhead) {
  const std::string name = queue::segment_name(0, 1);
  auto segment = queue::parse_segment(read(name)).value();
  segment.at = segment.at + Duration::days(3'650);
  write(name, queue::write_segment(segment, queue::write_commands(segment.commands)));
  const auto found = failures();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].found, HasSubstr("is ahead of the clock by 36"));
}

}  // namespace
}  // namespace pawl::cli
