// Goal: settings are read as they are meant, or refused by name.
// Method: examples of each type.
#include "emulator/core/settings_reader.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

struct Read {
  Duration time = Duration::seconds(1);
  std::size_t count = 2;
  bool truth = false;
  std::string text = "t";
  std::string word = "a";
  std::set<std::string> list = {"x"};
  std::string error = {};
};

Read read(std::string_view text) {
  const json::Value value = json::parse(text).value();
  SettingsReader reader(value);
  Read read;
  reader.read("time", read.time);
  reader.read("count", read.count);
  reader.read("truth", read.truth);
  reader.read("text", read.text);
  reader.read("word", read.word, {"a", "b"});
  reader.read("list", read.list);
  const Result<void> finished = reader.finish();
  if (!finished) read.error = finished.error().message;
  return read;
}

TEST(SettingsReader, LeavesWhatIsNotNamed) {
  for (const std::string_view text : {"{}", "null"}) {
    const Read found = read(text);
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.time, Duration::seconds(1));
    EXPECT_EQ(found.count, 2U);
    EXPECT_EQ(found.word, "a");
  }
}

TEST(SettingsReader, ReadsEveryType) {
  const Read found =
      read(R"({"time":"3s","count":7,"truth":true,"text":"u","word":"b","list":["y","z"]})");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.time, Duration::seconds(3));
  EXPECT_EQ(found.count, 7U);
  EXPECT_TRUE(found.truth);
  EXPECT_EQ(found.text, "u");
  EXPECT_EQ(found.word, "b");
  EXPECT_EQ(found.list, (std::set<std::string>{"y", "z"}));
}

TEST(SettingsReader, NamesWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {R"({"time":3})", "settings.time"},       {R"({"time":"soon"})", "settings.time"},
      {R"({"count":-1})", "settings.count"},    {R"({"count":1.5})", "settings.count"},
      {R"({"count":"1"})", "settings.count"},   {R"({"truth":1})", "settings.truth"},
      {R"({"text":1})", "settings.text"},       {R"({"word":"c"})", "one of a b"},
      {R"({"list":"x"})", "settings.list"},     {R"({"list":[1]})", "settings.list"},
      {R"({"cuont":1})", "did you mean count"}, {"[]", "object"}};
  for (const auto& [text, part] : wrong) {
    EXPECT_NE(read(text).error.find(part), std::string::npos) << text << ": " << read(text).error;
  }
}

}  // namespace
}  // namespace pawl::emulator
