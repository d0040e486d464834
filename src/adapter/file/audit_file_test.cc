// Goal: what flush() acknowledged is there, whatever happens to the process, to its neighbours and
//       to the disk; and nothing is dropped when the sink is full.
// Method: the port's conformance suite; real processes that are killed; a lock held by the test to
//         stall the writer; a file-size limit for a full disk; an fdatasync() that fails on demand.
#include "adapter/file/audit_file.h"

#include <future>
#include <sys/file.h>
#include <sys/wait.h>

#include "adapter/file/audit_log_fixture.h"
#include "base/bounds.h"
#include "port/event_sink_conformance.h"

namespace pawl {
namespace {

using Operations = std::vector<std::string>;

// Small, so that tests fill it quickly.
constexpr std::size_t events_max = 100;

std::unique_ptr<AuditFile> open_file(const std::string& path, OnFull on_full = OnFull::block) {
  return AuditFile::open({.path = path, .on_full = on_full, .queue_events_max = events_max})
      .value();
}

class FileSinkUnderTest final : public EventSinkUnderTest {
 public:
  EventSink& sink() override { return *sink_; }
  Operations operations_at_rest() override { return operations_of(path_); }

 private:
  TempFolder folder_;
  std::string path_ = folder_ / "audit.jsonl";
  std::unique_ptr<AuditFile> sink_ = open_file(path_);
};

std::unique_ptr<EventSinkUnderTest> make_file_sink() {
  return std::make_unique<FileSinkUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(File, EventSinkConformance, testing::Values(make_file_sink));

// Holds the log's lock, so that its writer stands still.
class Stall {
 public:
  explicit Stall(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(::flock(file_.get(), LOCK_EX), 0);
  }

 private:
  Descriptor file_;
};

void fill(AuditFile& sink) {
  while (sink.lag() < events_max) ASSERT_TRUE(sink.append(event("waits")).has_value());
}

// Runs `work` in a process of its own, which never returns to the test.
template <class Work>
pid_t in_a_process(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::_exit(work() ? 0 : 1);
}

bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(AuditFile, AcknowledgesWhatTheDiskHas) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(sink->append(event("a")).has_value());
    ASSERT_TRUE(sink->flush().has_value());
    EXPECT_EQ(Disk::synced_bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));
    EXPECT_EQ(operations_of(path).size(), static_cast<std::size_t>(i + 1));
  }
}

TEST(AuditFile, WritesAllThatWaitsWithOneSync) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path);
  const int syncs = Disk::syncs;
  {
    const Stall stall(path);
    fill(*sink);
    EXPECT_EQ(sink->lag(), events_max);
  }
  ASSERT_TRUE(sink->flush().has_value());
  // The writer may have gone to wait for the lock with the first few.
  EXPECT_LE(Disk::syncs, syncs + 2);
  EXPECT_EQ(operations_of(path).size(), events_max);
}

TEST(AuditFile, TheDestructorWritesWhatIsLeft) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  Operations expected;
  {
    const auto sink = open_file(path);
    for (int i = 0; i < 500; ++i) {
      expected.push_back(std::to_string(i));
      ASSERT_TRUE(sink->append(event(expected.back())).has_value());
    }
  }
  EXPECT_EQ(operations_of(path), expected);
}

TEST(AuditFile, SaysOnceWhatItRepairedWhenItOpened) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  write_file(path, "{\"event_ty");
  const auto sink = open_file(path);
  EXPECT_NE(sink->take_note().find("its last 10 bytes were cut off"), std::string::npos);
  EXPECT_EQ(sink->take_note(), "");
}

