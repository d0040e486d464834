// Goal: the store conforms; whoever dies when, what was acknowledged is there and nothing shows
//       half of itself; trouble is told with its outcome.
// Method: the port's conformance suite; real processes, some of them killed; limits and missing
//         rights of the operating system; an fsync() that fails on demand (disk_fixture.h).
#include "adapter/directory/directory_object_store.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

#include "adapter/directory/disk_fixture.h"
#include "adapter/system/system_clock.h"
#include "port/object_store_conformance.h"
#include "tests/without_privilege.h"

namespace pawl {
namespace {

using object_store_suite::Client;
using object_store_suite::If;
using object_store_suite::Names;
using object_store_suite::Verdict;
using Store = std::unique_ptr<DirectoryObjectStore>;

class DirectoryTest : public testing::Test {
 protected:
  ~DirectoryTest() override { Disk::heal(); }

  Store open(std::size_t calls_max = 100) {
    return DirectoryObjectStore::open({.path = path_, .threads = 2, .calls_max = calls_max}, clock_)
        .value();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / ("store/" + name)) << text;
  }
  // Files that are neither objects nor the lock.
  std::size_t drafts() const {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "/.tmp", none)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  SystemClock clock_;
  TempFolder folder_;
  const std::string path_ = folder_ / "store";
};

TEST(DirectoryObjectStore, Conforms) {
  expect_object_store_conforms([](const auto& part) {
    SystemClock clock;
    const TempFolder folder;
    const std::string path = folder / "made/where/missing";
    const Store store = DirectoryObjectStore::open({.path = path}, clock).value();
    const Store beside = DirectoryObjectStore::open({.path = path}, clock).value();
    part({.store = *store, .beside = *beside});
  });
}

// A clock that is wrong would stamp its first segment with its own time otherwise.
TEST_F(DirectoryTest, KnowsTheTimeBeforeAnythingIsWritten) {
  class Ahead final : public Clock {
   public:
    Instant wall_now() override { return right.wall_now() + Duration::minutes(10); }
    SteadyInstant steady_now() override { return right.steady_now(); }
    SystemClock right;
  } ahead;
  const auto store = DirectoryObjectStore::open({.path = path_, .threads = 2}, ahead).value();
  const auto sample = store->time_sample();
  ASSERT_TRUE(sample);
  EXPECT_LT(sample->store + sample->resolution, sample->asked);
  EXPECT_EQ(drafts(), 0U);
}

TEST_F(DirectoryTest, AnObjectIsAFileWithItsBytes) {
  const Store store = open();
  Client(*store).put("log/0/1", "bytes", If::absent);
  std::string text;
  std::ifstream(path_ + "/log/0/1") >> text;
  EXPECT_EQ(text, "bytes");
  struct stat status = {};
  ASSERT_EQ(::stat((path_ + "/log").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u) << "for its owner alone";
  EXPECT_EQ(Client(*store).match("log/0/2", "x", "tag").verdict, Verdict::gone);
  EXPECT_EQ(store->name(), "dir:" + path_);
}

TEST_F(DirectoryTest, OtherBytesHaveAnotherTagThoughInodeSizeAndTimeAreTheSame) {
  const Store store = open();
  const Client client(*store);
  const std::string first = client.put("a", "1").tag;
  // As when the inode of a removed file is taken again within a tick of the clock.
  struct stat status = {};
  ASSERT_EQ(::stat((path_ + "/a").c_str(), &status), 0);
  write("a", "2");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/a").c_str(), times, 0), 0);
  EXPECT_NE(client.get("a").tag, first);
  EXPECT_EQ(client.match("a", "3", first).verdict, Verdict::exists);
}

TEST_F(DirectoryTest, AReaderSeesAllOfAnObjectOrNone) {
  const Store store = open();
  const Store beside = open();
  const auto body = [](int i) { return std::string(1'000'000, static_cast<char>('a' + i % 26)); };
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      Client(*store).put("n/" + std::to_string(i), body(i), If::absent);
      Client(*store).put("last", body(i));
    }
  });
  const Client reader(*beside);
  for (int i = 0; i < 20; ++i) {
    Result<Object> found = failure(Code::not_found, "");
    while (!found) found = reader.try_get({.name = "n/" + std::to_string(i)});
    EXPECT_TRUE(found->body == body(i)) << found->body.size() << " bytes of " << i;
    const auto last = reader.try_get({.name = "last"});
    EXPECT_TRUE(!last || last->body == body(last->body[0] - 'a')) << "of that one too";
  }
  writer.join();
}

