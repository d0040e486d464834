#include "assembly/record_stores.h"

#include <string>
#include <string_view>
#include <utility>

#include "adapter/memory/memory_record_store.h"
#include "adapter/nats/nats_record_store.h"
#include "adapter/redis/redis_record_store.h"
#include "adapter/sqlite/sqlite_record_store.h"

namespace pawl {
namespace {

struct Opened {
  std::unique_ptr<RecordStore> store;
  std::string why_no_more = {};  // for people: what its durability was found by
  std::string_view remedy = {};
};

Result<Opened> open_sqlite(const std::string& path, Clock& clock) {
  return Opened{.store = PAWL_TRY(SqliteRecordStore::open({.path = path}, clock)),
                .why_no_more = "the file '" + path + "' lies in memory (tmpfs)",
                .remedy = "name a file on a disk"};
}

Result<Opened> open_redis(const Secret<std::string>& text, Clock& clock) {
  const redis::RedisUrl url = PAWL_TRY(redis::parse_redis_url(text.reveal()));
  auto store = PAWL_TRY(RedisRecordStore::open(url, clock, {}));
  std::string seen = "the Redis has " + store->durability_seen();
  return Opened{.store = std::move(store),
                .why_no_more = std::move(seen),
                .remedy =
                    "set 'appendonly yes', 'appendfsync always' and 'maxmemory-policy "
                    "noeviction' there"};
}

Result<Opened> open_nats(const Secret<std::string>& text, Clock& clock) {
  const nats::NatsUrl url = PAWL_TRY(nats::parse_nats_url(text.reveal()));
  auto store = PAWL_TRY(NatsRecordStore::open({.url = url}, clock));
  const bool in_file = store->durability() == Durability::process;
  return Opened{.store = std::move(store),
                .why_no_more = in_file
                                   ? "a NATS server does not wait for its disk, so no bucket of "
                                     "one gives more than process"
                                   : "the bucket '" + url.name + "' is kept in memory",
                .remedy = in_file ? "name a SQLite file or a Redis where a power cut must lose "
                                    "nothing"
                                  : "make the bucket anew, with storage in a file"};
}

Result<Opened> open(const StoreSetting& store, Clock& clock) {
  switch (store.kind) {
    case StoreSetting::Kind::memory:
      return Opened{.store = std::make_unique<MemoryRecordStore>(clock),
                    .why_no_more = "memory ends with its process",
                    .remedy = "name another store, as in sqlite:PATH"};
    case StoreSetting::Kind::sqlite:
      return open_sqlite(store.path, clock);
    case StoreSetting::Kind::redis:
      return open_redis(store.url, clock);
    case StoreSetting::Kind::nats:
      return open_nats(store.url, clock);
    case StoreSetting::Kind::none:
    case StoreSetting::Kind::file:
      break;
  }
  return failure(Code::invalid,
                 "records cannot be kept there; name memory, sqlite:PATH, redis://HOST:PORT or "
                 "nats://HOST:PORT/BUCKET");
}

}  // namespace

Result<std::unique_ptr<RecordStore>> open_records(const StoreSetting& store, Durability at_least,
                                                  Clock& clock) {
  Opened opened = PAWL_TRY(open(store, clock));
  const Durability given = opened.store->durability();
  if (given >= at_least) return std::move(opened.store);
  return failure(Code::invalid, "the store of records is asked for durability '" +
                                    std::string(to_string(at_least)) + "' and gives '" +
                                    std::string(to_string(given)) + "': " + opened.why_no_more +
                                    "; " + std::string(opened.remedy) + ", or ask for '" +
                                    std::string(to_string(given)) + "'");
}

}  // namespace pawl
