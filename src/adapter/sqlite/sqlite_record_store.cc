#include "adapter/sqlite/sqlite_record_store.h"

#include <utility>

namespace pawl {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;

Result<std::unique_ptr<SqliteRecordStore>> SqliteRecordStore::open(SqliteRecordStoreOptions options,
                                                                   Clock& clock) {
  std::unique_ptr<SqliteRecordStore> store(new SqliteRecordStore(options.records_max));
  store->writer_ = PAWL_TRY(sqlite::Writer::open(
      {.database = {.path = std::move(options.path),
                    .schema = RecordBook::schema,
                    .busy_timeout = options.busy_timeout},
       .queue_max = options.queue_max},
      clock, [self = store.get()](const sqlite::Transaction& transaction) {
        return std::make_unique<RecordBook>(transaction, self->records_max_, self->replays_);
      }));
  return store;
}

SqliteRecordStore::~SqliteRecordStore() {
  if (writer_ == nullptr) return;  // it could not be opened
  writer_->submit<RecordBook>(0, Done<void>([](const Result<void>&) {}), [](RecordBook& book) {
    book.write_replays();
    return Result<void>();
  });
}

template <class T, class Step>
void SqliteRecordStore::submit(std::size_t rows, const RecordKey& key, Done<T> done, Step step) {
  if (Result<void> valid = check(key); !valid) return done(std::unexpected(valid.error()));
  writer_->submit<RecordBook>(
      rows, std::move(done),
      [key, step = std::move(step)](RecordBook& book) mutable { return step(book, key); });
}

void SqliteRecordStore::begin(const RecordKey& key, const Begin& ask, Done<Begun> done) {
  if (Result<void> valid = idempotency::check(ask); !valid) {
    return done(std::unexpected(valid.error()));
  }
  submit(1, key, std::move(done),
         [ask](RecordBook& book, const RecordKey& of) { return book.begin(of, ask); });
}

void SqliteRecordStore::renew(const RecordKey& key, std::uint64_t fence, Duration lease,
                              Done<void> done) {
  submit(0, key, std::move(done), [fence, lease](RecordBook& book, const RecordKey& of) {
    return book.renew(of, fence, lease);
  });
}

void SqliteRecordStore::complete(const RecordKey& key, std::uint64_t fence, Completion how,
                                 Done<void> done) {
  submit(0, key, std::move(done),
         [fence, how = std::move(how)](RecordBook& book, const RecordKey& of) mutable {
           return book.complete(of, fence, std::move(how));
         });
}

void SqliteRecordStore::settle(const RecordKey& key, Completion how, Done<void> done) {
  submit(0, key, std::move(done),
         [how = std::move(how)](RecordBook& book, const RecordKey& of) mutable {
           return book.settle(of, std::move(how));
         });
}

void SqliteRecordStore::get(const RecordKey& key, Done<Record> done) {
  if (Result<void> valid = check(key); !valid) return done(std::unexpected(valid.error()));
  writer_->look<RecordBook>(std::move(done), [key](RecordBook& book) { return book.get(key); });
}

void SqliteRecordStore::look_up(const RecordKey& key, std::string_view fingerprint,
                                Done<Record> done) {
  if (Result<void> valid = check(key); !valid) return done(std::unexpected(valid.error()));
  writer_->look<RecordBook>(std::move(done),
                            [key, fingerprint = std::string(fingerprint)](RecordBook& book) {
                              return book.look_up(key, fingerprint);
                            });
}

void SqliteRecordStore::clear(const RecordKey& key, bool force, Done<void> done) {
  submit(0, key, std::move(done),
         [force](RecordBook& book, const RecordKey& of) { return book.clear(of, force); });
}

void SqliteRecordStore::list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) {
  writer_->look<RecordBook>(std::move(done),
                            [filter](RecordBook& book) { return book.list(filter); });
}

Durability SqliteRecordStore::durability() const {
  return writer_->is_in_memory() ? Durability::process : Durability::fsync;
}

Result<void> SqliteRecordStore::health() {
  return writer_->health();
}

}  // namespace pawl
