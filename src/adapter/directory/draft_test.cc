// Goal: a file shows only when it is whole, leaves nothing behind, and trouble is told in words.
// Method: drafts with and without a name, in a folder of the test's own.
#include "adapter/directory/draft.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>

#include "adapter/directory/disk_fixture.h"

namespace pawl {
namespace {

class DraftTest : public testing::Test {
 protected:
  ~DraftTest() override { Disk::heal(); }

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  std::size_t drafts() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / ".tmp")) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  TempFolder folder_;
  Descriptor root_{::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(DraftTest, IsLinkedToANameThatNobodyHas) {
  std::filesystem::create_directory(folder_ / ".tmp");
  for (const bool named : {false, true}) {
    const std::string name = named ? "named" : "nameless";
    for (const char* body : {"first", "second"}) {
      Draft draft = named ? Draft::open_named(root_.get()).value()
                          : Draft::open_in(root_.get(), root_.get()).value();
      ASSERT_TRUE(draft.write(body));
      EXPECT_FALSE(std::string_view(body) == "first" && std::filesystem::exists(folder_ / name));
      EXPECT_EQ(draft.link(root_.get(), name), std::string_view(body) == "first" ? 0 : EEXIST);
    }
    EXPECT_EQ(content(name), "first");
    struct stat status = {};
    ASSERT_EQ(::stat((folder_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_EQ(status.st_nlink, 1u);
  }
  EXPECT_EQ(drafts(), 0u);
}

// As `sudo pawl submit` to the queue of a service.
TEST_F(DraftTest, IsTheFoldersOwnersAlsoWhereRootMakesIt) {
  const uid_t owner = ::geteuid() == 0 ? 65'534 : ::geteuid();
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.path().c_str(), owner, owner), 0);
  }
  for (const bool named : {false, true}) {
    Draft draft = named ? Draft::open_named(root_.get()).value()
                        : Draft::open_in(root_.get(), root_.get()).value();
    ASSERT_TRUE(draft.write("x"));
    ASSERT_EQ(draft.link(root_.get(), named ? "named" : "nameless"), 0);
  }
  for (const char* name : {"named", "nameless", ".tmp"}) {
    struct stat status = {};
    ASSERT_EQ(::stat((folder_ / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_uid, owner) << name;
  }
}

TEST_F(DraftTest, IsRenamedOverWhatIsThere) {
  std::ofstream(folder_ / "a") << "before";
  {
    Draft draft = Draft::open_named(root_.get()).value();
    ASSERT_TRUE(draft.write("after"));
    EXPECT_EQ(drafts(), 1u);
    EXPECT_EQ(content("a"), "before");
    EXPECT_EQ(draft.rename(root_.get(), "a"), 0);
  }
  EXPECT_EQ(content("a"), "after");
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(DraftTest, ThatIsNotUsedLeavesNothing) {
  {
    Draft draft = Draft::open_named(root_.get()).value();
    ASSERT_TRUE(draft.write("never"));
    EXPECT_EQ(drafts(), 1u);
  }
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(DraftTest, ThatIsNotOnTheDiskIsNotApplied) {
  Draft draft = Draft::open_in(root_.get(), root_.get()).value();
  Disk::file_error = ENOSPC;
  const auto written = draft.write("body");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::unavailable);
  EXPECT_EQ(written.error().outcome, Outcome::not_applied);
  EXPECT_EQ(written.error().message,
            "cannot get the object onto the disk (it has no name yet): No space left on device; "
            "make room on the disk, then it goes on by itself");
}

// Others' syncs would wait for all of it.
TEST_F(DraftTest, ThatIsLargeIsSyncedInParts) {
  Draft draft = Draft::open_in(root_.get(), root_.get()).value();
  const std::string body(std::size_t{10} * 1024 * 1024, 'b');
  const int before = Disk::file_syncs;
  ASSERT_TRUE(draft.write(body));
  EXPECT_EQ(Disk::file_syncs - before, 3);
  ASSERT_EQ(draft.link(root_.get(), "large"), 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "large"), body.size());
}

TEST_F(DraftTest, TheOldOnesAreSwept) {
  std::filesystem::create_directory(folder_ / ".tmp");
  for (const char* name : {"old", "young"})
    std::ofstream(folder_ / (std::string(".tmp/") + name)) << "left over";
  const timespec times[2] = {{.tv_sec = 1'000'000, .tv_nsec = 0},
                             {.tv_sec = 1'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / ".tmp/old").c_str(), times, 0), 0);
  Draft::sweep(root_.get(), Instant::from_ns(0) + Duration::seconds(1'000'000));
  EXPECT_EQ(drafts(), 2u) << "not older than that";
  Draft::sweep(root_.get(), Instant::from_ns(0) + Duration::seconds(1'000'001));
  EXPECT_EQ(drafts(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder_ / ".tmp/young"));
}

TEST(Trouble, IsToldByItsKind) {
  struct Row {
    int error;
    Code code;
    const char* advice;
  };
  for (const Row& row :
       {Row{ENOSPC, Code::unavailable, "make room"}, Row{EDQUOT, Code::unavailable, "make room"},
        Row{EROFS, Code::refused, "mount it so that it can be written"},
        Row{EACCES, Code::refused, "let this user"}, Row{ENOTDIR, Code::invalid, "is an object"},
        Row{EISDIR, Code::invalid, "objects below"}, Row{EMFILE, Code::unavailable, "ulimit -n"},
        Row{EFBIG, Code::unavailable, "ulimit -f"}, Row{EIO, Code::unavailable, "kernel's log"},
        Row{EBUSY, Code::unavailable, "cannot do it"}}) {
    const Error error = trouble_of(row.error, Outcome::unknown, "do it");
    EXPECT_EQ(error.code, row.code) << row.error;
    EXPECT_EQ(error.outcome, Outcome::unknown);
    EXPECT_NE(error.message.find(row.advice), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace pawl
