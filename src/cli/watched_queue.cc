#include "cli/watched_queue.h"

#include <cstddef>

namespace pawl::cli {
namespace {

struct PutOff {
  std::size_t place;  // of its reply
  queue::TaskId id;
  Duration delay;
};

}  // namespace

void WatchedQueue::give(std::vector<queue::Command> commands,
                        Done<std::vector<queue::Reply>> done) {
  std::vector<PutOff> asked;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto* reschedule = std::get_if<queue::Reschedule>(&commands[i]);
    if (reschedule == nullptr || !reschedule->counted) continue;
    asked.push_back({.place = i, .id = reschedule->id, .delay = reschedule->delay});
  }
  if (asked.empty()) return inside_.give(std::move(commands), std::move(done));
  inside_.give(std::move(commands), [this, asked = std::move(asked), done = std::move(done)](
                                        Result<std::vector<queue::Reply>> replies) mutable {
    for (const PutOff& each : asked) {
      const auto* changed =
          replies ? std::get_if<queue::Changed>(&(*replies)[each.place]) : nullptr;
      // One that may not be put off once more has failed.
      if (changed == nullptr || changed->status != queue::Status::pending) continue;
      inside_.find(each.id, [tell = rescheduled_, delay = each.delay](Result<queue::Task> task) {
        if (task) tell(task->terms.type, delay);
      });
    }
    done(std::move(replies));
  });
}

}  // namespace pawl::cli
