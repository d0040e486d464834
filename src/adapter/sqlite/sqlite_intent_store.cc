#include "adapter/sqlite/sqlite_intent_store.h"

#include <utility>

#include "base/assert.h"
#include "port/answer_of.h"

namespace pawl {
namespace {

using order::FrequencyLimit;
using order::Intent;
using order::Life;
using order::Progress;
using order::Quota;

constexpr std::int64_t nothing = 0;  // no intent has this id

}  // namespace

Result<std::unique_ptr<SqliteIntentStore>> SqliteIntentStore::open(SqliteIntentStoreOptions options,
                                                                   Clock& clock) {
  std::unique_ptr<SqliteIntentStore> store(new SqliteIntentStore);
  store->writer_ = PAWL_TRY(
      sqlite::Writer::open({.database = {.path = options.path,
                                         .schema = IntentBook::schema,
                                         .journal = sqlite::Journal::wal,
                                         .busy_timeout = options.busy_timeout},
                            .queue_max = options.queue_max},
                           clock, [self = store.get()](const sqlite::Transaction& transaction) {
                             return std::make_unique<IntentBook>(transaction, *self->locks_);
                           }));
  store->locks_ = PAWL_TRY(WorkLocks::open(options.path));
  PAWL_TRY(answer_of<void>([&](auto done) {
    store->writer_->submit<IntentBook>(1, Done<void>(std::move(done)),
                                       [](IntentBook& book) { return book.claim_work(); });
  }));
  return store;
}

template <class T, class Step>
void SqliteIntentStore::submit_work(Done<T> done, Step step) {
  auto held = std::make_shared<std::int64_t>(nothing);  // the writer's alone
  Done<T> let_go_or_answer = [this, held, done = std::move(done)](Result<T> result) mutable {
    if (!result) locks_->release(*held);
    done(std::move(result));
  };
  writer_->submit<IntentBook>(
      1, std::move(let_go_or_answer),
      [held, step = std::move(step)](IntentBook& book) { return step(book, *held); });
}

void SqliteIntentStore::open(NewIntent intent, Done<Opening> done) {
  submit_work(std::move(done), [intent = std::move(intent)](IntentBook& book, std::int64_t& held) {
    return book.open(intent, held);
  });
}

void SqliteIntentStore::take(std::string reference, Done<TakenIntent> done) {
  submit_work(std::move(done),
              [reference = std::move(reference)](IntentBook& book, std::int64_t& held) {
                return book.take(reference, held);
              });
}

void SqliteIntentStore::save(std::int64_t id, Progress progress, Done<void> done) {
  PAWL_ASSERT(locks_->holds(id));
  // What became of it may always be kept; the next attempt needs the lock to mean something.
  if (progress.status == order::Status::sending) {
    if (const Result<void> held = locks_->check(); !held) {
      return done(std::unexpected(held.error()));
    }
  }
  writer_->submit<IntentBook>(
      1, std::move(done),
      [id, progress = std::move(progress)](IntentBook& book) { return book.save(id, progress); });
}

void SqliteIntentStore::release(std::int64_t id) {
  locks_->release(id);
}

void SqliteIntentStore::get(std::string reference, Done<Intent> done) {
  writer_->look<IntentBook>(std::move(done), [reference = std::move(reference)](IntentBook& book) {
    return book.get(reference);
  });
}

void SqliteIntentStore::list(IntentFilter filter, Done<std::vector<Intent>> done) {
  writer_->look<IntentBook>(std::move(done), [filter = std::move(filter)](IntentBook& book) {
    return book.list(filter);
  });
}

void SqliteIntentStore::quota(FrequencyLimit limit, Instant now, Done<Quota> done) {
  writer_->look<IntentBook>(std::move(done),
                            [limit, now](IntentBook& book) { return book.quota(limit, now); });
}

void SqliteIntentStore::backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) {
  const std::size_t count = rows.size();
  writer_->submit<IntentBook>(count, std::move(done), [rows = std::move(rows)](IntentBook& book) {
    return book.backfill(rows);
  });
}

void SqliteIntentStore::set_life(std::string venue, std::string order_id, Life life,
                                 Done<bool> done) {
  writer_->submit<IntentBook>(
      0, std::move(done),
      [venue = std::move(venue), order_id = std::move(order_id), life](IntentBook& book) {
        return book.set_life(venue, order_id, life);
      });
}

void SqliteIntentStore::unfinished(std::string venue, std::int64_t after, std::size_t limit,
                                   Done<std::vector<Intent>> done) {
  writer_->look<IntentBook>(std::move(done),
                            [venue = std::move(venue), after, limit](IntentBook& book) {
                              return book.unfinished(venue, after, limit);
                            });
}

void SqliteIntentStore::history_is_empty(Done<bool> done) {
  writer_->look<IntentBook>(std::move(done),
                            [](IntentBook& book) { return book.history_is_empty(); });
}

Result<void> SqliteIntentStore::health() {
  PAWL_TRY(locks_->check());
  return writer_->health();
}

}  // namespace pawl
