#include "sim/limiter_storm.h"

#include <algorithm>
#include <deque>
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

// A policy of the storm, and whether all tenants share one count.
struct StormLimit {
  limit::Policy policy;
  bool shared;
};

std::int64_t some(Random& random, std::uint64_t least, std::uint64_t most) {
  return static_cast<std::int64_t>(least + random.below(most - least + 1));
}

limit::Rule some_rule(Random& random) {
  const limit::Rate rate{some(random, 1, 20), Duration::milliseconds(some(random, 100, 5000))};
  switch (random.below(5)) {
    case 0:
      return limit::TokenBucket(rate, some(random, 0, 9));
    case 1:
      return limit::SlidingWindow{rate};
    case 2:
      return limit::SlidingLog{rate};
    case 3:
      return limit::Concurrency{.slots = some(random, 1, 5),
                                .lease = Duration::seconds(some(random, 1, 600))};
    default:
      return limit::Calendar{.count = some(random, 1, 50),
                             .rule = {.unit = random.one_in(2) ? limit::CalendarUnit::minute
                                                               : limit::CalendarUnit::hour}};
  }
}

std::vector<StormLimit> some_limits(Random& random) {
  std::vector<StormLimit> limits;
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool shadow = i > 0 && random.one_in(4);
    limits.push_back(
        {.policy = limit::Policy("p" + std::to_string(i), some_rule(random), {.shadow = shadow}),
         .shared = random.one_in(4)});
  }
  return limits;
}

struct Options {
  std::uint64_t tenants;
  std::uint64_t requests;
  Duration span;
  std::vector<StormLimit> limits;
  SimCounterStore::Faults faults;
  std::uint64_t upstream_fails_one_in;
  Duration upstream_takes;

  Options(Random& random, Bug bug)
      : tenants(1 + random.below(20)),
        requests(50 + random.below(500)),
        span(Duration::seconds(some(random, 1, 60))),
        limits(some_limits(random)),
        faults{.latency_max = random.one_in(3) ? Duration() : Duration::milliseconds(200),
               .lose_one_in = random.one_in(2) ? 0 : 5 + random.below(20),
               .forgets_charges = bug == Bug::store_forgets_charges},
        upstream_fails_one_in(random.one_in(2) ? 0 : 2 + random.below(10)),
        upstream_takes(Duration::milliseconds(random.one_in(2) ? 50 : 4000)) {}

  std::string text() const {
    std::string out = "tenants=" + std::to_string(tenants) +
                      " requests=" + std::to_string(requests) + " span=" + to_string(span);
    for (const StormLimit& each : limits) {
      out.append(each.policy.options.shadow ? " shadow " : " ")
          .append(limit::algorithm_of(each.policy.rule))
          .append(each.shared ? "(shared)=" : "=")
          .append(limit::to_string(each.policy.rule));
    }
    return out + " latency=" + to_string(faults.latency_max) +
           " lose_one_in=" + std::to_string(faults.lose_one_in) +
           " upstream_fails_one_in=" + std::to_string(upstream_fails_one_in) +
           " upstream_takes=" + to_string(upstream_takes);
  }
};

// One send, as a limit sees it.
struct Send {
  SteadyInstant charged;
  Instant wall;
  SteadyInstant ended = SteadyInstant::max();
};
using Sends = std::vector<Send>;

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
  // What went out, of each limit (by its place) and key. A deque: a send is ended later, in place.
  std::map<std::pair<std::size_t, std::string>, std::deque<Send>> sends;
  std::uint64_t ended = 0;
};

class StormDoor final : public Door {
 public:
  StormDoor(Storm& storm, std::string tenant) : storm_(storm), tenant_(std::move(tenant)) {
    correlation.tenant_id = tenant_;
    operation = "storm";
    for (const StormLimit& each : storm_.options.limits) {
      const std::string_view key = each.shared ? std::string_view("everyone") : tenant_;
      counts_.push_back({&each.policy, key});
    }
  }

  void arrive() {
    ++storm_.report.requests;
    arrived_at_ = storm_.clock.steady_now();
    arrived_wall_ = storm_.clock.wall_now();
    storm_.engine.handle(*this, request::Arrived{counts_, false});
  }
  void send_upstream() override {
    if (refused_) violation("sent after it was refused");
    ++storm_.report.sent;
    // The store charged it when it was asked, which is when it arrived.
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      auto& sends = storm_.sends[{i, std::string(counts_[i].key.name())}];
      sends.push_back({.charged = arrived_at_, .wall = arrived_wall_});
      sent_.push_back(&sends.back());
    }
    const std::uint64_t fails = storm_.options.upstream_fails_one_in;
    const bool broken = fails > 0 && storm_.random.one_in(fails);
    storm_.clock.after(storm_.random.up_to(storm_.options.upstream_takes),
                       [keep = shared_from_this(), this, broken] { answer(broken); });
    tick();
  }
  void refuse(const request::Refuse& refusal) override {
    if (refusal.code == http::ProblemCode::rate_limit) {
      ++storm_.report.refused;
      if (machine.refusers().all().empty()) violation("refused by nobody");
    }
    if (refusal.code == http::ProblemCode::store_unavailable) ++storm_.report.store_failures;
    refused_ = true;
  }
  void ended(const request::RecordEnd& end, const Result<void>&) override {
    if (std::exchange(ended_, true)) violation("ended twice");
    for (Send* send : sent_) send->ended = storm_.clock.steady_now();
    ++storm_.ended;
    storm_.trace(static_cast<std::uint64_t>(end.status) + 1000 * storm_.report.requests);
  }
  void resume(std::move_only_function<void()> continuation) override { continuation(); }

 private:
  void tick() {
    if (ended_) return;
    storm_.engine.handle(*this, request::TimePassed{storm_.clock.steady_now()});
    storm_.clock.after(Duration::milliseconds(250), [keep = shared_from_this(), this] { tick(); });
  }
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
  std::vector<Count> counts_;
  SteadyInstant arrived_at_;
  Instant arrived_wall_;
  std::vector<Send*> sent_;
  bool refused_ = false;
  bool ended_ = false;
};

