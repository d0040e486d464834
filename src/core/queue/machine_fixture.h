// A machine with a hand on its clock: one command a segment, and what became of it.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/queue/machine.h"

namespace pawl::queue {

inline TaskId id_of(std::uint32_t number) {
  TaskId id;
  for (std::size_t i = 0; i < 4; ++i) {
    id.bytes[11 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return id;
}

// Why it was refused.
inline std::string refusal(const Reply& reply, Code code = Code::refused) {
  const auto* refusal = std::get_if<Refusal>(&reply);
  if (refusal == nullptr) return "not refused";
  EXPECT_EQ(refusal->code, code) << refusal->message;
  return refusal->message;
}

// A retry waits so long, without dice.
inline TaskTerms plain(std::uint32_t retries = 3) {
  TaskTerms terms = {.type = "mail", .input = "{}", .max_retries = retries};
  terms.retry.jitter_milli = 0;
  return terms;
}

inline TaskTerms keyed(std::string key, std::string type = "mail") {
  return {.type = std::move(type), .input = "{}", .key = std::move(key)};
}

class MachineTest : public ::testing::Test {
 protected:
  Instant now() const { return now_; }
  void pass(Duration time) { now_ = now_ + time; }

  std::vector<Reply> all(const std::vector<Command>& commands) {
    return machine_.apply(now_, commands);
  }
  Reply one(Command command) {
    const std::vector<Command> commands = {std::move(command)};
    return all(commands)[0];
  }
  void tick() { all({}); }

  TaskId submit(std::uint32_t number, TaskTerms terms = {}) {
    if (terms.type.empty()) terms.type = "mail";
    const Reply reply = one(Submit{.id = id_of(number), .terms = std::move(terms)});
    EXPECT_TRUE(std::holds_alternative<Submitted>(reply));
    return id_of(number);
  }
  // By the numbers they were submitted with.
  std::vector<std::uint32_t> claim(std::uint32_t count = 1, std::vector<std::string> types = {}) {
    const Reply reply = one(Claim{.worker = "worker-1",
                                  .types = std::move(types),
                                  .count = count,
                                  .lease = Duration::seconds(30)});
    std::vector<std::uint32_t> numbers;
    for (const Task& task : std::get<Claimed>(reply).tasks) numbers.push_back(number_of(task.id));
    return numbers;
  }
  static std::uint32_t number_of(const TaskId& id) {
    std::uint32_t number = 0;
    for (std::size_t i = 8; i < 12; ++i) number = number << 8 | id.bytes[i];
    return number;
  }

  Task task(std::uint32_t number) const {
    const auto found = machine_.find(id_of(number));
    EXPECT_TRUE(found.has_value());
    return found.value_or(Task());
  }
  std::uint64_t fence(std::uint32_t number) const { return task(number).fence; }
  Status status(std::uint32_t number) const { return task(number).status; }
  Changed complete(std::uint32_t number) {
    return std::get<Changed>(one(Complete{.id = id_of(number), .fence = fence(number)}));
  }
  Changed fail(std::uint32_t number, std::string error = "reset", bool permanent = false) {
    return std::get<Changed>(one(Fail{.id = id_of(number),
                                      .fence = fence(number),
                                      .error = std::move(error),
                                      .permanent = permanent}));
  }
  Changed reschedule(std::uint32_t number, Duration delay, Scope scope = Scope::task) {
    return std::get<Changed>(one(
        Reschedule{.id = id_of(number), .fence = fence(number), .delay = delay, .scope = scope}));
  }
  std::vector<std::string> lines(std::uint32_t number) const {
    std::vector<std::string> lines;
    const History history = machine_.history(id_of(number)).value_or(History());
    for (const Version& version : history.versions) {
      lines.push_back(to_string(version, lines.size() + 1));
    }
    return lines;
  }
  Why why(std::uint32_t number) const { return *machine_.why(id_of(number), now_); }

  Settings settings_ = {};
  Instant now_ = Instant::from_ns(1'700'000'000'000'000'000);
  Machine machine_ = Machine(0, settings_);
};

}  // namespace pawl::queue
