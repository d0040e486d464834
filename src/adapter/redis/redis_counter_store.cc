#include "adapter/redis/redis_counter_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace pawl {
namespace {

using redis::Amendment;
using redis::CountGroup;
using redis::FoundCounts;

Amendment amendment_of(const Settlement& how, std::uint64_t id) {
  switch (how.kind) {
    case Settlement::Kind::commit:
      return {.verb = "commit",
              .number = std::clamp<std::int64_t>(how.actual, 0, bounds::limit_count_max),
              .reservation = id};
    case Settlement::Kind::cancel:
      return {.verb = "cancel", .reservation = id};
    case Settlement::Kind::renew:
      break;
  }
  return {.verb = "renew",
          .number =
              redis::microseconds_up(std::clamp(how.hold, Duration(), bounds::limit_hold_max).ns()),
          .reservation = id};
}

}  // namespace

struct RedisCounterStore::Asking {
  std::vector<CountGroup> groups;
  std::int64_t cost = 0;
  std::uint64_t id = 0;
  std::optional<Duration> hold;
  SteadyInstant deadline;
  Done<Reservation> done;
  std::vector<FoundCounts> found = {};  // of the groups that have been asked
  std::size_t charged = 0;              // the first so many groups
  bool refused = false;                 // by the one after those
  std::optional<Error> failed = {};
};

struct RedisCounterStore::Settling {
  std::vector<CountGroup> groups;
  Amendment how;
  SteadyInstant deadline;
  Done<void> done;
  std::size_t next = 0;
};

Result<std::unique_ptr<RedisCounterStore>> RedisCounterStore::make(
    const redis::RedisUrl& url, Clock& clock, const RedisCounterStoreOptions& options) {
  auto client = PAWL_TRY(redis::Client::make(url, clock));
  return std::unique_ptr<RedisCounterStore>(
      new RedisCounterStore(url.cluster, clock, options, std::move(client)));
}

RedisCounterStore::RedisCounterStore(bool cluster, Clock& clock,
                                     const RedisCounterStoreOptions& options,
                                     std::unique_ptr<redis::Client> client)
    : cluster_(cluster),
      clock_(clock),
      deadline_(options.deadline),
      ids_(options.seed),
      scripts_(*client, clock, {.zones = options.zones, .time = options.time}),
      client_(std::move(client)) {}

RedisCounterStore::~RedisCounterStore() = default;

void RedisCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  auto asking = std::make_unique<Asking>(
      Asking{.groups = redis::groups_of(counts, cluster_),
             .cost = cost,
             .hold = {},
             .deadline = deadline_from_now(),
             .done = [done = std::move(done)](Result<Reservation> result) mutable {
               if (!result) return done(std::unexpected(std::move(result.error())));
               done(std::move(result->answer));
             }});
  if (asking->groups.size() > 1) asking->id = ids_.next();
  ask_next(std::move(asking));
}

void RedisCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                Done<Reservation> done) {
  ask_next(std::make_unique<Asking>(Asking{.groups = redis::groups_of(counts, cluster_),
                                           .cost = cost,
                                           .id = ids_.next(),
                                           .hold = hold,
                                           .deadline = deadline_from_now(),
                                           .done = std::move(done)}));
}

// One group after the other. Once one has refused, the rest only say what they would have said.
void RedisCounterStore::ask_next(std::unique_ptr<Asking> asking) {
  const CountGroup& group = asking->groups[asking->found.size()];
  redis::Asked asked{.cost = asking->cost, .is_charged = !asking->refused};
  const bool is_last = asking->found.size() + 1 == asking->groups.size();
  // What refuses or fails after this group does so by the ask's deadline, and undo_next() gives up
  // one more later: a record that stayed longer would serve nobody. Behind the last group is none.
  const bool may_be_undone = !is_last && asking->cost > 0;
  if (asked.is_charged && (asking->hold || may_be_undone)) {
    asked.holding = {.id = asking->id,
                     .hold = asking->hold.value_or(Duration()),
                     .undoable = may_be_undone ? deadline_ * 2 : Duration()};
  }
  const SteadyInstant deadline = asking->deadline;
  scripts_.ask(group, asked, deadline,
               [this, asking = std::move(asking)](Result<FoundCounts> found) mutable {
                 on_asked(std::move(asking), std::move(found));
               });
}

void RedisCounterStore::on_asked(std::unique_ptr<Asking> asking, Result<FoundCounts> found) {
  if (!found) {
    asking->failed = std::move(found.error());
    return undo_next(std::move(asking));
  }
  if (found->allowed == false) asking->refused = true;
  if (!asking->refused) ++asking->charged;
  asking->found.push_back(std::move(*found));
  if (asking->found.size() < asking->groups.size()) return ask_next(std::move(asking));
  if (asking->refused) return undo_next(std::move(asking));
  asking->done(Reservation{.id = asking->hold ? asking->id : 0, .answer = answer_of(*asking)});
}

