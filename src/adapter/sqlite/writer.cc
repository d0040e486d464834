#include "adapter/sqlite/writer.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <system_error>

namespace pawl::sqlite {
namespace {

// Signals are for the threads that expect them. This also keeps SIGXFSZ, which a file-size limit
// raises, from ending the process: the write fails instead.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(WriterOptions options, Clock& clock,
                                             OpenBook open_book) {
  Database database = PAWL_TRY(Database::open(options.database));
  const std::string what(options.database.schema.what);
  try {
    return std::unique_ptr<Writer>(
        new Writer(std::move(options), std::move(database), clock, std::move(open_book)));
  } catch (const std::system_error& error) {
    return failure(Code::unavailable,
                   "cannot start the writer thread of the " + what + ": " + error.what());
  }
}

Writer::Writer(WriterOptions options, Database database, Clock& clock, OpenBook open_book)
    : options_(std::move(options)),
      clock_(clock),
      in_memory_(database.is_in_memory()),
      database_(std::move(database)),
      open_book_(std::move(open_book)),
      opened_wall_(clock.wall_now()),
      opened_steady_(clock.steady_now()),
      thread_([this] { work_until_closed(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void Writer::submit(std::unique_ptr<Job> job) {
  std::unique_lock lock(mutex_);
  if (queue_.size() >= options_.queue_max) {
    const std::size_t waiting = queue_.size();
    lock.unlock();
    const DatabaseOptions& file = options_.database;
    return job->fail({Code::unavailable, Outcome::not_applied,
                      "the " + std::string(file.schema.what) + " in '" + file.path +
                          "' are behind: " + std::to_string(waiting) +
                          " asks wait for the disk; ask less often"});
  }
  queue_.push_back(std::move(job));
  const bool thread_may_sleep = queue_.size() == 1;
  lock.unlock();
  if (thread_may_sleep) work_.notify_one();
}

Result<void> Writer::health() {
  std::optional<Error> failed;
  {
    const std::lock_guard guard(mutex_);
    if (!failed_) return {};
    failed = failed_;
    if (std::exchange(trying_, true)) return std::unexpected(*std::move(failed));
  }
  Done<void> tried = [this](const Result<void>&) {
    const std::lock_guard guard(mutex_);
    trying_ = false;
  };
  submit<Book>(0, std::move(tried), [](Book& book) -> Result<void> {
    book.touch();
    return {};
  });
  return std::unexpected(*std::move(failed));
}

void Writer::work_until_closed() {
  block_signals();
  while (true) {
    Jobs batch = take_batch();
    if (batch.empty()) return;
    const Result<void> committed = commit(batch);
    Jobs behind;
    {
      const std::lock_guard guard(mutex_);
      failed_ = committed ? std::nullopt : std::optional(committed.error());
      if (!committed) behind.swap(queue_);
    }
    if (committed) {
      for (const auto& job : batch) job->answer();
      database_->tend();
      continue;
    }
    for (const auto& job : batch) job->fail(committed.error());
    // They would meet the same trouble, each transaction after as long a wait.
    const Error same = {committed.error().code, Outcome::not_applied, committed.error().message};
    for (const auto& job : behind) job->fail(same);
  }
}

// What waits now, up to the bound; nothing when the writer closes.
Writer::Jobs Writer::take_batch() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
  Jobs batch;
  if (queue_.size() <= bounds::sqlite_batch_max) {
    batch.swap(queue_);
    return batch;
  }
  while (batch.size() < bounds::sqlite_batch_max) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

Result<void> Writer::commit(Jobs& batch) {
  if (!database_) database_ = PAWL_TRY(Database::reopen(options_.database));
  Result<void> committed = database_->transact([&] { return decide(batch); });
  if (!committed) database_.reset();
  return committed;
}

// Leaves in the batch those that are still to be answered.
Result<void> Writer::decide(Jobs& batch) {
  std::size_t rows = 0;
  for (const auto& job : batch) rows += job->rows.value_or(0);
  const Instant now = clock_.wall_now();
  const Instant passed = opened_wall_ + (clock_.steady_now() - opened_steady_);
  const std::unique_ptr<Book> book = open_book_(
      {.database = *database_, .now = now, .forgettable = std::min(now, passed), .rows = rows});
  const auto decide_those = [&](bool looks) {
    for (const auto& job : batch) {
      if (job->is_look() == looks && !book->broken()) job->decide(*book);
    }
  };
  decide_those(true);
  if (book->broken()) return book->save();
  for (const auto& job : batch) {
    if (job->is_look()) job->answer();
  }
  std::erase_if(batch, [](const auto& job) { return job->is_look(); });
  decide_those(false);
  return book->save();
}

}  // namespace pawl::sqlite
