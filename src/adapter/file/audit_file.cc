#include "adapter/file/audit_file.h"

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

namespace pawl {
namespace {

// Between two looks at a disk that had no room.
constexpr std::chrono::milliseconds retry_pause(100);

// Signals are for the threads that expect them. This also keeps SIGXFSZ, which a file-size limit
// raises, from ending the process: the write fails with EFBIG instead.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<std::unique_ptr<AuditFile>> AuditFile::open(const AuditFileOptions& options) {
  ChainFile file = PAWL_TRY(ChainFile::open(options.path));
  try {
    return std::unique_ptr<AuditFile>(new AuditFile(std::move(file), options));
  } catch (const std::system_error& error) {
    return failure(Code::unavailable,
                   std::string("cannot start the audit log's writer thread: ") + error.what());
  }
}

AuditFile::AuditFile(ChainFile file, const AuditFileOptions& options)
    : file_(std::move(file)),
      on_full_(options.on_full),
      queue_events_max_(options.queue_events_max),
      note_(file_.take_note()),
      writer_([this] { write_until_closed(); }) {}

AuditFile::~AuditFile() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  writer_.join();
}

bool AuditFile::is_full() const {
  return appended_ - durable_ >= queue_events_max_ || lag_bytes_ >= bounds::audit_queue_bytes_max;
}

Result<void> AuditFile::append(audit::Event event) {
  audit::Draft draft = PAWL_TRY(audit::draft(event));
  std::unique_lock lock(mutex_);
  if (on_full_ == OnFull::block) {
    progress_.wait(lock, [this] { return failed_ || !is_full(); });
  }
  if (failed_) return failure(failed_->code, failed_->message);
  if (is_full()) {
    return failure(Code::unavailable,
                   "the audit log is full: " + std::to_string(appended_ - durable_) +
                       " events wait for the disk");
  }
  lag_bytes_ += draft.text.size();
  ++appended_;
  queue_.push_back(std::move(draft));
  const bool writer_may_sleep = queue_.size() == 1;
  lock.unlock();
  if (writer_may_sleep) work_.notify_one();
  return {};
}

Result<void> AuditFile::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = appended_;
  progress_.wait(lock, [&] { return failed_ || durable_ >= wanted; });
  if (durable_ < wanted) return std::unexpected(*failed_);
  return {};
}

Result<void> AuditFile::health() {
  const std::lock_guard lock(mutex_);
  if (failed_) return std::unexpected(*failed_);
  return {};
}

std::uint64_t AuditFile::lag() const {
  const std::lock_guard guard(mutex_);
  return appended_ - durable_;
}

std::string AuditFile::take_note() {
  const std::lock_guard guard(mutex_);
  return std::exchange(note_, {});
}

void AuditFile::write_until_closed() {
  block_signals();
  while (true) {
    const std::vector<audit::Draft> batch = take_batch();
    if (batch.empty()) return;
    const Result<void> written = write(batch);

    const std::lock_guard guard(mutex_);
    if (!written) {
      failed_ = written.error();
      progress_.notify_all();
      return;
    }
    durable_ += batch.size();
    for (const audit::Draft& draft : batch) lag_bytes_ -= draft.text.size();
    if (std::string note = file_.take_note(); !note.empty()) note_ = std::move(note);
    progress_.notify_all();
  }
}

// What waits now, up to the bound; nothing when the sink closes.
std::vector<audit::Draft> AuditFile::take_batch() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
  std::vector<audit::Draft> batch;
  std::size_t bytes = 0;
  while (!queue_.empty() && bytes < bounds::audit_batch_bytes_max) {
    bytes += queue_.front().text.size();
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

Result<void> AuditFile::write(const std::vector<audit::Draft>& batch) {
  while (true) {
    Result<void> written = file_.append(batch);
    if (written) return written;
    const Error& error = written.error();
    const bool may_retry = error.code == Code::unavailable && may_send_again(error.outcome);
    if (on_full_ == OnFull::fail || !may_retry) return written;
    {
      const std::lock_guard guard(mutex_);
      note_ = error.message + "; events wait until then";
    }
    std::this_thread::sleep_for(retry_pause);
  }
}

}  // namespace pawl