TEST(AuditFile, SaysWhyItCannotOpen) {
  const auto opened = AuditFile::open({.path = "/dev/full"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::invalid);
}

TEST(AuditFile, WhenFullItFailsAndKeepsWhatItTook) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path, OnFull::fail);
  {
    const Stall stall(path);
    fill(*sink);
    const Result<void> refused = sink->append(event("too much"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
    EXPECT_EQ(refused.error().message, "the audit log is full: 100 events wait");
    EXPECT_EQ(sink->lag(), events_max);
  }
  ASSERT_TRUE(sink->flush().has_value());
  ASSERT_TRUE(sink->append(event("after")).has_value());
  ASSERT_TRUE(sink->flush().has_value());
  Operations expected(events_max, "waits");
  expected.push_back("after");
  EXPECT_EQ(operations_of(path), expected);
}

TEST(AuditFile, WhenFullItBlocksUntilThereIsRoom) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path);
  std::future<Result<void>> appended;
  {
    const Stall stall(path);
    fill(*sink);
    appended = std::async(std::launch::async, [&] { return sink->append(event("after")); });
    EXPECT_EQ(appended.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    EXPECT_EQ(sink->lag(), events_max);
  }
  EXPECT_TRUE(appended.get().has_value());
  ASSERT_TRUE(sink->flush().has_value());
  Operations expected(events_max, "waits");
  expected.push_back("after");
  EXPECT_EQ(operations_of(path), expected);
}

TEST(AuditFile, IsFullOfFewLargeEventsToo) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = AuditFile::open({.path = path, .on_full = OnFull::fail}).value();
  audit::Event large = event("large");
  large.details = {{"digits", json::Number{std::string(65'000, '1')}}};
  {
    const Stall stall(path);
    std::size_t taken = 0;
    while (sink->append(large)) ++taken;
    EXPECT_EQ(taken, bounds::audit_queue_bytes_max / audit::draft(large)->text.size() + 1);
    Disk::sync_fails = true;  // so that nobody has to wait until all of it is written
  }
  EXPECT_FALSE(sink->flush().has_value());
  Disk::sync_fails = false;
}

TEST(AuditFile, WithoutRoomOnTheDiskItBlocksUntilThereIsSome) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path);
  ASSERT_TRUE(sink->append(event("a")).has_value());
  ASSERT_TRUE(sink->flush().has_value());
  const std::string before = read_file(path);
  std::future<Result<void>> flushed;
  {
    const FileSizeLimit limit(before.size() + before.size() / 2);
    ASSERT_TRUE(sink->append(event("b")).has_value());
    flushed = std::async(std::launch::async, [&] { return sink->flush(); });
    std::string note;
    while (note.empty()) note = sink->take_note();
    EXPECT_EQ(note, "cannot write to the audit log '" + path +
                        "': File too large; make room for it; events wait until then");
    EXPECT_EQ(sink->lag(), 1u);
    EXPECT_EQ(flushed.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  }
  EXPECT_TRUE(flushed.get().has_value());
  EXPECT_EQ(operations_of(path), (Operations{"a", "b"}));
}

void expect_failed(AuditFile& sink, std::string_view why) {
  const Result<void> appended = sink.append(event("later"));
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, Code::unavailable);
  EXPECT_TRUE(appended.error().outcome == Outcome::not_applied);
  EXPECT_NE(appended.error().message.find(why), std::string::npos);
  EXPECT_FALSE(sink.flush().has_value());
}

TEST(AuditFile, WithoutRoomOnTheDiskItFailsWhenToldTo) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path, OnFull::fail);
  ASSERT_TRUE(sink->append(event("a")).has_value());
  ASSERT_TRUE(sink->flush().has_value());
  const std::string before = read_file(path);
  {
    const FileSizeLimit limit(before.size() + before.size() / 2);
    ASSERT_TRUE(sink->append(event("b")).has_value());
    const Result<void> flushed = sink->flush();
    ASSERT_FALSE(flushed.has_value());
    EXPECT_TRUE(flushed.error().outcome == Outcome::not_applied);
  }
  expect_failed(*sink, "File too large");
  EXPECT_EQ(sink->lag(), 1u);
  EXPECT_EQ(read_file(path), before);
}

