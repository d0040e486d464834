#include "adapter/sqlite/sqlite_counter_store.h"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

namespace pawl {
namespace {

// Twice as many as an ask can add: walking over all counts, the forgetting outpaces the growth.
constexpr std::size_t rows_walked_a_count = 2;

// Signals are for the threads that expect them. This also keeps SIGXFSZ, which a file-size limit
// raises, from ending the process: the write fails instead.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

sqlite::DatabaseOptions database_options(const SqliteCounterStoreOptions& options) {
  return {
      .path = options.path, .schema = CounterBook::schema, .busy_timeout = options.busy_timeout};
}

}  // namespace

struct SqliteCounterStore::Job {
  explicit Job(Counts asked) : counts(asked.begin(), asked.end()) {}
  virtual ~Job() = default;

  virtual void decide(CounterBook& book) = 0;
  virtual void answer() = 0;
  virtual void fail(const Error& error) = 0;

  const std::vector<Counted> counts;
};

template <class T>
class SqliteCounterStore::JobOf final : public Job {
 public:
  using Step = std::move_only_function<Result<T>(CounterBook&, CounterBook::Items)>;

  JobOf(Counts asked, Done<T> done, Step step)
      : Job(asked), done_(std::move(done)), step_(std::move(step)) {}

  void decide(CounterBook& book) override { result_ = step_(book, counts); }
  void answer() override { done_(*std::move(result_)); }
  void fail(const Error& error) override { done_(std::unexpected(error)); }

 private:
  Done<T> done_;
  Step step_;
  std::optional<Result<T>> result_;
};

Result<std::unique_ptr<SqliteCounterStore>> SqliteCounterStore::open(
    SqliteCounterStoreOptions options, Clock& clock, Entropy& entropy) {
  sqlite::Database database = PAWL_TRY(sqlite::Database::open(database_options(options)));
  try {
    return std::unique_ptr<SqliteCounterStore>(
        new SqliteCounterStore(std::move(options), std::move(database), clock, entropy));
  } catch (const std::system_error& error) {
    return failure(
        Code::unavailable,
        std::string("cannot start the writer thread of the limit counters: ") + error.what());
  }
}

SqliteCounterStore::SqliteCounterStore(SqliteCounterStoreOptions options, sqlite::Database database,
                                       Clock& clock, Entropy& entropy)
    : options_(std::move(options)),
      clock_(clock),
      ids_(seed_of(entropy.next())),
      database_(std::move(database)),
      opened_wall_(clock.wall_now()),
      opened_steady_(clock.steady_now()),
      writer_([this] { work_until_closed(); }) {}

SqliteCounterStore::~SqliteCounterStore() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  writer_.join();
}

template <class T, class Step>
void SqliteCounterStore::submit(Counts counts, Done<T> done, Step step) {
  auto job = std::make_unique<JobOf<T>>(counts, std::move(done), std::move(step));
  std::unique_lock lock(mutex_);
  if (queue_.size() >= options_.queue_max) {
    const std::size_t waiting = queue_.size();
    lock.unlock();
    return job->fail({Code::unavailable, Outcome::not_applied,
                      "the limit counters in '" + options_.path + "' are behind: " +
                          std::to_string(waiting) + " asks wait for the disk; ask less often"});
  }
  queue_.push_back(std::move(job));
  const bool writer_may_sleep = queue_.size() == 1;
  lock.unlock();
  if (writer_may_sleep) work_.notify_one();
}

void SqliteCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  submit(counts, std::move(done), [cost](CounterBook& book, CounterBook::Items items) {
    return book.check(items, {.cost = cost});
  });
}

void SqliteCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                 Done<Reservation> done) {
  const std::uint64_t id = ids_.next();
  submit(counts, std::move(done), [=](CounterBook& book, CounterBook::Items items) {
    return book.reserve(items, {.cost = cost, .holder = id}, hold);
  });
}

void SqliteCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  submit(counts, std::move(done),
         [=](CounterBook& book, CounterBook::Items items) { return book.settle(items, id, how); });
}

void SqliteCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  submit({&count, 1}, std::move(done),
         [cost](CounterBook& book, CounterBook::Items items) { return book.refund(items, cost); });
}

void SqliteCounterStore::reset(const Count& count, Done<void> done) {
  submit({&count, 1}, std::move(done),
         [](CounterBook& book, CounterBook::Items items) { return book.reset(items); });
}

void SqliteCounterStore::close(const Count& count, Instant until, Done<void> done) {
  submit({&count, 1}, std::move(done),
         [until](CounterBook& book, CounterBook::Items items) { return book.close(items, until); });
}

Result<void> SqliteCounterStore::health() {
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
  submit({}, std::move(tried), [](CounterBook& book, CounterBook::Items) {
    book.touch();
    return Result<void>();
  });
  return std::unexpected(*std::move(failed));
}

void SqliteCounterStore::work_until_closed() {
  block_signals();
  while (true) {
    const Jobs batch = take_batch();
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
      continue;
    }
    for (const auto& job : batch) job->fail(committed.error());
    // They would meet the same trouble, each transaction after as long a wait.
    const Error same = {committed.error().code, Outcome::not_applied, committed.error().message};
    for (const auto& job : behind) job->fail(same);
  }
}

// What waits now, up to the bound; nothing when the store closes.
SqliteCounterStore::Jobs SqliteCounterStore::take_batch() {
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

Result<void> SqliteCounterStore::commit(const Jobs& batch) {
  if (!database_) database_ = PAWL_TRY(sqlite::Database::reopen(database_options(options_)));
  Result<void> committed = database_->transact([&] { return decide(batch); });
  if (!committed) database_.reset();
  return committed;
}

Result<void> SqliteCounterStore::decide(const Jobs& batch) {
  const Instant wall = clock_.wall_now();  // with the lock held, so that all processes are in line
  CounterBook book(*database_, options_.book, wall);
  std::size_t counts = 0;
  for (const auto& job : batch) counts += job->counts.size();
  book.forget_some(forget_cursor_, counts * rows_walked_a_count, time_to_forget(wall));
  for (const auto& job : batch) {
    job->decide(book);
    if (book.broken()) break;
  }
  return book.save();
}

// A clock that leapt ahead and is put right later must not have emptied the file meanwhile.
limit::Moment SqliteCounterStore::time_to_forget(Instant now) {
  const Instant passed = opened_wall_ + (clock_.steady_now() - opened_steady_);
  return limit::Moment::from_ns(std::min(now, passed).ns());
}

}  // namespace pawl
