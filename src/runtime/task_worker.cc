#include "runtime/task_worker.h"

#include <algorithm>
#include <utility>

#include "base/bounds_queue.h"
#include "runtime/task_worker_state.h"

namespace pawl {

using queue::Task;

namespace {

// One that waits with too little, and one for the room that has come since.
constexpr int claims_max = 2;
constexpr Duration pause_min = Duration::milliseconds(100);
constexpr Duration pause_max = Duration::seconds(5);
constexpr int doublings_max = 6;
constexpr Duration look_min = Duration::milliseconds(1);

// The handler's way to say how it ended: once, and at the latest when it lets go.
class Ending {
 public:
  Ending(std::weak_ptr<TaskWorker::Impl> worker, std::shared_ptr<Handling> handling)
      : worker_(std::move(worker)), handling_(std::move(handling)) {}
  Ending(Ending&& other) noexcept = default;
  Ending& operator=(Ending&& other) = delete;
  ~Ending() {
    if (!handling_) return;
    say({.kind = TaskEnding::Kind::retry, .error = "the handler ended without saying how"});
  }
  void operator()(TaskEnding ending) { say(std::move(ending)); }

 private:
  void say(TaskEnding ending) {
    const auto handling = std::exchange(handling_, nullptr);
    const auto worker = worker_.lock();
    if (handling && worker) worker->ended(handling, std::move(ending));
  }

  std::weak_ptr<TaskWorker::Impl> worker_;
  std::shared_ptr<Handling> handling_;
};

// Answers whoever asked for a longer lease, at the latest when nobody is there to ask.
class Answered {
 public:
  explicit Answered(Handling::Extended done) : done_(std::move(done)) {}
  Answered(Answered&& other) noexcept : done_(std::exchange(other.done_, {})) {}
  Answered& operator=(Answered&& other) = delete;
  ~Answered() {
    if (done_) done_(failure(Code::unavailable, "the worker has ended"));
  }
  void operator()(Result<Instant> result) { std::exchange(done_, {})(std::move(result)); }

 private:
  Handling::Extended done_;
};

}  // namespace

Duration pause_after(int failures) {
  const int doublings = std::clamp(failures - 1, 0, doublings_max);
  return std::min(pause_min * (std::int64_t{1} << doublings), pause_max);
}

std::string_view to_string(TaskAttemptEnd::How how) {
  switch (how) {
    case TaskAttemptEnd::How::completed:
      return "completed";
    case TaskAttemptEnd::How::retried:
      return "retried";
    case TaskAttemptEnd::How::rescheduled:
      return "rescheduled";
    case TaskAttemptEnd::How::failed:
      return "failed";
    case TaskAttemptEnd::How::cancelled:
      return "cancelled";
    case TaskAttemptEnd::How::timed_out:
      return "timed_out";
    case TaskAttemptEnd::How::given_back:
      return "given_back";
    case TaskAttemptEnd::How::refused:
      return "refused";
  }
  return "unknown";
}

// ---- a task under way

std::string Handling::stop_reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

bool Handling::cancel_asked() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

Duration Handling::stop_grace() const {
  const std::lock_guard lock(mutex_);
  return grace_;
}

void Handling::cancel(SteadyInstant now) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  stop(Stop::cancelled, "it was cancelled", now);
}

void Handling::lasts(SteadyInstant since, Duration timeout) {
  timeout_over_ = since + queue::held_most(timeout);
  times_out = since + timeout;
}

void Handling::leased(SteadyInstant since, Duration lease) {
  lease_over_ = std::max(lease_over_, since + lease);
  const SteadyInstant ends = since + lease - queue::margin_of(lease);
  // The timeout comes first, and has its margin behind it.
  const bool is_last = since + lease >= timeout_over_;
  lease_ends = std::max(lease_ends, is_last ? times_out : ends);
}

// Whoever is stopped for another reason has a lease that is renewed. A tenth is left for the end
// itself.
Duration Handling::grace_of(Stop why, SteadyInstant now) const {
  Duration left = timeout_over_ - now;
  if (why == Stop::lost) left = refused ? Duration() : std::min(left, lease_over_ - now);
  return std::clamp(left - left / 10, Duration(), bounds::handler_grace);
}

Handling::Stop Handling::stopped() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void Handling::on_stop(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ == Stop::none) {
      calls_.push_back(std::move(call));
      return;
    }
  }
  call();
}

void Handling::stop(Stop why, std::string reason, SteadyInstant now) {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    if (stop_ != Stop::none) return;
    stop_ = why;
    grace_ = grace_of(why, now);
    reason_ = std::move(reason);
    calls.swap(calls_);
  }
  for (const auto& call : calls) call();
}

void Handling::extend(Duration lease, Extended done) {
  Answered answered(std::move(done));
  const auto worker = worker_.lock();
  if (worker) worker->extend(shared_from_this(), lease, std::move(answered));
}

// ---- the worker, from outside

TaskWorker::TaskWorker(TaskQueue& queue, WorkerSettings settings, TaskHandler handler, World world)
    : impl_(std::make_shared<Impl>(queue, std::move(settings), std::move(handler),
                                   std::move(world))) {}

