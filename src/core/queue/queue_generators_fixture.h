// Random commands, segments and tasks, for property tests. Everything made here passes check()
// and is read back as it was written.
#pragma once

#include <algorithm>
#include <limits>
#include <rapidcheck.h>
#include <string>
#include <vector>

#include "base/bounds_queue.h"
#include "core/queue/command.h"
#include "core/queue/segment.h"
#include "core/queue/task.h"

namespace pawl::queue::any {

// Few letters, so that names meet again; and such as are written in several bytes.
inline rc::Gen<std::string> name(std::size_t shortest = 0) {
  return rc::gen::exec([shortest] {
    const auto length = *rc::gen::inRange<std::size_t>(shortest, 6);
    std::string out;
    for (std::size_t i = 0; i < length; ++i) {
      out += *rc::gen::element<std::string>("a", "b", "c", "-", " ", "é", "\"", "\\", "😀");
    }
    return out;
  });
}

inline rc::Gen<std::string> json() {
  return rc::gen::element<std::string>(R"({})", R"(null)", R"("text")", R"({"n":1.10})",
                                       R"([1,2,{"a":"é"}])", R"({"url":"https://example.org/a"})");
}

inline rc::Gen<Instant> instant() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(-1'000, 4'000'000'000'000'000'000),
                      Instant::from_ns);
}

inline rc::Gen<Duration> duration(Duration most = Duration::days(7)) {
  return rc::gen::oneOf(
      rc::gen::just(Duration()), rc::gen::just(most),
      rc::gen::map(rc::gen::inRange<std::int64_t>(0, most.ns()), Duration::nanoseconds));
}

// Of a lease, of a timeout.
inline rc::Gen<Duration> some_time(Duration most) {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(1, most.ns() + 1), Duration::nanoseconds);
}

template <class T>
rc::Gen<std::optional<T>> maybe(rc::Gen<T> gen) {
  return rc::gen::exec([gen = std::move(gen)]() -> std::optional<T> {
    if (*rc::gen::arbitrary<bool>()) return {};
    return *gen;
  });
}

template <class Enum>
rc::Gen<Enum> one_of(Enum last, Enum first = Enum{1}) {
  return rc::gen::map(rc::gen::inRange(static_cast<int>(first), static_cast<int>(last) + 1),
                      [](int value) { return static_cast<Enum>(value); });
}

