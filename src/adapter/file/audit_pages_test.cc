// Goal: any record of a log is found by its number, over all its files, in pieces of whole lines;
// rotation, torn ends and files taken away lose nothing else. Method: logs written by ChainFile
// with small parts.
#include "adapter/file/audit_pages.h"

#include <filesystem>
#include <gmock/gmock.h>

#include "adapter/file/audit_log_fixture.h"
#include "adapter/file/chain_file.h"
#include "base/bounds.h"

namespace pawl {
namespace {

using Operations = std::vector<std::string>;
using ::testing::ElementsAre;

constexpr std::size_t plenty = 1024 * 1024;

class AuditPagesTest : public ::testing::Test {
 protected:
  // One file a record, or one for all.
  void open(std::int64_t part_bytes_max = std::int64_t{1} << 40) {
    file.emplace(ChainFile::open({.path = path, .part_bytes_max = part_bytes_max}).value());
  }
  void append(const Operations& operations) {
    std::vector<audit::Draft> drafts;
    for (const std::string& name : operations) drafts.push_back(audit::draft(event(name)).value());
    ASSERT_TRUE(file->append(drafts).has_value());
  }
  static Operations names(std::string_view lines) {
    Operations out;
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      EXPECT_NE(end, std::string_view::npos) << "only whole lines";
      out.push_back(operation_of(lines.substr(0, end)));
      lines.remove_prefix(end + 1);
    }
    return out;
  }
  Operations after(std::uint64_t seq, std::size_t bytes = plenty) {
    const auto piece = pages.after(seq, bytes).value();
    at_end = piece.at_end;
    return names(piece.lines);
  }

  TempFolder folder;
  std::string path = folder / "audit.jsonl";
  std::optional<ChainFile> file;
  AuditPages pages{path};
  bool at_end = false;
};

TEST_F(AuditPagesTest, FindsEveryRecordByItsNumber) {
  open();
  Operations all;
  for (int i = 0; i < 300; ++i) {
    // Of very different sizes, so that halves fall everywhere.
    all.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i * i % 9'001), 'x'));
  }
  append(all);
  for (std::size_t seq = 0; seq <= all.size(); ++seq) {
    EXPECT_EQ(after(seq, 4 * plenty), Operations(all.begin() + static_cast<int>(seq), all.end()))
        << seq;
    EXPECT_TRUE(at_end);
  }
  EXPECT_EQ(after(10'000), Operations());
}

TEST_F(AuditPagesTest, GivesPiecesThatFollowEachOther) {
  open();
  Operations all;
  for (int i = 0; i < 100; ++i) all.push_back(std::to_string(i) + std::string(5'000, 'x'));
  append(all);
  Operations found;
  for (int i = 0; i < 20 && found.size() < all.size(); ++i) {
    const Operations piece = after(found.size(), 100 * 1024);
    ASSERT_FALSE(piece.empty());
    EXPECT_LT(piece.size(), 20U);
    found.insert(found.end(), piece.begin(), piece.end());
    EXPECT_EQ(at_end, found.size() == all.size());
  }
  EXPECT_EQ(found, all);
}

TEST_F(AuditPagesTest, GoesFromFileToFile) {
  open(1);
  for (const char* name : {"a", "b", "c", "d"}) append({name});
  EXPECT_THAT(after(0), ElementsAre("a"));
  EXPECT_FALSE(at_end);
  EXPECT_THAT(after(1), ElementsAre("b"));
  EXPECT_THAT(after(2), ElementsAre("c"));
  EXPECT_THAT(after(3), ElementsAre("d"));
  EXPECT_TRUE(at_end);
  EXPECT_THAT(after(4), ElementsAre());
  append({"e"});
  EXPECT_THAT(after(4), ElementsAre("e")) << "in a new file";
  EXPECT_THAT(after(3), ElementsAre("d")) << "which was set aside";
  EXPECT_THAT(names(pages.last(plenty).value().lines), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(AuditPagesTest, GoesBackFromAnyRecordOverAllFiles) {
  for (const std::int64_t part_bytes : {std::int64_t{1}, std::int64_t{1} << 40}) {
    SCOPED_TRACE(part_bytes);
    const std::string kept = path;
    path = folder / ("back" + std::to_string(part_bytes) + ".jsonl");
    AuditPages back(path);
    open(part_bytes);
    Operations all;
    for (int i = 0; i < 40; ++i) {
      all.push_back(std::to_string(i) + std::string(10'000, 'x'));
      append({all.back()});
    }
    Operations found;
    for (int i = 0; i < 40 && found.size() < all.size(); ++i) {
      const auto piece = back.before(all.size() - found.size() + 1, 100 * 1024).value();
      const Operations some = names(piece.lines);
      ASSERT_FALSE(some.empty());
      ASSERT_LT(some.size(), 11U);
      found.insert(found.begin(), some.begin(), some.end());
      EXPECT_EQ(piece.at_end, found.size() == all.size());
    }
    EXPECT_EQ(found, all);
    EXPECT_EQ(names(back.before(1, plenty).value().lines), Operations());
    EXPECT_TRUE(back.before(1, plenty)->at_end);
    path = kept;
  }
}

TEST_F(AuditPagesTest, PassesOverFilesThatWereTakenAway) {
  open(1);
  for (const char* name : {"a", "b", "c"}) append({name});
  std::filesystem::remove(path + ".000000000001");
  EXPECT_THAT(after(0), ElementsAre("b"));
}

TEST_F(AuditPagesTest, LeavesATornRecordForTheNextTime) {
  open();
  append({"a", "b"});
  const std::string whole = read_file(path);
  write_file(path, whole.substr(0, whole.size() - 10));
  EXPECT_THAT(after(0), ElementsAre("a"));
  EXPECT_THAT(after(1), ElementsAre());
  EXPECT_THAT(names(pages.last(plenty).value().lines), ElementsAre("a"));
  write_file(path, whole);
  EXPECT_THAT(after(1), ElementsAre("b"));
}

TEST_F(AuditPagesTest, GivesTheLastThatThereIsRoomFor) {
  open();
  append({"a", "b", "c"});
  const std::string whole = read_file(path);
  const std::size_t line = whole.size() / 3;
  EXPECT_THAT(names(pages.last(2 * line + 20).value().lines), ElementsAre("b", "c"));
  EXPECT_THAT(names(pages.last(plenty).value().lines), ElementsAre("a", "b", "c"));
}

TEST_F(AuditPagesTest, SaysThatThereIsNoLog) {
  const auto none = pages.after(0, plenty);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_FALSE(pages.last(plenty).has_value());
}

TEST_F(AuditPagesTest, ReadsAnEmptyLog) {
  open();
  EXPECT_THAT(after(0), ElementsAre());
  EXPECT_TRUE(at_end);
  EXPECT_EQ(pages.last(plenty).value().lines, "");
}

}  // namespace
}  // namespace pawl
