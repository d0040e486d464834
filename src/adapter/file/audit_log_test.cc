// Goal: readers see a log of many files as one, at one moment, and can go on from there.
// Method: logs written by ChainFile with small parts; readers and writers in turn.
#include "adapter/file/audit_log.h"

#include <filesystem>
#include <gmock/gmock.h>

#include "adapter/file/audit_log_fixture.h"
#include "adapter/file/chain_file.h"
#include "base/bounds.h"

namespace pawl {
namespace {

using Operations = std::vector<std::string>;

void append(ChainFile& file, const Operations& operations) {
  std::vector<audit::Draft> drafts;
  for (const std::string& name : operations) drafts.push_back(audit::draft(event(name)).value());
  ASSERT_TRUE(file.append(drafts).has_value());
}

// Every append but the first begins a new file.
ChainFile many_parts(const std::string& path) {
  return ChainFile::open({.path = path, .part_bytes_max = 1}).value();
}

Operations operations_in(std::string_view lines) {
  Operations operations;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    EXPECT_NE(end, std::string_view::npos) << "only whole lines";
    operations.push_back(operation_of(lines.substr(0, end)));
    lines.remove_prefix(end + 1);
  }
  return operations;
}

TEST(AuditLog, SaysWhatIsNotThereAndWhatCannotBeRead) {
  const TempFolder folder;
  for (const char* name : {"none.jsonl", "no/folder/none.jsonl", "none.000000000007"}) {
    const auto none = AuditLog::open(folder / name);
    ASSERT_FALSE(none.has_value()) << name;
    EXPECT_EQ(none.error().code, Code::not_found) << name;
  }
  std::filesystem::create_directory(folder / "folder");
  const AuditLog a_folder = AuditLog::open(folder / "folder").value();
  const auto read = a_folder.read_piece(a_folder.parts().front(), 0);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Code::unavailable);
}

TEST(AuditLog, HasAllItsFilesInOrderAndItsAnchor) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = many_parts(path);
  for (const char* name : {"a", "b", "c", "d"}) append(file, {name});
  write_file(path + ".old", "not of this log");
  write_file(folder / "other.jsonl.000000000009", "nor this");
  const AuditLog log = AuditLog::open(path).value();
  ASSERT_EQ(log.parts().size(), 4u);
  EXPECT_EQ(log.parts()[0].path, path + ".000000000001");
  EXPECT_EQ(log.parts()[3].path, path);
  ASSERT_TRUE(log.anchor().has_value());
  EXPECT_EQ(log.anchor()->seq, 4u);
  EXPECT_FALSE(log.last_seq().has_value());
}

TEST(AuditLog, EndsWhereItEndedWhenItWasOpened) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  append(file, {"a", "b"});
  const AuditLog log = AuditLog::open(path).value();
  append(file, {"c"});
  EXPECT_EQ(operations_in(log.read_piece(log.parts().back(), 0).value()), (Operations{"a", "b"}));
}

TEST(AuditLog, OfAFullPartIsThatPartAlone) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = many_parts(path);
  append(file, {"a", "b"});
  append(file, {"c"});
  const AuditLog part = AuditLog::open(path + ".000000000002").value();
  ASSERT_EQ(part.parts().size(), 1u);
  EXPECT_EQ(part.last_seq(), 2u);
  EXPECT_FALSE(part.anchor().has_value());
  EXPECT_EQ(operations_in(part.last_lines(9).value()), (Operations{"a", "b"}));
}

TEST(AuditLog, LinesKnowTheirPlaceAndDoNotGoOnInTheNextFile) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  write_file(path + ".000000000002", "one\n\ntorn");
  write_file(path, std::string(bounds::audit_event_bytes_max + 9, 'x') + "\nlast");
  const AuditLog log = AuditLog::open(path).value();
  std::vector<std::string> lines;
  ASSERT_TRUE(log.read_lines([&](const AuditLog::Line& line) {
                   lines.push_back(std::to_string(line.part) + ":" + std::to_string(line.number) +
                                   (line.whole ? " " : " torn ") +
                                   std::string(line.text.substr(0, 4)) + " " +
                                   std::to_string(line.text.size()));
                 })
                  .has_value());
  EXPECT_THAT(lines,
              testing::ElementsAre("0:1 one 3", "0:2  0", "0:3 torn torn 4",
                                   "1:1 xxxx " + std::to_string(bounds::audit_event_bytes_max + 1),
                                   "1:2 torn last 4"));
}

TEST(AuditLog, TellsADamagedAnchor) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  append(file, {"a"});
  write_file(path + ".anchor", "x");
  const AuditLog log = AuditLog::open(path).value();
  EXPECT_FALSE(log.anchor().has_value());
  EXPECT_NE(log.anchor_problem().find("is damaged"), std::string::npos);
}

TEST(AuditLog, LastLinesComeFromAsManyFilesAsItTakes) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = many_parts(path);
  append(file, {"a"});
  append(file, {"b", "c"});
  append(file, {"d"});
  const AuditLog log = AuditLog::open(path).value();
  const Operations all = {"a", "b", "c", "d"};
  for (std::int64_t count = 0; count <= 5; ++count) {
    const auto first = all.end() - std::min<std::int64_t>(count, 4);
    EXPECT_EQ(operations_in(log.last_lines(count).value()), Operations(first, all.end())) << count;
  }
}

TEST(AuditLog, LastLinesMayBeLongAndTheLastOneTorn) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  Operations large;
  for (char c = 'a'; c < 'p'; ++c) large.emplace_back(60'000, c);
  append(file, large);
  write_file(path, read_file(path) + "{\"half");
  const AuditLog log = AuditLog::open(path).value();
  EXPECT_EQ(operations_in(log.last_lines(10).value()), Operations(large.end() - 10, large.end()));
  EXPECT_EQ(operations_in(log.last_lines(100).value()), large);
}

TEST(LogFollower, SeesEveryLineOnceFromFileToFile) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = many_parts(path);
  append(file, {"before"});
  LogFollower follower = AuditLog::open(path).value().follow().value();
  Operations seen;
  const auto poll = [&] {
    ASSERT_TRUE(follower.poll([&](std::string_view lines) {
      for (std::string& name : operations_in(lines)) seen.push_back(std::move(name));
    }));
  };
  poll();
  EXPECT_TRUE(seen.empty());
  append(file, {"a"});
  poll();
  EXPECT_EQ(seen, Operations{"a"});
  for (const char* name : {"b", "c", "d"}) append(file, {name, "too"});
  poll();
  poll();
  EXPECT_EQ(seen, (Operations{"a", "b", "too", "c", "too", "d", "too"}));
}

TEST(LogFollower, WaitsForTheEndOfALineAndForgetsOneThatWasTorn) {
  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
  ChainFile file = ChainFile::open({.path = path}).value();
  append(file, {"a"});
  LogFollower follower = AuditLog::open(path).value().follow().value();
  Operations seen;
  const auto poll = [&] {
    ASSERT_TRUE(follower.poll([&](std::string_view lines) {
      for (std::string& name : operations_in(lines)) seen.push_back(std::move(name));
    }));
  };
  write_file(path, read_file(path) + "{\"event_type\":\"req");
  poll();
  EXPECT_TRUE(seen.empty());
  append(file, {"b"});  // cuts the torn one off
  poll();
  EXPECT_EQ(seen, Operations{"b"});
}

}  // namespace
}  // namespace pawl
