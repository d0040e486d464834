#include "core/queue/machine.h"

#include <algorithm>

#include "core/queue/machine_state.h"

namespace pawl::queue {

Machine::Machine(std::uint8_t shard, const Settings& settings)
    : state_(std::make_unique<State>(shard, settings)) {}
Machine::Machine(Machine&& other) noexcept = default;
Machine& Machine::operator=(Machine&& other) noexcept = default;
Machine::~Machine() = default;

std::vector<Reply> Machine::apply(Instant at, std::span<const Command> commands) {
  ++state_->sequence;
  state_->now = std::max(state_->now, at);
  std::vector<std::optional<Reply>> early = state_->end_in_time(commands);
  state_->settle();
  state_->by_id.pass(state_->ids.size());
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!early.empty() && early[i]) {
      replies.push_back(*std::move(early[i]));
    } else {
      const auto run = [&](const auto& wish) { return state_->run(wish); };
      replies.push_back(std::visit(run, commands[i]));
    }
    if (std::holds_alternative<Refusal>(replies.back())) ++state_->totals.refused;
  }
  return replies;
}

std::uint64_t Machine::sequence() const {
  return state_->sequence;
}

Instant Machine::now() const {
  return state_->now;
}

std::size_t Machine::tasks() const {
  return state_->ids.size();
}

std::optional<Task> Machine::find(const TaskId& id, Instant now) const {
  const std::uint32_t number = state_->find(id);
  if (number == 0) return {};
  return state_->task_at(state_->slots[number], now);
}

std::optional<History> Machine::history(const TaskId& id, Instant now) const {
  const std::uint32_t number = state_->find(id);
  if (number == 0) return {};
  const Slot& slot = state_->slots[number];
  History history = slot.past ? slot.past->read(slot.created) : history_of_new(slot.created);
  const Status status = state_->status_at(slot, now);
  if (status != slot.status) {
    history.versions.push_back({.at = slot.expires, .status = status, .reason = Reason::expired});
  }
  return history;
}

std::vector<Closing> Machine::closings(Instant now) const {
  std::vector<Closing> all;
  for (const auto& [until, scope, number] : state_->closed) {
    if (until <= now) continue;
    all.push_back({.scope = scope, .name = state_->name_of(scope, number), .until = until});
  }
  std::ranges::sort(all, {},
                    [](const Closing& closing) { return std::tie(closing.scope, closing.name); });
  return all;
}

std::vector<SetLimit> Machine::limits() const {
  std::vector<SetLimit> all;
  for (const auto& [place, limit] : state_->limits) all.push_back(limit);
  return all;
}

std::vector<Schedule> Machine::schedules() const {
  std::vector<Schedule> all;
  for (const auto& [name, schedule] : state_->kept_schedules) all.push_back(schedule);
  return all;
}

std::vector<Schedule> Machine::due_schedules(Instant now) const {
  std::vector<Schedule> due;
  for (const auto& [next, name] : state_->firings) {
    if (next > now) break;
    due.push_back(state_->kept_schedules.find(name)->second);
  }
  return due;
}

std::optional<Instant> Machine::next_firing() const {
  if (state_->firings.empty()) return {};
  return state_->firings.begin()->first;
}

bool Machine::has_schedule(std::string_view name) const {
  return state_->kept_schedules.contains(name);
}

void Machine::save(ByteWriter& out) const {
  state_->save(out);
}

Result<Machine> Machine::load(ByteReader& in, std::uint8_t shard, const Settings& settings) {
  Machine machine(shard, settings);
  PAWL_TRY(machine.state_->load(in));
  return machine;
}

}  // namespace pawl::queue
