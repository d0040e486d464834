// Goal: whoever reads finds the old pair or the new one; one process at a time may write; nobody
//       else can read it.
// Method: a folder of the test's own, with modes, leftovers and links.
#include "venue/saxo/saxo_token_file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/temp_folder.h"

namespace pawl::saxo {
namespace {

const Instant now = parse_instant("2026-01-25T21:15:00Z").value();

Tokens tokens(const std::string& number) {
  return {.access = Secret("access-" + number),
          .refresh = Secret("refresh-" + number),
          .since = now,
          .access_ends = now + Duration::minutes(20),
          .origin = "origin"};
}

TEST(SaxoTokenFile, KeepsWhatItIsGiven) {
  const TempFolder folder;
  const TokenFile file(folder / "deep/tokens.json");
  EXPECT_FALSE(file.load().value().has_value());
  EXPECT_TRUE(file.try_lock().value().has_value()) << "makes the folder";
  ASSERT_TRUE(file.store(tokens("1")));
  ASSERT_TRUE(file.store(tokens("2")));
  const auto kept = file.load().value();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->access.reveal(), "access-2");
  EXPECT_EQ(kept->refresh.reveal(), "refresh-2");
  EXPECT_EQ(kept->since, now);
  EXPECT_EQ(kept->access_ends, now + Duration::minutes(20));
  EXPECT_EQ(kept->refresh_ends, std::nullopt);
  EXPECT_EQ(kept->origin, "origin");
}

TEST(SaxoTokenFile, IsForItsOwnerAlone) {
  const TempFolder folder;
  const TokenFile file(folder / "tokens.json");
  const mode_t before = ::umask(0);
  ASSERT_TRUE(file.store(tokens("1")));
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::chmod(file.path().c_str(), 0640), 0);
  const auto refused = file.load();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_NE(refused.error().message.find("chmod 600"), std::string::npos);
}

TEST(SaxoTokenFile, PassesOverWhatACrashHasLeft) {
  const TempFolder folder;
  const TokenFile file(folder / "tokens.json");
  ASSERT_TRUE(file.store(tokens("1")));
  std::ofstream(file.path() + ".new") << R"({"format":"pawl-saxo-to)";
  EXPECT_EQ(file.load().value()->access.reveal(), "access-1");
  ASSERT_TRUE(file.store(tokens("2")));
  EXPECT_EQ(file.load().value()->access.reveal(), "access-2");
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".new"));
}

TEST(SaxoTokenFile, RefusesAFileThatIsNone) {
  const TempFolder folder;
  const TokenFile file(folder / "tokens.json");
  for (const std::string text : {"", "{}", "access-secret", R"({"format":"x"})"}) {
    std::ofstream(file.path()) << text;
    ASSERT_EQ(::chmod(file.path().c_str(), 0600), 0);
    const auto refused = file.load();
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message.find("access-secret"), std::string::npos);
  }
}

TEST(SaxoTokenFile, IsLockedByOneAtATime) {
  const TempFolder folder;
  const TokenFile one(folder / "tokens.json");
  std::filesystem::create_symlink(folder / "tokens.json", folder / "link.json");
  ASSERT_TRUE(one.store(tokens("1")));
  const TokenFile other(folder / "link.json");
  {
    const auto lock = one.try_lock();
    ASSERT_TRUE(lock.value().has_value());
    EXPECT_FALSE(other.try_lock().value().has_value()) << "another name of the same file";
  }
  EXPECT_TRUE(other.try_lock().value().has_value());
}

TEST(SaxoTokenFile, SaysWhatItCannotDo) {
  const TempFolder folder;
  std::ofstream(folder / "file") << "x";
  const TokenFile file(folder / "file/tokens.json");
  EXPECT_EQ(file.store(tokens("1")).error().code, Code::unavailable);
  EXPECT_EQ(file.try_lock().error().code, Code::unavailable);
  EXPECT_EQ(file.store(tokens("1")).error().message.find("access-1"), std::string::npos);
}

TEST(SaxoTokenFile, TellsPairsApart) {
  const auto origin = [](const char* access, const char* refresh) {
    return origin_of(Secret<std::string>(access), Secret<std::string>(refresh));
  };
  EXPECT_EQ(origin("a", "b"), origin("a", "b"));
  EXPECT_NE(origin("a", "b"), origin("a", "c"));
  EXPECT_NE(origin("a:b", ""), origin("a", "b:"));
}

}  // namespace
}  // namespace pawl::saxo
