// What stands behind pawl::Executor, for DurableOperation too; and the words of both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapter/system/waiting_room.h"
#include "pawl/executor.h"
#include "port/event_sink.h"
#include "runtime/operations.h"

namespace pawl {

namespace library {

Attempt attempt_of(const AttemptAsk& ask);
AttemptEnd end_of(Result<std::string> result);
AttemptEnd end_of(Result<Finding> found);
// What the caller is told.
Result<std::string> told(OperationEnd end);

using Unaudited = std::function<void(const Error&)>;
// So it is, and whoever wants to know hears what the audit log did not take.
Result<std::string> result_of(OperationEnd end, const Unaudited& unaudited);

}  // namespace library

struct Executor::State {
  explicit State(Idempotency given) : keys(std::move(given)) {}
  ~State();

  Result<void> open(const ExecutorOptions& options);

  // Makes the attempts on the calling thread, until the operation has ended.
  using Work = std::function<AttemptEnd(const Attempt&)>;
  OperationEnd run_here(Operation operation, Work attempt, Work reconcile);

  Clock& clock() const;
  Durability durability() const;  // of the keys

  // What is under way ends with the timers and with the answers of the store, which come while all
  // the rest still stands.
  WaitingRoom waiting;
  std::shared_ptr<const library::Unaudited> unaudited;
  std::optional<Operations> operations;
  std::unique_ptr<EventSink> audit;
  Idempotency keys;
};

}  // namespace pawl
