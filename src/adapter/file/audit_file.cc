#include "adapter/file/audit_file.h"

#include <csignal>
#include <span>
#include <system_error>
#include <utility>

namespace pawl {
namespace {

// Between two looks at a disk that had no room.
constexpr Duration retry_pause = Duration::milliseconds(100);

// Signals are for the threads that expect them. This also keeps SIGXFSZ, which a file-size limit
// raises, from ending the process: the write fails with EFBIG instead.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<std::unique_ptr<AuditFile>> AuditFile::open(const AuditFileOptions& options) {
  ChainFile file =
      PAWL_TRY(ChainFile::open({.path = options.path, .part_bytes_max = options.part_bytes_max}));
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
      queue_({.on_full = options.on_full, .events_max = options.queue_events_max}),
      note_(file_.take_note()),
      writer_([this] { write_until_closed(); }) {}

AuditFile::~AuditFile() {
  queue_.close();
  writer_.join();
}

std::string AuditFile::take_note() {
  const std::lock_guard guard(mutex_);
  return std::exchange(note_, {});
}

void AuditFile::note(std::string what) {
  const std::lock_guard guard(mutex_);
  note_ = std::move(what);
}

void AuditFile::write_until_closed() {
  block_signals();
  while (true) {
    const std::span<const audit::Draft> batch = queue_.batch(bounds::audit_batch_bytes_max);
    if (batch.empty()) return;
    if (const Result<void> written = file_.append(batch); !written) {
      const Error& error = written.error();
      const bool may_retry = error.code == Code::unavailable && may_send_again(error.outcome);
      if (on_full_ == OnFull::fail || !may_retry) return queue_.fail(error);
      note(error.message + "; events wait until then");
      queue_.pause_after(error, retry_pause);
      continue;
    }
    if (std::string what = file_.take_note(); !what.empty()) note(std::move(what));
    queue_.durable(batch.size());
  }
}

}  // namespace pawl
