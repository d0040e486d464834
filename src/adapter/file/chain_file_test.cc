// Goal: the file keeps one unbroken chain through crashes, several writers, failing disks and
//       rotation, is not continued where its end is gone, and never touches a file that is not an
//       audit log.
// Method: real files; damage done to their bytes; a file-size limit for a full disk; an fdatasync()
//         that fails on demand.
#include "adapter/file/chain_file.h"

#include <sys/syscall.h>

#include "adapter/file/audit_log_fixture.h"
#include "base/bounds.h"

extern "C" int fdatasync(int fd) {
  if (pawl::Disk::sync_fails) {
    errno = EIO;
    return -1;
  }
  const auto result = ::syscall(SYS_fdatasync, fd);
  struct stat status = {};
  ::fstat(fd, &status);
  pawl::Disk::synced_bytes = status.st_size;
  ++pawl::Disk::syncs;
  return static_cast<int>(result);
}

namespace pawl {
namespace {

using Operations = std::vector<std::string>;

Result<void> append(ChainFile& file, const Operations& operations) {
  std::vector<audit::Draft> drafts;
  for (const std::string& name : operations) drafts.push_back(audit::draft(event(name)).value());
  return file.append(drafts);
}

void make_log(const std::string& path, const Operations& operations) {
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, operations).has_value());
}

TEST(ChainFile, MakesTheFoldersAndAFileForItsOwnerAlone) {
  const TempFolder folder;
  const std::string path = folder / "some/where/audit.jsonl";
  make_log(path, {"a"});
  EXPECT_EQ(operations_of(path), Operations{"a"});
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(ChainFile, AppendReturnsWhenTheDiskHasAll) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  const int syncs = Disk::syncs;
  ASSERT_TRUE(append(file, {"a", "b", "c"}).has_value());
  EXPECT_EQ(Disk::syncs, syncs + 1);
  EXPECT_EQ(Disk::synced_bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));
}

TEST(ChainFile, GoesOnWhereTheLastProcessStopped) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  make_log(path, {"c"});
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c"}));
}

TEST(ChainFile, GoesOnAfterTheLargestRecords) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  const Operations large = {std::string(60'000, 'a'), std::string(65'000, 'b')};
  make_log(path, large);
  ChainFile file = ChainFile::open({.path = path}).value();
  EXPECT_EQ(file.take_note(), "");
  ASSERT_TRUE(append(file, {"c"}).has_value());
  EXPECT_EQ(operations_of(path), (Operations{large[0], large[1], "c"}));
}

TEST(ChainFile, CutsATornRecordOffWhereverItWasTorn) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  const std::string whole = read_file(path);
  const std::size_t first = whole.find('\n') + 1;
  std::vector<std::size_t> sizes = {1, 2, 3, first - 1, first, first + 1, whole.size() - 1};
  for (std::size_t size = 20; size < whole.size(); size += 20) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    write_file(path, std::string_view(whole).substr(0, size));
    std::filesystem::remove(log_files::anchor_path(path));  // nothing was acknowledged yet
    ChainFile file = ChainFile::open({.path = path}).value();
    const bool torn = size != first;
    EXPECT_EQ(file.take_note().empty(), !torn) << size;
    ASSERT_TRUE(append(file, {"c"}).has_value());
    ASSERT_EQ(operations_of(path), size < first ? Operations{"c"} : (Operations{"a", "c"})) << size;
  }
}

TEST(ChainFile, CutsOffTheZerosThatAPowerCutLeaves) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a"});
  const std::string whole = read_file(path);
  write_file(path, whole + std::string(bounds::audit_batch_bytes_max, '\0'));
  EXPECT_EQ(ChainFile::open({.path = path}).value().take_note(),
            "the audit log '" + path +
                "' ended in the middle of a record, as after a crash: its last 4194304 bytes were "
                "cut off; no acknowledged record was lost");
  EXPECT_EQ(read_file(path), whole);
}

TEST(ChainFile, LeavesAFileAloneThatIsNoAuditLog) {
  const TempFolder folder;
  const std::string path = folder / "notes.txt";
  for (const std::string& text :
       {std::string("hello"), std::string("hello\n"), std::string("\n"), std::string("\n\n"),
        std::string("{\"a\":1}"), std::string("{\"a\":1}\n"), std::string("{\n  \"a\": 1\n}"),
        std::string(10, '\0'), "{\"" + std::string(bounds::audit_event_bytes_max, 'x'),
        std::string(6 * 1024 * 1024, 'x')}) {
    write_file(path, text);
    const auto opened = ChainFile::open({.path = path});
    ASSERT_FALSE(opened.has_value()) << text.substr(0, 20);
    EXPECT_EQ(opened.error().code, Code::invalid);
    EXPECT_NE(opened.error().message.find("move the file away"), std::string::npos);
    EXPECT_EQ(read_file(path), text);
  }
}

