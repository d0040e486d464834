#include "runtime/operations.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "core/retry/backoff.h"
#include "runtime/exception.h"
#include "runtime/operation_trail.h"

namespace pawl {
namespace {

using execution::Answer;
using retry::Breaker;

AttemptEnd timed_out() {
  return {.seen = {retry::Failure::transient_network, Outcome::unknown, true},
          .type = "timeout",
          .message = "no answer within the time of one attempt"};
}

// While somebody else's probe is under way, whoever waits for the breaker asks again so soon.
constexpr Duration soon = Duration::seconds(1);

constexpr std::string_view not_sent = "not_sent";

AttemptEnd never_sent() {
  return {.seen = {retry::Failure::unknown, Outcome::not_applied, false},
          .type = std::string(not_sent),
          .message = "it was not begun: its time was up, or nobody waits for it any more"};
}

// Whether an attempt may follow.
bool may_act(const Result<idempotency::Begun>& begun) {
  using Verdict = idempotency::Begun::Verdict;
  return !begun || begun->verdict == Verdict::started || begun->verdict == Verdict::took_over;
}

}  // namespace

// One operation under way. Its events come one after the other, whichever threads bring them.
class Operations::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(Operations& operations, Operation operation, retry::Policy policy, Done done)
      : operations_(operations),
        visits_(operations.visits_),
        operation_(std::move(operation)),
        done_(std::move(done)),
        trail_(trail_of(operation_, std::move(policy)), operations.ports_.clock,
               operations.ports_.audit),
        machine_(setup()) {}

  void start() {
    visits_->begun();
    enter([this] {
      if (trail_.alive() && resumption_told()) {
        return post({.event = execution::Start{.now = now()}});
      }
      finish({.answer = {.how = Answer::How::cancelled,
                         .outcome = Outcome::not_applied,
                         .reason = retry::Reason::cancelled}});
    });
  }
  void cancel() {
    enter([this] { post({.event = execution::Cancelled{.now = now()}}); });
  }

 private:
  // Everything that comes from outside comes through here.
  template <class Work>
  void enter(const Work& work) {
    const std::shared_ptr<Visits> visits = visits_;  // this may go with the work
    if (!visits->enter()) return;
    work();
    visits->leave();
  }

  execution::Setup setup() const {
    const Options& options = operations_.options_;
    return {.attempts = {.policy = &trail_.trail().policy,
                         .key = jitter_key(),
                         .harmless = operation_.harmless,
                         .can_reconcile = operation_.reconcile != nullptr,
                         .sleep_from = operation_.sleep_from,
                         .hedge_after = operation_.hedge_after},
            .has_key = !operation_.key.empty(),
            .fingerprint = operation_.fingerprint,
            .lease = options.lease,
            .ttl = options.ttl,
            .on_in_flight = options.on_in_flight,
            .wait_max = options.wait_max,
            .on_store_failure = options.on_store_failure,
            .resumed = operation_.resumed,
            .slept_fence = operation_.slept_fence};
  }

  bool resumption_told() {
    if (!operation_.resumed || operation_.task.empty()) return true;
    return trail_.resumed(operation_.task, operation_.resumed->facts.attempt,
                          operation_.resumed->slept);
  }

  // Operations without a key are told apart by their number.
  std::uint64_t jitter_key() const {
    if (!operation_.key.empty()) return retry::jitter_key(operation_.key);
    return operations_.options_.seed + ++operations_.started_;
  }

  SteadyInstant now() { return operations_.ports_.clock.steady_now(); }
  RecordKey key() const {
    return {.scope = operation_.correlation.tenant_id, .key = operation_.key};
  }

  // How an attempt failed, for people.
  struct Failed {
    std::string type;
    std::string message;
  };

  struct Heard {
    Breaker::Turn turn;
    bool good;
  };
  struct Happened {
    execution::Event event;
    std::optional<Failed> failed = {};
    std::optional<Heard> heard = {};  // for the breaker
  };

  // Effects may bring the next event before they return; it waits until they all have been run.
  void post(Happened happened) {
    std::unique_lock lock(mutex_);
    events_.push_back(std::move(happened));
    if (std::exchange(busy_, true)) return;
    while (!events_.empty()) {
      Happened next = std::move(events_.front());
      events_.pop_front();
      lock.unlock();
      handle(std::move(next));
      lock.lock();
    }
    busy_ = false;
  }