// Whether a limit let too many through. `sends` are in the order of their charges.
struct Exceeded {
  const Sends& sends;

  // More than `most` in some stretch of `period`, its end not included.
  bool within(Duration period, std::int64_t most) const {
    std::size_t first = 0;
    for (std::size_t last = 0; last < sends.size(); ++last) {
      while (sends[last].charged - sends[first].charged >= period) ++first;
      if (static_cast<std::int64_t>(last - first + 1) > most) return true;
    }
    return false;
  }
  // In any stretch of length d, a bucket lets through at most capacity + d / interval.
  bool operator()(const limit::TokenBucket& bucket) const {
    for (std::size_t first = 0; first < sends.size(); ++first) {
      for (std::size_t last = first; last < sends.size(); ++last) {
        const Duration stretch = sends[last].charged - sends[first].charged;
        const auto count = static_cast<std::int64_t>(last - first + 1);
        if (count > bucket.capacity() + stretch.ns() / bucket.interval.ns()) return true;
      }
    }
    return false;
  }
  bool operator()(const limit::SlidingWindow& window) const {
    return within(window.rate.period, 2 * window.rate.count - 1);
  }
  bool operator()(const limit::SlidingLog& log) const {
    return within(log.rate.period, log.rate.count);
  }
  bool operator()(const limit::Concurrency& rule) const {
    return std::ranges::any_of(sends, [&](const Send& each) {
      const auto at_once = std::ranges::count_if(sends, [&](const Send& other) {
        return other.charged <= each.charged && each.charged < other.ended;
      });
      return at_once > rule.slots;
    });
  }
  bool operator()(const limit::Calendar& calendar) const {
    std::map<Instant, std::int64_t> used;
    for (const Send& send : sends) ++used[limit::window_at(calendar.rule, send.wall).start];
    return std::ranges::any_of(used,
                               [&](const auto& window) { return window.second > calendar.count; });
  }
};

void check_limits(const Storm& storm, StormReport& report) {
  for (const auto& [place, unsorted] : storm.sends) {
    const auto& [index, key] = place;
    const limit::Policy& policy = storm.options.limits[index].policy;
    if (policy.options.shadow) continue;
    Sends sends(unsorted.begin(), unsorted.end());
    std::ranges::sort(sends, {}, &Send::charged);
    if (!std::visit(Exceeded{sends}, policy.rule)) continue;
    report.violations.push_back(policy.name + " (" + limit::to_string(policy.rule) +
                                ") let too many of " + key + " through");
  }
}

// Where no answer was lost, nobody has to wait for a lease to end.
void check_slots(Storm& storm) {
  if (storm.options.faults.lose_one_in > 0) return;
  for (const auto& [place, sends] : storm.sends) {
    const limit::Policy& policy = storm.options.limits[place.first].policy;
    const auto* slots = std::get_if<limit::Concurrency>(&policy.rule);
    if (slots == nullptr) continue;
    const Count count{&policy, place.second};
    storm.store.check({&count, 1}, 0,
                      [&storm, slots, name = policy.name](const Result<limit::Answer>& answer) {
                        const std::int64_t lent = slots->slots - answer->bound().remaining;
                        if (lent == 0) return;
                        storm.report.violations.push_back(name + ": " + std::to_string(lent) +
                                                          " slots never came back");
                      });
  }
  storm.clock.run_until(storm.clock.steady_now() + Duration::seconds(1));
}

StormReport Storm::run() {
  for (std::uint64_t i = 0; i < options.requests; ++i) {
    auto door =
        std::make_shared<StormDoor>(*this, "t" + std::to_string(random.below(options.tenants)));
    clock.after(random.up_to(options.span), [door = std::move(door)] { door->arrive(); });
  }
  clock.run_until(clock.steady_now() + options.span + Duration::seconds(20));
  if (ended != options.requests) {
    report.violations.push_back(std::to_string(options.requests - ended) + " requests never ended");
  }
  const auto records =
      std::ranges::count(sink.kept(), audit::EventType::request, &SimEventSink::Kept::type);
  if (static_cast<std::uint64_t>(records) != options.requests) {
    report.violations.push_back(std::to_string(options.requests) + " requests left " +
                                std::to_string(records) + " records of their end");
  }
  check_limits(*this, report);
  check_slots(*this);
  return report;
}

}  // namespace

StormReport run_limiter_storm(std::uint64_t seed, Bug bug) {
  return Storm(seed, bug).run();
}

}  // namespace pawl::sim
