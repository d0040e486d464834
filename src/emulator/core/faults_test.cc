// Goal: a fault meets the call that was named, and the seeded ones are the same in every run.
// Method: scripts are parsed and met with calls by hand; what a client would get is looked at.
#include "emulator/core/faults.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace pawl::emulator {
namespace {

Faults faults_of(std::string_view text) {
  const Result<Script> script = parse_script(text);
  EXPECT_TRUE(script) << script.error().message;
  return script ? script->faults : Faults();
}

std::string error_of(std::string_view text) {
  const Result<Script> script = parse_script(text);
  return script ? "" : script.error().message;
}

std::string met(Faults& faults, std::string operation, std::string reference = "") {
  const auto fault =
      faults.meet({.operation = std::move(operation), .reference = std::move(reference)});
  return fault ? std::string(to_string(fault->kind)) : "";
}

TEST(Faults, MeetTheNthCallOfAnOperation) {
  Faults faults =
      faults_of(R"({"script":[{"when":{"call":"place","nth":2},"do":"drop_after_accept"}]})");
  EXPECT_EQ(met(faults, "place"), "");
  EXPECT_EQ(met(faults, "open_orders"), "");
  EXPECT_EQ(met(faults, "place"), "drop_after_accept");
  EXPECT_EQ(met(faults, "place"), "");
}

TEST(Faults, MeetAReferenceAndMayStay) {
  Faults faults = faults_of(
      R"({"script":[{"when":{"reference":"r"},"times":2,"do":"half_answer"},
                    {"when":{"call":"x"},"times":0,"do":"gzip"}]})");
  EXPECT_EQ(met(faults, "place", "q"), "");
  EXPECT_EQ(met(faults, "place", "r"), "half_answer");
  EXPECT_EQ(met(faults, "cancel", "r"), "half_answer");
  EXPECT_EQ(met(faults, "place", "r"), "");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(met(faults, "x"), "gzip");
}

TEST(Faults, TheFirstRowThatFitsIsTakenAndEveryRowCounts) {
  Faults faults = faults_of(R"({"script":[{"do":"gzip"},{"when":{"nth":2},"do":"restart"}]})");
  EXPECT_EQ(met(faults, "place"), "gzip");
  EXPECT_EQ(met(faults, "place"), "restart");
}

TEST(Faults, AreDrawnAlikeWhateverElseIsAsked) {
  constexpr std::string_view text =
      R"({"seed":7,"rates":{"drop_after_accept":0.3,"half_answer":{"rate":0.2,"delay":"1s"}}})";
  Faults alone = faults_of(text);
  Faults busy = faults_of(text);
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (int i = 0; i < 1'000; ++i) {
    first.push_back(met(alone, "place"));
    EXPECT_EQ(met(busy, "open_orders"), "");
    second.push_back(met(busy, "place"));
  }
  EXPECT_EQ(first, second);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(first, "drop_after_accept")), 300, 60);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(first, "half_answer")), 200, 60);
}

TEST(Faults, BeginAnewWhenTheyForget) {
  Faults faults = faults_of(R"({"seed":3,"script":[{"do":"gzip"}],"rates":{"restart":0.5}})");
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (int i = 0; i < 20; ++i) first.push_back(met(faults, "place"));
  faults.forget();
  for (int i = 0; i < 20; ++i) second.push_back(met(faults, "place"));
  EXPECT_EQ(first.front(), "gzip");
  EXPECT_EQ(first, second);
}

TEST(Faults, AnotherSeedDrawsOthers) {
  Faults one = faults_of(R"({"seed":1,"rates":{"gzip":0.5}})");
  Faults other = faults_of(R"({"seed":2,"rates":{"gzip":0.5}})");
  int differences = 0;
  for (int i = 0; i < 100; ++i) differences += met(one, "place") != met(other, "place") ? 1 : 0;
  EXPECT_GT(differences, 20);
}

TEST(Faults, RatesMayNameTheirCalls) {
  Faults faults = faults_of(
      R"({"seed":1,"calls":["*"],"rates":{"gzip":{"rate":1,"calls":["cancel"]},"restart":1}})");
  EXPECT_EQ(met(faults, "cancel"), "gzip");
  EXPECT_EQ(met(faults, "anything"), "restart");
}

