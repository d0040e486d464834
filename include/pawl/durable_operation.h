// DurableOperation: an operation of the executor whose long waits outlive the process.
//
//   auto charge = pawl::DurableOperation::make(
//       *executor, *queue, {.name = "charge_card", .category = "RETRY_API_REQUEST"},
//       [&](const std::string& input, const pawl::Attempt& attempt) {
//         return provider.charge(input, attempt.timeout);
//       });
//   if (!charge) return tell(charge.error().message);
//   const auto answer = charge->run(R"({"order":17})", {.idempotency_key = "order-17"});
//   if (!answer) return tell(answer.error().message);      // it is over, and failed
//   if (answer->sleeps) return later(answer->sleeps->id);  // it is not over
//   use(answer->result);
//
//   charge->resume_on(worker);  // there, or in another program with the same keys and queue
//
// Why:      a server says "in an hour", and nobody wants to hold a thread for an hour, or to lose
//           the operation when the process ends. A function cannot be kept on a disk; so what can
//           sleep has a name and an input, which is JSON, and one function makes every attempt,
//           whichever process it is in.
// Contract: attempts are made as the executor makes them: bounded, classified, under the key,
//           audited. A wait (backoff, Retry-After, an open breaker) that is shorter than
//           `sleep_from` is waited for here. A longer one is written into the queue as a task of
//           the operation's name, due when the wait is over; only then is the key let go, and
//           only then does run() return. resume_on() lets a worker take it up again: it goes on
//           with the next attempt, with the same key, input, correlation id and audit trail, and
//           may sleep again as the same task. The deadline of the policy counts the sleep.
// Answer:   to sleep is neither a result nor a failure, and so it is a value of its own: `sleeps`
//           names the task. Nothing was applied so far, and something will be tried later: do not
//           make another one in its place. How it ended says the task (queue.get(id)): completed,
//           whose output is the result as a JSON string (null where it is too large for a task);
//           or failed, with what an error would have said, and `unresolved: ` before it where
//           nobody knows. So does run() with the same key: once it is done it has the result. To
//           cancel the task is to cancel the operation.
// Keys:     a sleeping operation holds no key. Another caller with the same key may act meanwhile:
//           if it succeeds, the task finds its result and sends nothing; if it has to sleep as
//           well, it does so as the same task, and is due when that is. Never do two attempts of
//           one key run at once. Without a key the operation gets one when it goes to sleep, so
//           that a worker that dies is not followed by one that sends again. With a key and no
//           fingerprint, the input is what must be the same.
// Crashes:  whoever dies while an attempt runs leaves the key unknown: the task finds out by
//           `reconcile`, or ends as failed, unresolved. Whoever dies anywhere else on the way to
//           bed or out of it is followed by the task.
// Errors:   as Executor's; and of run(), unavailable: the queue did not take it, and it was not to
//           wait here; unresolved: nobody knows whether the queue took it. With a key it is safe to
//           run() it again in both cases.
//           make() refuses keys that end with the process while the queue does not.
// Threads:  any may call run(). Executor and queue outlive it, and so do the workers it resumes on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/executor.h"
#include "pawl/queue.h"
#include "pawl/result.h"
#include "pawl/retry.h"
#include "pawl/time.h"
#include "pawl/worker.h"

namespace pawl {

// What all runs of it have in common. Whoever resumes must say the same as whoever runs.
struct DurableOptions {
  std::string name = {};  // of the operation, and the type of its tasks
  std::string category = "RETRY_API_REQUEST";
  Duration sleep_from = Duration::seconds(30);
  std::optional<RetryPolicy> policy = {};  // in place of the category's
  bool harmless = false;                   // a second copy changes nothing
  std::string guard = {};                  // whose breaker; empty: the category's
  // Finds out what became of an attempt of unknown outcome; number 0: of what somebody else did.
  std::function<Result<Finding>(const std::string& input, const Attempt&)> reconcile = {};
};

// Of one run.
struct DurableAsk {
  std::string idempotency_key = {};
  std::string fingerprint = {};  // empty: that of the input
  std::string tenant_id = {};
  std::string correlation_id = {};  // empty: one is made, so that its events are found together
  std::string trace_id = {};
  // What else the audit events say of it; up to 16 texts of up to 256 bytes.
  std::map<std::string, std::string> context = {};
};

struct SleepingTask {
  std::string id = {};
  Instant until = {};
};

struct DurableAnswer {
  std::optional<SleepingTask> sleeps = {};  // it is not over, and there is no result yet
  std::string result = {};
};

class DurableOperation {
 public:
  using Callable = std::function<Result<std::string>(const std::string& input, const Attempt&)>;

  static Result<DurableOperation> make(Executor& executor, Queue& queue, DurableOptions options,
                                       Callable callable) noexcept;

  DurableOperation(DurableOperation&& other) noexcept;
  DurableOperation& operator=(DurableOperation&& other) noexcept;
  ~DurableOperation();

  // The input is JSON text, and comes to the callable as pawl prints it.
  Result<DurableAnswer> run(std::string_view input, const DurableAsk& ask = {}) noexcept;
  // Before the worker runs. What slept goes on there, though this object may be gone.
  void resume_on(Worker& worker);

 private:
  struct State;
  explicit DurableOperation(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace pawl
