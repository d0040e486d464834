// Goal: what counts as a repeat is what the settings say.
// Method: two calls that differ in one thing, under each setting.
#include "emulator/core/saxo_repeats.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

Call call(std::string body, std::string token = "t") {
  return {.method = "POST",
          .path = "/trade/v2/orders",
          .fields = {{.name = "authorization", .value = "Bearer " + token}},
          .body = std::move(body)};
}

bool is_repeat(const SaxoSettings& settings, const Call& first, const Call& second) {
  SaxoRepeats repeats(settings);
  EXPECT_FALSE(repeats.see(first, Instant()));
  return repeats.see(second, Instant());
}

TEST(SaxoRepeats, BytesOrMeaningOfTheBody) {
  SaxoSettings settings;
  const Call first = call(R"({"a":1,"b":2})");
  const Call turned = call(R"({"b":2,"a":1})");
  EXPECT_TRUE(is_repeat(settings, first, first));
  EXPECT_FALSE(is_repeat(settings, first, turned));
  settings.repeat_body = "canonical";
  EXPECT_TRUE(is_repeat(settings, first, turned));
}

TEST(SaxoRepeats, OfAUserOrOfASession) {
  SaxoSettings settings;
  EXPECT_TRUE(is_repeat(settings, call("x", "t1"), call("x", "t2")));
  settings.repeat_scope = "session";
  EXPECT_FALSE(is_repeat(settings, call("x", "t1"), call("x", "t2")));
}

TEST(SaxoRepeats, FromTheFirstCopyOrFromTheLast) {
  for (const bool rolling : {true, false}) {
    SaxoSettings settings;
    settings.repeat_rolling = rolling;
    SaxoRepeats repeats(settings);
    EXPECT_FALSE(repeats.see(call("x"), Instant()));
    EXPECT_TRUE(repeats.see(call("x"), Instant() + Duration::seconds(10)));
    EXPECT_EQ(repeats.see(call("x"), Instant() + Duration::seconds(15)), rolling);
  }
}

TEST(SaxoRepeats, NeverWithoutAWindow) {
  SaxoSettings settings;
  settings.repeat_window = Duration();
  EXPECT_FALSE(is_repeat(settings, call("x"), call("x")));
}

}  // namespace
}  // namespace pawl::emulator
