// RedisRecordStore: records of intents in Redis or a Redis Cluster, for processes on several
// machines.
//
// Contract: RecordStore, by the server's clock. A call is one script in one round trip
//           (record_scripts.h); what the script tells is turned into an answer by the machine
//           (core/idempotency), from the record that the script found: were the two ever to decide
//           differently, the call fails with Code::internal. Times are whole microseconds, leases
//           and ttls rounded up to them.
// Fence:    greater than the last of its group and not below the server's clock in microseconds.
//           So those of a key grow also where a server has lost some of what it said (no file, or a
//           failover), as long as no clock goes back by more than that took.
// Survives: see durability() and redis_durability.h; found when the store is opened. A failover to
//           a replica can forget what was acknowledged last: Redis replicates afterwards.
// Expiry:   a key goes with its record, some milliseconds after expires_at. A server whose clock
//           leaps ahead forgets what has expired by it; let clocks be disciplined, not set.
// Replays:  are counted in place; a server that is full, or cannot write, loses them.
// Listing:  by a sorted set a group, asked page by page, group by group. What is begun again
//           meanwhile may be missing.
// Cluster:  records lie in 64 slots. While one of them moves, its records may be unavailable.
// Errors:   those of redis_client.h. Code::invalid when a key holds something that is not pawl's;
//           unavailable when the server is full (run it with maxmemory-policy noeviction).
// Bounds:   `deadline` for a call, for each page of a listing, and for each question of open().
//           The server's memory bounds the rest.
// Threads:  any. `done` is called on the client's thread, or by the caller when the queue is full;
//           it must be quick, and not destroy the store. Destroying it fails what is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/redis/record_scripts.h"
#include "adapter/redis/redis_client.h"
#include "adapter/redis/redis_durability.h"
#include "adapter/redis/script_runner.h"
#include "base/bounds.h"
#include "base/redis_url.h"
#include "pawl/clock.h"
#include "port/record_store.h"

namespace pawl {

struct RedisRecordStoreOptions {
  Duration deadline = bounds::redis_record_deadline;
  Clock* time = nullptr;  // tests: instead of the server's
};

class RedisRecordStore final : public RecordStore {
 public:
  // Asks the server what it gives, so it must answer: else unavailable. `clock` must outlive the
  // store.
  static Result<std::unique_ptr<RedisRecordStore>> open(const redis::RedisUrl& url, Clock& clock,
                                                        const RedisRecordStoreOptions& options);
  ~RedisRecordStore() override;

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override;
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override;
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override;
  void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) override;
  void get(const RecordKey& key, Done<idempotency::Record> done) override;
  void look_up(const RecordKey& key, std::string_view fingerprint,
               Done<idempotency::Record> done) override;
  void clear(const RecordKey& key, bool force, Done<void> done) override;
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override;

  Durability durability() const override { return found_.durability; }
  // What it was found by, for people.
  const std::string& durability_seen() const { return found_.seen; }
  Result<void> health() override;

 private:
  using Words = std::vector<std::string>;
  // What the machine says of the record that a script found and would not change.
  using Machine =
      std::move_only_function<Result<void>(std::optional<idempotency::Record>& kept, Instant now)>;
  struct Step {
    const redis::Script& script;
    Words keys;
    Words arguments = {};  // after the time
  };
  struct Answer;
  struct Listing;

  RedisRecordStore(Clock& clock, const RedisRecordStoreOptions& options,
                   redis::FoundDurability found, std::unique_ptr<redis::Client> client);

  void run(Step step, Done<Answer> done);
  void change(Step step, Machine machine, Done<void> done);
  void get(const RecordKey& key, Words repeated, Done<idempotency::Record> done);
  void list_next(std::unique_ptr<Listing> listing);
  static Result<void> take_page(Listing& listing, const Answer& page);

  Clock& clock_;
  const RedisRecordStoreOptions options_;
  const redis::FoundDurability found_;
  const redis::RecordScripts scripts_;
  redis::ScriptRunner runner_;
  std::unique_ptr<redis::Client> client_;  // goes first: its last answers still need the rest
};

}  // namespace pawl
