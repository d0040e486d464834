// Goal: of what is put into words later it is known beforehand that it fits a record; and it says
//       in the general form what it is.
// Method: texts around the bound, of bytes that take the most room when they are quoted; the fields
//         of the events.
#include "core/audit/late.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/bounds.h"
#include "core/audit/chain.h"
#include "core/audit/late_fixture.h"

namespace pawl::audit {
namespace {

TEST(Late, WhatSurelyFitsFitsAndAUsualOneDoes) {
  LimitSample sample;
  EXPECT_TRUE(surely_fits(sample.decided()));
  EXPECT_TRUE(surely_fits(request_sample()));

  // Every policy refuses, so that each is named as often as it can be.
  sample.refuse_all();
  std::string largest;
  for (std::size_t size = 1'000; size < bounds::audit_event_bytes_max; size += 100) {
    const std::string operation(size, '\1');
    LimitDecided decided = sample.decided();
    decided.operation = operation;
    if (!surely_fits(decided)) break;
    ASSERT_TRUE(draft(to_event(decided)).has_value()) << size;
    largest = operation;
  }
  EXPECT_GT(largest.size(), 5'000u);
  RequestEnded ended = request_sample();
  const std::string too_large(bounds::audit_event_bytes_max, 'x');
  ended.operation = too_large;
  EXPECT_FALSE(surely_fits(ended));
}

TEST(Late, EveryTextOfALimitCountsWhenItIsAskedWhetherItFits) {
  const std::string long_text(bounds::audit_event_bytes_max / 6, 'x');
  const LimitSample sample;
  for (std::string_view Ids::* id : {&Ids::tenant_id, &Ids::request_id, &Ids::external_reference,
                                     &Ids::correlation_id, &Ids::trace_id}) {
    LimitDecided decided = sample.decided();
    decided.correlation.*id = long_text;
    EXPECT_FALSE(surely_fits(decided));
  }
  const limit::Policy policy("p", limit::TokenBucket({1, Duration::seconds(10)}, 1));
  const limit::Policy named(long_text, policy.rule);
  const std::vector<std::vector<limit::Count>> all = {{{&policy, long_text}}, {{&named, "k"}}};
  for (const std::vector<limit::Count>& counts : all) {
    LimitDecided decided = sample.decided();
    decided.counts = counts;
    EXPECT_FALSE(surely_fits(decided));
  }
}

TEST(Late, SaysInTheGeneralFormWhatItIs) {
  const Event request = to_event(Late(request_sample()));
  EXPECT_EQ(request.type, EventType::request);
  EXPECT_EQ(request.operation, "GET /v1/orders/4711");
  EXPECT_EQ(request.correlation.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  ASSERT_EQ(request.details.size(), 2u);
  EXPECT_EQ(request.details[0].second, json::Value("applied"));
  EXPECT_EQ(request.details[1].second, json::Value(200));
  const LimitSample sample;
  const Event limit = to_event(Late(sample.decided()));
  EXPECT_EQ(limit.type, EventType::limit);
  EXPECT_EQ(limit.correlation.tenant_id, "acme");
  EXPECT_EQ(limit.details.front().second, json::Value("tenant"));
}

}  // namespace
}  // namespace pawl::audit
