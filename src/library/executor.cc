#include "pawl/executor.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "adapter/system/system_entropy.h"
#include "adapter/system/waiting_room.h"
#include "assembly/audit_sinks.h"
#include "base/assert.h"
#include "base/id.h"
#include "base/store_setting.h"
#include "core/retry/classify.h"
#include "library/idempotency_state.h"
#include "library/retry_policy.h"
#include "runtime/exception.h"

namespace pawl {
namespace {

using How = execution::Answer::How;

Attempt attempt_of(const AttemptAsk& ask) {
  return {.number = ask.number, .timeout = ask.timeout, .fence = ask.fence};
}

AttemptEnd end_of(Result<std::string> result) {
  if (!result) {
    const bool lost = result.error().outcome == Outcome::applied;  // done, and no result to keep
    return {.seen = retry::classify(result.error()),
            .type = std::string(to_string(result.error().code)),
            .message = std::move(result.error().message),
            .pushback = result.error().retry_after,
            .response = {.tombstone = lost}};
  }
  return {.seen = {retry::Failure::none, Outcome::applied, false},
          .response = {.body = *std::move(result)}};
}

AttemptEnd end_of(Result<Finding> found) {
  AttemptEnd end{.seen = {retry::Failure::unknown, Outcome::unknown, true}};
  if (!found) {
    end.message = std::move(found.error().message);
    end.pushback = found.error().retry_after;
    return end;
  }
  end.seen = {retry::Failure::none, found->outcome, true};
  end.response.body = std::move(found->result);
  return end;
}

std::unexpected<Error> error(Code code, const OperationEnd& end, std::string message) {
  Error made(code, end.answer.outcome, std::move(message));
  made.retry_after = end.retry_after;
  return std::unexpected(std::move(made));
}

std::unexpected<Error> given_up(const OperationEnd& end, const std::string& said) {
  if (end.answer.reason == retry::Reason::breaker_open && end.attempts == 0) {
    return error(Code::unavailable, end, "not sent: it has failed too often of late" + said);
  }
  return error(Code::refused, end,
               "given up after " + std::to_string(end.attempts) + " attempts (" +
                   std::string(to_string(end.answer.reason)) + ")" + said);
}

std::unexpected<Error> cancelled(const OperationEnd& end, const std::string& said) {
  if (end.unaudited && end.attempts == 0) {
    return error(Code::unavailable, end,
                 "nothing was sent: the audit log takes nothing: " + end.unaudited->message);
  }
  const bool known = end.answer.outcome != Outcome::unknown;
  return error(known ? Code::refused : Code::unresolved, end, "cancelled" + said);
}

// By what the store has said, where it did.
std::unexpected<Error> by_store(const OperationEnd& end, std::string message) {
  const std::optional<Error>& said = end.answer.store_said;
  const bool ours = said && (said->code == Code::invalid || said->code == Code::internal);
  return error(ours ? said->code : Code::unavailable, end,
               std::move(message) + (said ? ": " + said->message : ""));
}

// What the caller is told.
Result<std::string> told(OperationEnd end) {
  const execution::Answer& answer = end.answer;
  const std::string said = end.message.empty() ? "" : ": " + end.message;
  switch (answer.how) {
    case How::done:
    case How::replayed:
      if (answer.response.tombstone) {
        return error(Code::refused, end, "it was done, and its result could not be kept" + said);
      }
      return std::move(end.answer.response.body);
    case How::gave_up:
      return given_up(end, said);
    case How::unresolved:
      return error(Code::unresolved, end,
                   "nobody knows whether it was applied; find out, and settle its key" + said);
    case How::cancelled:
      return cancelled(end, said);
    case How::in_flight:
      return error(Code::refused, end,
                   "somebody else is at it; ask again in " +
                       std::to_string(end.retry_after.milliseconds_up()) + "ms");
    case How::mismatch:
      return error(Code::invalid, end,
                   "the key was used for something else; take a new one for each intent");
    case How::no_store:
      return by_store(end, "nothing was sent: its key could not be claimed");
    case How::not_recorded:
      return by_store(end, "the store of keys did not take how it ended; its key is unknown");
    case How::stale:
      return error(Code::unresolved, end,
                   "it took longer than its lease, and somebody else took its key over");
  }
  __builtin_unreachable();
}

// Work for the thread that waits in execute_with_retry().
class Mailbox {
 public:
  using Job = std::move_only_function<void()>;

