// Gates: closings and limits of the queue, of types and of keys.
#include <algorithm>

#include "base/bounds_queue.h"
#include "core/queue/machine_state.h"

namespace pawl::queue {
namespace {

std::optional<Scope> scope_of_limit(Limited limited) {
  switch (limited) {
    case Limited::queue:
      return Scope::queue;
    case Limited::type:
      return Scope::type;
    case Limited::key:
      return Scope::key;
    case Limited::each_key:
      break;
  }
  return {};
}

std::optional<Refusal> bad_name(bool needed, const std::string& name) {
  if (needed && (name.empty() || name.size() > bounds::task_name_bytes_max)) {
    return refuse(Code::invalid, "a key or type needs a name of 1 … " +
                                     std::to_string(bounds::task_name_bytes_max) +
                                     " bytes: this one has " + std::to_string(name.size()));
  }
  if (!needed && !name.empty()) {
    return refuse(Code::invalid, "'" + name.substr(0, 64) +
                                     "' is given, but what is meant has no name: leave it empty");
  }
  return {};
}

// The n-th part of a whole that is shared out, the rest to the first ones.
std::uint32_t part(std::uint32_t whole, std::uint32_t shares, std::uint32_t number) {
  return whole / shares + (number < whole % shares ? 1 : 0);
}

}  // namespace

// Of a key or type. What is limited for each key is so for a new one too.
std::uint32_t Machine::State::find_or_make(Scope scope, std::string_view name) {
  if (scope == Scope::type) return types.find_or_make(name).number;
  const auto [number, fresh] = keys.find_or_make(name);
  if (fresh && limits.contains({Limited::each_key, ""})) {
    make_gate(Scope::key, number).set_limit(limit_of(Limited::each_key, ""));
  }
  return number;
}

Gate* Machine::State::find_gate(Scope scope, std::uint32_t number) {
  if (scope == Scope::queue) return &gate;
  return scope == Scope::type ? types[number].gate.get() : keys[number].gate.get();
}

Gate& Machine::State::make_gate(Scope scope, std::uint32_t number) {
  if (scope == Scope::queue) return gate;
  auto& kept = scope == Scope::type ? types[number].gate : keys[number].gate;
  if (!kept) kept = std::make_unique<Gate>();
  return *kept;
}

std::uint32_t Machine::State::due_in(Scope scope, std::uint32_t number) const {
  if (scope == Scope::queue) return due;
  return scope == Scope::type ? types[number].due : keys[number].due;
}

std::string Machine::State::name_of(Scope scope, std::uint32_t number) const {
  if (scope == Scope::queue) return {};
  return scope == Scope::type ? types[number].name : keys[number].name;
}

Gate::Look Machine::State::look_at_type(std::uint32_t number, Instant at) const {
  const TypeState& type = types[number];
  return type.gate ? type.gate->look(at, type.count(Status::running)) : Gate::Look();
}

Gate::Look Machine::State::look_at_key(std::uint32_t number, Instant at) const {
  if (number == 0) return {};
  const KeyState& key = keys[number];
  return key.gate ? key.gate->look(at, key.running) : Gate::Look();
}

// Until a moment that may have passed: then it opens.
void Machine::State::close_scope(const ScopeAt& closing, Duration spread) {
  Gate& kept = make_gate(closing.scope, closing.number);
  closed.erase({.at = kept.closed_until(), .scope = closing.scope, .number = closing.number});
  if (closing.at > now) {
    Spread spread_over = {.length = spread};
    if (spread <= Duration()) {
      const Duration tenth = (closing.at - now) / 10;
      spread_over = {.length = std::min(tenth, bounds::queue_spread_max),
                     .step_max = bounds::queue_spread_step_max};
    }
    kept.close(closing.at, spread_over);
    closed.insert(closing);
  } else {
    kept.open();
  }
  if (closing.scope == Scope::key) wake_key(closing.number);
  rest(closing.scope, closing.number);
}

// Forgets a key or type that has no task and nothing to remember, or notes when it will have.
void Machine::State::rest(Scope scope, std::uint32_t number) {
  if (scope == Scope::queue) return;
  const bool is_key = scope == Scope::key;
  if (is_key ? keys[number].uses > 0 || keys[number].limited
             : types[number].uses > 0 || types[number].limited) {
    return;
  }
  const Gate* kept = find_gate(scope, number);
  if (kept && kept->rests_at() > now) {
    resting.insert({.at = kept->rests_at(), .scope = scope, .number = number});
    return;
  }
  if (is_key) {
    const std::vector<std::uint32_t> all = keys[number].lanes;
    for (const std::uint32_t lane : all) drop_lane(lane);
    keys.erase(number);
    return;
  }
  drop_lanes(number);
  if (types[number].alarmed) alarms.erase({types[number].alarm, number});
  types.erase(number);
}

// What this shard may use of a limit. A key is in one shard; the rest is shared out.
GateLimit Machine::State::limit_of(Limited limited, const std::string& name) const {
  auto found = limits.find({limited, name});
  if (found == limits.end() && limited == Limited::key) {
    found = limits.find({Limited::each_key, ""});
  }
  if (found == limits.end()) return {};
  const SetLimit& limit = found->second;
  const bool shared = limited == Limited::queue || limited == Limited::type;
  const std::uint32_t shares = shared ? settings.shards : 1;
  const std::uint32_t mine = shared ? shard : 0;
  return {.rate = part(limit.rate, shares, mine),
          .period = limit.period,
          .running = part(limit.running, shares, mine)};
}

std::optional<std::string> Machine::State::share_problem(const SetLimit& limit) const {
  if (limit.limited != Limited::queue && limit.limited != Limited::type) return {};
  const auto too_few = [&](std::uint32_t whole) { return whole > 0 && whole < settings.shards; };
  if (!too_few(limit.rate) && !too_few(limit.running)) return {};
  return "a limit of " + std::to_string(too_few(limit.rate) ? limit.rate : limit.running) +
         " cannot be shared out among " + std::to_string(settings.shards) +
         " shards: give the tasks a key, and limit that";
}

void Machine::State::apply_limit(Limited limited, const std::string& name) {
  const bool is_set = limits.contains({limited, name});
  if (limited == Limited::each_key) {
    std::vector<std::uint32_t> others;
    keys.each([&](std::uint32_t number, const KeyState& key) {
      if (!key.limited) others.push_back(number);
    });
    for (const std::uint32_t number : others) {
      if (!is_set && !keys[number].gate) continue;
      make_gate(Scope::key, number).set_limit(limit_of(Limited::key, keys[number].name));
      wake_key(number);
      rest(Scope::key, number);
    }
    return;
  }
  const Scope scope = *scope_of_limit(limited);
  const std::uint32_t number = scope == Scope::queue ? 0 : find_or_make(scope, name);
  if (scope == Scope::type) types[number].limited = is_set;
  if (scope == Scope::key) keys[number].limited = is_set;
  make_gate(scope, number).set_limit(limit_of(limited, name));
  if (scope == Scope::key) wake_key(number);
  rest(scope, number);
}

Reply Machine::State::run(const SetLimit& limit) {
  const bool named = limit.limited == Limited::type || limit.limited == Limited::key;
  if (const auto refusal = bad_name(named, limit.name)) return *refusal;
  const std::pair<Limited, std::string> place = {limit.limited, limit.name};
  if (limit.rate == 0 && limit.running == 0) {
    if (limits.erase(place) == 0) return Changed();
  } else {
    const auto good = check(GateLimit{limit.rate, limit.period, limit.running});
    if (!good) return refuse(good.error().code, good.error().message);
    if (const auto problem = share_problem(limit)) return refuse(Code::invalid, *problem);
    if (limits.size() >= bounds::queue_limits_max && !limits.contains(place)) {
      return refuse(Code::refused, "there are " + std::to_string(limits.size()) +
                                       " limits, and no more may be set: remove one, or limit "
                                       "each key at once");
    }
    limits[place] = limit;
  }
  apply_limit(limit.limited, limit.name);
  return Changed();
}

Reply Machine::State::run(const Close& close) {
  if (close.scope == Scope::task) {
    return refuse(Code::invalid, "a task cannot be closed: name a key, a type or the queue");
  }
  if (const auto refusal = bad_name(close.scope != Scope::queue, close.name)) return *refusal;
  std::uint32_t number = 0;
  if (close.scope == Scope::type) number = types.find(close.name);
  if (close.scope == Scope::key) number = keys.find(close.name);
  if (close.scope != Scope::queue && number == 0) {
    if (close.until <= now) return Changed();
    if (closed.size() >= bounds::queue_limits_max) {
      return refuse(Code::refused, "there are " + std::to_string(closed.size()) +
                                       " closings, and no further key or type without tasks may "
                                       "be closed: open one");
    }
    number = find_or_make(close.scope, close.name);
  }
  close_scope({.at = close.until, .scope = close.scope, .number = number}, close.spread);
  return Changed();
}

}  // namespace pawl::queue
