// Goal: a log that is not as it was written is never called good, wherever records are gone.
// Method: logs that a ChainFile wrote, cut by hand, and read in small pieces.
#include "adapter/file/audit_log_check.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/file/audit_log_fixture.h"
#include "adapter/file/audit_pages.h"
#include "adapter/file/chain_file.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class AuditLogCheckTest : public ::testing::Test {
 protected:
  // Ten records; with `part_bytes` in files of that size at the most.
  void write(std::int64_t part_bytes = 1 << 30) {
    ChainFile file = ChainFile::open({.path = path, .part_bytes_max = part_bytes}).value();
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(file.append({{audit::draft(event("op")).value()}}).has_value());
  }
  AuditVerdict verdict() const {
    const std::unique_ptr<AuditCheck> check = AuditPages(path).check().value();
    while (check->go_on(1).value()) {
    }
    return check->verdict();
  }
  std::string flaw() const {
    const AuditVerdict found = verdict();
    return found.flaw ? found.flaw->message : "";
  }
  static std::size_t begin_of_line(const std::string& text, int line) {
    std::size_t at = 0;
    for (; line > 0; --line) at = text.find('\n', at) + 1;
    return at;
  }

  const TempFolder folder;
  const std::string path = folder / "audit.jsonl";
};

TEST_F(AuditLogCheckTest, OfAWholeLogFindsNothing) {
  write();
  const AuditVerdict found = verdict();
  EXPECT_FALSE(found.flaw.has_value());
  EXPECT_EQ(found.verified, 10U);
  EXPECT_EQ(found.anchor->seq, 10U);
  EXPECT_EQ(found.files, 1U);
}

TEST_F(AuditLogCheckTest, SeesThatTheBeginningIsGone) {
  write();
  const std::string whole = read_file(path);
  write_file(path, whole.substr(begin_of_line(whole, 5)));
  EXPECT_THAT(flaw(), HasSubstr("record 6 stands in the place of record 1"));
}

TEST_F(AuditLogCheckTest, SeesThatTheEndIsGone) {
  write();
  const std::string whole = read_file(path);
  write_file(path, whole.substr(0, begin_of_line(whole, 5)));
  EXPECT_THAT(flaw(), HasSubstr("record 6 is missing"));
  write_file(path, "");
  EXPECT_THAT(flaw(), HasSubstr("record 1 is missing"));
}

TEST_F(AuditLogCheckTest, SeesALineThatIsNoRecordBetweenTwo) {
  write();
  std::string whole = read_file(path);
  write_file(path, whole.insert(begin_of_line(whole, 5), "{}\n"));
  EXPECT_THAT(flaw(), HasSubstr("line 6"));
}

TEST_F(AuditLogCheckTest, GoesOverAllFilesAndMissesNone) {
  write(1);
  EXPECT_EQ(verdict().files, 10U);
  EXPECT_EQ(flaw(), "");
  std::filesystem::remove(path + ".000000000003");
  EXPECT_THAT(flaw(), HasSubstr("record 4 stands in the place of record 3"));
  EXPECT_THAT(verdict().flawed_file, HasSubstr("000000000004"));
}

TEST_F(AuditLogCheckTest, OfOneFileAloneHoldsItAgainstItsName) {
  write(1);
  const std::string part = path + ".000000000003";
  const auto check = AuditLogCheck::open(part).value();
  EXPECT_FALSE(check->go_on(1 << 20).value());
  EXPECT_FALSE(check->verdict().flaw.has_value());
  const std::string other = path + ".000000000042";
  std::filesystem::rename(part, other);
  const auto renamed = AuditLogCheck::open(other).value();
  EXPECT_FALSE(renamed->go_on(1 << 20).value());
  EXPECT_THAT(renamed->verdict().flaw.value().message, HasSubstr("named after record 42"));
}

TEST_F(AuditLogCheckTest, OfALogWithADamagedAnchorSaysSo) {
  write();
  write_file(path + ".anchor", "what is this");
  EXPECT_NE(flaw(), "");
}

}  // namespace
}  // namespace pawl