TaskWorker::~TaskWorker() {
  impl_->end();
}

void TaskWorker::start() {
  impl_->start();
}

Result<void> TaskWorker::wait() {
  return impl_->wait();
}

bool TaskWorker::is_over() const {
  return impl_->is_over();
}

void TaskWorker::drain(Duration at_most) {
  impl_->drain(at_most);
}

void TaskWorker::abandon() {
  impl_->abandon();
}

WorkerCounts TaskWorker::counts() const {
  return impl_->counts();
}

void TaskWorker::Impl::start() {
  strand_.post([this, self = shared_from_this()] { pump(); });
}

Result<void> TaskWorker::Impl::wait() {
  std::unique_lock lock(mutex_);
  finished_changed_.wait(lock, [this] { return finished_.has_value(); });
  return *finished_;
}

bool TaskWorker::Impl::is_over() const {
  const std::lock_guard lock(mutex_);
  return finished_.has_value();
}

void TaskWorker::Impl::drain(Duration at_most) {
  strand_.post([this, self = shared_from_this(), at_most] {
    drain_ends_ = std::min(drain_ends_, world_.clock.steady_now() + at_most);
    if (!std::exchange(draining_, true)) queue_.stop_claims();
    pump();
  });
}

void TaskWorker::Impl::end() {
  strand_.close();
  world_.timers.cancel(timer_);
  if (claims_ > 0) queue_.stop_claims();
  for (const auto& handling : std::exchange(handled_, {})) {
    handling->stop(Handling::Stop::draining, "the worker ends", world_.clock.steady_now());
  }
  finish(failure(Code::unavailable, "the worker was ended"));
}

WorkerCounts TaskWorker::Impl::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void TaskWorker::Impl::ended(const std::shared_ptr<Handling>& handling, TaskEnding ending) {
  strand_.post([this, self = shared_from_this(), handling, ending = std::move(ending)]() mutable {
    heard_end(handling, std::move(ending));
  });
}

void TaskWorker::Impl::note(const std::string& text) const {
  if (world_.hooks.note) world_.hooks.note(text);
}

// ---- what is to be done next

// Behind everything that waits for the strand: so what many handlers say at once goes together.
void TaskWorker::Impl::wake() {
  if (std::exchange(pump_waits_, true)) return;
  strand_.post([this, self = shared_from_this()] { pump(); });
}

void TaskWorker::Impl::pump() {
  pump_waits_ = false;
  look_at_time();
  if (!gathers(world_.clock.steady_now())) {
    give_words();
    claim_more();
  }
  finish_if_done();
  arm(world_.clock.steady_now());
}

void TaskWorker::Impl::claim_more() {
  if (draining_ || error_ || nothing_due_) return;
  if (claims_ >= (settings_.once ? 1 : claims_max)) return;
  if (world_.clock.steady_now() < claim_not_before_ || closes_others()) return;
  // Endings that the queue does not take hold up further claims.
  const std::size_t busy = handled_.size() + asked_;
  const std::size_t untold = words_ + giving_;
  if (busy >= settings_.concurrency || busy + untold >= std::size_t{settings_.concurrency} * 2) {
    return;
  }
  const auto room = static_cast<std::uint32_t>(
      std::min(std::size_t{settings_.concurrency} - busy, bounds::claim_tasks_max));
  ++claims_;
  asked_ += room;
  ClaimAsk ask{.claim = {.worker = settings_.name,
                         .types = settings_.types,
                         .count = room,
                         .lease = settings_.lease},
               .wait = settings_.once ? Duration() : bounds::worker_claim_wait};
  const Asked asked{.room = room, .at = world_.clock.steady_now()};
  queue_.claim(std::move(ask), [self = shared_from_this(), asked](auto result) mutable {
    self->strand_.post([self, asked, result = std::move(result)]() mutable {
      self->claimed(asked, std::move(result));
    });
  });
}

void TaskWorker::Impl::claimed(const Asked& asked, Result<ClaimedTasks> result) {
  --claims_;
  asked_ -= asked.room;
  wake();
  if (!result) return claim_failed(result.error());
  claim_failures_ = 0;
  nothing_due_ = settings_.once && result->tasks.empty();
  if (result->tasks.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    counts_.claimed += result->tasks.size();
  }
  for (Task& task : result->tasks) {
    if (world_.hooks.claimed) world_.hooks.claimed(task);
    begin(std::move(task), asked.at + result->waited);
  }
}

void TaskWorker::Impl::claim_failed(const Error& error) {
  const SteadyInstant now = world_.clock.steady_now();
  if (error.code != Code::unavailable) {
    error_ = error;
    if (claims_ > 0) queue_.stop_claims();
    return;
  }
  if (claim_failures_++ == 0) {
    claims_fail_since_ = now;
    if (!draining_) note("the queue does not answer, and is asked again: " + error.message);
  }
  if (settings_.once && now - claims_fail_since_ >= bounds::worker_patience) error_ = error;
  claim_not_before_ = now + pause_after(claim_failures_);
}

