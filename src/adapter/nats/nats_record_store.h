// NatsRecordStore: records of intents in a key-value bucket of NATS JetStream, for processes on
// several machines (`idempotency.store: nats://host:port/bucket`).
//
// Contract: RecordStore. A record is one message (core/idempotency/record_text.h) of a subject of
//           its own (record_subject.h). A call reads it, has the machine decide, and writes it on
//           condition that nobody was faster; else it begins again, until the deadline. A new key
//           is written without a look: one round trip. What is told from a read alone (replay, in
//           flight, unknown, mismatch) starts nothing.
// Fence:    the sequence of the message that began it, which the stream hands out once and never
//           again, whatever was cleared, has expired or was forgotten. What begins has the largest
//           number in that place, which stands for "the sequence of this message".
// Clocks:   NATS tells no time, so each process goes by its own wall clock. A lease and a ttl are
//           written `clock_margin` longer than asked: while clocks differ by no more than that,
//           nobody takes another's lease for over before its owner does, and nobody forgets early;
//           ends come up to twice the margin late. Clocks that differ by more can end a lease early
//           (the key reads unknown, and who takes over reconciles first, while the first owner may
//           still act) or a ttl (the key is new again). They cannot make two owners of one lease:
//           the conditional write starts one, and the fence refuses all but the latest when they
//           complete, whatever any clock says.
// Replays:  are not counted: that would cost a write each.
// Clearing: leaves an empty message. A sweep every so often forgets those, and records that have
//           expired by a time that no leap of the clock makes later, some at a time.
// Survives: see durability() and nats_connection.h: a file outlives the server's process, and not
//           a power cut of the last minute or two, in which an acknowledged claim can get lost.
// Bounds:   a response whose message would be larger than the server takes is a tombstone (1 MiB,
//           less room for the rest, unless the server says otherwise). queue_max calls wait, each
//           up to its deadline; one more fails at once. A bucket with a limit of its own refuses
//           everything when it is full, completions too.
// Threads:  any; bounds::nats_workers of its own, which call `done` and receive no signals. It must
//           not block, nor destroy the store. The destructor waits for calls under way; those
//           that wait behind them fail with not_applied.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adapter/nats/nats_connection.h"
#include "base/bounds.h"
#include "base/nats_url.h"
#include "pawl/clock.h"
#include "port/record_store.h"

namespace pawl {

struct NatsRecordStoreOptions {
  nats::NatsUrl url;
  Duration deadline = bounds::nats_deadline;  // of a call, waiting included
  Duration clock_margin = bounds::nats_clock_margin;
  Duration sweep_interval = bounds::nats_sweep_interval;
  std::size_t queue_max = bounds::nats_queue_max;
};

class NatsRecordStore final : public RecordStore {
 public:
  // Makes the bucket where it is missing. `clock` must outlive the store.
  static Result<std::unique_ptr<NatsRecordStore>> open(NatsRecordStoreOptions options,
                                                       Clock& clock);
  ~NatsRecordStore() override;

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override;
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override;
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override;
  void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) override;
  void get(const RecordKey& key, Done<idempotency::Record> done) override;
  void clear(const RecordKey& key, bool force, Done<void> done) override;
  // Reads the whole bucket, or all of the scope.
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override;

  Durability durability() const override { return connection_->durability(); }
  // Whether the server is there. When it is not, asking has it sought.
  Result<void> health() override;

  // What is kept of a response's body.
  std::size_t body_bytes_max() const { return body_bytes_max_; }

 private:
  using Until = nats::Until;
  // Called once: with nothing to do its work, or with the error that keeps it from it.
  struct Job {
    Until until;
    std::move_only_function<void(const std::optional<Error>&)> run;
  };
  struct Found {
    std::optional<idempotency::Record> record = {};
    std::uint64_t sequence = 0;
  };
  using Decide = std::function<Result<void>(std::optional<idempotency::Record>&, Instant now)>;

  NatsRecordStore(NatsRecordStoreOptions options, std::unique_ptr<nats::Connection> connection,
                  Clock& clock);

  template <class T, class Step>
  void submit(const Result<void>& valid, Done<T> done, Step step);
  void change(const RecordKey& key, Done<void> done, Decide decide);
  void work_until_closed();
  std::optional<Job> next_job();

  Result<Found> read(const std::string& subject, Until until);
  Result<std::uint64_t> write(const std::string& subject, const Found& found, Until until);
  Result<idempotency::Begun> try_begin(const std::string& subject, const idempotency::Begin& ask,
                                       Until until);
  Result<void> try_change(const std::string& subject, const Decide& decide, Until until);
  Result<std::vector<KeptRecord>> try_list(const RecordFilter& filter, Until until);
  void sweep();

  const NatsRecordStoreOptions options_;
  const std::unique_ptr<nats::Connection> connection_;
  Clock& clock_;
  const std::size_t body_bytes_max_;
  const Instant opened_wall_;
  const SteadyInstant opened_steady_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::deque<Job> queue_;
  std::chrono::steady_clock::time_point sweep_at_;
  bool seeking_ = false;  // a job that health() sent is waiting
  bool closing_ = false;

  std::uint64_t sweep_from_ = 1;  // of the worker that sweeps, one at a time
  std::vector<std::thread> workers_;
};

}  // namespace pawl
