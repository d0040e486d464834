// Goal: keys and region are found where AWS's tools find them; no key is repeated in an error.
// Method: environments that are maps, and credentials files in a folder of the test's own.
#include "adapter/s3/s3_access.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "tests/temp_folder.h"

namespace pawl {
namespace {

using Variables = std::map<std::string, std::string>;

Result<S3Access> access_of(const Variables& variables, const std::string& url = "s3://tasks") {
  return find_s3_access(parse_s3_url(url).value(),
                        [&](const std::string& name) -> std::optional<std::string> {
                          const auto found = variables.find(name);
                          if (found == variables.end()) return std::nullopt;
                          return found->second;
                        });
}

const Variables keys = {{"AWS_ACCESS_KEY_ID", "AKIA"}, {"AWS_SECRET_ACCESS_KEY", "hush"}};

Variables with(Variables more) {
  more.insert(keys.begin(), keys.end());
  return more;
}

class S3AccessFile : public testing::Test {
 protected:
  Variables file(const std::string& text, Variables more = {}) {
    std::ofstream(folder_ / "credentials") << text;
    more["AWS_SHARED_CREDENTIALS_FILE"] = folder_ / "credentials";
    return more;
  }

  TempFolder folder_;
};

TEST(S3Access, ComesFromTheEnvironment) {
  const auto access =
      access_of(with({{"AWS_SESSION_TOKEN", "token"}, {"AWS_REGION", "eu-west-1"}}));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->credentials.access_key, "AKIA");
  EXPECT_EQ(access->credentials.secret_key.reveal(), "hush");
  EXPECT_EQ(access->credentials.session_token.reveal(), "token");
  EXPECT_EQ(access->region, "eu-west-1");
}

TEST(S3Access, TakesTheRegionOfTheUrlFirst) {
  const Variables all = with({{"AWS_REGION", "eu-west-1"}, {"AWS_DEFAULT_REGION", "eu-west-2"}});
  EXPECT_EQ(access_of(all, "s3://tasks?region=us-west-2")->region, "us-west-2");
  EXPECT_EQ(access_of(all)->region, "eu-west-1");
  EXPECT_EQ(access_of(with({{"AWS_DEFAULT_REGION", "eu-west-2"}}))->region, "eu-west-2");
  EXPECT_EQ(access_of(keys, "s3://tasks?endpoint=http://h:1")->region, "us-east-1");
  const auto none = access_of(keys);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("AWS_REGION"), std::string::npos);
}

TEST_F(S3AccessFile, IsReadByProfile) {
  const std::string text =
      "# a comment\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=one\n\n"
      "[ other ]\r\naws_access_key_id=AKOTHER\r\naws_secret_access_key = t=wo\r\n"
      "aws_session_token = token\r\nregion = eu-north-1\r\n";
  const auto usual = access_of(file(text, {{"AWS_REGION", "a-1"}}));
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(usual->credentials.access_key, "AKDEFAULT");
  EXPECT_TRUE(usual->credentials.session_token.empty());
  const auto other = access_of(file(text, {{"AWS_PROFILE", "other"}}));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->credentials.access_key, "AKOTHER");
  EXPECT_EQ(other->credentials.secret_key.reveal(), "t=wo");
  EXPECT_EQ(other->credentials.session_token.reveal(), "token");
  EXPECT_EQ(other->region, "eu-north-1");
}

TEST_F(S3AccessFile, IsLookedForInTheHomeFolder) {
  const auto access = access_of({{"HOME", folder_.path()}});
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find(folder_ / ".aws/credentials"), std::string::npos);
}

TEST_F(S3AccessFile, SaysWhatIsMissing) {
  const auto profile = access_of(file("[default]\n", {{"AWS_PROFILE", "none"}}));
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("no profile [none]"), std::string::npos);
  EXPECT_FALSE(access_of({}));
}

TEST_F(S3AccessFile, RefusesKeysThatAreNotWholeAndRepeatsNone) {
  for (const Variables& variables :
       {Variables{{"AWS_ACCESS_KEY_ID", "AKIA"}, {"AWS_REGION", "r"}},
        Variables{{"AWS_ACCESS_KEY_ID", "AKIA"}, {"AWS_SECRET_ACCESS_KEY", "hush hush"}},
        Variables{{"AWS_ACCESS_KEY_ID", "hush\n"}, {"AWS_SECRET_ACCESS_KEY", "hush"}},
        file("[default]\naws_access_key_id = hush\n")}) {
    const auto access = access_of(variables);
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().code, Code::invalid);
    EXPECT_EQ(access.error().message.find("hush"), std::string::npos) << access.error().message;
  }
}

}  // namespace
}  // namespace pawl
