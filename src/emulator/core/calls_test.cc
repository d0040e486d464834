// Goal: queries, forms and paths are read as clients write them.
// Method: examples.
#include "emulator/core/calls.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

TEST(Calls, AParameterIsDecoded) {
  EXPECT_EQ(parameter("a=1&%24top=5&x=a%2Bb+c", "$top"), "5");
  EXPECT_EQ(parameter("a=1&%24top=5&x=a%2Bb+c", "x"), "a+b c");
  EXPECT_EQ(parameter("$top=5", "$top"), "5");
  EXPECT_EQ(parameter("a", "a"), "");
  EXPECT_EQ(parameter("a=1", "b"), std::nullopt);
  EXPECT_EQ(parameter("a=%zz%4", "a"), "%zz%4");
  EXPECT_EQ(parameter("a=%41", "a"), "A");
}

TEST(Calls, ANumberParameterThatIsNoneIsTheOther) {
  EXPECT_EQ(number_parameter("n=12", "n", 7), 12U);
  EXPECT_EQ(number_parameter("n=x", "n", 7), 7U);
  EXPECT_EQ(number_parameter("n=-1", "n", 7), 7U);
  EXPECT_EQ(number_parameter("", "n", 7), 7U);
}

TEST(Calls, APathHasParts) {
  EXPECT_EQ(path_parts("/trade/v2//orders/1%2C2"),
            (std::vector<std::string>{"trade", "v2", "orders", "1,2"}));
  EXPECT_TRUE(path_parts("/").empty());
}

TEST(Calls, AFieldIsFoundByItsName) {
  const Call call{.fields = {{.name = "host", .value = "h"}}};
  EXPECT_EQ(field(call, "host"), "h");
  EXPECT_EQ(field(call, "none"), "");
}

TEST(Calls, TextsAndNumbersAreAsTheyWereWritten) {
  const json::Value value = json::parse(R"({"a":"x","b":1.10,"c":true})").value();
  EXPECT_EQ(text_of(value, "a"), "x");
  EXPECT_EQ(text_of(value, "b"), "1.10");
  EXPECT_EQ(text_of(value, "c"), "");
  EXPECT_EQ(text_of(value, "d"), "");
}

}  // namespace
}  // namespace pawl::emulator