TEST(Faults, AScriptThatMakesNoSenseIsRefusedWithWhatIsWrong) {
  EXPECT_NE(error_of("[]").find("one JSON object"), std::string::npos);
  EXPECT_NE(error_of(R"({"scripts":[]})").find("scripts is not known"), std::string::npos);
  EXPECT_NE(error_of(R"({"script":[{"do":"drop_after_acept"}]})")
                .find("did you mean 'drop_after_accept'"),
            std::string::npos);
  for (const std::string_view text :
       {R"({"script":{}})", R"({"script":[{}]})", R"({"script":[{"do":"gzip","delai":"3s"}]})",
        R"({"script":[{"do":"gzip","delay":3}]})", R"({"script":[{"do":"gzip","status":99}]})",
        R"({"script":[{"do":"gzip","when":{"nth":0}}]})",
        R"({"script":[{"do":"gzip","when":{"which":1}}]})", R"({"rates":{"gzip":1.5}})",
        R"({"rates":{"gzip":-0.5}})", R"({"rates":{"gzip":0.0000001}})",
        R"({"rates":{"gzip":"1"}})", R"({"seed":-1})", R"({"calls":[],"rates":{"gzip":1}})",
        R"({"script":[{"do":"trade_not_completed","resolves":"Perhaps"}]})"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

// What becomes of a call that meets the fault, and how often the venue worked.
struct Seen {
  Reply reply;
  int works = 0;
};

Seen with_fault(std::string_view kind, bool held = false) {
  Faults faults = faults_of(R"({"script":[{"do":")" + std::string(kind) + R"("}]})");
  Seen seen;
  seen.reply = with_faults(faults, {.held = held}, {.operation = "place"}, [&](const Fault*) {
    ++seen.works;
    return Reply{.body = "done", .accepted = true};
  });
  return seen;
}

TEST(WithFaults, BeforeTheWorkTheVenueHearsNothing) {
  EXPECT_EQ(with_fault("drop_before_accept").works, 0);
  EXPECT_EQ(with_fault("drop_before_accept").reply.wire, Wire::drop);
  EXPECT_EQ(with_fault("html_502_before_accept").works, 0);
  EXPECT_EQ(with_fault("html_502_before_accept").reply.status, 502);
  EXPECT_EQ(with_fault("html_503_before_accept").works, 0);
  EXPECT_EQ(with_fault("empty_401").works, 0);
  EXPECT_EQ(with_fault("empty_401").reply.body, "");
}

TEST(WithFaults, AfterTheWorkOnlyTheAnswerSuffers) {
  const std::pair<std::string_view, Wire> wires[] = {{"drop_after_accept", Wire::drop},
                                                     {"half_answer", Wire::half},
                                                     {"wrong_length", Wire::wrong_length},
                                                     {"duplicate_answer", Wire::twice},
                                                     {"restart", Wire::restart}};
  for (const auto& [kind, wire] : wires) {
    const Seen seen = with_fault(kind);
    EXPECT_EQ(seen.works, 1) << kind;
    EXPECT_EQ(seen.reply.wire, wire) << kind;
    EXPECT_EQ(seen.reply.fault, kind);
    EXPECT_TRUE(seen.reply.accepted) << kind;
  }
  EXPECT_GT(with_fault("delay_after_accept").reply.delay, Duration());
  const Seen page = with_fault("html_503_after_accept");
  EXPECT_EQ(page.works, 1);
  EXPECT_EQ(page.reply.status, 503);
  EXPECT_TRUE(page.reply.accepted);
}

TEST(WithFaults, ACallThatIsHeldIsWorkedOnWhenItComesAgain) {
  const Seen first = with_fault("delay_before_accept");
  EXPECT_EQ(first.works, 0);
  EXPECT_EQ(first.reply.hold, Duration::seconds(30));
  const Seen again = with_fault("delay_before_accept", true);
  EXPECT_EQ(again.works, 1);
  EXPECT_EQ(again.reply.hold, Duration());
  EXPECT_EQ(again.reply.fault, "delay_before_accept");
}

}  // namespace
}  // namespace pawl::emulator