TEST(AuditFile, AFailedSyncIsFinalWhateverOnFullSays) {
  for (const OnFull on_full : {OnFull::block, OnFull::fail}) {
    const TempFolder folder;
    const std::string path = folder / "audit.jsonl";
    const auto sink = open_file(path, on_full);
    ASSERT_TRUE(sink->append(event("a")).has_value());
    ASSERT_TRUE(sink->flush().has_value());
    Disk::sync_fails = true;
    ASSERT_TRUE(sink->append(event("b")).has_value());
    const Result<void> flushed = sink->flush();
    Disk::sync_fails = false;
    ASSERT_FALSE(flushed.has_value());
    EXPECT_TRUE(flushed.error().outcome == Outcome::unknown);
    expect_failed(*sink, "Input/output error");
    EXPECT_EQ(operations_of(path), Operations{"a"});
  }
}

TEST(AuditFile, AFailureWakesThoseWhoWaitForRoom) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const auto sink = open_file(path);
  std::future<Result<void>> appended;
  {
    const Stall stall(path);
    fill(*sink);
    Disk::sync_fails = true;
    appended = std::async(std::launch::async, [&] { return sink->append(event("after")); });
  }
  EXPECT_FALSE(sink->flush().has_value());
  EXPECT_FALSE(appended.get().has_value());
  Disk::sync_fails = false;
}

// In one file, or in many that either of them may have begun.
class AuditFileOfParts : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, AuditFileOfParts,
                         testing::Values(ChainFileOptions{}.part_bytes_max, 20'000),
                         [](const auto& size) { return size.index == 0 ? "one" : "many"; });

TEST_P(AuditFileOfParts, TwoProcessesWriteOneChain) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  constexpr int events = 2000;
  const auto append_as = [&](const std::string& name) {
    const auto opened = AuditFile::open({.path = path, .part_bytes_max = GetParam()});
    if (!opened) return false;
    for (int i = 0; i < events; ++i) {
      if (!(*opened)->append(event(name + std::to_string(i)))) return false;
      if (i % 10 == 0 && !(*opened)->flush()) return false;
    }
    return (*opened)->flush().has_value();
  };
  const pid_t one = in_a_process([&] { return append_as("one-"); });
  const pid_t other = in_a_process([&] { return append_as("other-"); });
  EXPECT_TRUE(ended_well(one));
  EXPECT_TRUE(ended_well(other));

  const Operations all = operations_of(path);
  EXPECT_EQ(all.size(), 2u * events);
  int of_one = 0;
  int of_other = 0;
  for (const std::string& operation : all) {
    if (operation == "one-" + std::to_string(of_one)) {
      ++of_one;
    } else {
      EXPECT_EQ(operation, "other-" + std::to_string(of_other));
      ++of_other;
    }
  }
  EXPECT_EQ(of_one, events);
  EXPECT_EQ(of_other, events);
  EXPECT_EQ(log_files::full_parts(path)->size() > 10, GetParam() == 20'000);
}

TEST_P(AuditFileOfParts, WhatWasAcknowledgedOutlivesAKilledProcess) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  for (int cycle = 0; cycle < 30; ++cycle) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = in_a_process([&] {
      const auto opened = AuditFile::open({.path = path, .part_bytes_max = GetParam() / 10});
      if (!opened) return false;
      for (int i = 0;; ++i) {
        const std::string name = std::to_string(cycle) + "/" + std::to_string(i);
        if (!(*opened)->append(event(name))) return false;
        if (i % 7 != 0) continue;
        if (!(*opened)->flush() || ::write(pipe[1], &i, sizeof(i)) != sizeof(i)) return false;
      }
    });
    ::close(pipe[1]);
    int acknowledged = 0;
    for (int reads = 0; reads <= cycle % 6; ++reads) {
      ASSERT_EQ(::read(pipe[0], &acknowledged, sizeof(acknowledged)), sizeof(acknowledged));
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    // What it acknowledged until it died.
    while (::read(pipe[0], &acknowledged, sizeof(acknowledged)) == sizeof(acknowledged)) {
    }
    ::close(pipe[0]);

    ASSERT_TRUE(AuditFile::open({.path = path}).has_value());
    const Operations all = operations_of(path);
    int next = 0;
    for (const std::string& operation : all) {
      if (operation == std::to_string(cycle) + "/" + std::to_string(next)) ++next;
    }
    ASSERT_GT(next, acknowledged) << "in cycle " << cycle;
  }
}

}  // namespace
}  // namespace pawl
