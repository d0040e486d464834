#include "adapter/redis/count_scripts.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::redis {
namespace {

constexpr int tries_max = 16;  // against others who ask under another rule all the time
// As in the scripts: expiry is reckoned from a whole millisecond; a clock moved by hand may stand
// still for long.
constexpr std::int64_t slack_ms = 2;
constexpr std::int64_t hand_moved_slack_ms = 3'600'000;

std::int64_t microseconds_of(Duration hold) {
  return microseconds_up(std::clamp(hold, Duration(), bounds::limit_hold_max).ns());
}

}  // namespace

// A script on a group; its arguments before and after the rules.
struct CountScripts::Step {
  const CountGroup& group;
  const Script* script;
  SteadyInstant deadline;
  std::vector<std::string> before = {};
  std::vector<std::string> after = {};
  std::optional<std::string> record = {};
  bool is_look = false;
  std::int64_t charge = 0;                  // what is asked for, unless it only looks
  std::optional<Instant> server_time = {};  // once it is known to be far from ours
  int tries = 0;
  Done done = {};
};

CountScripts::CountScripts(Client& client, Clock& clock, CountScriptsOptions options)
    : clock_(clock), options_(std::move(options)), runner_(client, clock) {}

CountScripts::~CountScripts() = default;

Instant CountScripts::wall_now() {
  return options_.time != nullptr ? options_.time->wall_now() : clock_.wall_now();
}

void CountScripts::ask(const CountGroup& group, const Asked& asked, SteadyInstant deadline,
                       Ended<FoundCounts> done) {
  PAWL_ASSERT(asked.cost >= 0 && asked.cost <= bounds::limit_count_max);
  auto step =
      std::make_unique<Step>(Step{.group = group, .script = &scripts_.ask, .deadline = deadline});
  step->is_look = asked.cost == 0 || !asked.is_charged;
  step->charge = step->is_look ? 0 : asked.cost;
  step->before.push_back(std::to_string(asked.is_charged ? asked.cost : -asked.cost));
  std::string& shadows = step->before.emplace_back();
  for (const CountItem& item : group.items) shadows += item.policy->options.shadow ? '1' : '0';
  if (asked.holding) {
    step->record = reservation_key(group.items[0].key, asked.holding->id);
    step->after = {hex(asked.holding->id), std::to_string(microseconds_of(asked.holding->hold)),
                   std::to_string(microseconds_of(asked.holding->undoable))};
  }
  const bool is_charge = !step->is_look;
  step->done = [this, &group, is_charge, done = std::move(done)](Result<Reply> reply) mutable {
    if (!reply) return done(std::unexpected(std::move(reply.error())));
    Result<FoundCounts> found = read_asked(group, *reply, options_.zones);
    // Under an old rule a charge is decided here only when it is refused.
    if (found && is_charge && !found->allowed) found->allowed = false;
    done(std::move(found));
  };
  run(std::move(step));
}

void CountScripts::amend(const CountGroup& group, const Amendment& how, SteadyInstant deadline,
                         Ended<bool> done) {
  auto step =
      std::make_unique<Step>(Step{.group = group, .script = &scripts_.amend, .deadline = deadline});
  const std::uint64_t id = how.reservation.value_or(0);
  step->before = {std::string(how.verb), std::to_string(how.number), hex(id)};
  if (how.reservation) step->record = reservation_key(group.items[0].key, id);
  step->done = [done = std::move(done)](Result<Reply> reply) mutable {
    if (!reply) return done(std::unexpected(std::move(reply.error())));
    done(integer_at(*reply, 1) == 1);
  };
  run(std::move(step));
}

void CountScripts::run(std::unique_ptr<Step> step) {
  const std::vector<CountItem>& items = step->group.items;
  if (++step->tries > tries_max) {
    return step->done(
        failure(Code::refused, "redis: the count '" + items[0].key +
                                   "' is asked for under several rules at once; give the policy of "
                                   "one name the same rule everywhere"));
  }
  const Instant wall = step->server_time.value_or(wall_now());
  ScriptCall call{.script = *step->script, .key = items[0].key, .deadline = step->deadline};
  std::vector<std::string>& words = call.words;
  words.push_back(std::to_string(items.size() + (step->record ? 1 : 0)));
  for (const CountItem& item : items) words.push_back(item.key);
  if (step->record) words.push_back(*step->record);
  words.emplace_back();
  if (options_.time != nullptr) words.back() = std::to_string(microseconds_up(wall.ns()));
  words.insert(words.end(), step->before.begin(), step->before.end());
  for (const CountItem& item : items) {
    words.push_back(item.rule);
    if (const auto* calendar = std::get_if<limit::Calendar>(&item.policy->rule)) {
      words.back() += "\n" + window_starts(calendar->rule, wall);
    }
  }
  words.insert(words.end(), step->after.begin(), step->after.end());
  runner_.run(std::move(call), [this, step = std::move(step)](Result<Reply> reply) mutable {
    on_reply(std::move(step), std::move(reply));
  });
}

void CountScripts::on_reply(std::unique_ptr<Step> step, Result<Reply> reply) {
  const std::int64_t second = reply ? integer_at(*reply, 1) : 0;
  if (second == outside_the_windows) {
    step->server_time = now_of(*reply).wall;
    return run(std::move(step));
  }
  if (second == under_another_rule && !step->is_look) return carry_over(std::move(step), *reply);
  step->done(std::move(reply));
}

// Writes what the counts are under their new rules, if nobody has changed them meanwhile, and asks
// again; unless the ask is refused under them, and the old rules may stand.
void CountScripts::carry_over(std::unique_ptr<Step> step, const Reply& reply) {
  const CountGroup& group = step->group;
  auto found = read_kept(group, reply, options_.zones);
  if (!found) return step->done(std::unexpected(std::move(found.error())));
  if (step->charge > 0 && !found->lasts && !decide(group, *found, step->charge).allowed) {
    return step->done(reply);
  }
  ScriptCall call{.script = scripts_.carry, .key = group.items[0].key, .deadline = step->deadline};
  const std::int64_t slack = options_.time == nullptr ? slack_ms : hand_moved_slack_ms;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const limit::Rule& rule = group.items[i].exact().rule;
    const std::string& kept = *reply.items()[i + 2].text();
    const std::string text = count_text(rule, found->states[i]);
    if (kept.empty() || kept == text) continue;
    const std::int64_t ms =
        limit::until_unused(rule, found->states[i], found->now).milliseconds_up();
    keys.push_back(group.items[i].key);
    arguments.insert(arguments.end(), {kept, text, std::to_string(ms > 0 ? ms + slack : 0)});
  }
  call.words.push_back(std::to_string(keys.size()));
  call.words.insert(call.words.end(), keys.begin(), keys.end());
  call.words.insert(call.words.end(), arguments.begin(), arguments.end());
  runner_.run(std::move(call),
              [this, step = std::move(step)](const Result<Reply>& carried) mutable {
                if (carried) return run(std::move(step));
                const Error& error = carried.error();
                step->done(std::unexpected(Error(error.code, Outcome::not_applied, error.message)));
              });
}

}  // namespace pawl::redis
