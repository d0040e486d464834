#include "pawl/executor.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "adapter/system/system_entropy.h"
#include "assembly/audit_sinks.h"
#include "base/assert.h"
#include "base/id.h"
#include "base/store_setting.h"
#include "library/executor_state.h"
#include "library/idempotency_state.h"
#include "library/retry_policy.h"
#include "runtime/exception.h"

namespace pawl {
namespace {

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

Executor::State::~State() {
  waiting.close();
  if (operations) operations->drain();
}

Clock& Executor::State::clock() const {
  return keys.state_->clock;
}

Durability Executor::State::durability() const {
  return keys.state_->records->durability();
}

Result<void> Executor::State::open(const ExecutorOptions& options) {
  PAWL_TRY(idempotency::check(idempotency::Begin{.lease = options.lease, .ttl = options.ttl}));
  unaudited = std::make_shared<const library::Unaudited>(options.unaudited);
  if (!options.audit.empty()) {
    const StoreSetting setting = PAWL_TRY(parse_store(options.audit));
    const bool fails = options.on_full == ExecutorOptions::OnFull::fail;
    audit =
        PAWL_TRY(open_audit({.sinks = {setting}, .on_full = fails ? OnFull::fail : OnFull::block}));
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

OperationEnd Executor::State::run_here(Operation operation, Work attempt, Work reconcile) {
  const auto mailbox = std::make_shared<Mailbox>();
  const auto here = [mailbox](Work work) {
    return [mailbox, work = std::move(work)](const AttemptAsk& ask, Operation::Ended ended) {
      mailbox->post([work, ask, ended = std::move(ended)]() mutable {
        if (ask.given_up()) return;  // while the one before it took too long
        try {
          ended(work(library::attempt_of(ask)));
        } catch (...) {
          ended(end_of_exception());
        }
      });
    };
  };
  operation.attempt = here(std::move(attempt));
  if (reconcile) operation.reconcile = here(std::move(reconcile));
  operations->run(std::move(operation),
                  [mailbox](OperationEnd end) { mailbox->finish(std::move(end)); });
  return mailbox->work();
}

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
  Operation made = PAWL_TRY(operation_of(category, operation, how));
  if (how.begin_reconcile || how.hedge_after > Duration()) {
    return failure(Code::usage,
                   "the blocking form takes reconcile, not begin_reconcile, and cannot hedge: it "
                   "makes one attempt at a time");
  }
  State::Work reconcile;
  if (how.reconcile) {
    reconcile = [find = how.reconcile](const Attempt& attempt) {
      return library::end_of(find(attempt));
    };
  }
  const std::shared_ptr<const library::Unaudited> unaudited = state_->unaudited;
  return library::result_of(state_->run_here(
                                std::move(made),
                                [callable = std::move(callable)](const Attempt& attempt) {
                                  return library::end_of(callable(attempt));
                                },
                                std::move(reconcile)),
                            *unaudited);
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
    callable(library::attempt_of(ask),
             [ended = std::move(ended)](Result<std::string> result) mutable {
               ended(library::end_of(std::move(result)));
             });
  };
  if (how.begin_reconcile) {
    made->reconcile = [begin = how.begin_reconcile](const AttemptAsk& ask, Operation::Ended ended) {
      begin(library::attempt_of(ask), [ended = std::move(ended)](Result<Finding> found) mutable {
        ended(library::end_of(std::move(found)));
      });
    };
  }
  auto ticket = state_->operations->run(
      *std::move(made),
      [unaudited = state_->unaudited, done = std::move(done)](OperationEnd end) mutable {
        call_back(done, library::result_of(std::move(end), *unaudited));
      });
  cancel.cancel_ = [ticket]() mutable { ticket.cancel(); };
  return cancel;
}

void Executor::Cancel::operator()() {
  if (cancel_) cancel_();
}

}  // namespace pawl
