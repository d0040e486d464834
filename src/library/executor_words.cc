// How an attempt ended, and how an operation did, in the words of the public interface.
#include <utility>

#include "core/retry/classify.h"
#include "library/executor_state.h"

namespace pawl::library {
namespace {

using How = execution::Answer::How;

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

std::unexpected<Error> not_slept(const OperationEnd& end, const std::string& said) {
  const std::string why = end.answer.store_said ? ": " + end.answer.store_said->message : "";
  if (end.answer.outcome == Outcome::unknown) {
    return error(Code::unresolved, end,
                 "nobody knows whether the queue took it, to go on later" + why);
  }
  return error(Code::unavailable, end,
               "the queue did not take it, and it was not to wait here" + why + said);
}

}  // namespace

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
    case How::asleep:
      return error(Code::internal, end, "it sleeps, and nobody was told as what");
    case How::not_slept:
      return not_slept(end, said);
  }
  __builtin_unreachable();
}

Result<std::string> result_of(OperationEnd end, const Unaudited& unaudited) {
  if (end.unaudited && unaudited) unaudited(*end.unaudited);
  return told(std::move(end));
}

}  // namespace pawl::library