  void handle(Happened happened) {
    if (finished_) return;
    if (happened.failed) failed_ = *std::move(happened.failed);
    if (happened.heard) hear(*happened.heard);
    take_turn(happened.event);
    if (const auto* found = std::get_if<execution::Found>(&happened.event)) {
      trail_.reconciled(machine_.attempts().facts().attempt, found->reconciled.found);
    }
    bool told = true;
    for (const execution::Effect& effect : machine_.decide(happened.event)) {
      const bool goes_on = std::holds_alternative<retry::WaitUntil>(effect) ||
                           std::holds_alternative<retry::Reconcile>(effect);
      if (!told && goes_on) {
        post({.event = execution::Cancelled{.now = now()}});
        continue;
      }
      if (!told && std::holds_alternative<retry::SleepFor>(effect)) {
        slept(failure(Code::unavailable, "the audit log did not take it"));
        continue;
      }
      told = std::visit([this](const auto& e) { return run(e); }, effect) && told;
    }
  }

  // Whoever may send next asks the breaker first; nobody else does, since the one probe there is
  // would be used up by it.
  void take_turn(execution::Event& event) {
    const auto ask = [this](auto& asked) {
      turn_ = operations_.guards_.turn(guard(), now());
      asked.breaker_open = turn_ == Breaker::Turn::skip;
      if (asked.breaker_open && operation_.sleep) asked.probe_in = std::max(until_probe(), soon);
      if (turn_ == Breaker::Turn::probe) {
        trail_.breaker(guard(), audit::BreakerState::half_open, {});
      }
    };
    auto* start = std::get_if<execution::Start>(&event);
    if (start != nullptr && operation_.key.empty()) ask(*start);
    auto* claimed = std::get_if<execution::Claimed>(&event);
    if (claimed != nullptr && may_act(claimed->begun)) ask(*claimed);
    auto* woken = std::get_if<retry::Woken>(&event);
    const bool attempts = machine_.state() == execution::Execution::State::attempting;
    if (woken != nullptr && attempts) ask(*woken);
  }

  // Each says whether what it decided is on record; those that record nothing say yes.
  bool run(const execution::Claim& effect) {
    auto claimed = [self = shared_from_this()](Result<idempotency::Begun> begun) {
      self->enter([&] {
        if (begun && may_act(begun)) self->renew_later(begun->record.fence);
        self->post({.event = execution::Claimed{.now = self->now(), .begun = std::move(begun)}});
      });
    };
    if (operations_.ports_.records == nullptr) {
      claimed(failure(Code::unavailable, "no store keeps idempotency keys here"));
    } else {
      operations_.ports_.records->begin(key(), effect.ask, std::move(claimed));
    }
    return true;
  }

  bool run(const retry::Send& effect) {
    if (effect.attempt == 1) operations_.guards_.earn();
    if (effect.hedge_at) wake_at(*effect.hedge_at);
    const AttemptAsk ask{
        .number = effect.attempt, .timeout = effect.timeout, .fence = machine_.fence()};
    if (effect.hedge && !trail_.hedged(effect.attempt)) {
      end_try({.ask = ask}, never_sent());
      return true;
    }
    begin_try(ask, operation_.attempt, false);
    return true;
  }

  bool run(const retry::Reconcile& effect) {
    begin_try({.number = effect.attempt, .timeout = effect.timeout, .fence = machine_.fence()},
              operation_.reconcile, true);
    return true;
  }

  bool run(const retry::SpendBudget&) {
    const bool allowed = operations_.guards_.spend(now());
    const bool told = allowed || trail_.budget_refused(machine_.attempts().facts().attempt);
    post({.event = retry::BudgetAnswered{allowed}});
    return told;
  }

  bool run(const retry::WaitUntil& effect) {
    wake_at(effect.at);
    return true;
  }

  bool run(const retry::SleepFor& effect) {
    if (!operation_.sleep) {
      slept({});
      return true;
    }
    const SleepAsk ask{.delay = effect.delay,
                       .policy = trail_.trail().policy,
                       .facts = machine_.attempts().facts(),
                       .decision = machine_.attempts().decision(),
                       .fence = machine_.fence()};
    operation_.sleep(ask, [self = shared_from_this()](Result<std::string> written) {
      self->enter([&] { self->lie_down(std::move(written)); });
    });
    return true;
  }

