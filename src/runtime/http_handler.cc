#include "runtime/http_handler.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/bounds_queue.h"
#include "base/percent.h"
#include "core/limit/pushback.h"
#include "runtime/handler_text.h"

namespace pawl {
namespace {

using Kind = TaskEnding::Kind;

constexpr Duration connect_max = Duration::seconds(10);
constexpr Duration delay_min = Duration::seconds(1);  // "0" would be asked again and again
constexpr std::string_view kept_in_fields = "!$&'()*+,;=:@/ ";

bool is_success(int status) {
  return status >= 200 && status <= 299;
}

limit::Pushback pushback_of(const HttpAnswer& answer, Instant now) {
  std::vector<limit::Field> fields;
  for (const HttpField& field : answer.fields) fields.push_back({field.name, field.value});
  return limit::parse_pushback(fields, now);
}

// A conflict that names an instant is one with a copy of the same call that is still under way, as
// pawl serve tells it by the Idempotency-Key.
bool is_for_now(int status, const limit::Pushback& told) {
  return status == 429 || status == 503 || (status == 409 && told.retry_at);
}

TaskEnding refused_for_now(const limit::Pushback& told, Instant now) {
  const auto until = limit::refused_until(told);
  const Duration delay = until ? std::max(*until - now, delay_min) : bounds::handler_reschedule;
  return {.kind = Kind::reschedule, .delay = delay};
}

// Until the instants that an answer named which refused nothing.
Duration named_wait(const limit::Pushback& told, Instant now) {
  const Instant used_up = limit::exhausted_until(told).value_or(now);
  return std::max(used_up, told.retry_at.value_or(now)) - now;
}

// One for all its attempts. A replay begins anew: by the old name a service that keeps its answers
// would give the one that the task failed by.
std::string key_of(const queue::Task& task) {
  const std::string id = to_string(task.id);
  return task.replay_count == 0 ? id : id + "-" + std::to_string(task.replay_count);
}

HttpRequest request_of(const std::string& url, const queue::Task& task) {
  const std::string id = to_string(task.id);
  HttpRequest request{
      .method = "POST",
      .url = url,
      .fields = {{"Content-Type", "application/json"},
                 {"Pawl-Task-Id", id},
                 {"Pawl-Task-Type", percent_encoded(task.terms.type, kept_in_fields)},
                 {"Pawl-Attempt", std::to_string(task.attempt)},
                 {"Pawl-Fence", std::to_string(task.fence)},
                 {"Idempotency-Key", key_of(task)}},
      .body = task.terms.input,
      .connect_deadline = std::min(connect_max, task.terms.timeout),
      .deadline = task.terms.timeout,
      .body_bytes_max = bounds::task_output_bytes_max};
  if (!task.terms.key.empty()) {
    request.fields.push_back({"Pawl-Task-Key", percent_encoded(task.terms.key, kept_in_fields)});
  }
  return request;
}

// Whoever comes first ends it: the answer, or the wish that it stops.
class Call {
 public:
  explicit Call(std::move_only_function<void(TaskEnding)> done) : done_(std::move(done)) {}
  void end(TaskEnding ending) {
    if (!ended_.exchange(true)) std::exchange(done_, {})(std::move(ending));
  }

 private:
  std::atomic<bool> ended_ = false;
  std::move_only_function<void(TaskEnding)> done_;
};

}  // namespace

TaskEnding ending_of(const HttpAnswer& answer, Instant now) {
  const std::string what = "HTTP " + std::to_string(answer.status);
  if (is_success(answer.status)) {
    // It is done, though the answer may have broken off: how much more there was, nobody knows.
    const std::uint64_t more = answer.complete ? 0 : 1;
    KeptOutput kept = kept_output(answer.body, answer.body.size() + more);
    return {.kind = Kind::completed, .output = std::move(kept.json), .error = std::move(kept.cut)};
  }
  const limit::Pushback told = pushback_of(answer, now);
  if (is_for_now(answer.status, told)) return refused_for_now(told, now);
  // Request Timeout and Too Early: nothing was wrong with what was sent.
  const bool is_late = answer.status == 408 || answer.status == 425;
  const bool retries = is_late || (answer.status >= 500 && answer.status <= 599);
  std::string note = what;
  if (answer.status >= 300 && answer.status <= 399) note += " (no redirect is followed)";
  return {.kind = retries ? Kind::retry : Kind::failed,
          .error = kept_error(note, answer.body, answer.body.size()),
          .delay = retries ? named_wait(told, now) : Duration()};
}

TaskHandler http_handler(HttpClient& client, Clock& clock, std::string url) {
  return [&client, &clock, url = std::move(url)](std::shared_ptr<HandledTask> handled,
                                                 std::move_only_function<void(TaskEnding)> done) {
    const auto call = std::make_shared<Call>(std::move(done));
    handled->on_stop([call, weak = std::weak_ptr(handled)] {
      const auto task = weak.lock();
      call->end({.kind = Kind::retry, .error = task ? task->stop_reason() : "stopped"});
    });
    client.send(request_of(url, handled->task()), [call, &clock](Result<HttpAnswer> answer) {
      if (!answer) return call->end({.kind = Kind::retry, .error = answer.error().message});
      call->end(ending_of(*answer, clock.wall_now()));
    });
  };
}

}  // namespace pawl