  void post(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }
  void finish(OperationEnd end) {
    {
      const std::lock_guard lock(mutex_);
      end_ = std::move(end);
    }
    changed_.notify_one();
  }
  // Does what comes until the end has come. What is left then goes undone, and must go: it holds
  // the operation, which holds this.
  OperationEnd work() {
    std::deque<Job> left;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return end_ || !jobs_.empty(); });
      if (end_) {
        closed_ = true;
        left.swap(jobs_);
        return *std::move(end_);
      }
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::optional<OperationEnd> end_;
  bool closed_ = false;
};

Result<Operation> operation_of(std::string_view category, std::string_view name,
                               const ExecuteOptions& how) {
  Operation made;
  made.category = category;
  made.name = name;
  made.correlation.tenant_id = how.tenant_id;
  made.correlation.correlation_id = how.correlation_id;
  made.correlation.trace_id = how.trace_id;
  made.context = how.context;
  if (how.policy) made.policy = PAWL_TRY(policy_of(*how.policy));
  made.key = how.idempotency_key;
  made.fingerprint = how.fingerprint;
  made.harmless = how.harmless;
  made.guard = how.guard;
  made.hedge_after = how.hedge_after;
  if (how.hedge_after > Duration() && !how.harmless) {
    return failure(Code::usage, "only what is harmless can be hedged: a second copy is sent");
  }
  PAWL_TRY(check(made));
  return made;
}

using Unaudited = std::function<void(const Error&)>;

Result<std::string> result_of(OperationEnd end, const Unaudited& unaudited) {
  if (end.unaudited && unaudited) unaudited(*end.unaudited);
  return told(std::move(end));
}

// What a caller's callback throws has nowhere to go.
template <class Call, class... Arguments>
void call_back(Call& call, Arguments... arguments) {
  if (!call) return;
  try {
    call(std::move(arguments)...);
  } catch (...) {
  }
}

}  // namespace

struct Executor::State {
  explicit State(Idempotency given) : keys(std::move(given)) {}
  ~State() {
    waiting.close();
    if (operations) operations->drain();
  }

  Result<void> open(const ExecutorOptions& options) {
    PAWL_TRY(idempotency::check(idempotency::Begin{.lease = options.lease, .ttl = options.ttl}));
    unaudited = std::make_shared<const Unaudited>(options.unaudited);
    if (!options.audit.empty()) {
      const StoreSetting setting = PAWL_TRY(parse_store(options.audit));
      const bool fails = options.on_full == ExecutorOptions::OnFull::fail;
      audit = PAWL_TRY(
          open_audit({.sinks = {setting}, .on_full = fails ? OnFull::fail : OnFull::block}));
    }
    Operations::Options made{.lease = options.lease,
                             .ttl = options.ttl,
                             .unknown_category = options.unknown_category,
                             .seed = seed_of(SystemEntropy().next())};
    if (options.on_in_flight == ExecutorOptions::OnInFlight::wait) {
      made.on_in_flight = execution::OnInFlight::wait;
    }
    made.budget = {.ratio_milli = thousandths(options.budget_ratio),
                   .min_per_second = options.budget_per_second};
    PAWL_TRY(retry::check(made.budget));
    made.breaker = {.failures = options.breaker_failures,
                    .wait_min = options.breaker_wait_min,
                    .wait_max = options.breaker_wait_max};
    PAWL_TRY(retry::check(made.breaker));
    made.wait_max = options.wait_max;
    for (const auto& [category, policy] : options.policies) {
      PAWL_TRY(made.policies.set(category, PAWL_TRY(policy_of(policy))));
    }
    const Idempotency::State& kept = *keys.state_;
    operations.emplace(std::move(made),
                       Operations::Ports{kept.clock, waiting, kept.records.get(), audit.get()});
    return {};
  }

