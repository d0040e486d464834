// Goal: a word says where something is kept, in one way for all settings.
// Method: every form there is, read and printed again; then what is none, and that a password is
//         never told.
#include "base/store_setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl {
namespace {

using Kind = StoreSetting::Kind;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StoreSetting, ReadsEveryFormAndPrintsItAsItWas) {
  const std::pair<const char*, Kind> words[] = {
      {"memory", Kind::memory},
      {"file:data/with a blank.jsonl", Kind::file},
      {"sqlite:/var/lib/pawl.db", Kind::sqlite},
      {"redis://127.0.0.1:6379/0", Kind::redis},
      {"rediss://h", Kind::redis},
      {"redis+cluster://a:1,b:2", Kind::redis},
      {"rediss+cluster://a:1", Kind::redis},
      {"nats://:hush@127.0.0.1:4222/bucket", Kind::nats},
      {"tls://127.0.0.1/bucket?ca=a.pem", Kind::nats},
  };
  for (const auto& [word, kind] : words) {
    const auto store = parse_store(word);
    ASSERT_TRUE(store) << word;
    EXPECT_EQ(store->kind, kind) << word;
    EXPECT_EQ(print(*store), word);
    EXPECT_TRUE(check_url(*store)) << word;
  }
  EXPECT_EQ(parse_store("sqlite:a.db")->path, "a.db");
  EXPECT_EQ(print(StoreSetting()), "");
}

TEST(StoreSetting, RefusesWhatIsNoPlace) {
  const std::string long_path(bounds::config_path_bytes_max + 1, 'a');
  for (const std::string& word :
       {std::string(), std::string("disk"), std::string("Memory"), std::string("memory "),
        std::string("mysql://h"), std::string("sqlite:"), std::string("file:"),
        std::string("redis://"), std::string("file:a\nb"), std::string("sqlite:a\xff"),
        std::string("redis://a b"), std::string("nats://\xc3\xa4/b"), "sqlite:" + long_path}) {
    const auto store = parse_store(word);
    ASSERT_FALSE(store) << word;
    EXPECT_EQ(store.error().code, Code::invalid) << word;
  }
  EXPECT_TRUE(parse_store("sqlite:" + long_path.substr(1)));
}

TEST(StoreSetting, TellsWhatIsWrongWithAUrlAndNeverItsPassword) {
  const auto told = [](const char* word) {
    return check_url(parse_store(word).value()).error().message;
  };
  EXPECT_THAT(told("redis://:hunter2@h:0"), HasSubstr("not a Redis URL: the port"));
  EXPECT_THAT(told("nats://:hunter2@h"), HasSubstr("the name of a bucket or stream"));
  EXPECT_THAT(told("nats://:hunter2@h"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(parse_store("nats://:hunter2@h/ b").error().message, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace pawl
