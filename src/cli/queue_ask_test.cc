// Goal: what was typed becomes the commands that were meant, and what cannot be one is named.
// Method: the verbs' own rows, parsed as pawl does.
#include "cli/queue_ask.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app.h"
#include "cli/verbs.h"
#include "tests/temp_folder.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Instant noon = parse_instant("2026-03-04T12:00:00Z").value();

Arguments typed(const std::vector<std::string>& words) {
  const Result<Parsed> parsed = parse(all_verbs(), words);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return std::get<Call>(*parsed).arguments;
}

template <class T>
std::string wrong(const Result<T>& result) {
  EXPECT_FALSE(result);
  if (result) return "";
  EXPECT_EQ(result.error().code, Code::usage);
  return result.error().message;
}

TEST(QueueAsk, TakesEveryTermOfASubmit) {
  const Arguments arguments =
      typed({"submit", "-t",         "call", "--key",         "k",  "--unique",
             "u",      "--priority", "-7",   "--max-retries", "9",  "--max-reschedules",
             "11",     "--timeout",  "90s",  "--base-delay",  "2m", "--delay",
             "5m",     "--ttl",      "1h"});
  queue::Submit submit = submit_of(arguments, "submit").value();
  ASSERT_TRUE(read_rest(arguments, "submit", submit));
  EXPECT_EQ(submit.terms.type, "call");
  EXPECT_EQ(submit.terms.key, "k");
  EXPECT_EQ(submit.terms.unique, "u");
  EXPECT_EQ(submit.terms.priority, -7);
  EXPECT_EQ(submit.terms.max_retries, 9u);
  EXPECT_EQ(submit.terms.max_reschedules, 11u);
  EXPECT_EQ(submit.terms.timeout, Duration::seconds(90));
  EXPECT_EQ(submit.terms.retry.base_delay, Duration::minutes(2));
  EXPECT_EQ(submit.terms.retry.max_delay, Duration::minutes(2)) << "no less than the first";
  EXPECT_EQ(submit.delay, Duration::minutes(5));
  EXPECT_EQ(submit.time_to_live, Duration::hours(1));
}

TEST(QueueAsk, ReadsInputsAndPrintsThemAlike) {
  const TempFolder folder;
  std::ofstream(folder / "in") << "{\"b\":1, \"a\":2}\n";
  const auto inputs = inputs_of(
      typed({"submit", "-t", "t", "-i", "[1, 2]", "-i", "@" + (folder / "in")}), "submit");
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(*inputs, ElementsAre("[1,2]", "{\"a\":2,\"b\":1}"));
  EXPECT_THAT(inputs_of(typed({"submit", "-t", "t"}), "submit").value(), ElementsAre("{}"));
  EXPECT_THAT(wrong(inputs_of(typed({"submit", "-t", "t", "-i", "{"}), "submit")),
              HasSubstr("--input is not JSON"));
  EXPECT_FALSE(inputs_of(typed({"submit", "-t", "t", "-i", "@" + (folder / "none")}), "submit"));
}

TEST(QueueAsk, SaysWhatIsWrong) {
  EXPECT_THAT(wrong(submit_of(typed({"submit"}), "submit")), HasSubstr("--type is missing"));
  for (const char* priority : {"", "-", "x", "101", "-101", "1.5"}) {
    EXPECT_THAT(wrong(submit_of(typed({"submit", "-t", "t", "--priority", priority}), "submit")),
                HasSubstr("from -100 to 100"))
        << priority;
  }
  EXPECT_THAT(wrong(id_of("12", "get")), HasSubstr("24 digits"));
  queue::Submit submit;
  EXPECT_THAT(wrong(read_rest(typed({"submit", "--delay", "1s", "--at", "2099-01-01T00:00:00Z"}),
                              "submit", submit)),
              HasSubstr("not both"));
  EXPECT_THAT(wrong(read_rest(typed({"submit", "-t", "t", "--unique", ""}), "submit", submit)),
              HasSubstr("--unique is empty"));
  EXPECT_THAT(wrong(submit_of(typed({"submit", "-t", "t", "--key", ""}), "submit")),
              HasSubstr("--key is empty"));
  EXPECT_THAT(wrong(read_rest(typed({"submit", "-t", "t", "--ttl", "0s"}), "submit", submit)),
              HasSubstr("--ttl must be more than 0"));
}