TEST(ChainFile, RefusesALogWhoseLastRecordWasChanged) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  std::string text = read_file(path);
  text[text.size() - 10] ^= 1;
  write_file(path, text);
  const auto opened = ChainFile::open({.path = path});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_EQ(
      opened.error().message,
      "the audit log '" + path +
          "' cannot be continued: the hash of record 2 does not fit its text; if it is an "
          "audit log, `pawl audit verify` shows where it is damaged; move the file away, and '" +
          path + ".anchor' with it, to begin a new one");
  EXPECT_EQ(read_file(path), text);
}

TEST(ChainFile, SaysWhyAPathCannotBeUsed) {
  const TempFolder folder;
  write_file(folder / "file", "");
  const auto below_a_file = ChainFile::open({.path = folder / "file/below/audit.jsonl"});
  ASSERT_FALSE(below_a_file.has_value());
  EXPECT_EQ(below_a_file.error().code, Code::unavailable);
  EXPECT_NE(below_a_file.error().message.find("Not a directory"), std::string::npos);

  std::filesystem::create_directory(folder / "folder");
  const auto a_folder = ChainFile::open({.path = folder / "folder"});
  ASSERT_FALSE(a_folder.has_value());
  EXPECT_EQ(a_folder.error().code, Code::unavailable);
  EXPECT_NE(a_folder.error().message.find("Is a directory"), std::string::npos);

  const auto a_device = ChainFile::open({.path = "/dev/full"});
  ASSERT_FALSE(a_device.has_value());
  EXPECT_EQ(a_device.error().code, Code::invalid);
  EXPECT_NE(a_device.error().message.find("not a regular file"), std::string::npos);
}

TEST(ChainFile, TwoWritersTakeTurnsInOneChain) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile one = ChainFile::open({.path = path}).value();
  ChainFile other = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(one, {"a"}).has_value());
  ASSERT_TRUE(append(other, {"b", "c"}).has_value());
  ASSERT_TRUE(append(other, {"d"}).has_value());
  ASSERT_TRUE(append(one, {"e"}).has_value());
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c", "d", "e"}));
}

TEST(ChainFile, RepairsWhatAnotherWriterLeftUnfinished) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  write_file(path, read_file(path) + "{\"event_type\":\"req");
  ASSERT_TRUE(append(file, {"b"}).has_value());
  EXPECT_NE(file.take_note().find("its last 18 bytes were cut off"), std::string::npos);
  EXPECT_EQ(operations_of(path), (Operations{"a", "b"}));
}

TEST(ChainFile, StopsWhenTheFileWasDeletedOrCutBehindItsBack) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a", "b"}).has_value());
  std::filesystem::resize_file(path, read_file(path).find('\n') + 1);
  const auto after_cut = append(file, {"c"});
  ASSERT_FALSE(after_cut.has_value());
  EXPECT_EQ(after_cut.error().code, Code::invalid);
  EXPECT_NE(after_cut.error().message.find("was cut from"), std::string::npos);

  std::filesystem::remove(path);
  const auto after_removal = append(file, {"c"});
  ASSERT_FALSE(after_removal.has_value());
  EXPECT_EQ(after_removal.error().code, Code::invalid);
  EXPECT_NE(after_removal.error().message.find("was deleted while in use"), std::string::npos);
}

TEST(ChainFile, IsAsBeforeWhenThereIsNoRoomAndGoesOnWhenThereIs) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  const std::string before = read_file(path);
  // None, half a record, and one whole record of two.
  for (const std::size_t room : {std::size_t{0}, before.size() / 2, before.size()}) {
    Result<void> refused;
    {
      const FileSizeLimit limit(before.size() + room);
      refused = append(file, {"b", "c"});
    }
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
    EXPECT_EQ(refused.error().message,
              "cannot write to the audit log '" + path + "': File too large; make room for it");
    EXPECT_EQ(read_file(path), before);
  }
  ASSERT_TRUE(append(file, {"d"}).has_value());
  EXPECT_EQ(operations_of(path), (Operations{"a", "d"}));
}

