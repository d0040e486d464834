#include "runtime/queue_giving.h"

#include <algorithm>
#include <utility>

#include "core/queue/command_check.h"
#include "core/queue/machine.h"
#include "core/queue/shards.h"

namespace pawl {

using queue::Cancel;
using queue::Changed;
using queue::Claim;
using queue::Close;
using queue::Closing;
using queue::Command;
using queue::Complete;
using queue::Fail;
using queue::Fire;
using queue::Limited;
using queue::Machine;
using queue::Refusal;
using queue::Renew;
using queue::Replay;
using queue::Reply;
using queue::Reschedule;
using queue::Scope;
using queue::SetLimit;
using queue::SetSchedule;
using queue::Status;
using queue::Submit;
using queue::TaskId;

namespace {

// Of one commit; far below what a segment holds, so that other callers find room in it.
constexpr std::size_t part_commands_max = 2'000;
constexpr std::size_t part_bytes_max = std::size_t{2} * 1024 * 1024;
// Names, numbers and a table of delays, at the most.
constexpr std::size_t command_bytes = 2'048;

std::size_t bytes_of(const Command& command) {
  std::size_t texts = 0;
  if (const auto* submit = std::get_if<Submit>(&command)) texts = submit->terms.input.size();
  if (const auto* complete = std::get_if<Complete>(&command)) texts = complete->output.size();
  if (const auto* fail = std::get_if<Fail>(&command)) texts = fail->error.size();
  if (const auto* again = std::get_if<Reschedule>(&command)) texts = again->input.size();
  if (const auto* schedule = std::get_if<SetSchedule>(&command)) {
    texts = schedule->terms.input.size();
  }
  return command_bytes + texts;
}

template <class Look>
auto looked(const QueueLog& log, Look look) {
  decltype(look(std::declval<const Machine&>())) found = {};
  log.look([&](const Machine& machine) { found = look(machine); });
  return found;
}

}  // namespace

struct QueueGiving::Router {
  QueueGiving& giving;
  std::size_t place;
  std::uint32_t shards;

  void operator()(Submit submit) const {
    if (submit.id == TaskId()) {
      return giving.refuse(place, Code::invalid, "id is empty: a submit needs a new one");
    }
    const std::uint8_t shard = queue::shard_of(submit.id, submit.terms, shards);
    submit.id = queue::placed(submit.id, shard);
    giving.add(shard, std::move(submit), place);
  }
  void operator()(const Claim&) const {
    giving.refuse(place, Code::invalid, "a claim is not given, but asked for");
  }
  void operator()(Renew renew) const { to_its_task(std::move(renew)); }
  void operator()(Complete complete) const { to_its_task(std::move(complete)); }
  void operator()(Fail fail) const { to_its_task(std::move(fail)); }
  void operator()(Cancel cancel) const { to_its_task(std::move(cancel)); }
  void operator()(Replay replay) const { to_its_task(std::move(replay)); }
  void operator()(Reschedule reschedule) const {
    const bool wide = reschedule.scope == Scope::type || reschedule.scope == Scope::queue;
    if (wide && shards > 1) {
      giving.shuts_.push_back({.place = place,
                               .id = reschedule.id,
                               .scope = reschedule.scope,
                               .delay = reschedule.delay});
    }
    to_its_task(std::move(reschedule));
  }
  void operator()(Close close) const {
    if (close.scope != Scope::key) return giving.add_everywhere(close, place);
    const std::uint8_t shard = queue::shard_of(close.name, shards);
    giving.add(shard, std::move(close), place);
  }
  void operator()(SetLimit limit) const {
    if (limit.limited != Limited::key) return giving.add_everywhere(limit, place);
    const std::uint8_t shard = queue::shard_of(limit.name, shards);
    giving.add(shard, std::move(limit), place);
  }
  // It stands where its tasks are. One whose key has changed moves: it goes everywhere else first,
  // heard of or not, since one that stands twice fires twice.
  void operator()(SetSchedule set) const {
    std::vector<std::uint8_t> has = giving.shards_with(set.name);
    const bool goes = set.cron.empty();
    if (goes && has.empty()) has.push_back(queue::shard_of(set.name, shards));
    const std::uint8_t home = queue::shard_of(set, shards);
    const SetSchedule gone{.name = set.name};
    for (std::uint32_t i = 0; i < shards; ++i) {
      const auto shard = static_cast<std::uint8_t>(i);
      const bool tells = goes && std::ranges::find(has, shard) != has.end();
      if (goes || shard != home)
        giving.add(shard, gone, tells ? std::optional(place) : std::nullopt);
    }
    if (goes) return;
    if (shards == 1) return giving.add(home, std::move(set), place);
    giving.sets_.push_back({.place = place, .shard = home, .set = std::move(set)});
  }
  void operator()(Fire fire) const {
    const std::vector<std::uint8_t> has = giving.shards_with(fire.name);
    const std::uint8_t shard = has.empty() ? queue::shard_of(fire.name, shards) : has.front();
    fire.id = queue::placed(fire.id, shard);
    giving.add(shard, std::move(fire), place);
  }