TEST_F(DirectoryTest, OthersFilesAreNoObjects) {
  const Store store = open();
  const Client client(*store);
  client.put("a/b", "body");
  write("with blank", "x");
  write(".hidden", "x");
  std::filesystem::create_symlink("a/b", path_ + "/linked");
  std::filesystem::create_directory_symlink(".", path_ + "/circle");
  ASSERT_EQ(::mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(client.names(""), Names{"a/b"});
  EXPECT_FALSE(client.has("pipe")) << "and nobody waits for its other end";
}

TEST_F(DirectoryTest, ANameCannotBeAFolderAndAnObject) {
  const Store store = open();
  const Client client(*store);
  client.put("a", "object");
  client.put("b/c", "object");
  for (const If only : {If::absent, If::always}) {
    for (const char* name : {"a/x", "a/x/y", "b"}) {
      const auto put = client.try_put({.name = name, .body = "x", .only = only});
      ASSERT_FALSE(put) << name;
      EXPECT_EQ(put.error().code, Code::invalid) << put.error().message;
      EXPECT_EQ(put.error().outcome, Outcome::not_applied);
    }
  }
  EXPECT_FALSE(client.has("a/x"));
  EXPECT_FALSE(client.has("b"));
  EXPECT_TRUE(client.remove({"b", "a/x"})) << "there are no such objects";
  EXPECT_EQ(client.names(""), (Names{"a", "b/c"}));
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(DirectoryTest, AFileIsNoStore) {
  std::ofstream(path_) << "a file";
  for (const std::string& path : {path_, path_ + "/below"}) {
    const auto opened = DirectoryObjectStore::open({.path = path}, clock_);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::invalid) << opened.error().message;
  }
  EXPECT_FALSE(DirectoryObjectStore::open({.path = ""}, clock_));
  EXPECT_FALSE(DirectoryObjectStore::open({.path = folder_ / "new", .threads = 0}, clock_));
}

TEST_F(DirectoryTest, AFolderThatIsGoneIsNotMadeAnew) {
  const Store store = open();
  const Client client(*store);
  client.put("a/b", "body");
  std::filesystem::remove_all(path_);
  const auto put = client.try_put({.name = "a/c", .body = "x", .only = If::absent});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unavailable) << put.error().message;
  EXPECT_EQ(put.error().outcome, Outcome::not_applied);
  const auto got = client.try_get({.name = "a/b"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable) << "it may be there still, elsewhere";
  const auto listed = client.try_list({.under = "a/"});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, Code::unavailable);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DirectoryTest, AFolderBelowThatIsGoneIsMadeAgain) {
  const Store store = open();
  const Client client(*store);
  client.put("a/b/c", "body");
  std::filesystem::remove_all(path_ + "/a");
  EXPECT_EQ(client.put("a/b/c", "again", If::absent).verdict, Verdict::stored);
  EXPECT_EQ(client.get("a/b/c").body, "again");
}

