#include "runtime/webhooks.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/bounds.h"
#include "base/member_reader.h"
#include "core/retry/decision_record.h"
#include "core/webhook/signature.h"

namespace pawl {

using execution::Answer;
using webhook::State;
using How = Answer::How;

namespace {

constexpr std::string_view guard_prefix = "webhook ";

// Nothing was sent, for a reason of ours: a store that is away, somebody else's claim, a breaker.
constexpr Duration postponed_min = Duration::seconds(5);
// While the outbox itself is away.
constexpr Duration outbox_wait = Duration::seconds(1);

// Every wait is the outbox's, however short.
constexpr Duration sleep_from = Duration::nanoseconds(1);

Operations::Options operations_options(Duration lease, Duration ttl) {
  Operations::Options options;
  options.lease = lease;
  options.ttl = ttl;
  // Lanes and the schedule bound what is sent, so no delivery is given up for want of a budget.
  options.budget = {.ratio_milli = bounds::retry_budget_ratio_milli_max,
                    .min_per_second = bounds::retry_budget_per_second_max};
  return options;
}

// What a delivery needs to go on: what its last attempt left to the machine of retries.
std::string trail_of(const retry::Policy& policy, const retry::Facts& facts) {
  return json::print(retry::decision_record(policy, facts, retry::decide(policy, facts)));
}

// None: it begins anew, should somebody have spoiled the trail.
std::optional<retry::Facts> facts_of(const std::string& trail) {
  if (trail.empty()) return std::nullopt;
  const auto record = json::parse(trail);
  if (!record) return std::nullopt;
  const auto decision = retry::read_decision(*record);
  if (!decision) return std::nullopt;
  return decision->facts;
}

std::string shortened(std::string text) {
  if (text.size() > bounds::webhook_error_bytes_max) text.resize(bounds::webhook_error_bytes_max);
  return text;
}

// A message that may have arrived is sent again: the receiver knows it by its id.
AttemptEnd end_of(const Error& error) {
  return {.seen = {retry::Failure::transient_network, error.outcome, true},
          .type = std::string(to_string(error.code)),
          .message = shortened(error.message)};
}

// Of an acknowledgement, which may be one that another process has heard.
int status_in(const std::string& metadata) {
  const auto read = json::parse(metadata);
  if (!read) return 0;
  MemberReader reader(*read);
  return static_cast<int>(reader.number("status", 999));
}

AttemptEnd end_of(const HttpAnswer& answer, Instant now) {
  std::vector<limit::Field> fields;
  for (const HttpField& field : answer.fields) fields.push_back({field.name, field.value});
  const webhook::Heard heard = webhook::hear(answer.status, fields, now);
  const std::string status = std::to_string(answer.status);
  if (heard.seen.outcome == Outcome::applied) {
    return {.seen = heard.seen, .response = {.metadata = "{\"status\":" + status + "}"}};
  }
  return {.seen = heard.seen,
          .type = "status_" + status,
          .message = "the endpoint answered " + status,
          .pushback = heard.pushback};
}

}  // namespace

// An endpoint, ready to be sent to.
struct Webhooks::Target {
  webhook::Endpoint endpoint;
  Secret<std::string> key;
  std::function<bool(const IpAddress&)> reach;
};

// What concerns one endpoint's name.
struct Webhooks::Lane {
  std::string name;
  TargetPtr target = {};                 // none: the settings do not name it any more
  std::set<std::string> under_way = {};  // ids of events
  bool looking = false;                  // what is due is asked, or just begun
  bool look_again = false;               // and something happened meanwhile
  Timers::Id timer = {};
};

// One delivery under way.
struct Webhooks::Trip {
  LanePtr lane;
  TargetPtr target;
  KeptDelivery kept;
  std::atomic<int> status = 0;  // the last answer's