  void lie_down(Result<std::string> written) {
    if (!written) return slept(std::unexpected(std::move(written).error()));
    task_ = *std::move(written);
    slept({});
  }
  void slept(Result<void> written) {
    post({.event = execution::Slept{.now = now(), .written = std::move(written)}});
  }

  bool run(const execution::Record& effect) {
    operations_.ports_.records->complete(
        key(), effect.fence, effect.how, [self = shared_from_this()](Result<void> recorded) {
          self->enter([&] {
            self->post({.event = execution::Recorded{.now = self->now(),
                                                     .recorded = std::move(recorded)}});
          });
        });
    return true;
  }

  bool run(const execution::NoteKey& effect) { return trail_.key(operation_.key, effect.action); }

  bool run(const execution::NoteDecision&) {
    const retry::Attempts& attempts = machine_.attempts();
    return trail_.decided(attempts.facts(), attempts.decision(), {failed_.type, failed_.message});
  }

  bool run(const Answer& effect) {
    finish({.answer = effect});
    return true;
  }

  void finish(OperationEnd end) {
    end_timers();
    const retry::Facts& facts = machine_.attempts().facts();
    end.task = task_;
    if (end.answer.how == Answer::How::asleep) end.sleep = end.answer.sleep;
    if (end.sleep > Duration() && !task_.empty()) trail_.slept(task_, facts.attempt, end.sleep);
    end.attempts = facts.attempt;
    end.facts = facts;
    end.retry_after = std::max({end.answer.retry_after, facts.pushback, end.answer.sleep});
    if (end.answer.reason == retry::Reason::breaker_open) {
      end.retry_after = std::max(end.retry_after, until_probe());
    }
    end.type = failed_.type;
    end.message = failed_.message;
    end.unaudited = trail_.unaudited();
    std::exchange(done_, {})(std::move(end));
    visits_->finished();
  }

  // One attempt or reconciliation. Whoever ends it first counts: its own word, or the time.
  struct Try {
    enum class State : std::uint8_t { fresh, begun, over };

    AttemptAsk ask = {};
    bool reconciles = false;
    Breaker::Turn turn = Breaker::Turn::ask;
    Timers::Id timer = {};
    std::atomic<State> state = State::fresh;
  };

  template <class Call>
  void begin_try(const AttemptAsk& ask, const Call& call, bool reconciles) {
    const auto one = std::make_shared<Try>();
    one->ask = ask;
    one->reconciles = reconciles;
    one->turn = std::exchange(turn_, Breaker::Turn::ask);
    std::erase_if(tries_, [](const auto& each) { return each->state == Try::State::over; });
    tries_.push_back(one);
    one->timer = operations_.ports_.timers.after(
        ask.timeout,
        [self = shared_from_this(), one](bool) { self->enter([&] { self->time_is_up(*one); }); });
    Try::State fresh = Try::State::fresh;
    if (!one->state.compare_exchange_strong(fresh, Try::State::begun)) return;
    const auto ended = [self = shared_from_this(), one](AttemptEnd end) {
      self->enter([&] {
        if (one->state.exchange(Try::State::over) == Try::State::over) return;
        self->operations_.ports_.timers.cancel(one->timer);
        self->end_try(*one, std::move(end));
      });
    };
    AttemptAsk asked = ask;
    asked.given_up = [one] { return one->state == Try::State::over; };
    try {
      call(asked, ended);
    } catch (...) {
      ended(end_of_exception());
    }
  }

  void time_is_up(Try& one) {
    const Try::State before = one.state.exchange(Try::State::over);
    if (before == Try::State::over) return;
    // A look that was not taken has shown nothing.
    const bool was_made = before == Try::State::begun || one.reconciles;
    end_try(one, was_made ? timed_out() : never_sent());
  }

  void end_try(const Try& one, AttemptEnd end) {
    std::optional<Heard> heard;
    if (end.type != not_sent) heard = {.turn = one.turn, .good = retry::was_there(end.seen)};
    if (one.reconciles) {
      std::optional<Failed> failed;
      if (!end.message.empty()) failed = {std::move(end.type), std::move(end.message)};
      return post({.event = execution::Found{.reconciled = {.now = now(),
                                                            .found = end.seen.outcome,
                                                            .pushback = end.pushback},
                                             .response = std::move(end.response)},
                   .failed = std::move(failed),
                   .heard = heard});
    }
    const std::string_view names[] = {to_string(end.seen.failure), end.type};
    const retry::Listed listed = retry::listed(trail_.trail().policy, names);
    if (end.type.empty()) end.type = to_string(end.seen.failure);
    post({.event = execution::Attempted{.ended = {.now = now(),
                                                  .attempt = one.ask.number,
                                                  .seen = end.seen,
                                                  .listed = listed,
                                                  .pushback = end.pushback},
                                        .response = std::move(end.response)},
          .failed = Failed{.type = std::move(end.type), .message = std::move(end.message)},
          .heard = heard});
  }

