#include "port/event_queue.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/assert.h"

namespace pawl {
namespace {

// Of what may wait, so much is kept for those who have begun and only have to end.
constexpr std::size_t reserve_part = 8;

std::chrono::nanoseconds to_chrono(Duration duration) {
  return std::chrono::nanoseconds(duration.ns());
}

}  // namespace

bool EventQueue::is_full() const {
  return appended_ - durable_ >= options_.events_max || bytes_ >= bounds::audit_queue_bytes_max;
}

void EventQueue::look_for_room() {
  const auto below = [](std::size_t used, std::size_t most) {
    return used < most - most / reserve_part;
  };
  const bool found = failed_ || (below(appended_ - durable_, options_.events_max) &&
                                 below(bytes_, bounds::audit_queue_bytes_max));
  has_room_.store(found, std::memory_order_relaxed);
}

Result<void> EventQueue::append(const audit::Event& event) {
  return enqueue(PAWL_TRY(audit::draft(event)));
}

Result<void> EventQueue::append(audit::Late&& late) {
  if (!audit::surely_fits(late)) return append(to_event(late));
  return enqueue(std::move(late));
}

template <class Waiting>
Result<void> EventQueue::enqueue(Waiting&& waiting) {
  std::unique_lock lock(mutex_);
  if (options_.on_full == OnFull::block) {
    progress_.wait(lock, [this] { return failed_ || !is_full(); });
  }
  if (failed_) return failure(failed_->code, failed_->message);
  if (is_full()) {
    return failure(Code::unavailable,
                   "the audit log is full: " + std::to_string(appended_ - durable_) +
                       " events wait" + (trouble_ ? "; " + trouble_->message : std::string()));
  }
  bytes_ += waiting_.add(std::forward<Waiting>(waiting));
  ++appended_;
  look_for_room();
  const bool wakes = waiting_.events() >= wake_at_;
  if (wakes) wake_at_ = never;
  lock.unlock();
  if (wakes) work_.notify_one();
  return {};
}

Result<void> EventQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = appended_;
  wanted_ = wanted;
  if (durable_ < wanted) work_.notify_one();
  progress_.wait(lock, [&] { return failed_ || durable_ >= wanted; });
  if (durable_ < wanted) return std::unexpected(*failed_);
  return {};
}

Result<void> EventQueue::health() const {
  const std::lock_guard guard(mutex_);
  if (failed_) return std::unexpected(*failed_);
  if (trouble_) return std::unexpected(*trouble_);
  return {};
}

Result<void> EventQueue::alive() const {
  const std::lock_guard guard(mutex_);
  if (failed_) return std::unexpected(*failed_);
  return {};
}

std::uint64_t EventQueue::lag() const {
  const std::lock_guard guard(mutex_);
  return appended_ - durable_;
}

void EventQueue::close() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  work_.notify_one();
}

std::span<const audit::Draft> EventQueue::batch(std::size_t bytes_max) {
  if (sizes_.empty() && taken_.is_read() && !take_what_waits()) return {};
  std::size_t count = 0;
  for (std::size_t bytes = 0; bytes < bytes_max; ++count) {
    if (count == sizes_.size() && !word_next()) break;
    bytes += drafts_[count].text.size();
  }
  return std::span<const audit::Draft>(drafts_).first(count);
}

// False when none is left and none will come.
bool EventQueue::take_what_waits() {
  taken_.clear();
  const std::size_t enough = std::max<std::size_t>(options_.events_max / reserve_part, 1);
  std::unique_lock lock(mutex_);
  wake_at_ = 1;
  work_.wait(lock, [this] { return closed_ || waiting_.events() > 0; });
  wake_at_ = enough;
  work_.wait_for(lock, to_chrono(bounds::audit_gather),
                 [&] { return closed_ || wanted_ > durable_ || waiting_.events() >= enough; });
  wake_at_ = never;
  std::swap(taken_, waiting_);
  return !taken_.is_read();
}

bool EventQueue::word_next() {
  if (drafts_.size() == sizes_.size()) drafts_.emplace_back();
  const std::size_t size = taken_.next(wording_, drafts_[sizes_.size()]);
  if (size > 0) sizes_.push_back(size);
  return size > 0;
}

void EventQueue::durable(std::size_t events) {
  PAWL_ASSERT(events <= sizes_.size());
  const auto end = static_cast<std::ptrdiff_t>(events);
  const auto all = static_cast<std::ptrdiff_t>(sizes_.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < events; ++i) bytes += sizes_[i];
  std::rotate(drafts_.begin(), drafts_.begin() + end, drafts_.begin() + all);
  sizes_.erase(sizes_.begin(), sizes_.begin() + end);
  {
    const std::lock_guard guard(mutex_);
    bytes_ -= bytes;
    durable_ += events;
    trouble_.reset();
    look_for_room();
  }
  progress_.notify_all();
}

bool EventQueue::pause_after(const Error& trouble, Duration pause) {
  std::unique_lock lock(mutex_);
  trouble_ = trouble;
  const auto stop = [this] { return closed_ && options_.on_full == OnFull::fail; };
  return !work_.wait_for(lock, to_chrono(pause), stop);
}

void EventQueue::fail(const Error& error) {
  {
    const std::lock_guard guard(mutex_);
    failed_ = error;
    look_for_room();
  }
  progress_.notify_all();
}

}  // namespace pawl