  const std::string& id() const { return kept.delivery.event_id; }
};

Webhooks::Webhooks(Options options, Ports ports)
    : options_(std::move(options)),
      ports_(ports),
      visits_(std::make_shared<Visits>()),
      operations_(operations_options(options_.lease, options_.ttl),
                  {ports.clock, ports.timers, ports.records, ports.audit}) {}

Webhooks::~Webhooks() {
  stop(Duration());
  visits_->close();  // from here on nothing is begun
  operations_.drain();
}

// What calls back later may find nobody here any more.
template <class Work>
auto Webhooks::when_here(Work work) {
  return [visits = visits_, work = std::move(work)](auto&&... arguments) mutable {
    if (!visits->enter()) return;
    work(std::forward<decltype(arguments)>(arguments)...);
    visits->leave();
  };
}

Result<void> Webhooks::set_endpoints(std::vector<webhook::Endpoint> endpoints) {
  if (endpoints.size() > bounds::webhook_endpoints_max) {
    return failure(Code::invalid, "there are " + std::to_string(endpoints.size()) +
                                      " webhooks, and at most " +
                                      std::to_string(bounds::webhook_endpoints_max) + " may be");
  }
  std::map<std::string, TargetPtr> targets;
  for (webhook::Endpoint& endpoint : endpoints) {
    PAWL_TRY(webhook::check(endpoint));
    const std::string name = endpoint.name;
    auto target = std::make_shared<Target>();
    target->key = PAWL_TRY(webhook::key_of(endpoint.secret));
    target->reach = webhook::reach_of(endpoint.url);
    target->endpoint = std::move(endpoint);
    if (!targets.emplace(name, std::move(target)).second) {
      return failure(Code::invalid, "two webhooks are named '" + name + "'");
    }
  }
  std::vector<LanePtr> lanes;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, lane] : lanes_) lane->target = nullptr;
    for (auto& [name, target] : targets) {
      LanePtr& lane = lanes_[name];
      if (lane == nullptr) lane = std::make_shared<Lane>(Lane{.name = name});
      lane->target = std::move(target);
      lanes.push_back(lane);
    }
  }
  for (const LanePtr& lane : lanes) look(lane);
  return {};
}

void Webhooks::start() {
  std::vector<LanePtr> lanes;
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
    for (const auto& [name, lane] : lanes_) lanes.push_back(lane);
  }
  for (const LanePtr& lane : lanes) look(lane);
}

void Webhooks::stop(Duration patience) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  for (const auto& [name, lane] : lanes_) ports_.timers.cancel(std::exchange(lane->timer, {}));
  changed_.wait_for(lock, std::chrono::nanoseconds(patience.ns()),
                    [this] { return under_way_ == 0; });
}

void Webhooks::emit(const webhook::Event& event, Done<bool> done) {
  const auto prepare = [&]() -> Result<std::string> {
    PAWL_TRY(webhook::check(event));
    return webhook::body_of(event);
  };
  const Result<std::string> body = prepare();
  if (!body) return done(std::unexpected(body.error()));
  std::vector<NewDelivery> fresh;
  std::vector<LanePtr> lanes;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, lane] : lanes_) {
      if (lane->target == nullptr || !wants(lane->target->endpoint, event.type)) continue;
      fresh.push_back({.endpoint = name,
                       .event_id = event.id,
                       .type = event.type,
                       .tenant = event.tenant,
                       .body = *body});
      lanes.push_back(lane);
    }
  }
  if (fresh.empty()) return done(true);
  ports_.outbox.add(std::move(fresh), [this, visits = visits_, lanes = std::move(lanes),
                                       done = std::move(done)](Result<std::size_t> added) mutable {
    const bool is_here = visits->enter();
    if (added && is_here) {
      {
        const std::lock_guard lock(mutex_);
        ++counts_.emitted;
        counts_.pending += *added;
        counts_.duplicates += lanes.size() - *added;
      }
      for (const LanePtr& lane : lanes) look(lane);
    }
    if (is_here) visits->leave();
    if (added) return done(*added > 0);
    done(std::unexpected(added.error()));
  });
}

