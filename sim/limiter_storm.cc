#include "sim/limiter_storm.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "runtime/engine.h"
#include "sim/clock.h"
#include "sim/counter_store.h"
#include "sim/event_sink.h"
#include "sim/random.h"

namespace pawl::sim {
namespace {

struct Options {
  std::uint64_t tenants;
  std::uint64_t requests;
  Duration span;
  limit::Policy policy;
  SimCounterStore::Faults faults;
  std::uint64_t upstream_fails_one_in;

  Options(Random& random, Bug bug)
      : tenants(1 + random.below(20)),
        requests(50 + random.below(500)),
        span(Duration::seconds(1 + static_cast<std::int64_t>(random.below(60)))),
        policy{.name = "storm",
               .bucket = {.rate = {.count = 1 + static_cast<std::int64_t>(random.below(20)),
                                   .period = Duration::milliseconds(
                                       100 + static_cast<std::int64_t>(random.below(5000)))},
                          .burst = static_cast<std::int64_t>(random.below(10))}},
        faults{.latency_max = random.one_in(3) ? Duration() : Duration::milliseconds(200),
               .lose_one_in = random.one_in(2) ? 0 : 5 + random.below(20),
               .forgets_charges = bug == Bug::store_forgets_charges},
        upstream_fails_one_in(random.one_in(2) ? 0 : 2 + random.below(10)) {}

  std::string text() const {
    return "tenants=" + std::to_string(tenants) + " requests=" + std::to_string(requests) +
           " span=" + to_string(span) + " rate=" + limit::to_string(policy.bucket.rate) +
           " burst=" + std::to_string(policy.bucket.burst) +
           " latency=" + to_string(faults.latency_max) +
           " lose_one_in=" + std::to_string(faults.lose_one_in) +
           " upstream_fails_one_in=" + std::to_string(upstream_fails_one_in);
  }
};

class Storm {
 public:
  Storm(std::uint64_t seed, Bug bug) : random(seed), options(random, bug) {
    report.seed = seed;
    report.options = options.text();
  }

  StormReport run();
  void trace(std::uint64_t value) {
    report.trace_hash = (report.trace_hash ^ value) * 0x100000001b3;
  }

  SimClock clock;
  Random random;
  Options options;
  SimCounterStore store{clock, random, options.faults};
  SimEventSink sink;
  Engine engine{{clock, store, sink}};
  StormReport report;
  std::map<std::string, std::vector<SteadyInstant>>
      charged;  // when each tenant's sends were allowed
  std::uint64_t ended = 0;
};

class StormDoor final : public Door {
 public:
  StormDoor(Storm& storm, std::string tenant) : storm_(storm), tenant_(std::move(tenant)) {
    correlation.tenant_id = tenant_;
    operation = "storm";
  }

  void arrive() {
    ++storm_.report.requests;
    arrived_at_ = storm_.clock.steady_now();
    storm_.engine.handle(*this, request::Arrived{&storm_.options.policy, tenant_, false});
  }
  void send_upstream() override {
    if (refused_) violation("sent after it was refused");
    ++storm_.report.sent;
    // The store charged it when it was asked, which is when it arrived.
    storm_.charged[tenant_].push_back(arrived_at_);
    const std::uint64_t fails = storm_.options.upstream_fails_one_in;
    const bool broken = fails > 0 && storm_.random.one_in(fails);
    storm_.clock.after(storm_.random.up_to(Duration::milliseconds(50)),
                       [keep = shared_from_this(), this, broken] { answer(broken); });
  }
  void refuse(const request::Refuse& refusal) override {
    if (refusal.code == http::ProblemCode::rate_limit) ++storm_.report.refused;
    if (refusal.code == http::ProblemCode::store_unavailable) ++storm_.report.store_failures;
    refused_ = true;
  }
  void ended(const request::RecordEnd& end, const Result<void>&) override {
    if (std::exchange(ended_, true)) violation("ended twice");
    ++storm_.ended;
    storm_.trace(static_cast<std::uint64_t>(end.status) + 1000 * storm_.report.requests);
  }
  void resume(std::move_only_function<void()> continuation) override { continuation(); }

 private:
  void answer(bool broken) {
    if (broken) {
      ++storm_.report.upstream_failures;
      storm_.engine.handle(*this, request::Failed{.kind = request::Failed::Kind::unreachable,
                                                  .outcome = Outcome::unknown,
                                                  .reused_connection = true});
    } else {
      storm_.engine.handle(*this, request::Answered{200});
    }
  }
  void violation(std::string what) {
    storm_.report.violations.push_back("tenant " + tenant_ + ": " + std::move(what));
  }

  Storm& storm_;
  std::string tenant_;
  SteadyInstant arrived_at_;
  bool refused_ = false;
  bool ended_ = false;
};

// In any stretch of length d, a bucket lets through at most capacity + d / interval.
void check_limit(const Storm& storm, StormReport& report) {
  const limit::TokenBucket& bucket = storm.options.policy.bucket;
  for (const auto& [tenant, unsorted] : storm.charged) {
    std::vector<SteadyInstant> times = unsorted;
    std::sort(times.begin(), times.end());
    for (std::size_t first = 0; first < times.size(); ++first) {
      for (std::size_t last = first; last < times.size(); ++last) {
        const auto count = static_cast<std::int64_t>(last - first + 1);
        const Duration stretch = times[last] - times[first];
        if (count > bucket.capacity() + stretch.ns() / bucket.token_interval().ns()) {
          report.violations.push_back("tenant " + tenant + ": " + std::to_string(count) +
                                      " charged sends within " + to_string(stretch));
          return;
        }
      }
    }
  }
}

StormReport Storm::run() {
  for (std::uint64_t i = 0; i < options.requests; ++i) {
    auto door =
        std::make_shared<StormDoor>(*this, "t" + std::to_string(random.below(options.tenants)));
    clock.after(random.up_to(options.span), [door = std::move(door)] { door->arrive(); });
  }
  clock.run_until(clock.steady_now() + options.span + Duration::minutes(1));
  if (ended != options.requests) {
    report.violations.push_back(std::to_string(options.requests - ended) + " requests never ended");
  }
  const auto records =
      std::ranges::count(sink.kept(), audit::EventType::request, &SimEventSink::Kept::type);
  if (static_cast<std::uint64_t>(records) != options.requests) {
    report.violations.push_back(std::to_string(options.requests) + " requests left " +
                                std::to_string(records) + " records of their end");
  }
  check_limit(*this, report);
  return report;
}

}  // namespace

StormReport run_limiter_storm(std::uint64_t seed, Bug bug) {
  return Storm(seed, bug).run();
}

}  // namespace pawl::sim