  // What is under way ends with the timers and with the answers of the store, which come while all
  // the rest still stands.
  WaitingRoom waiting;
  std::shared_ptr<const Unaudited> unaudited;
  std::optional<Operations> operations;
  std::unique_ptr<EventSink> audit;
  Idempotency keys;
};

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::Executor(Executor&& other) noexcept = default;
Executor& Executor::operator=(Executor&& other) noexcept = default;
Executor::~Executor() = default;

Result<Executor> Executor::make(const ExecutorOptions& options, Clock* clock) noexcept {
  Idempotency keys = PAWL_TRY(Idempotency::make(
      {.store = options.store, .durability = options.durability, .ttl = options.ttl}, clock));
  auto state = std::make_unique<State>(std::move(keys));
  PAWL_TRY(state->open(options));
  return Executor(std::move(state));
}

Idempotency& Executor::idempotency() noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  return state_->keys;
}

Result<std::string> Executor::execute_with_retry(std::string_view category,
                                                 std::string_view operation, Callable callable,
                                                 const ExecuteOptions& how) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  const auto mailbox = std::make_shared<Mailbox>();
  Operation made = PAWL_TRY(operation_of(category, operation, how));
  if (how.begin_reconcile || how.hedge_after > Duration()) {
    return failure(Code::usage,
                   "the blocking form takes reconcile, not begin_reconcile, and cannot hedge: it "
                   "makes one attempt at a time");
  }
  const auto here = [mailbox](auto work) {
    return [mailbox, work](const AttemptAsk& ask, Operation::Ended ended) {
      mailbox->post([work, ask, ended = std::move(ended)]() mutable {
        if (ask.given_up()) return;  // while the one before it took too long
        try {
          ended(end_of(work(attempt_of(ask))));
        } catch (...) {
          ended(end_of_exception());
        }
      });
    };
  };
  made.attempt = here(std::move(callable));
  if (how.reconcile) made.reconcile = here(how.reconcile);
  state_->operations->run(std::move(made),
                          [mailbox](OperationEnd end) { mailbox->finish(std::move(end)); });
  const std::shared_ptr<const Unaudited> unaudited = state_->unaudited;
  return result_of(mailbox->work(), *unaudited);
}

Executor::Cancel Executor::execute_with_retry(std::string_view category, std::string_view operation,
                                              AsyncCallable callable, const ExecuteOptions& how,
                                              Done done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  Cancel cancel;
  Result<Operation> made = operation_of(category, operation, how);
  if (made && how.reconcile) {
    made = failure(Code::usage, "the asynchronous form takes begin_reconcile, not reconcile");
  }
  if (!made) {
    call_back(done, Result<std::string>(std::unexpected(std::move(made).error())));
    return cancel;
  }
  made->attempt = [callable = std::move(callable)](const AttemptAsk& ask, Operation::Ended ended) {
    callable(attempt_of(ask), [ended = std::move(ended)](Result<std::string> result) mutable {
      ended(end_of(std::move(result)));
    });
  };
  if (how.begin_reconcile) {
    made->reconcile = [begin = how.begin_reconcile](const AttemptAsk& ask, Operation::Ended ended) {
      begin(attempt_of(ask), [ended = std::move(ended)](Result<Finding> found) mutable {
        ended(end_of(std::move(found)));
      });
    };
  }
  auto ticket = state_->operations->run(
      *std::move(made),
      [unaudited = state_->unaudited, done = std::move(done)](OperationEnd end) mutable {
        call_back(done, result_of(std::move(end), *unaudited));
      });
  cancel.cancel_ = [ticket]() mutable { ticket.cancel(); };
  return cancel;
}

void Executor::Cancel::operator()() {
  if (cancel_) cancel_();
}

}  // namespace pawl