void Webhooks::deliveries(std::optional<State> state, std::size_t limit,
                          Done<std::vector<webhook::Delivery>> done) {
  ports_.outbox.list(limit, state, std::move(done));
}

WebhookCounts Webhooks::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool Webhooks::has_endpoints() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(lanes_,
                             [](const auto& each) { return each.second->target != nullptr; });
}

bool Webhooks::is_in_use(std::string_view breaker) const {
  if (!breaker.starts_with(guard_prefix)) return true;
  const std::lock_guard lock(mutex_);
  const auto lane = lanes_.find(std::string(breaker.substr(guard_prefix.size())));
  return lane != lanes_.end() && lane->second->target != nullptr;
}

// Asks for what is due, unless somebody has asked already or nothing more may be begun.
void Webhooks::look(const LanePtr& lane) {
  {
    const std::lock_guard lock(mutex_);
    const bool may = started_ && !stopping_ && lane->target != nullptr;
    if (!may || lane->under_way.size() >= bounds::webhook_lane) return;
    if (lane->looking) {
      lane->look_again = true;
      return;
    }
    lane->looking = true;
    lane->look_again = false;
  }
  // Those under way are pending still, and may be among them.
  ports_.outbox.due(
      lane->name, bounds::webhook_lane,
      when_here([this, lane](Result<DueDeliveries> due) { found(lane, std::move(due)); }));
}

void Webhooks::found(const LanePtr& lane, Result<DueDeliveries> due) {
  std::vector<TripPtr> trips;
  {
    const std::lock_guard lock(mutex_);
    if (due) counts_.pending = due->pending;
    const bool may = due && !stopping_ && lane->target != nullptr;
    for (KeptDelivery& kept : may ? std::span(due->items) : std::span<KeptDelivery>()) {
      if (lane->under_way.size() >= bounds::webhook_lane) break;
      if (!lane->under_way.insert(kept.delivery.event_id).second) continue;
      ++under_way_;
      trips.push_back(std::make_shared<Trip>(lane, lane->target, std::move(kept)));
    }
  }
  for (const TripPtr& trip : trips) deliver(trip);
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    lane->looking = false;
    again = lane->look_again;
  }
  if (again) return look(lane);
  const Duration next = due ? due->next.value_or(bounds::webhook_look_wait) : outbox_wait;
  wake_after(lane, std::clamp(next, Duration::milliseconds(1), bounds::webhook_look_wait));
}

void Webhooks::wake_after(const LanePtr& lane, Duration wait) {
  {
    const std::lock_guard lock(mutex_);
    // Whoever arrives looks again.
    if (stopping_ || lane->under_way.size() >= bounds::webhook_lane) return;
    ports_.timers.cancel(std::exchange(lane->timer, {}));
  }
  const Timers::Id id = ports_.timers.after(wait, when_here([this, lane](bool over) {
                                              if (!over) look(lane);
                                            }));
  const std::lock_guard lock(mutex_);
  lane->timer = id;
}

void Webhooks::deliver(const TripPtr& trip) {
  const webhook::Delivery& delivery = trip->kept.delivery;
  Operation operation;
  operation.category = retry::code(retry::Category::api_request);
  operation.name = "webhook";
  operation.correlation.tenant_id = delivery.tenant;
  operation.correlation.correlation_id = delivery.event_id;
  operation.context = {{"endpoint", delivery.endpoint}, {"webhook_event", delivery.type}};
  operation.policy = options_.policy;
  if (ports_.records != nullptr) {
    operation.key = webhook::record_key(delivery.endpoint, delivery.event_id);
  }
  operation.harmless = true;
  operation.guard = std::string(guard_prefix) + delivery.endpoint;
  operation.sleep_from = sleep_from;
  if (const auto facts = facts_of(trip->kept.trail)) {
    // It is due, so it has slept for as long as it had to.
    operation.resumed = {.facts = *facts, .slept = retry::decide(options_.policy, *facts).delay};
  }
  operation.attempt = [this, trip](const AttemptAsk& ask, Operation::Ended told) {
    attempt(trip, ask, std::move(told));
  };
  operations_.run(std::move(operation), [this, trip](OperationEnd end) { ended(trip, end); });
}

