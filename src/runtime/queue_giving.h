// QueueGiving: one call of LocalQueue::give(): its commands on their way to the shards, and their
// replies on the way back. A part of LocalQueue.
//
// Scopes:   a reschedule that closes a type or the queue is committed in its task's shard, which
//           closes it there; then the others are told. A process that dies in between leaves it
//           closed in that shard alone, and the task put off as it was said: the others go on until
//           a handler of theirs meets the same limit, and closes the rest. Nothing is lost, nor
//           done twice; the other side hears a few calls more. With an error in between, the same
//           reschedule given again closes what is left. A close of a type or the queue goes to all
//           shards at once; what dies with a part of them is given again by whoever asked.
// Moves:    a schedule that is set goes from every other shard before it stands in its own, so
//           that it never fires twice; a process that dies in between leaves none, and its caller
//           without an answer. Two who set the same one to different keys at the same moment may
//           leave it in two shards, until somebody sets it again.
// Threads:  start() once; the answers of the logs on any thread. The logs outlive it, in that they
//           answer whatever was given to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/queue/command.h"
#include "port/task_queue.h"
#include "runtime/queue_log.h"

namespace pawl {

class QueueGiving : public std::enable_shared_from_this<QueueGiving> {
 public:
  using Done = TaskQueue::Done<std::vector<queue::Reply>>;
  using Logs = std::vector<std::unique_ptr<QueueLog>>;

  // `now`: the time of the queue.
  QueueGiving(const Logs& logs, Instant now, Done done)
      : logs_(logs), now_(now), done_(std::move(done)) {}

  void start(std::vector<queue::Command> commands);

 private:
  // What goes to a shard in one commit.
  struct Part {
    std::uint8_t shard = 0;
    std::vector<queue::Command> commands = {};
    std::vector<std::optional<std::size_t>> places = {};  // whose reply it is; none: nobody's
    std::size_t bytes = 0;
  };
  // A reschedule that closes a scope in all shards, once it has in its own.
  struct Shut {
    std::size_t place = 0;
    queue::TaskId id = {};
    queue::Scope scope = queue::Scope::type;
    Duration delay = {};
  };

  // A schedule that is to stand in its shard, once it stands nowhere else.
  struct Set {
    std::size_t place = 0;
    std::uint8_t shard = 0;
    queue::SetSchedule set = {};
  };

  // One for each kind of command.
  struct Router;

  void refuse(std::size_t place, Code code, std::string message);
  void add(std::uint8_t shard, queue::Command command, std::optional<std::size_t> place);
  void add_everywhere(const queue::Command& command, std::size_t place);
  std::vector<std::uint8_t> shards_with(const std::string& schedule) const;
  void submit_all();
  void answered(const std::vector<std::optional<std::size_t>>& places,
                Result<QueueLog::Replies> result);
  void merge(std::size_t place, queue::Reply reply);
  std::optional<queue::Close> closed_by(const Shut& shut) const;
  void shut_elsewhere();
  void finish();

  const Logs& logs_;
  const Instant now_;
  Done done_;
  std::vector<Part> parts_;
  std::vector<Shut> shuts_;
  std::vector<Set> sets_;

  std::mutex mutex_;  // guards what follows, while parts are under way
  std::vector<std::optional<queue::Reply>> replies_;
  std::size_t under_way_ = 0;
  bool landed_ = false;  // something did
  std::optional<Error> error_;
};

}  // namespace pawl
