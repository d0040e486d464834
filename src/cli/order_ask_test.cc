// Goal: what is typed becomes exactly the order that was meant, or an error of usage. Method: words
// through the table of verbs, as the binary takes them.
#include "cli/order_ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app.h"
#include "cli/order_rows.h"

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;

Arguments parsed(std::vector<std::string> words) {
  const auto result = parse(order_rows(), words);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::get<Call>(*result).arguments;
}

std::vector<std::string> place_words() {
  return {"order", "place",  "--venue", "okx",    "--inst", "BTC-USDT-SWAP", "--side",
          "buy",   "--type", "limit",   "--size", "0.10",   "--price",       "50000"};
}

Result<PlaceRequest> request(std::vector<std::string> words) {
  return place_request_of(parsed(std::move(words)), "order place");
}

TEST(OrderAsk, KeepsTheDigitsThatWereTyped) {
  const auto placed = request(place_words());
  ASSERT_TRUE(placed.has_value()) << placed.error().message;
  EXPECT_EQ(to_string(placed->order.size), "0.10");
  EXPECT_EQ(to_string(placed->order.price.value()), "50000");
  EXPECT_EQ(placed->order.instrument, "BTC-USDT-SWAP");
  EXPECT_EQ(placed->reference, "");
  EXPECT_EQ(placed->wait_max, Duration::max());
}

TEST(OrderAsk, TakesSaxosInstruments) {
  const auto placed = request({"order", "place", "--venue", "saxo", "--uic", "211", "--asset-type",
                               "Stock", "--side", "sell", "--type", "market", "--size", "10",
                               "--ref", "r:1", "--wait", "30s", "--reduce-only"});
  ASSERT_TRUE(placed.has_value()) << placed.error().message;
  EXPECT_EQ(instrument_name(placed->order), "211:Stock");
  EXPECT_EQ(placed->reference, "r:1");
  EXPECT_EQ(placed->wait_max, Duration::seconds(30));
  EXPECT_TRUE(placed->order.reduce_only);
}

TEST(OrderAsk, IsUsageWhenItMakesNoSense) {
  const auto wrong = [](std::vector<std::string> more) {
    std::vector<std::string> words = place_words();
    words.insert(words.end(), more.begin(), more.end());
    const auto placed = request(std::move(words));
    EXPECT_FALSE(placed.has_value());
    return placed ? Code::internal : placed.error().code;
  };
  EXPECT_EQ(wrong({"--uic", "211"}), Code::usage);
  EXPECT_EQ(wrong({"--asset-type", "Stock"}), Code::usage);
  EXPECT_EQ(wrong({"--stop-price", "1"}), Code::usage);
  EXPECT_EQ(wrong({"--ref", "a b"}), Code::usage);
  EXPECT_EQ(wrong({"--wait", "soon"}), Code::usage);
  EXPECT_EQ(wrong({"--wait", "0s"}), Code::usage);
  const auto no_size = request(
      {"order", "place", "--venue", "okx", "--inst", "A", "--side", "buy", "--type", "market"});
  ASSERT_FALSE(no_size.has_value());
  EXPECT_THAT(no_size.error().message, HasSubstr("--size is missing"));
  EXPECT_FALSE(request({"order", "place", "--venue", "okx", "--inst", "A", "--side", "buy",
                        "--type", "market", "--size", "1e3"})
                   .has_value());
}

TEST(OrderAsk, ResolvesWithAReasonAndForAPlacedOneItsId) {
  const auto resolution = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"order", "resolve", "ref-1"};
    words.insert(words.end(), more.begin(), more.end());
    return resolution_of(parsed(std::move(words)), "kim");
  };
  EXPECT_FALSE(resolution({"--reason", "x"}).has_value());
  EXPECT_FALSE(resolution({"--as", "absent"}).has_value());
  EXPECT_FALSE(resolution({"--as", "absent", "--reason", " "}).has_value());
  EXPECT_FALSE(resolution({"--as", "placed", "--reason", "seen"}).has_value());
  const auto settled = resolution({"--as", "placed", "--order-id", "7", "--reason", "seen"});
  ASSERT_TRUE(settled.has_value());
  EXPECT_EQ(settled->who, "kim");
  const auto named = resolution({"--as", "absent", "--reason", "seen", "--by", "Ana of support"});
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->who, "Ana of support (user kim)");
  EXPECT_FALSE(resolution({"--as", "absent", "--reason", "seen", "--by", " "}).has_value());
}

TEST(OrderAsk, NamesAnInstrumentAsItsVenueDoes) {
  const auto refused = [](std::vector<std::string> which) {
    std::vector<std::string> words = {"order",  "place",  "--side", "buy",
                                      "--type", "market", "--size", "1"};
    words.insert(words.end(), which.begin(), which.end());
    const auto placed = request(std::move(words));
    EXPECT_TRUE(!placed && placed.error().code == Code::usage);
    return placed ? "" : placed.error().message;
  };
  EXPECT_THAT(refused({"--venue", "saxo", "--inst", "A-B"}), HasSubstr("--uic and --asset-type"));
  EXPECT_THAT(refused({"--venue", "saxo", "--uic", "211"}), HasSubstr("--uic and --asset-type"));
  EXPECT_THAT(refused({"--venue", "okx", "--uic", "211", "--asset-type", "Stock"}),
              HasSubstr("okx's instruments are named by --inst"));
}

TEST(OrderAsk, ChangesSomething) {
  EXPECT_FALSE(change_of(parsed({"order", "modify", "ref-1"})).has_value());
  const auto change = change_of(parsed({"order", "modify", "ref-1", "--price", "2.50"}));
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(to_string(change->price.value()), "2.50");
  EXPECT_FALSE(change->size.has_value());
  for (const std::string name : {"--size", "--price", "--stop-price"}) {
    const auto nothing = change_of(parsed({"order", "modify", "ref-1", name, "0"}));
    ASSERT_FALSE(nothing.has_value()) << name;
    EXPECT_EQ(nothing.error().code, Code::usage);
    EXPECT_THAT(nothing.error().message, HasSubstr(name + " is 0; it must be greater than 0"));
  }
}

TEST(OrderAsk, ReadsABatchLineByLine) {
  constexpr std::string_view order =
      R"({"venue":"okx","inst":"A-B","side":"buy","type":"market","size":"1"})";
  const auto batch = batch_of(std::string(order) + "\n\n" + std::string(order) + "\n");
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_EQ(batch->size(), 2U);
  const auto wrong = batch_of(std::string(order) + "\n{}\n");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("line 2: "));
  EXPECT_FALSE(batch_of("\n").has_value());
  const auto unknown = batch_of(R"({"ref":"a","venue":"okx"})");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("position_side, external_reference"));
}

}  // namespace
}  // namespace pawl::cli