// The queue counts its lease from when the claim was written. What has none left by now may be
// another's already: it is let go.
void TaskWorker::Impl::begin(Task task, SteadyInstant ours_since) {
  const SteadyInstant now = world_.clock.steady_now();
  const SteadyInstant since = std::min(ours_since, now);
  const Duration timeout = task.terms.timeout;
  const Duration lease = std::min(settings_.lease, queue::held_most(timeout));
  auto handling = std::make_shared<Handling>(std::move(task), weak_from_this());
  handling->began = now;
  handling->lasts(since, timeout);
  handling->leased(since, lease);
  handling->renew_at = since + lease / 3;
  const bool late = now >= handling->lease_ends;
  if (late) note("a claim was answered when its lease was over: its task is given back");
  if (draining_ || late) {
    return add_word({.of = std::move(handling),
                     .ending = TaskEnding{.kind = TaskEnding::Kind::reschedule},
                     .given_back = true});
  }
  handled_.insert(handling);
  {
    const std::lock_guard lock(mutex_);
    counts_.running = handled_.size();
  }
  if (now >= handling->renew_at) renew(handling, settings_.lease, {});
  handler_(handling, Ending(weak_from_this(), handling));
}

// ---- time

void TaskWorker::Impl::look_at_time() {
  const SteadyInstant now = world_.clock.steady_now();
  look_at_drain(now);
  settle_interrupted(now);
  if (armed_ && now < *armed_) return;
  armed_.reset();
  const std::vector<std::shared_ptr<Handling>> all(handled_.begin(), handled_.end());
  for (const auto& handling : all) look_at(handling, now);
}

void TaskWorker::Impl::look_at_drain(SteadyInstant now) {
  if (now < drain_ends_) return;
  if (!std::exchange(stopped_, true)) {
    const std::vector<std::shared_ptr<Handling>> all(handled_.begin(), handled_.end());
    for (const auto& handling : all) {
      handling->stop(Handling::Stop::draining, "the worker ends", now);
    }
  }
  if (now < last_words_end()) return;
  if (settings_.waits && !handled_.empty()) {
    if (std::exchange(told_of_wait_, true)) return;
    return note(std::to_string(handled_.size()) +
                " of the tasks did not stop when they were told to: they are waited for, and their "
                "leases renewed");
  }
  if (!handled_.empty() || has_words()) {
    note("some tasks were left to their leases, " + std::to_string(handled_.size()) +
         " of them being handled still");
  }
  finish({});
}

SteadyInstant TaskWorker::Impl::last_words_end() const {
  return std::max(drain_ends_, last_ended_) + bounds::worker_last_words;
}

void TaskWorker::Impl::look_at(const std::shared_ptr<Handling>& handling, SteadyInstant now) {
  const Task& task = handling->task();
  if (now >= handling->times_out) {
    handling->stop(Handling::Stop::timed_out, "timed out after " + to_string(task.terms.timeout),
                   now);
    return;
  }
  if (now >= handling->lease_ends) {
    handling->stop(Handling::Stop::lost, "its lease could not be renewed: " + handling->trouble,
                   now);
    return;
  }
  // What is to be renewed soon goes along with what is to be renewed now.
  const bool soon = now >= handling->renew_at - settings_.lease / 6;
  if (soon && !handling->renewing && !handling->refused) renew(handling, settings_.lease, {});
}

void TaskWorker::Impl::arm(SteadyInstant now) {
  SteadyInstant first = SteadyInstant::max();
  const auto look_at = [&](SteadyInstant when) {
    if (when > now) first = std::min(first, when);
  };
  if (draining_) {
    look_at(drain_ends_);
    look_at(last_words_end());
  } else if (!error_) {
    look_at(claim_not_before_);
  }
  for (const auto& [name, lane] : lanes_) {
    if (!lane.words.empty()) look_at(std::max(lane.not_before, gathered_));
  }
  for (const Interrupted& each : interrupted_) look_at(each.until);
  for (const auto& handling : handled_) {
    look_at(handling->times_out);
    look_at(handling->lease_ends);
    if (!handling->renewing) look_at(handling->renew_at);
  }
  if (first == SteadyInstant::max() || (armed_ && *armed_ <= first && *armed_ > now)) return;
  if (armed_) world_.timers.cancel(timer_);
  armed_ = first;
  timer_ =
      world_.timers.after(std::max(first - now, look_min), [weak = weak_from_this()](bool over) {
        const auto self = weak.lock();
        if (!self) return;
        if (over) return self->finish(failure(Code::unavailable, "the timers were closed"));
        self->strand_.post([self] {
          self->armed_.reset();
          self->pump();
        });
      });
}

// ---- the end

void TaskWorker::Impl::finish_if_done() {
  if (!handled_.empty() || has_words() || claims_ > 0) return;
  if (error_) return finish(std::unexpected(*error_));
  if (draining_ || nothing_due_) finish({});
}

void TaskWorker::Impl::finish(Result<void> result) {
  const std::lock_guard lock(mutex_);
  if (!finished_) finished_ = std::move(result);
  finished_changed_.notify_all();
}

}  // namespace pawl