TEST_F(DirectoryTest, WhoeverMayNotWriteMayRead) {
  const Store store = open();
  const Client client(*store);
  client.put("a/b", "body");
  client.put("c", "body");
  for (const char* open : {"", "/a"}) ASSERT_EQ(::chmod((path_ + open).c_str(), 0755), 0);
  for (const char* name : {"/a/b", "/c"}) ASSERT_EQ(::chmod((path_ + name).c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const WithoutPrivilege nobody;
  EXPECT_EQ(client.get("a/b").body, "body");
  EXPECT_EQ(client.names(""), (Names{"a/b", "c"}));
  for (const If only : {If::absent, If::always}) {
    for (const char* name : {"a/x", "new/x", "x"}) {
      const auto put = client.try_put({.name = name, .body = "x", .only = only});
      ASSERT_FALSE(put) << name;
      EXPECT_EQ(put.error().code, Code::refused) << put.error().message;
      EXPECT_EQ(put.error().outcome, Outcome::not_applied);
      EXPECT_NE(put.error().message.find("let this user"), std::string::npos);
    }
  }
  const auto removed = client.remove({"c"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, Code::refused);
  EXPECT_FALSE(DirectoryObjectStore::open({.path = path_ + "/new"}, clock_));
}

// No file of this process may grow beyond so many bytes, while this lives.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_);
  }

 private:
  rlimit before_ = {};
  void (*old_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST_F(DirectoryTest, AWriteThatFailsHalfwayShowsNothing) {
  const Store store = open();
  const Client client(*store);
  client.put("kept", "before");
  {
    const SmallFiles small(10'000);
    for (const If only : {If::absent, If::always}) {
      const std::string name = only == If::absent ? "new" : "kept";
      const auto put =
          client.try_put({.name = name, .body = std::string(20'000, 'x'), .only = only});
      ASSERT_FALSE(put);
      EXPECT_EQ(put.error().code, Code::unavailable);
      EXPECT_EQ(put.error().outcome, Outcome::not_applied);
    }
  }
  EXPECT_EQ(client.get("kept").body, "before");
  EXPECT_EQ(client.names(""), Names{"kept"});
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(DirectoryTest, AFullDiskIsNotApplied) {
  const Store store = open();
  const Client client(*store);
  Disk::file_error = ENOSPC;
  for (const If only : {If::absent, If::always}) {
    const auto put = client.try_put({.name = "a", .body = "x", .only = only});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, Code::unavailable);
    EXPECT_EQ(put.error().outcome, Outcome::not_applied);
    EXPECT_NE(put.error().message.find("make room"), std::string::npos);
  }
  EXPECT_FALSE(client.has("a"));
  Disk::heal();
  EXPECT_EQ(client.put("a", "x", If::absent).verdict, Verdict::stored) << "it goes on by itself";
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(DirectoryTest, AFolderThatIsNotOnTheDiskIsUnknownAndNotBelieved) {
  const Store store = open();
  const Client client(*store);
  client.put("log/0", "x", If::absent);
  Disk::folder_error = EIO;
  const auto put = client.try_put({.name = "log/1", .body = "x", .only = If::absent});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::unavailable);
  EXPECT_EQ(put.error().outcome, Outcome::unknown);
  EXPECT_NE(put.error().message.find("nobody knows whether"), std::string::npos);
  // It has its name, and may lose it with the power.
  const auto got = client.try_get({.name = "log/1"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable);
  EXPECT_FALSE(client.try_list({}));
  const auto again = client.try_put({.name = "log/1", .body = "x", .only = If::absent});
  ASSERT_FALSE(again) << "'exists' would have it believed";
  EXPECT_EQ(again.error().outcome, Outcome::not_applied);
  Disk::heal();
  EXPECT_EQ(client.get("log/1").body, "x") << "now it is on the disk";
  EXPECT_EQ(client.put("log/1", "y", If::absent).verdict, Verdict::exists);

  Disk::folder_error = EIO;
  const auto removed = client.remove({"log/1"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().outcome, Outcome::unknown);
}

TEST_F(DirectoryTest, WhatAnotherMadeIsOnTheDiskBeforeItIsBuiltOn) {
  const Store store = open();
  // As somebody leaves it who dies before his syncs.
  std::filesystem::create_directories(path_ + "/log/0");
  const int before = Disk::folder_syncs;
  Client(*store).put("log/0/1", "x", If::absent);
  EXPECT_EQ(Disk::folder_syncs - before, 3) << "the store's folder, log, and log/0 itself";
  Client(*store).put("log/0/2", "x", If::absent);
  EXPECT_EQ(Disk::folder_syncs - before, 4);
}

TEST_F(DirectoryTest, ANameThatIsTakenCostsNoSync) {
  const Store store = open();
  Client(*store).put("log/0/1", "x", If::absent);
  const int before = Disk::file_syncs;
  EXPECT_EQ(Client(*store).put("log/0/1", "y", If::absent).verdict, Verdict::exists);
  EXPECT_EQ(Disk::file_syncs, before);
}

TEST_F(DirectoryTest, ALockThatIsHeldForLongIsBusy) {
  const auto files = ObjectFiles::open(path_, Duration()).value();
  ASSERT_EQ(files->put({.name = "a", .body = "1"})->answer.verdict, Verdict::stored);
  const std::string tag = files->get({.name = "a"})->tag;
  const Descriptor lock(::open((path_ + "/.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  const auto match = files->put({.name = "a", .body = "2", .only = If::match, .tag = tag});
  EXPECT_EQ(match->answer.verdict, Verdict::busy);
  const auto removed = files->remove({"a"});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().outcome, Outcome::not_applied);
  EXPECT_EQ(files->put({.name = "b", .body = "1", .only = If::absent})->answer.verdict,
            Verdict::stored)
      << "who creates needs no lock";
  EXPECT_EQ(files->get({.name = "a"})->body, "1");
}

TEST_F(DirectoryTest, TooManyCallsFailAtOnce) {
  Store store = open(1);
  const Client client(*store);
  client.put("a", "x");
  std::promise<void> go_on;
  const std::shared_future<void> told = go_on.get_future();
  std::vector<std::promise<void>> begun(2);
  for (std::promise<void>& one : begun) {
    store->get({.name = "a"}, [&one, told](const Result<Object>&) {
      one.set_value();
      told.wait();
    });
    one.get_future().wait();
  }
  std::atomic<int> answered = 0;
  store->get({.name = "a"}, [&](const Result<Object>& found) { answered += found ? 1 : 0; });
  const auto more = client.try_put({.name = "b", .body = "x"});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::unavailable);
  EXPECT_EQ(more.error().outcome, Outcome::not_applied);
  go_on.set_value();
  store.reset();
  EXPECT_EQ(answered, 1) << "what waited is answered before the store ends";
}

TEST_F(DirectoryTest, OldDraftsAreSweptWhenItIsOpened) {
  std::filesystem::create_directories(path_ + "/.tmp");
  write(".tmp/old", "half of");
  write(".tmp/young", "half of");
  const timespec past[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/.tmp/old").c_str(), past, 0), 0);
  open().reset();
  EXPECT_EQ(drafts(), 1u);
}

TEST_F(DirectoryTest, AWatchTellsOfWhatOthersPut) {
  const Store store = open();
  const Store beside = open();
  std::atomic<int> calls = 0;
  std::mutex mutex;
  std::condition_variable called;
  const auto changed = [&] {
    const std::lock_guard lock(mutex);
    ++calls;
    called.notify_all();
  };
  const auto wait_for = [&](int wanted) {
    std::unique_lock lock(mutex);
    return called.wait_for(lock, std::chrono::seconds(30), [&] { return calls >= wanted; });
  };
  auto first = store->watch("log/0", changed);
  auto second = store->watch("log/0", changed);
  ASSERT_TRUE(first && second) << "the folder is made for them";
  Client(*beside).put("log/0/1", "x", If::absent);
  EXPECT_TRUE(wait_for(2)) << "of a new one, each";
  first.reset();
  calls = 0;
  Client(*beside).put("log/1/1", "x", If::absent);
  Client(*beside).put("log/0/1", "y");
  EXPECT_TRUE(wait_for(1)) << "of a changed one";
  second.reset();
  calls = 0;
  auto third = store->watch("log/0", [] {});
  Client(*beside).put("log/0/2", "x", If::absent);
  EXPECT_EQ(calls, 0) << "those that ended are not called";
  EXPECT_EQ(store->watch("../log", changed), nullptr);
}

// A log that is stopped by what it reads ends its watch in the call that told it of news.
TEST_F(DirectoryTest, AWatchMayBeEndedAndOthersBegunWhileItIsCalled) {
  const Store store = open();
  const Store beside = open();
  std::promise<void> ended;
  std::unique_ptr<ObjectWatch> own;
  std::unique_ptr<ObjectWatch> other;
  std::mutex mutex;  // of the handles
  const auto changed = [&] {
    const std::lock_guard lock(mutex);
    if (!own) return;
    own.reset();
    other = store->watch("log/1", [] {});
    other.reset();
    ended.set_value();
  };
  {
    const std::lock_guard lock(mutex);
    own = store->watch("log/0", changed);
  }
  Client(*beside).put("log/0/1", "x", If::absent);
  ASSERT_EQ(ended.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

template <class Work>
pid_t in_a_process(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(120);  // should the parent die
  ::_exit(work() ? 0 : 1);
}

TEST_F(DirectoryTest, OfManyProcessesOneCreatesAName) {
  constexpr int names = 100;
  constexpr int processes = 6;
  ASSERT_TRUE(std::filesystem::create_directory(path_));
  std::vector<pid_t> children;
  for (int id = 0; id < processes; ++id) {
    children.push_back(in_a_process([&] {
      const Store store = open();
      const Client client(*store);
      std::string won;
      for (int i = 0; i < names; ++i) {
        const std::string name = "n/" + std::to_string(i);
        const auto put =
            client.try_put({.name = name, .body = std::to_string(id), .only = If::absent});
        if (!put) return false;
        if (put->verdict == Verdict::stored) won += std::to_string(i) + "\n";
      }
      return client.put("won/" + std::to_string(id), won).verdict == Verdict::stored;
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const Store store = open();
  const Client client(*store);
  int won = 0;
  for (int id = 0; id < processes; ++id) {
    std::istringstream lines(client.get("won/" + std::to_string(id)).body);
    for (std::string i; std::getline(lines, i); ++won) {
      EXPECT_EQ(client.get("n/" + i).body, std::to_string(id)) << "it is the winner's";
    }
  }
  EXPECT_EQ(won, names) << "each has one winner";
  EXPECT_EQ(drafts(), 0u);
}

// Of all sizes, and told from what it should be by its own words.
std::string body_of(int number) {
  std::string body = std::to_string(number) + ":";
  body.resize(body.size() + static_cast<std::size_t>(number % 7) * 40'000, 'b');
  return body + ":end";
}

// Creates names from `first` on and replaces one name over and over, telling each number when it
// was acknowledged, until it is killed.
[[noreturn]] void put_until_killed(DirectoryObjectStore& store, int first, int pipe) {
  const Client client(store);
  for (int i = first;; ++i) {
    const std::string name = "n/" + std::to_string(i);
    if (!client.try_put({.name = name, .body = body_of(i), .only = If::absent})) ::_exit(1);
    if (!client.try_put({.name = "last", .body = body_of(i)})) ::_exit(1);
    if (::write(pipe, &i, sizeof(i)) != sizeof(i)) ::_exit(1);
  }
}

TEST_F(DirectoryTest, WhatWasAcknowledgedIsThereWhoeverIsKilledWhen) {
  int next = 0;
  for (int round = 0; round < 100; ++round) {
    int pipe[2] = {};
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = in_a_process([&]() -> bool {
      ::close(pipe[0]);
      const Store store = open();
      put_until_killed(*store, next, pipe[1]);
    });
    ::close(pipe[1]);
    int told = -1;
    for (int wanted = 1 + round % 5; wanted > 0; --wanted) {
      ASSERT_EQ(::read(pipe[0], &told, sizeof(told)), static_cast<ssize_t>(sizeof(told)));
    }
    // Now it is at the next one; how far, differs from round to round.
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(round % 10 * 150);
    while (std::chrono::steady_clock::now() < end) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe[0], &told, sizeof(told)) == sizeof(told)) {
    }
    ::close(pipe[0]);

    const Store store = open();
    const Client client(*store);
    for (int i = next; i <= told; ++i) {
      EXPECT_TRUE(client.get("n/" + std::to_string(i)).body == body_of(i)) << i;
    }
    const std::string after = "n/" + std::to_string(told + 1);
    EXPECT_TRUE(!client.has(after) || client.get(after).body == body_of(told + 1)) << "half of it";
    const std::string last = client.get("last").body;
    EXPECT_TRUE(last == body_of(std::stoi(last))) << "half of the last one";
    EXPECT_GE(std::stoi(last), told);
    ASSERT_FALSE(HasFailure());
    next = told + 2;  // the one after may be there, unacknowledged
  }
}

}  // namespace
}  // namespace pawl