  template <class Kind>
  void to_its_task(Kind command) const {
    const std::uint8_t shard = command.id.shard();
    if (shard < shards) return giving.add(shard, std::move(command), place);
    giving.refuse(place, Code::not_found,
                  "there is no task " + to_string(command.id) +
                      ": it was never submitted here, or is an id of another queue");
  }
};

void QueueGiving::refuse(std::size_t place, Code code, std::string message) {
  replies_[place] = Refusal{.code = code, .message = std::move(message)};
}

void QueueGiving::add(std::uint8_t shard, Command command, std::optional<std::size_t> place) {
  const std::size_t bytes = bytes_of(command);
  const auto last = std::find_if(parts_.rbegin(), parts_.rend(),
                                 [&](const Part& part) { return part.shard == shard; });
  const bool fits = last != parts_.rend() && last->commands.size() < part_commands_max &&
                    last->bytes + bytes <= part_bytes_max;
  Part& part = fits ? *last : parts_.emplace_back(Part{.shard = shard});
  part.commands.push_back(std::move(command));
  part.places.push_back(place);
  part.bytes += bytes;
}

void QueueGiving::add_everywhere(const Command& command, std::size_t place) {
  for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
    add(static_cast<std::uint8_t>(shard), command, place);
  }
}

std::vector<std::uint8_t> QueueGiving::shards_with(const std::string& schedule) const {
  std::vector<std::uint8_t> has;
  for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
    const bool here =
        looked(*logs_[shard], [&](const Machine& m) { return m.has_schedule(schedule); });
    if (here) has.push_back(static_cast<std::uint8_t>(shard));
  }
  return has;
}

void QueueGiving::start(std::vector<Command> commands) {
  replies_.resize(commands.size());
  const auto shards = static_cast<std::uint32_t>(logs_.size());
  for (std::size_t place = 0; place < commands.size(); ++place) {
    if (const auto good = check(commands[place]); !good) {
      refuse(place, good.error().code, good.error().message);
    } else {
      std::visit(Router{*this, place, shards}, std::move(commands[place]));
    }
  }
  submit_all();
}

void QueueGiving::submit_all() {
  std::vector<Part> parts = std::exchange(parts_, {});
  if (parts.empty()) return finish();
  under_way_ = parts.size();
  for (Part& part : parts) {
    logs_[part.shard]->submit(
        std::move(part.commands),
        [self = shared_from_this(), places = std::move(part.places)](
            Result<QueueLog::Replies> result) { self->answered(places, std::move(result)); });
  }
}

// Of several replies to one command a refusal is the one to be told.
void QueueGiving::merge(std::size_t place, Reply reply) {
  std::optional<Reply>& kept = replies_[place];
  if (!kept || std::holds_alternative<Refusal>(reply)) kept = std::move(reply);
}

void QueueGiving::answered(const std::vector<std::optional<std::size_t>>& places,
                           Result<QueueLog::Replies> result) {
  {
    const std::lock_guard lock(mutex_);
    if (result) {
      landed_ = true;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i]) merge(*places[i], std::move((*result)[i]));
      }
    } else {
      if (result.error().outcome != Outcome::not_applied) landed_ = true;
      if (!error_) error_ = std::move(result).error();
    }
    if (--under_way_ > 0) return;
  }
  if (error_) return finish();
  shut_elsewhere();
  for (Set& each : std::exchange(sets_, {})) add(each.shard, std::move(each.set), each.place);
  if (parts_.empty()) return finish();
  submit_all();
}

// What it closed in its own shard; nothing, where it was refused. The task is looked for behind
// its own commit: before it, it may be one that nobody here has heard of.
std::optional<Close> QueueGiving::closed_by(const Shut& shut) const {
  const auto* changed = std::get_if<Changed>(&*replies_[shut.place]);
  if (changed == nullptr) return std::nullopt;
  const bool waits = changed->status == Status::pending;
  Close close{.scope = shut.scope, .until = waits ? changed->available_at : now_ + shut.delay};
  if (shut.scope == Scope::queue) return close;
  const auto task =
      looked(*logs_[shut.id.shard()], [&](const Machine& m) { return m.find(shut.id); });
  if (!task) return std::nullopt;
  close.name = task->terms.type;
  return close;
}

// What is closed in other shards for longer stays so.
void QueueGiving::shut_elsewhere() {
  for (const Shut& shut : std::exchange(shuts_, {})) {
    const std::optional<Close> close = closed_by(shut);
    if (!close) continue;
    for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
      if (shard == shut.id.shard()) continue;
      const bool longer = looked(*logs_[shard], [&](const Machine& m) {
        return std::ranges::any_of(m.closings(now_), [&](const Closing& closing) {
          return closing.scope == close->scope && closing.name == close->name &&
                 closing.until >= close->until;
        });
      });
      if (!longer) add(static_cast<std::uint8_t>(shard), *close, std::nullopt);
    }
  }
}

void QueueGiving::finish() {
  if (error_) {
    if (landed_ && error_->outcome == Outcome::not_applied) {
      error_->outcome = Outcome::unknown;
      error_->message +=
          " (a part of what was given may have been written: give it again as it is)";
    }
    return done_(std::unexpected(*std::move(error_)));
  }
  std::vector<Reply> replies;
  replies.reserve(replies_.size());
  for (std::optional<Reply>& reply : replies_) replies.push_back(*std::move(reply));
  done_(std::move(replies));
}

}  // namespace pawl