  void wake_at(SteadyInstant at) {
    keep(wake_, at - now(), [self = shared_from_this()](bool over) {
      self->enter([&] {
        if (over) {
          self->post({.event = execution::Cancelled{.now = self->now(), .closing = true}});
        } else {
          self->post({.event = retry::Woken{.now = self->now()}});
        }
      });
    });
  }
  // A timer that ends with the operation: it holds all of it.
  void keep(Timers::Id& timer, Duration wait, Timers::Call call) {
    const Timers::Id id = operations_.ports_.timers.after(wait, std::move(call));
    const std::lock_guard lock(timers_mutex_);
    timer = id;
    if (finished_) operations_.ports_.timers.cancel(id);
  }
  void end_timers() {
    Timers& timers = operations_.ports_.timers;
    const std::lock_guard lock(timers_mutex_);
    finished_ = true;
    timers.cancel(wake_);
    timers.cancel(renewal_);
    for (const auto& one : tries_) timers.cancel(one->timer);
  }

  void renew_later(std::uint64_t fence) {
    const Duration third = operations_.options_.lease / 3;
    keep(renewal_, third, [self = shared_from_this(), fence](bool over) {
      if (!over) self->enter([&] { self->renew(fence); });
    });
  }
  void renew(std::uint64_t fence) {
    if (finished_) return;
    operations_.ports_.records->renew(
        key(), fence, operations_.options_.lease,
        [self = shared_from_this(), fence](const Result<void>& renewed) {
          // Who was overtaken hears so when it records its result.
          const bool goes_on = renewed || renewed.error().code == Code::unavailable;
          if (goes_on) self->enter([&] { self->renew_later(fence); });
        });
  }

  const std::string& guard() const {
    return operation_.guard.empty() ? operation_.category : operation_.guard;
  }
  Duration until_probe() { return operations_.guards_.until_probe(guard(), now()); }
  void hear(const Heard& heard) {
    const auto changed = operations_.guards_.heard(guard(), heard.turn, heard.good, now());
    if (changed) trail_.breaker(guard(), changed->state, changed->wait);
  }

  Operations& operations_;
  const std::shared_ptr<Visits> visits_;
  const Operation operation_;
  Done done_;
  std::mutex timers_mutex_;  // guards the two
  Timers::Id wake_;
  Timers::Id renewal_;
  std::atomic<bool> finished_ = false;

  std::mutex mutex_;  // guards the two
  std::deque<Happened> events_;
  bool busy_ = false;

  // Of whoever handles an event.
  OperationTrail trail_;
  execution::Execution machine_;
  std::vector<std::shared_ptr<Try>> tries_;
  Breaker::Turn turn_ = Breaker::Turn::ask;
  Failed failed_;     // how the last attempt ended
  std::string task_;  // as which it sleeps
};

Operations::Operations(Options options, Ports ports)
    : options_(std::move(options)),
      ports_(ports),
      visits_(std::make_shared<Visits>()),
      guards_(options_.budget, options_.breaker) {}

Operations::~Operations() {
  visits_->close();
}

void Operations::drain() {
  visits_->drain();
}

Operations::Ticket Operations::run(Operation operation, Done done) {
  const retry::Policy& policy =
      operation.policy ? *operation.policy : policy_of(operation.category);
  retry::Policy own = policy;
  const auto run =
      std::make_shared<Run>(*this, std::move(operation), std::move(own), std::move(done));
  run->start();
  return Ticket(run);
}

void Operations::Ticket::cancel() {
  if (const auto run = run_.lock()) run->cancel();
}

const retry::Policy& Operations::policy_of(std::string_view category) {
  const auto found = options_.policies.find(category);
  if (!found.known && options_.unknown_category && is_new(category)) {
    options_.unknown_category(category);
  }
  return *found.policy;
}

bool Operations::is_new(std::string_view category) {
  const std::lock_guard lock(mutex_);
  return warned_.size() < bounds::retry_breakers_max &&
         warned_.try_emplace(std::string(category), true).second;
}

}  // namespace pawl