inline rc::Gen<TaskId> id(std::uint8_t shard = 0) {
  return rc::gen::exec([shard] {
    TaskId made;
    for (std::uint8_t& byte : made.bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
    made.bytes[0] = shard;
    return made;
  });
}

inline rc::Gen<RetryRule> retry_rule() {
  return rc::gen::exec([] {
    RetryRule rule;
    rule.max_delay = *duration();
    rule.base_delay = *duration(rule.max_delay);
    rule.multiplier_milli = *rc::gen::inRange<std::int64_t>(1'000, 10'001);
    rule.jitter_milli = *rc::gen::inRange<std::int64_t>(0, 1'001);
    const auto count = *rc::gen::inRange<std::size_t>(0, 4);
    for (std::size_t i = 0; i < count; ++i) rule.delays.push_back(*duration(rule.max_delay));
    return rule;
  });
}

inline rc::Gen<TaskTerms> terms() {
  return rc::gen::exec([] {
    return TaskTerms{
        .type = *name(1),
        .input = *json(),
        .key = *name(),
        .unique = *name(),
        .priority = *rc::gen::inRange(-bounds::task_priority_max, bounds::task_priority_max + 1),
        .max_retries = *rc::gen::inRange<std::uint32_t>(0, bounds::task_retries_max + 1),
        .max_reschedules = *maybe(rc::gen::arbitrary<std::uint32_t>()),
        .timeout = *some_time(bounds::task_timeout_max),
        .retry = *retry_rule(),
    };
  });
}

inline Command command_of_kind(std::size_t kind) {
  const auto lease = some_time(bounds::task_lease_max);
  const auto fence = *rc::gen::arbitrary<std::uint64_t>();
  switch (kind) {
    case 0:
      return Submit{.id = *id(),
                    .terms = *terms(),
                    .delay = *duration(),
                    .at = *maybe(instant()),
                    .time_to_live = *duration(),
                    .expires = *maybe(instant()),
                    .counts = {.attempts = *rc::gen::arbitrary<std::uint32_t>(),
                               .retries = *rc::gen::arbitrary<std::uint32_t>(),
                               .reschedules = *rc::gen::arbitrary<std::uint32_t>()}};
    case 1:
      return Claim{.worker = *name(1),
                   .types = *rc::gen::container<std::vector<std::string>>(name(1)),
                   .count = *rc::gen::inRange<std::uint32_t>(1, bounds::claim_tasks_max + 1),
                   .lease = *lease};
    case 2:
      return Renew{.id = *id(), .fence = fence, .lease = *lease};
    case 3:
      return Complete{.id = *id(), .fence = fence, .output = *json()};
    case 4:
      return Fail{.id = *id(),
                  .fence = fence,
                  .error = *rc::gen::arbitrary<std::string>(),
                  .permanent = *rc::gen::arbitrary<bool>(),
                  .not_before = *duration()};
    case 5:
      return Reschedule{.id = *id(),
                        .fence = fence,
                        .delay = *duration(),
                        .scope = *one_of(Scope::queue),
                        .counted = *rc::gen::arbitrary<bool>(),
                        .input = *rc::gen::arbitrary<bool>() ? *json() : std::string()};
    case 6:
      return Cancel{.id = *id(), .by = *name(), .why = *rc::gen::arbitrary<std::string>()};
    case 7:
      return Replay{.id = *id()};
    case 8:
      return Close{.scope = *one_of(Scope::queue, Scope::key),
                   .name = *name(1),
                   .until = *instant(),
                   .spread = *duration()};
    case 9:
      return SetLimit{.limited = *one_of(Limited::each_key),
                      .name = *name(1),
                      .rate = *rc::gen::arbitrary<std::uint32_t>(),
                      .period = *duration() + Duration::nanoseconds(1),
                      .running = *rc::gen::arbitrary<std::uint32_t>()};
    case 10:
      return SetSchedule{.name = *name(1),
                         .cron = *rc::gen::element<std::string>("", "@daily", "*/5 * * * 1-5"),
                         .zone = *rc::gen::element<std::string>("UTC", "Europe/Zurich"),
                         .terms = *terms(),
                         .enabled = *rc::gen::arbitrary<bool>(),
                         .next = *instant()};
    default:
      return Fire{.name = *name(1), .due = *instant(), .next = *instant(), .id = *id()};
  }
}

inline rc::Gen<Command> command() {
  return rc::gen::exec([] {
    return command_of_kind(*rc::gen::inRange<std::size_t>(0, std::variant_size_v<Command>));
  });
}

inline rc::Gen<std::vector<Command>> commands() {
  return rc::gen::container<std::vector<Command>>(command());
}

inline rc::Gen<Segment> segment() {
  return rc::gen::exec([] {
    return Segment{
        .shard = *rc::gen::arbitrary<std::uint8_t>(),
        .sequence = std::max<std::uint64_t>(*rc::gen::arbitrary<std::uint64_t>(), 1),
        .writer = *name(),
        .nonce = {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()},
        .before = {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()},
        .at = *instant(),
        .commands = *commands(),
    };
  });
}

inline rc::Gen<Task> task() {
  return rc::gen::exec([] {
    const auto status = *one_of(Status::expired);
    return Task{
        .id = *id(),
        .terms = *terms(),
        .status = status,
        .attempt = *rc::gen::arbitrary<std::uint32_t>(),
        .retry_count = *rc::gen::arbitrary<std::uint32_t>(),
        .reschedule_count = *rc::gen::arbitrary<std::uint32_t>(),
        .created_at = *instant(),
        .available_at = *instant(),
        .updated_at = *instant(),
        .expires_at = *maybe(instant()),
        .lease_expires_at = *maybe(instant()),
        .completed_at = *maybe(instant()),
        .fence = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 53),
        .worker = *name(),
        .output = status == Status::completed ? *json() : "",
        .last_error = *name(),
        .cancel_requested = *rc::gen::arbitrary<bool>(),
        .cancelled_by = *name(),
    };
  });
}

inline rc::Gen<History> history() {
  return rc::gen::map(
      rc::gen::container<std::vector<Version>>(rc::gen::exec([] {
        return Version{.at = *instant(),
                       .status = *one_of(Status::expired),
                       .reason = *one_of(Reason::cancel_asked),
                       .worker = *name(),
                       .delay = *duration(),
                       .count = *rc::gen::arbitrary<std::uint32_t>(),
                       .detail = *name()};
      })),
      [](std::vector<Version> versions) { return History{.versions = std::move(versions)}; });
}

}  // namespace pawl::queue::any
