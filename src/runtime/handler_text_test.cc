// Goal: whatever a handler prints, the queue can keep it.
// Method: texts around the bounds, no JSON, no UTF-8, secrets.
#include "runtime/handler_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bounds_queue.h"
#include "base/utf8.h"

namespace pawl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string output(std::string_view text) {
  return kept_output(text, text.size()).json;
}

TEST(HandlerText, KeepsJsonAsItIs) {
  EXPECT_EQ(output(" {\"b\": 1.10,\n \"a\": null}\n"), R"({"a":null,"b":1.10})");
  EXPECT_EQ(output("7"), "7");
}

TEST(HandlerText, KeepsNothingAsNull) {
  EXPECT_EQ(output(""), "null");
  EXPECT_EQ(output(" \n"), "null");
}

TEST(HandlerText, KeepsATextAsAString) {
  EXPECT_EQ(output("two \"lines\"\nof text\n"), R"("two \"lines\"\nof text")");
  EXPECT_EQ(output("{\"a\":1}{\"a\":2}"), R"("{\"a\":1}{\"a\":2}")");
}

TEST(HandlerText, SaysWhatWasCut) {
  const std::string kept =
      kept_output(std::string(bounds::task_output_bytes_max, 'x'), 1'000'000).json;
  EXPECT_LE(kept.size(), bounds::task_output_bytes_max);
  EXPECT_THAT(kept, StartsWith("\"xxx"));
  EXPECT_THAT(kept, EndsWith("(cut: it had 1000000 bytes)\""));
}

TEST(HandlerText, CutsWhatIsTooLongOnlyWhenItIsQuoted) {
  const std::string kept = output(std::string(bounds::task_output_bytes_max - 10, '\1'));
  EXPECT_LE(kept.size(), bounds::task_output_bytes_max);
  EXPECT_GT(kept.size(), bounds::task_output_bytes_max / 2);
  EXPECT_THAT(kept, HasSubstr("(cut: it had "));
}

RC_GTEST_PROP(HandlerText, IsAlwaysJson, (const std::string& text, std::uint16_t more)) {
  const std::string kept = kept_output(text, text.size() + more).json;
  RC_ASSERT(json::parse(kept).has_value());
  RC_ASSERT(kept.size() <= bounds::task_output_bytes_max);
}

TEST(HandlerText, KeepsTheEndOfAnError) {
  EXPECT_EQ(kept_error("exit 1", "", 0), "exit 1");
  EXPECT_EQ(kept_error("exit 1", "\nno such file\n", 14), "exit 1: no such file");
  // The text begins within a character.
  EXPECT_EQ(kept_error("exit 1", "\xac the end", 9'000),
            "exit 1: (the end of 9000 bytes) … the end");
}

TEST(HandlerText, KeepsErrorsInUtf8) {
  EXPECT_EQ(kept_error("exit 1", "caf\xE9 f\xFCr", 8), "exit 1: caf\uFFFD f\uFFFDr");
  const std::string noise =
      kept_error("exit 1", std::string(bounds::handler_error_bytes_max, '\xE9'),
                 bounds::handler_error_bytes_max);
  EXPECT_LE(noise.size(), bounds::task_error_bytes_max);
  EXPECT_TRUE(noise == well_formed(noise));
}

TEST(HandlerText, MasksSecretsInErrors) {
  const std::string text = "POST failed: Authorization: Bearer abcdef123456";
  EXPECT_THAT(kept_error("exit 1", text, text.size()), Not(HasSubstr("abcdef123456")));
}

TEST(HandlerText, ReadsSeconds) {
  const auto of = [](std::string text) { return seconds_of(json::Number{std::move(text)}); };
  EXPECT_EQ(of("60"), Duration::seconds(60));
  EXPECT_EQ(of("0"), Duration());
  EXPECT_EQ(of("0.25"), Duration::milliseconds(250));
  EXPECT_EQ(of("1e3"), Duration::seconds(1000));
  EXPECT_EQ(of("1e-10"), Duration::nanoseconds(1)) << "never sooner than was said";
  EXPECT_EQ(of("99999999999999999999"), Duration::max());
  EXPECT_EQ(of("1e999"), Duration::max());
  EXPECT_EQ(of("1e-999"), Duration());
  EXPECT_EQ(of("-1"), std::nullopt);
  EXPECT_EQ(of("-0.5"), std::nullopt);
  EXPECT_EQ(seconds_of(json::Value("60")), std::nullopt);
}

TEST(HandlerText, SaysThatAnOutputWasCut) {
  EXPECT_EQ(kept_output("all of it", 9).cut, "");
  EXPECT_EQ(kept_output("{\"a\":1}", 7).cut, "");
  const std::string most(bounds::task_output_bytes_max, 'x');
  EXPECT_EQ(kept_output(most.substr(2), most.size() - 2).cut, "") << "with its quotes it fits";
  EXPECT_NE(kept_output(most, most.size()).cut, "");
  EXPECT_NE(kept_output(std::string(200'000, '"'), 200'000).cut, "") << "each is two in JSON";
  EXPECT_NE(kept_output("{\"a\":", 7).cut, "") << "it broke off";
}

}  // namespace
}  // namespace pawl
