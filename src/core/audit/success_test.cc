// Goal: a success that is put into words later says what it would have said at once, and always
//       fits the log.
// Method: the event beside the one of the builders; the largest trail, of bytes that take the most
//         room when they are quoted.
#include "core/audit/success.h"

#include <gtest/gtest.h>

#include "base/bounds.h"
#include "core/audit/chain.h"
#include "core/audit/replay.h"

namespace pawl::audit {
namespace {

retry::Facts succeeded() {
  retry::Facts facts;
  facts.attempt = 2;
  facts.seen = {retry::Failure::none, Outcome::applied, false};
  return facts;
}

Success success_of(Trail trail) {
  Success success{.trail = std::make_shared<const Trail>(std::move(trail)),
                  .facts = succeeded(),
                  .decision = {},
                  .timestamp = Instant::from_ns(1'000'000'000)};
  success.decision = retry::decide(success.trail->policy, success.facts);
  return success;
}

TEST(Success, SaysWhatItsOperationLeavesAndCanBeReplayed) {
  const Success success = success_of({.category = "RETRY_KV_GET",
                                      .operation = "get",
                                      .correlation = {.tenant_id = "acme"},
                                      .context = {{"desk", "rates"}}});
  const std::string text = draft(to_event(success)).value().text;
  EXPECT_EQ(text,
            R"({"context":{"desk":"rates"},"decision":{"delay_ns":"0","facts":{"attempt":2,)"
            R"("failure":"none","outcome":"applied","retryable":false},"next":"done",)"
            R"("outcome":"applied","policy":{},"reason":"succeeded"},)"
            R"("event_type":"retry_succeeded","operation":"get","retry_category":"RETRY_KV_GET",)"
            R"("tenant_id":"acme","timestamp":"1970-01-01T00:00:01.000Z","total_attempts":2})");
  EXPECT_EQ(replay(json::parse(text).value(), {}).how, Replayed::How::agrees);
}

TEST(Success, OfATrailThatIsNotTooLargeFitsTheLog) {
  Trail trail = {.operation = std::string(bounds::audit_trail_bytes_max, '\1')};
  trail.policy.delays.assign(bounds::retry_list_max, Duration::max());
  EXPECT_TRUE(check(trail));
  EXPECT_TRUE(draft(to_event(success_of(trail))));
  trail.correlation.trace_id = "x";
  EXPECT_FALSE(check(trail));
}

}  // namespace
}  // namespace pawl::audit