void Webhooks::attempt(const TripPtr& trip, const AttemptAsk& ask, Operation::Ended ended) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.attempts;
  }
  const Target& target = *trip->target;
  const std::string timestamp = webhook::timestamp_of(ports_.clock.wall_now());
  std::string signature = webhook::sign(target.key, {trip->id(), timestamp, trip->kept.body});
  HttpRequest request{.method = "POST",
                      .url = target.endpoint.url,
                      .fields = {{"content-type", "application/json"},
                                 {"user-agent", "pawl"},
                                 {"webhook-id", trip->id()},
                                 {"webhook-timestamp", timestamp},
                                 {"webhook-signature", std::move(signature)}},
                      .body = trip->kept.body,
                      .connect_deadline = std::min(ask.timeout, bounds::webhook_connect_deadline),
                      .deadline = ask.timeout,
                      .body_bytes_max = bounds::webhook_body_bytes_max,
                      .may_connect = target.reach};
  // This may be gone when the answer comes; the clock is not.
  ports_.http.send(std::move(request), [&clock = ports_.clock, trip, ended = std::move(ended)](
                                           const Result<HttpAnswer>& answer) mutable {
    trip->status = answer ? answer->status : 0;
    ended(answer ? end_of(*answer, clock.wall_now()) : end_of(answer.error()));
  });
}

void Webhooks::ended(const TripPtr& trip, const OperationEnd& end) {
  save(trip, step_of(*trip, end));
}

DeliveryStep Webhooks::step_of(const Trip& trip, const OperationEnd& end) const {
  const webhook::Delivery& before = trip.kept.delivery;
  if (end.answer.outcome == Outcome::applied) {
    return {.state = State::acknowledged,
            .attempts = std::max(before.attempts, end.attempts),
            .last_status = status_in(end.answer.response.metadata)};
  }
  const bool slept = end.sleep > Duration();
  const bool gave_up =
      end.answer.how == How::gave_up && !slept && end.answer.reason != retry::Reason::breaker_open;
  if (slept || gave_up) {
    return {.state = gave_up ? State::given_up : State::pending,
            .attempts = end.attempts,
            .wait = end.sleep,
            .last_status = trip.status,
            .last_error = shortened(end.message),
            .trail = gave_up ? std::string() : trail_of(options_.policy, end.facts)};
  }
  // Nothing was sent, or nobody could record what came of it.
  return {.state = State::pending,
          .attempts = before.attempts,
          .wait = std::max(end.retry_after, postponed_min),
          .last_status = before.last_status,
          .last_error = before.last_error,
          .trail = trip.kept.trail};
}

// Offered again and again: were it forgotten, what was acknowledged might be sent again.
void Webhooks::save(const TripPtr& trip, const DeliveryStep& step) {
  ports_.outbox.save(trip->lane->name, trip->id(), step,
                     when_here([this, trip, step](const Result<void>& saved) {
                       const bool goes_on = !saved && saved.error().code == Code::unavailable;
                       if (goes_on) {
                         ports_.timers.after(outbox_wait, when_here([this, trip, step](bool over) {
                                               if (over) return arrived(trip);
                                               save(trip, step);
                                             }));
                         return;
                       }
                       if (saved) count(step.state);
                       arrived(trip);
                     }));
}

void Webhooks::count(State state) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& counted = state == State::acknowledged ? counts_.acknowledged
                           : state == State::given_up   ? counts_.given_up
                                                        : counts_.postponed;
  ++counted;
}

void Webhooks::arrived(const TripPtr& trip) {
  {
    const std::lock_guard lock(mutex_);
    trip->lane->under_way.erase(trip->id());
    --under_way_;
    changed_.notify_all();
  }
  look(trip->lane);
}

}  // namespace pawl
