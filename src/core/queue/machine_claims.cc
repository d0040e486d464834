// Commands: submit and claim.
#include <algorithm>

#include "base/bounds_queue.h"
#include "core/queue/machine_state.h"

namespace pawl::queue {
namespace {

std::string range(std::string_view member, std::string found, std::string allowed) {
  return std::string(member).append(" is ").append(found).append(": it must be ").append(allowed);
}

Result<void> check_length(std::string_view member, std::size_t found, std::size_t most) {
  if (found <= most) return {};
  return failure(Code::invalid, std::string(member)
                                    .append(" has ")
                                    .append(std::to_string(found))
                                    .append(" bytes: at most ")
                                    .append(std::to_string(most))
                                    .append(" are allowed"));
}

Instant moment_or_delay(const std::optional<Instant>& moment, Duration delay, Instant now) {
  return moment ? *moment : now + std::max(delay, Duration());
}

// A type in the race for the next task of a claim: where its first task stood when last looked at.
struct Runner {
  Place place;
  std::uint32_t type = 0;
};
bool is_slower(const Runner& a, const Runner& b) {
  return Higher()(b.place, a.place);
}

}  // namespace

Result<void> check_terms(const TaskTerms& terms) {
  if (terms.type.empty()) return failure(Code::invalid, "a task needs a type: none was given");
  const std::size_t most = bounds::task_name_bytes_max;
  PAWL_TRY(check_length("the type of a task", terms.type.size(), most));
  PAWL_TRY(check_length("the key of a task", terms.key.size(), most));
  PAWL_TRY(check_length("the unique name of a task", terms.unique.size(), most));
  PAWL_TRY(check_length("the input of a task", terms.input.size(), bounds::task_input_bytes_max));
  constexpr std::int32_t priority = bounds::task_priority_max;
  if (terms.priority < -priority || terms.priority > priority) {
    return failure(Code::invalid,
                   range("priority", std::to_string(terms.priority),
                         "-" + std::to_string(priority) + " … " + std::to_string(priority)));
  }
  if (terms.max_retries > bounds::task_retries_max) {
    return failure(Code::invalid, range("max_retries", std::to_string(terms.max_retries),
                                        "at most " + std::to_string(bounds::task_retries_max)));
  }
  if (terms.timeout <= Duration() || terms.timeout > bounds::task_timeout_max) {
    return failure(Code::invalid,
                   range("timeout", to_string(terms.timeout),
                         "above nothing and at most " + to_string(bounds::task_timeout_max)));
  }
  if (terms.retry.delays.size() > bounds::task_delays_max) {
    return failure(Code::invalid,
                   range("the list of retry delays", std::to_string(terms.retry.delays.size()),
                         "of at most " + std::to_string(bounds::task_delays_max)));
  }
  return retry::check(policy_of(terms.retry));
}

Reply Machine::State::run(const Submit& submit) {
  if (find(submit.id) != 0) return Submitted{.id = submit.id, .fresh = false};
  const TaskTerms& terms = submit.terms;
  if (const auto good = check_terms(terms); !good) {
    return refuse(good.error().code, good.error().message);
  }
  if (submit.id.shard() != shard) {
    return refuse(Code::invalid, "task " + to_string(submit.id) + " is of shard " +
                                     std::to_string(submit.id.shard()) + ", and this is shard " +
                                     std::to_string(shard));
  }
  const std::uint32_t key = terms.key.empty() ? 0 : keys.find(terms.key);
  if (!terms.unique.empty() && (terms.key.empty() || key != 0)) {
    if (const std::uint32_t number = find_unique(key, terms.unique)) {
      const Slot& slot = slots[number];
      if (types[slot.type].name == terms.type && has_same_input(slot, terms.input)) {
        return Submitted{.id = slot.id, .fresh = false};
      }
      return refuse(Code::refused, "'" + terms.unique + "' is already the name of task " +
                                       to_string(slot.id) +
                                       ", which has another type or input: choose another name, "
                                       "or submit the same");
    }
  }
  if (ids.size() >= bounds::queue_tasks_max) {
    return refuse(Code::refused, "the queue is full: it has " + std::to_string(ids.size()) +
                                     " tasks, those that are over and still kept included");
  }
  Instant expires = Instant::max();
  if (submit.expires || submit.time_to_live > Duration()) {
    expires = moment_or_delay(submit.expires, submit.time_to_live, now);
  }
  const std::uint32_t number = add(submit.id, terms, expires);
  Slot& slot = slots[number];
  slot.attempt = submit.counts.attempts;
  slot.retry_count = submit.counts.retries;
  slot.reschedule_count = submit.counts.reschedules;
  enter_pending(number, std::max(now, moment_or_delay(submit.at, submit.delay, now)));
  return Submitted{.id = submit.id};
}

// The types of a claim that are known; all that have something due when none is named.
std::vector<std::uint32_t> Machine::State::wanted(std::span<const std::string> names) const {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names) {
    if (const std::uint32_t number = types.find(name)) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  const auto [first, last] = std::ranges::unique(numbers);
  numbers.erase(first, last);
  return numbers;
}

std::optional<Refusal> Machine::State::refusal_of(const Claim& claim) {
  if (claim.worker.empty() || claim.worker.size() > bounds::task_name_bytes_max) {
    return refuse(Code::invalid, "the name of a worker has " + std::to_string(claim.worker.size()) +
                                     " bytes: it must have 1 … " +
                                     std::to_string(bounds::task_name_bytes_max));
  }
  if (claim.lease > Duration()) return {};
  return refuse(Code::invalid, "a lease must last: it is " + to_string(claim.lease));
}

std::optional<Reply> Machine::State::reply_in_vain(const Claim& claim, Instant at) {
  if (auto refusal = refusal_of(claim)) return refusal;
  if (claimable(claim.types, at, 1) > 0) return {};
  return Claimed();
}

Reply Machine::State::run(const Claim& claim) {
  if (auto refusal = refusal_of(claim)) return *std::move(refusal);
  std::vector<Runner> race;
  const auto enter = [&](std::uint32_t type) {
    if (const auto found = best(type, now)) race.push_back({.place = found->place, .type = type});
  };
  for (const std::uint32_t type : wanted(claim.types)) enter(type);
  if (claim.types.empty()) std::ranges::for_each(std::set(busy), enter);
  std::ranges::make_heap(race, is_slower);

  const std::uint32_t worker = use_worker(claim.worker);
  const Duration lease = std::min(claim.lease, bounds::task_lease_max);
  const std::size_t most = std::min<std::size_t>(claim.count, bounds::claim_tasks_max);
  Claimed claimed;
  while (claimed.tasks.size() < most && !race.empty() && look_at_queue(now).open()) {
    std::ranges::pop_heap(race, is_slower);
    const std::uint32_t type = race.back().type;
    race.pop_back();
    if (!look_at_type(type, now).open()) continue;
    const auto found = best(type, now);
    if (!found) continue;
    // What it had in front may be gone or blocked by now: then others may be faster.
    const bool is_first = race.empty() || !Higher()(race.front().place, found->place);
    if (is_first) {
      take(type, *found);
      start(found->place.slot, worker, lease);
      claimed.tasks.push_back(task_of(slots[found->place.slot]));
    }
    race.push_back({.place = found->place, .type = type});
    std::ranges::push_heap(race, is_slower);
  }
  drop_worker(worker);
  return claimed;
}

}  // namespace pawl::queue
