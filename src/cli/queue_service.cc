#include "cli/queue_service.h"

#include <chrono>

#include "base/bounds_queue.h"
#include "base/queue_url.h"
#include "cli/environment.h"
#include "cli/queue_session.h"
#include "core/queue/shards.h"

namespace pawl::cli {
namespace {

using namespace std::chrono_literals;

// A folder's queue opens at once, a bucket's in a few round trips. Whoever asks later than that
// is told that it is being opened.
constexpr auto patience_at_start = 5s;
constexpr auto try_again_after = 5s;
constexpr Duration store_deadline = Duration::seconds(10);
constexpr std::size_t untold_max = 100'000;

QueueOfficeSettings settings_of(const config::Config& config) {
  QueueOfficeSettings settings = queue_settings(config, Opens::work);
  settings.deadline = store_deadline;
  return settings;
}

QueueOffice::Parts parts_of(const QueueService::Parts& parts) {
  return {.clock = parts.clock,
          .entropy = parts.entropy,
          .environment = [](const std::string& name) { return environment()(name); },
          .note = [logger = parts.logger](
                      const std::string& text) { logger.warn("queue_note", {{"note", text}}); }};
}

}  // namespace

QueueService::QueueService(const config::Config& config, const Parts& parts)
    : clock_(parts.clock),
      logger_(parts.logger),
      settings_(settings_of(config)),
      office_parts_(parts_of(parts)),
      here_{.queue = [this] { return queue(); },
            .new_id = [&entropy = parts.entropy] { return queue::make_task_id(entropy.next()); },
            .mark =
                [this] {
                  const std::lock_guard lock(mutex_);
                  return mark_;
                }},
      metrics_(parts.metrics) {}

QueueService::~QueueService() {
  stop();
}

Result<std::unique_ptr<QueueService>> QueueService::open(const config::Config& config,
                                                         const Parts& parts) {
  const QueueUrl place = PAWL_TRY(parse_queue_url(config.queue.url));
  if (place.kind == QueueUrl::Kind::broker) return std::unique_ptr<QueueService>();
  std::unique_ptr<QueueService> service(new QueueService(config, parts));
  service->opener_ = std::thread([self = service.get()] { self->open_until_it_is(); });
  std::unique_lock lock(service->mutex_);
  service->changed_.wait_for(lock, patience_at_start,
                             [&] { return service->queue_ || service->error_; });
  if (service->error_ && service->error_->code == Code::invalid) {
    Error error = *service->error_;
    lock.unlock();
    return std::unexpected(std::move(error));
  }
  return service;
}

void QueueService::open_until_it_is() {
  while (!try_to_open()) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, try_again_after, [this] { return ending_; })) return;
  }
}

bool QueueService::try_to_open() {
  Result<std::unique_ptr<QueueOffice>> office = QueueOffice::open(settings_, office_parts_);
  Result<std::string> mark = office ? (*office)->mark() : Result<std::string>();
  if (!office || !mark) {
    const Error error = office ? mark.error() : office.error();
    logger_.warn("queue_not_open", {{"url", settings_.url}, {"error", error.message}});
    const std::lock_guard lock(mutex_);
    error_ = error;
    changed_.notify_all();
    return false;
  }
  const std::lock_guard lock(mutex_);
  error_.reset();
  mark_ = *std::move(mark);
  office_ = *std::move(office);
  queue_ = std::make_unique<WatchedQueue>(office_->queue(),
                                          [this](const std::string& type, Duration delay) {
                                            const std::lock_guard told(mutex_);
                                            if (rescheduled_.size() < untold_max)
                                              rescheduled_.emplace_back(type, delay);
                                          });
  changed_.notify_all();
  return true;
}

Result<TaskQueue*> QueueService::queue() {
  const std::lock_guard lock(mutex_);
  if (ending_) return failure(Code::unavailable, "this pawl is ending: ask another one");
  if (queue_) return queue_.get();
  return failure(Code::unavailable,
                 "the queue is not open yet" + (error_ ? ": " + error_->message : std::string()));
}

void QueueService::tick() {
  std::optional<Result<queue::Stats>> stats;
  std::vector<std::pair<std::string, Duration>> rescheduled;
  TaskQueue* queue = nullptr;
  bool looks = false;
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || !queue_) return;
    queue = queue_.get();
    stats.swap(stats_);
    rescheduled.swap(rescheduled_);
    looks = !std::exchange(looking_, true);
  }
  for (const auto& [type, delay] : rescheduled) metrics_.rescheduled(type, delay);
  if (stats && *stats) metrics_.update(**stats, queue->view(), clock_.wall_now());
  if (!looks) return;
  queue->followed_stats([this](Result<queue::Stats> found) {
    const std::lock_guard lock(mutex_);
    looking_ = false;
    trouble_ = found ? "" : found.error().message;
    stats_.emplace(std::move(found));
  });
}

void QueueService::drain() {
  TaskQueue* queue = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    queue = queue_.get();
    changed_.notify_all();
  }
  if (queue != nullptr) queue->stop_claims();
}

void QueueService::stop() {
  drain();
  if (opener_.joinable()) opener_.join();
  if (office_) office_->close();
}

std::string QueueService::degraded() {
  const std::lock_guard lock(mutex_);
  if (error_) return "queue: " + error_->message;
  if (!queue_ && !ending_) return "queue: it is being opened";
  return trouble_.empty() ? "" : "queue: " + trouble_;
}

}  // namespace pawl::cli
