// The two events of a proxied request, for tests and benchmarks.
#pragma once

#include <array>

#include "core/audit/late.h"
#include "core/limit/policy.h"

namespace pawl::audit {

inline const Correlation& sample_correlation() {
  static const Correlation ids = {.tenant_id = "acme",
                                  .request_id = "01a1df91-c72e-7ded-a655-e86056e9b2e8",
                                  .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"};
  return ids;
}

// Two limits that allow; the decision borrows from it.
class LimitSample {
 public:
  LimitSample() {
    answer_.allowed = true;
    answer_.as_decided = true;
    answer_.now = {.moment = limit::Moment::from_ns(50'123'456'789'012),
                   .wall = Instant::from_ns(1'769'375'700'123'456'789)};
    for (const limit::Count& count : counts_) {
      const std::int64_t capacity = limit::capacity_of(count.policy->rule);
      answer_.verdicts.add({.allowed = true,
                            .limit = capacity,
                            .remaining = capacity - 57,
                            .before = {.a = 50'123'456'781'234, .b = 12}});
    }
  }
  LimitSample(const LimitSample&) = delete;

  void refuse_all() {
    answer_.allowed = false;
    answer_.retry_after = Duration::max();
    for (std::size_t i = 0; i < answer_.verdicts.size(); ++i) {
      answer_.verdicts[i].allowed = false;
      answer_.verdicts[i].retry_after = Duration::max();
    }
  }
  LimitDecided decided() const {
    return {.timestamp = answer_.now.wall,
            .operation = "GET /v1/orders/4711",
            .correlation = sample_correlation(),
            .counts = counts_,
            .answer = &answer_,
            .cost = 1,
            .policies = nullptr};
  }

 private:
  const limit::Policy tenant_{"tenant", limit::TokenBucket({1'000, Duration::minutes(1)}, 99)};
  const limit::Policy address_{"address", limit::SlidingWindow{{500, Duration::seconds(10)}}};
  const std::array<limit::Count, 2> counts_ = {
      {{&tenant_, "tenant:acme"}, {&address_, "address:192.0.2.7"}}};
  limit::Answer answer_;
};

inline RequestEnded request_sample() {
  return {.timestamp = Instant::from_ns(1'769'375'700'123'456'789),
          .operation = "GET /v1/orders/4711",
          .correlation = sample_correlation(),
          .outcome = Outcome::applied,
          .status = 200};
}

}  // namespace pawl::audit
