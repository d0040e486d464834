#include "adapter/sqlite/sqlite_counter_store.h"

#include <utility>
#include <vector>

namespace pawl {
namespace {

// Twice as many as an ask can add: walking over all counts, the forgetting outpaces the growth.
constexpr std::size_t rows_walked_a_count = 2;

}  // namespace

SqliteCounterStore::SqliteCounterStore(CounterBookOptions book, Entropy& entropy)
    : book_(std::move(book)), ids_(seed_of(entropy.next())) {}

Result<std::unique_ptr<SqliteCounterStore>> SqliteCounterStore::open(
    SqliteCounterStoreOptions options, Clock& clock, Entropy& entropy) {
  std::unique_ptr<SqliteCounterStore> store(
      new SqliteCounterStore(std::move(options.book), entropy));
  store->writer_ = PAWL_TRY(
      sqlite::Writer::open({.database = {.path = std::move(options.path),
                                         .schema = CounterBook::schema,
                                         .journal = options.synced ? sqlite::Journal::rollback
                                                                   : sqlite::Journal::unsynced,
                                         .busy_timeout = options.busy_timeout},
                            .queue_max = options.queue_max},
                           clock, [self = store.get()](const sqlite::Transaction& transaction) {
                             return self->open_book(transaction);
                           }));
  return store;
}

std::unique_ptr<CounterBook> SqliteCounterStore::open_book(const sqlite::Transaction& transaction) {
  auto book = std::make_unique<CounterBook>(transaction.database, book_, transaction.now);
  book->forget_some(forget_cursor_, transaction.rows * rows_walked_a_count,
                    limit::Moment::from_ns(transaction.forgettable.ns()));
  return book;
}

template <class T, class Step>
void SqliteCounterStore::submit(Counts counts, Done<T> done, Step step) {
  std::vector<Counted> items(counts.begin(), counts.end());
  writer_->submit<CounterBook>(counts.size(), std::move(done),
                               [items = std::move(items), step](CounterBook& book) {
                                 return step(book, CounterBook::Items(items));
                               });
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
  return writer_->health();
}

}  // namespace pawl