TEST(QueueAsk, KnowsWhichScopeIsMeantAndUntilWhen) {
  EXPECT_EQ(scope_of(typed({"close", "acme"}), "close")->name, "acme");
  EXPECT_EQ(scope_of(typed({"close", "-t", "t"}), "close")->scope, queue::Scope::type);
  EXPECT_EQ(scope_of(typed({"close", "--queue"}), "close")->scope, queue::Scope::queue);
  EXPECT_THAT(wrong(scope_of(typed({"close"}), "close")), HasSubstr("give one of"));
  EXPECT_THAT(wrong(scope_of(typed({"close", "a", "--queue"}), "close")), HasSubstr("give one of"));
  EXPECT_EQ(until_of(typed({"close", "a", "--for", "5m"}), "close", noon).value(),
            noon + Duration::minutes(5));
  EXPECT_EQ(
      until_of(typed({"close", "a", "--until", "2026-03-04T12:00:01Z"}), "close", noon).value(),
      noon + Duration::seconds(1));
  EXPECT_THAT(wrong(until_of(typed({"close", "a"}), "close", noon)), HasSubstr("--until TIME or"));
  EXPECT_THAT(
      wrong(until_of(typed({"close", "a", "--until", "2026-03-04T12:00:00Z"}), "close", noon)),
      HasSubstr("that is past"));
}

TEST(QueueAsk, ReadsLimits) {
  const Arguments arguments = typed({"limit", "set", "--each-key", "--rate", "10/1s"});
  queue::SetLimit limit = limit_of(arguments, "limit set").value();
  ASSERT_TRUE(read_amounts(arguments, "limit set", limit));
  EXPECT_EQ(limit,
            (queue::SetLimit{
                .limited = queue::Limited::each_key, .rate = 10, .period = Duration::seconds(1)}));
  EXPECT_THAT(wrong(limit_of(typed({"limit", "set", "--key", "a", "--queue"}), "limit set")),
              HasSubstr("give one of"));
  queue::SetLimit none;
  EXPECT_THAT(wrong(read_amounts(typed({"limit", "set", "--queue"}), "limit set", none)),
              HasSubstr("give --rate, --running or both"));
}

TEST(QueueAsk, TellsWhatATaskMayNotHaveBeforeTheQueueDoes) {
  EXPECT_THAT(wrong(submit_of(typed({"submit", "-t", ""}), "submit")), HasSubstr("type is empty"));
  EXPECT_THAT(wrong(submit_of(typed({"submit", "-t", "t", "--timeout", "8d"}), "submit")),
              HasSubstr("timeout is 8d"));
}

TEST(QueueAsk, ListsSomeAndIdsAll) {
  EXPECT_EQ(list_of(typed({"list"}), "list")->limit, 100u);
  EXPECT_EQ(list_of(typed({"list", "--ids"}), "list")->limit, std::nullopt);
  EXPECT_EQ(list_of(typed({"list", "--ids", "--limit", "7"}), "list")->limit, 7u);
  EXPECT_THAT(wrong(list_of(typed({"list", "--limit", "1001"}), "list")),
              HasSubstr("from 1 to 1000"));
}

TEST(QueueAsk, BeginsAListWhereTheFirstDigitsAre) {
  const auto after = [](const std::vector<std::string>& words) {
    return list_of(typed(words), "list")->filter.after;
  };
  const auto id = [](const std::string& text) { return queue::parse_task_id(text).value(); };
  EXPECT_EQ(after({"list", "--prefix", ""}), std::nullopt);
  EXPECT_EQ(after({"list", "--prefix", "00"}), std::nullopt) << "those are the first";
  EXPECT_EQ(after({"list", "--prefix", "a5"}), id("a4" + std::string(22, 'f')));
  EXPECT_EQ(after({"list", "--prefix", "a50"}), id("a4" + std::string(22, 'f')));
  const std::string behind = "a5" + std::string(22, '7');
  EXPECT_EQ(after({"list", "--prefix", "a5", "--after", behind}), id(behind));
  EXPECT_THAT(wrong(list_of(typed({"list", "--prefix", "xy"}), "list")), HasSubstr("24 digits"));
}

TEST(QueueAsk, FiltersTasks) {
  const queue::TaskFilter filter =
      filter_of(typed({"list", "--status", "failed", "-t", "a", "--key", "k"}));
  EXPECT_EQ(filter.status, queue::Status::failed);
  EXPECT_EQ(filter.type, "a");
  EXPECT_EQ(filter.key, "k");
}

}  // namespace
}  // namespace pawl::cli
