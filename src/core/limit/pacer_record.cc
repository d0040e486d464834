#include "core/limit/pacer_record.h"

#include <variant>

#include "core/limit/explain.h"

namespace pawl::limit::pacer {
namespace {

using Word = RateLimitResetScheduled::Word;

std::string text_of(Duration wait) {
  std::string text;
  append_wait(text, wait);
  return text;
}

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

// "'SessionOrders' has 0 of 1 left"
std::string text_of(const Reading& reading) {
  std::string text = reading.dimension.empty() ? "its limit" : quoted(reading.dimension);
  if (!reading.remaining) return text + " resets then";
  text += " has " + std::to_string(*reading.remaining);
  if (reading.limit) text += " of " + std::to_string(*reading.limit);
  return text + " left";
}

std::string text_of(const RateLimitResetScheduled& note) {
  std::string text = "the " + std::to_string(note.status) + " to " + quoted(note.operation);
  switch (note.word) {
    case Word::none:
      return text + " names no instant.";
    case Word::retry_after:
      text += " says so in Retry-After";
      break;
    case Word::reset:
      text += " says that " + text_of(note.reading);
  }
  if (note.named) {
    text += ". It names " + to_string(*note.named) + ", and is believed for no longer than this";
  }
  return text + ".";
}

class Recorder {
 public:
  Recorder(const Policy& policy, std::string_view session)
      : policy_(policy), session_(session), pace_(quoted(policy.name)) {}

  std::optional<Record> operator()(const RateLimitWaiting& note) const {
    auto made = make("waiting", quoted(note.operation) + " waits " + text_of(note.wait) + ": " +
                                    pace_ + " is closed by a server's word.");
    made.details.emplace_back("wait_ms", note.wait.milliseconds_up());
    return of_call(std::move(made), note);
  }
  std::optional<Record> operator()(const RateLimitTokenWait& note) const {
    auto made = make("waiting", quoted(note.operation) + " waits " + text_of(note.wait) +
                                    " for the pace of " + named_pace() + ".");
    made.details.emplace_back("wait_ms", note.wait.milliseconds_up());
    return of_call(std::move(made), note);
  }
  std::optional<Record> operator()(const RateLimitTokenAcquired& note) const {
    auto made =
        make("allowed", quoted(note.operation) + " may leave by " + named_pace() + ": " +
                            std::to_string(note.tokens_remaining) + " more may leave at once.");
    made.details.emplace_back("remaining", note.tokens_remaining);
    return of_call(std::move(made), note);
  }
  std::optional<Record> operator()(const RateLimitNotSent& note) const {
    return of_call(make("refused", note.error.message), note);
  }
  std::optional<Record> operator()(const RateLimitResetScheduled& note) const {
    auto made =
        make("closed", pace_ + " is closed for " + text_of(note.wait) + ": " + text_of(note));
    made.operation = note.operation;
    made.details.emplace_back("wait_ms", note.wait.milliseconds_up());
    made.details.emplace_back("reset_at", to_string(note.reset_at));
    made.details.emplace_back("status", note.status);
    if (note.word == Word::retry_after) made.details.emplace_back("header", "Retry-After");
    if (note.word == Word::reset) made.details.emplace_back("header", to_string(note.reading));
    return made;
  }
  std::optional<Record> operator()(const RateLimitReopened& note) const {
    auto made =
        make("reopened", note.elsewhere ? pace_ + " was reopened by another process."
                                        : pace_ +
                                              " was reopened by an operator: the first may leave "
                                              "in " +
                                              text_of(note.wait) + ".");
    made.operation = "reopen";
    return made;
  }
  std::optional<Record> operator()(const auto&) const { return std::nullopt; }

 private:
  Record make(std::string_view decision, std::string why) const {
    return {.operation = {},
            .details = {{"decision", decision},
                        {"policy", policy_.name},
                        {"rule", to_string(policy_.rule)},
                        {"key", session_},
                        {"why", std::move(why)}}};
  }
  static Record of_call(Record made, const auto& note) {
    made.operation = note.operation;
    made.ticket = note.ticket;
    return made;
  }
  std::string named_pace() const { return pace_ + " (" + to_string(policy_.rule) + ")"; }

  const Policy& policy_;
  std::string_view session_;
  std::string pace_;
};

}  // namespace

std::optional<Record> record(const Note& note, const Policy& policy, std::string_view session) {
  return std::visit(Recorder(policy, session), note);
}

}  // namespace pawl::limit::pacer
