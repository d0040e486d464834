// Writer: the one thread that changes a SQLite file, for many callers who share its commits.
//
// Why:      a commit costs five syncs, whatever it holds: the journal twice, its folder, the file,
//           the journal's end. (One with a WAL, see database.h.) So all jobs that wait are done
//           within one transaction, up to bounds::sqlite_batch_max of them, and answered behind its
//           commit. Jobs that change nothing cost no sync.
// Contract: a job is a step on the book of its transaction (book.h). It is answered exactly once:
//           by what its step returned, when that is on the disk; else by the error of the
//           transaction, with its outcome. A look is a job that changes nothing. The looks of a
//           transaction come first, see what was on the disk before it, and do not wait for its
//           commit.
// Time:     all steps of a transaction have one moment, taken with the write lock held, so that all
//           processes are in line. What may be forgotten is told by a time that no leap of the
//           clock makes later: a clock that is put right again must not have emptied the file
//           meanwhile.
// Trouble:  a full or failing disk, a file that is locked for too long, not writable, moved away or
//           damaged: the jobs of that transaction fail with the reason and the outcome, those that
//           wait behind it with not_applied, and the next ones try with a new connection. So all
//           goes on by itself once the trouble is over. A file that is gone is not made anew: that
//           would forget what it held. Open a new writer for that.
// Bounds:   queue_max jobs wait; one more fails at once with unavailable, not_applied.
// Threads:  any. `done` is called by the writer, or by the caller when the queue is full; it must
//           not block, nor destroy the writer. The destructor answers all that waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "adapter/sqlite/book.h"
#include "adapter/sqlite/database.h"
#include "pawl/clock.h"

namespace pawl::sqlite {

struct WriterOptions {
  DatabaseOptions database;
  std::size_t queue_max = bounds::sqlite_queue_max;
};

// What a book is opened with.
struct Transaction {
  Database& database;
  Instant now;
  Instant forgettable;  // what was over by then may be deleted
  std::size_t rows;     // its jobs add no more: who deletes as many does not grow
};

class Writer {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  using OpenBook = std::move_only_function<std::unique_ptr<Book>(const Transaction&)>;

  // Makes the file where it is missing. `clock` must outlive the writer; `open_book` is called by
  // its thread.
  static Result<std::unique_ptr<Writer>> open(WriterOptions options, Clock& clock,
                                              OpenBook open_book);
  ~Writer();

  // `step` is called with the book, which must be a B, and adds at most `rows` rows.
  template <class B, class T, class Step>
  void submit(std::size_t rows, Done<T> done, Step step) {
    submit(std::make_unique<JobOf<B, T, Step>>(rows, std::move(done), std::move(step)));
  }
  // The same for a step that changes nothing.
  template <class B, class T, class Step>
  void look(Done<T> done, Step step) {
    submit(std::make_unique<JobOf<B, T, Step>>(std::nullopt, std::move(done), std::move(step)));
  }

  // As the last transaction went. After a failed one, asking has a new one tried.
  Result<void> health();
  // Where it was opened: see Database.
  bool is_in_memory() const { return in_memory_; }

 private:
  struct Job {
    explicit Job(std::optional<std::size_t> rows_) : rows(rows_) {}
    virtual ~Job() = default;

    virtual void decide(Book& book) = 0;
    virtual void answer() = 0;
    virtual void fail(const Error& error) = 0;

    bool is_look() const { return !rows; }

    const std::optional<std::size_t> rows;
  };
  template <class B, class T, class Step>
  struct JobOf final : Job {
    JobOf(std::optional<std::size_t> rows_, Done<T> done_, Step step_)
        : Job(rows_), done(std::move(done_)), step(std::move(step_)) {}

    void decide(Book& book) override { result = step(static_cast<B&>(book)); }
    void answer() override { done(*std::move(result)); }
    void fail(const Error& error) override { done(std::unexpected(error)); }

    Done<T> done;
    Step step;
    std::optional<Result<T>> result;
  };
  using Jobs = std::deque<std::unique_ptr<Job>>;

  Writer(WriterOptions options, Database database, Clock& clock, OpenBook open_book);

  void submit(std::unique_ptr<Job> job);
  void work_until_closed();
  Jobs take_batch();
  Result<void> commit(Jobs& batch);
  Result<void> decide(Jobs& batch);

  const WriterOptions options_;
  Clock& clock_;
  const bool in_memory_;

  // The thread's alone.
  std::optional<Database> database_;  // none after an error
  OpenBook open_book_;
  const Instant opened_wall_;
  const SteadyInstant opened_steady_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  Jobs queue_;
  std::optional<Error> failed_;
  bool trying_ = false;  // a job that health() sent is waiting
  bool closing_ = false;

  std::thread thread_;  // starts when all the rest stands
};

}  // namespace pawl::sqlite