// Gives back what was charged before one group refused or failed, then says so.
void RedisCounterStore::undo_next(std::unique_ptr<Asking> asking) {
  if (asking->charged == 0) {
    if (asking->failed) return asking->done(std::unexpected(*std::move(asking->failed)));
    return asking->done(Reservation{.id = 0, .answer = answer_of(*asking)});
  }
  const CountGroup& group = asking->groups[--asking->charged];
  const Amendment undo{.verb = "undo", .reservation = asking->id};
  const SteadyInstant deadline = asking->deadline + deadline_;
  scripts_.amend(group, undo, deadline,
                 [this, asking = std::move(asking)](const Result<bool>& undone) mutable {
                   const bool is_undone = undone && *undone;
                   if (!is_undone && asking->failed) asking->failed->outcome = Outcome::unknown;
                   undo_next(std::move(asking));
                 });
}

limit::Answer RedisCounterStore::verdicts_of(const CountGroup& group, const FoundCounts& found,
                                             std::int64_t cost) {
  limit::Answer answer = redis::decide(group, found, cost);
  if (cost > 0 && found.allowed && answer.allowed != *found.allowed) {
    ++disagreements_;
    answer.allowed = *found.allowed;
  }
  return answer;
}

limit::Answer RedisCounterStore::answer_of(const Asking& asking) {
  if (asking.groups.size() == 1) {
    return verdicts_of(asking.groups[0], asking.found[0], asking.cost);
  }
  std::array<limit::Verdict, bounds::limit_policies_max> placed;
  std::vector<Count> counts(bounds::limit_policies_max, {.policy = nullptr, .key = ""});
  std::size_t size = 0;
  limit::Answer whole;
  for (std::size_t g = 0; g < asking.groups.size(); ++g) {
    const CountGroup& group = asking.groups[g];
    const limit::Answer part = verdicts_of(group, asking.found[g], asking.cost);
    const limit::Answer look = redis::decide(group, asking.found[g], 0);
    whole.now = part.now;
    for (std::size_t i = 0; i < group.items.size(); ++i, ++size) {
      // What was given back is still there.
      const bool kept = asking.refused && part.verdicts[i].allowed;
      placed[group.items[i].place] = kept ? look.verdicts[i] : part.verdicts[i];
      counts[group.items[i].place].policy = group.items[i].policy;
    }
  }
  for (std::size_t i = 0; i < size; ++i) whole.verdicts.add(placed[i]);
  limit::conclude(Counts(counts.data(), size), whole);
  whole.allowed = !asking.refused;
  return whole;
}

void RedisCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  auto settling = std::make_unique<Settling>(Settling{.groups = redis::groups_of(counts, cluster_),
                                                      .how = amendment_of(how, id),
                                                      .deadline = deadline_from_now(),
                                                      .done = std::move(done)});
  // The first count's record says whether it has been settled before.
  const auto is_first = [](const CountGroup& group) { return group.items[0].place == 0; };
  std::ranges::rotate(settling->groups, std::ranges::find_if(settling->groups, is_first));
  settle_next(std::move(settling));
}

void RedisCounterStore::settle_next(std::unique_ptr<Settling> settling) {
  if (settling->next == settling->groups.size()) return settling->done({});
  const Settling& now = *settling;
  const CountGroup& group = now.groups[settling->next++];
  scripts_.amend(group, now.how, now.deadline,
                 [this, settling = std::move(settling)](Result<bool> found) mutable {
                   const bool is_first = settling->next == 1;
                   if (!found) {
                     if (!is_first) found.error().outcome = Outcome::unknown;
                     return settling->done(std::unexpected(std::move(found.error())));
                   }
                   // What ran out in a later slot alone is settled; it is not there to be renewed.
                   if (!*found && (is_first || settling->how.verb == "renew")) {
                     return settling->done(reservation_not_found());
                   }
                   settle_next(std::move(settling));
                 });
}

void RedisCounterStore::amend(const Count& count, const Amendment& how, Done<void> done) {
  auto groups = std::make_unique<std::vector<CountGroup>>(redis::groups_of({&count, 1}, cluster_));
  const CountGroup& group = groups->front();
  scripts_.amend(group, how, deadline_from_now(),
                 [groups = std::move(groups), done = std::move(done)](Result<bool> found) mutable {
                   if (!found) return done(std::unexpected(std::move(found.error())));
                   done({});
                 });
}

void RedisCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  if (std::holds_alternative<limit::Concurrency>(count.policy->rule)) return done({});
  const auto number = std::clamp<std::int64_t>(cost, 0, bounds::limit_count_max);
  amend(count, {.verb = "refund", .number = number}, std::move(done));
}

void RedisCounterStore::close(const Count& count, Instant until, Done<void> done) {
  const Duration shut = std::min(until - scripts_.wall_now(), bounds::limit_period_max);
  if (shut <= Duration()) return done({});
  amend(count, {.verb = "close", .number = redis::microseconds_up(shut.ns())}, std::move(done));
}

void RedisCounterStore::reset(const Count& count, Done<void> done) {
  const std::string key = redis::count_key(count);
  const std::string_view command[] = {"DEL", key};
  client_->call(command, key, deadline_,
                [done = std::move(done)](Result<redis::Reply> reply) mutable {
                  if (!reply) return done(std::unexpected(std::move(reply.error())));
                  done({});
                });
}

Result<void> RedisCounterStore::health() {
  const redis::Health health = client_->health();
  if (health.up) return {};
  return failure(Code::unavailable, "redis: " + health.detail);
}

}  // namespace pawl