TEST(ChainFile, ABatchOfManyWritesIsOneSyncAndIsTakenBackWhole) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  const std::string before = read_file(path);
  Operations many = {"a"};
  for (int i = 0; i < 30; ++i) many.push_back(std::string(20'000, 'b'));
  const Operations large(many.begin() + 1, many.end());
  {
    const FileSizeLimit limit(before.size() + 400'000);
    const Result<void> refused = append(file, large);
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
    EXPECT_EQ(read_file(path), before);
  }
  const int syncs = Disk::syncs;
  ASSERT_TRUE(append(file, large).has_value());
  EXPECT_EQ(Disk::syncs, syncs + 1);
  EXPECT_EQ(Disk::synced_bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));
  EXPECT_EQ(operations_of(path), many);
}

TEST(ChainFile, DoesNotKnowWhatAFailedSyncLeftAndTakesItBack) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  const std::string before = read_file(path);
  Disk::sync_fails = true;
  const Result<void> failed = append(file, {"b"});
  Disk::sync_fails = false;
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::unavailable);
  EXPECT_TRUE(failed.error().outcome == Outcome::unknown);
  EXPECT_NE(failed.error().message.find("Input/output error"), std::string::npos);
  EXPECT_EQ(read_file(path), before);
}

audit::Link head_of(const std::string& path) {
  std::string text = read_file(path);
  text.pop_back();
  return audit::read_link(std::string_view(text).substr(text.rfind('\n') + 1)).value();
}

std::string anchor_of(const std::string& path) {
  return read_file(log_files::anchor_path(path));
}

TEST(Anchor, NamesTheLastRecordThatTheDiskHas) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  EXPECT_EQ(anchor_of(path), "");
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(append(file, {"a", "b"}).has_value());
    EXPECT_EQ(anchor_of(path), audit::anchor_text(head_of(path)));
  }
  const std::string before = anchor_of(path);
  Disk::sync_fails = true;
  EXPECT_FALSE(append(file, {"c"}).has_value());
  Disk::sync_fails = false;
  EXPECT_EQ(anchor_of(path), before) << "it must never lead";
}

TEST(Anchor, ALogThatEndsBeforeItIsNotContinued) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b", "c"});
  const std::string whole = read_file(path);
  const std::string anchor = anchor_of(path);
  // Between two records, in the middle of one, and all of it.
  for (const std::size_t size : {whole.find('\n') + 1, whole.size() - 10, std::size_t{0}}) {
    write_file(path, std::string_view(whole).substr(0, size));
    const auto opened = ChainFile::open({.path = path});
    ASSERT_FALSE(opened.has_value()) << size;
    EXPECT_EQ(opened.error().code, Code::invalid);
    EXPECT_NE(opened.error().message.find("says that record 3 with hash"), std::string::npos);
    EXPECT_NE(opened.error().message.find("move both files away"), std::string::npos);
    EXPECT_EQ(read_file(path), whole.substr(0, size)) << "evidence is left as it is";
    EXPECT_EQ(anchor_of(path), anchor);
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(ChainFile::open({.path = path}).has_value());
  write_file(path, whole);
  EXPECT_TRUE(ChainFile::open({.path = path}).has_value());
}

TEST(Anchor, ALogWhoseLastRecordIsAnotherOneIsNotContinued) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  make_log(folder / "forged.jsonl", {"a", "other"});
  std::filesystem::rename(folder / "forged.jsonl", path);
  const auto opened = ChainFile::open({.path = path});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("cut off or replaced"), std::string::npos);
}

TEST(Anchor, MayLagOrBeMissing) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a"});
  const std::string early = anchor_of(path);
  for (const std::string& lagging : {early, std::string()}) {
    make_log(path, {"b"});
    write_file(log_files::anchor_path(path), lagging);
    make_log(path, {"c"});
    EXPECT_EQ(anchor_of(path), audit::anchor_text(head_of(path)));
  }
  std::filesystem::remove(log_files::anchor_path(path));
  make_log(path, {"d"});
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c", "b", "c", "d"}));
}

TEST(Anchor, ADamagedOneIsToldAndWrittenAnew) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a"});
  write_file(log_files::anchor_path(path), std::string(300, 'x'));
  ChainFile file = ChainFile::open({.path = path}).value();
  EXPECT_NE(file.take_note().find("audit.jsonl.anchor' is damaged"), std::string::npos);
  ASSERT_TRUE(append(file, {"b"}).has_value());
  EXPECT_EQ(anchor_of(path), audit::anchor_text(head_of(path)));
}

TEST(Anchor, OneThatCannotBeWrittenIsToldAndStopsNobody) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  std::filesystem::create_directory(log_files::anchor_path(path));
  ASSERT_TRUE(append(file, {"a"}).has_value());
  EXPECT_NE(file.take_note().find("cannot write the audit log's anchor"), std::string::npos);
}

