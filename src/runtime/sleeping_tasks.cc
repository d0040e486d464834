#include "runtime/sleeping_tasks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bounds_queue.h"

namespace pawl {
namespace {

using Done = std::move_only_function<void(Result<LaidDown>)>;
using Replies = std::vector<queue::Reply>;

constexpr std::size_t tasks_looked_at = 1'000;

// Submits, and looks for the task of the same name where there is one.
class LyingDown : public std::enable_shared_from_this<LyingDown> {
 public:
  LyingDown(TaskQueue& queue, queue::Submit submit, Done done)
      : queue_(queue), submit_(std::move(submit)), done_(std::move(done)) {}

  void start() {
    submit_.terms.unique.assign(1, '1');
    give();
  }

 private:
  void give() {
    queue_.give({submit_}, [self = shared_from_this()](Result<Replies> replies) {
      self->given(std::move(replies));
    });
  }

  void given(Result<Replies> replies) {
    if (!replies) return done_(std::unexpected(std::move(replies).error()));
    const queue::Reply& reply = replies->front();
    if (const auto* submitted = std::get_if<queue::Submitted>(&reply)) {
      return done_(LaidDown{.id = submitted->id});
    }
    const auto* refusal = std::get_if<queue::Refusal>(&reply);
    if (refusal == nullptr) return done_(failure(Code::internal, "the queue said something else"));
    const bool may_be_named = refusal->code == Code::refused;
    if (!may_be_named || ++names_tried_ >= bounds::sleep_names_max) {
      return done_(failure(refusal->code, refusal->message));
    }
    queue_.list({.type = submit_.terms.type, .key = submit_.terms.key, .limit = tasks_looked_at},
                [self = shared_from_this()](Result<std::vector<queue::Task>> tasks) {
                  self->listed(std::move(tasks));
                });
  }

  void listed(Result<std::vector<queue::Task>> tasks) {
    if (!tasks) return done_(std::unexpected(std::move(tasks).error()));
    const queue::Task* last = nullptr;
    for (const queue::Task& task : *tasks) {
      if (task.status == queue::Status::pending) {
        return done_(LaidDown{.id = task.id, .joined = true, .available_at = task.available_at});
      }
      const auto order = [](const queue::Task& of) { return std::pair(of.created_at, of.id); };
      if (last == nullptr || order(*last) < order(task)) last = &task;
    }
    if (last != nullptr) submit_.terms.unique = to_string(last->id);
    give();
  }

  TaskQueue& queue_;
  queue::Submit submit_;
  Done done_;
  int names_tried_ = 0;
};

}  // namespace

void lay_down(TaskQueue& queue, queue::Submit submit, Done done) {
  std::make_shared<LyingDown>(queue, std::move(submit), std::move(done))->start();
}

void lay_down_again(TaskQueue& queue, queue::Reschedule reschedule, Done done) {
  const queue::TaskId id = reschedule.id;
  queue.give({std::move(reschedule)},
             [id, done = std::move(done)](const Result<Replies>& replies) mutable {
               if (!replies) return done(std::unexpected(replies.error()));
               if (const auto* refusal = std::get_if<queue::Refusal>(&replies->front())) {
                 return done(failure(refusal->code, refusal->message));
               }
               done(LaidDown{.id = id});
             });
}

}  // namespace pawl