bool stands(const std::string& path) {
  return std::filesystem::exists(path);
}

TEST(Rotation, BeginsANewFileWhenOneIsFullAndGoesOnWithTheChain) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a"});
  const auto record = static_cast<std::int64_t>(std::filesystem::file_size(path));
  ChainFile file = ChainFile::open({.path = path, .part_bytes_max = 2 * record}).value();
  ASSERT_TRUE(append(file, {"b"}).has_value());
  EXPECT_FALSE(stands(path + ".000000000002")) << "full, and still the one that is written";
  ASSERT_TRUE(append(file, {"c", "d", "e"}).has_value());
  ASSERT_TRUE(append(file, {"f"}).has_value());
  EXPECT_TRUE(stands(path + ".000000000002"));
  EXPECT_TRUE(stands(path + ".000000000005"));
  EXPECT_EQ(head_of(path).seq, 6u);
  EXPECT_EQ(file.take_note(), "");
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c", "d", "e", "f"}));
}

TEST(Rotation, WritersFollowTheOneWhoSetTheFileAside) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile one = ChainFile::open({.path = path, .part_bytes_max = 1}).value();
  ChainFile other = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(one, {"a"}).has_value());
  ASSERT_TRUE(append(other, {"b"}).has_value());
  ASSERT_TRUE(append(one, {"c"}).has_value());
  ASSERT_TRUE(append(one, {"d"}).has_value());
  ASSERT_TRUE(append(other, {"e"}).has_value());
  EXPECT_EQ(log_files::full_parts(path).value(),
            (Operations{path + ".000000000002", path + ".000000000003"}));
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c", "d", "e"}));
}

TEST(Rotation, GoesOnAfterACrashBetweenTwoFiles) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  std::filesystem::rename(path, path + ".000000000002");
  EXPECT_EQ(operations_of(path), (Operations{"a", "b"})) << "readers manage too";
  make_log(path, {"c"});
  std::filesystem::rename(path, path + ".000000000003");
  write_file(path, "{\"event_type\":\"req");  // the first record of the new file, torn
  make_log(path, {"d"});
  EXPECT_EQ(operations_of(path), (Operations{"a", "b", "c", "d"}));
}

TEST(Rotation, OverwritesNothing) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path, .part_bytes_max = 1}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  write_file(path + ".000000000001", "mine");
  ASSERT_TRUE(append(file, {"b"}).has_value());
  EXPECT_NE(file.take_note().find("File exists; it grows on"), std::string::npos);
  EXPECT_EQ(read_file(path + ".000000000001"), "mine");
  std::filesystem::remove(path + ".000000000001");
  EXPECT_EQ(operations_of(path), (Operations{"a", "b"}));
}

TEST(Rotation, StopsWhenTheFileWasMovedAwayBehindItsBack) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  ASSERT_TRUE(append(file, {"a"}).has_value());
  std::filesystem::rename(path, folder / "old.jsonl");
  const auto after = append(file, {"b"});
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error().code, Code::invalid);
  EXPECT_NE(after.error().message.find("ends with record 0, but"), std::string::npos);
}

TEST(Rotation, DoesNotGoOnAfterAFullFileThatIsNotWhole) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  make_log(path, {"a", "b"});
  const std::string whole = read_file(path);
  std::filesystem::remove(path);
  std::filesystem::remove(log_files::anchor_path(path));
  for (const std::string& text : {whole.substr(0, whole.find('\n') + 1), std::string(),
                                  whole.substr(0, whole.size() - 1), std::string("x\n")}) {
    write_file(path + ".000000000002", text);
    const auto opened = ChainFile::open({.path = path});
    ASSERT_FALSE(opened.has_value()) << text;
    EXPECT_EQ(opened.error().code, Code::invalid);
  }
}

TEST(LogFiles, KnowTheirNames) {
  EXPECT_EQ(log_files::full_part_path("a.jsonl", 7), "a.jsonl.000000000007");
  EXPECT_EQ(log_files::full_part_path("a", 1'234'567'890'123), "a.1234567890123");
  EXPECT_EQ(log_files::last_seq_of("a.jsonl.000000000007"), 7u);
  EXPECT_EQ(log_files::last_seq_of("a.1234567890123"), 1'234'567'890'123u);
  for (const char* other : {"a.jsonl", "a.7", "a.00000000000x", "a.000000000000", "000000000007",
                            "a.99999999999999999999999"}) {
    EXPECT_FALSE(log_files::last_seq_of(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace pawl
