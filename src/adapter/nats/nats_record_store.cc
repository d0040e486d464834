#include "adapter/nats/nats_record_store.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <system_error>
#include <utility>

#include "adapter/nats/record_subject.h"
#include "core/idempotency/record_text.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;

// In a message that begins: its own sequence, which nobody knows before it is kept.
constexpr std::uint64_t fence_to_come = bounds::record_number_max;

// Of a record's text besides its body, generously.
constexpr std::size_t text_bytes_max =
    bounds::record_metadata_bytes_max + bounds::record_fingerprint_bytes_max + 1024;

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

bool is_newer(const KeptRecord& a, const KeptRecord& b) {
  return a.record.created_at != b.record.created_at ? a.record.created_at > b.record.created_at
                                                    : a.record.fence > b.record.fence;
}

// None when the key was cleared.
Result<std::optional<Record>> record_in(const nats::Kept& kept) {
  if (kept.data.empty()) return std::nullopt;
  Result<Record> record = idempotency::parse_record(kept.data);
  if (!record) {
    return failure(Code::invalid, "message '" + kept.subject + "': " + record.error().message);
  }
  if (record->fence == fence_to_come) record->fence = kept.sequence;
  return *std::move(record);
}

// The newest of many, each key once, without holding all of them.
class Newest {
 public:
  explicit Newest(std::size_t limit) : limit_(limit) {}

  void take(KeptRecord record) {
    records_.push_back(std::move(record));
    if (records_.size() >= 2 * limit_ + 1'000) cut();
  }
  std::vector<KeptRecord> all() {
    cut();
    return std::move(records_);
  }

 private:
  void cut() {
    std::ranges::sort(records_, is_newer);
    std::set<RecordKey> met;
    std::erase_if(records_, [&](const KeptRecord& kept) { return !met.insert(kept.key).second; });
    if (records_.size() > limit_) records_.resize(limit_);
  }

  const std::size_t limit_;
  std::vector<KeptRecord> records_;
};

}  // namespace

Result<std::unique_ptr<NatsRecordStore>> NatsRecordStore::open(NatsRecordStoreOptions options,
                                                               Clock& clock) {
  auto connection = PAWL_TRY(
      nats::Connection::open(options.url, {.name = "KV_" + options.url.name,
                                           .subjects = nats::record_subjects(options.url.name, ""),
                                           .last_of_each_subject = true}));
  if (connection->message_bytes_max() <= text_bytes_max) {
    return failure(Code::invalid,
                   "bucket " + options.url.name + " takes messages of at most " +
                       std::to_string(connection->message_bytes_max()) + " bytes; records need " +
                       std::to_string(text_bytes_max + 1) +
                       ": raise max_payload of the server, or the bucket's maximum value size");
  }
  std::unique_ptr<NatsRecordStore> store(
      new NatsRecordStore(std::move(options), std::move(connection), clock));
  try {
    for (std::size_t i = 0; i < bounds::nats_workers; ++i) {
      store->workers_.emplace_back([self = store.get()] { self->work_until_closed(); });
    }
  } catch (const std::system_error& error) {
    return failure(Code::unavailable,
                   std::string("cannot start the threads of the record store: ") + error.what());
  }
  return store;
}

NatsRecordStore::NatsRecordStore(NatsRecordStoreOptions options,
                                 std::unique_ptr<nats::Connection> connection, Clock& clock)
    : options_(std::move(options)),
      connection_(std::move(connection)),
      clock_(clock),
      body_bytes_max_(
          std::min(bounds::record_bytes_max, connection_->message_bytes_max() - text_bytes_max)),
      opened_wall_(clock.wall_now()),
      opened_steady_(clock.steady_now()),
      sweep_at_(nats::from_now(options_.sweep_interval)) {}

NatsRecordStore::~NatsRecordStore() {
  std::deque<Job> waiting;
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    waiting.swap(queue_);
  }
  work_.notify_all();
  const Error closed = {Code::unavailable, Outcome::not_applied, "the record store is closed"};
  for (Job& job : waiting) job.run(closed);
  for (std::thread& worker : workers_) worker.join();
}

// `step` is called by a worker with the deadline.
template <class T, class Step>
void NatsRecordStore::submit(const Result<void>& valid, Done<T> done, Step step) {
  if (!valid) return done(std::unexpected(valid.error()));
  const Until until = nats::from_now(options_.deadline);
  Job job{.until = until,
          .run = [done = std::move(done), step = std::move(step),
                  until](const std::optional<Error>& error) mutable {
            if (error) return done(std::unexpected(*error));
            done(step(until));
          }};
  std::unique_lock lock(mutex_);
  if (queue_.size() >= options_.queue_max) {
    lock.unlock();
    return job.run(Error(Code::unavailable, Outcome::not_applied,
                         "the records at " + to_string(options_.url) +
                             " are behind: " + std::to_string(options_.queue_max) +
                             " calls wait for the server; ask less often"));
  }
  queue_.push_back(std::move(job));
  lock.unlock();
  work_.notify_one();
}

void NatsRecordStore::change(const RecordKey& key, Done<void> done, Decide decide) {
  submit<void>(
      check(key), std::move(done),
      [this, subject = nats::record_subject(options_.url.name, key),
       decide = std::move(decide)](Until until) { return try_change(subject, decide, until); });
}

void NatsRecordStore::begin(const RecordKey& key, const Begin& ask, Done<Begun> done) {
  Result<void> valid = check(key);
  if (valid) valid = idempotency::check(ask);
  Begin longer = ask;
  longer.lease = ask.lease + options_.clock_margin;
  submit<Begun>(valid, std::move(done),
                [this, subject = nats::record_subject(options_.url.name, key),
                 longer](Until until) { return try_begin(subject, longer, until); });
}

void NatsRecordStore::renew(const RecordKey& key, std::uint64_t fence, Duration lease,
                            Done<void> done) {
  change(key, std::move(done),
         [fence, longer = lease + options_.clock_margin](std::optional<Record>& kept, Instant now) {
           return idempotency::renew(kept, fence, longer, now);
         });
}

void NatsRecordStore::complete(const RecordKey& key, std::uint64_t fence, Completion how,
                               Done<void> done) {
  how.response = idempotency::kept_of(std::move(how.response), body_bytes_max_);
  how.ttl = how.ttl + options_.clock_margin;
  change(key, std::move(done),
         [fence, how = std::move(how)](std::optional<Record>& kept, Instant now) {
           return idempotency::complete(kept, fence, how, now);
         });
}

void NatsRecordStore::settle(const RecordKey& key, Completion how, Done<void> done) {
  how.response = idempotency::kept_of(std::move(how.response), body_bytes_max_);
  how.ttl = how.ttl + options_.clock_margin;
  change(key, std::move(done), [how = std::move(how)](std::optional<Record>& kept, Instant now) {
    return idempotency::settle(kept, how, now);
  });
}

void NatsRecordStore::clear(const RecordKey& key, bool force, Done<void> done) {
  change(key, std::move(done), [force](std::optional<Record>& kept, Instant now) {
    return idempotency::clear(kept, force, now);
  });
}

void NatsRecordStore::get(const RecordKey& key, Done<Record> done) {
  submit<Record>(check(key), std::move(done),
                 [this, subject = nats::record_subject(options_.url.name, key)](
                     Until until) -> Result<Record> {
                   const Found found = PAWL_TRY(read(subject, until));
                   std::optional<Record> record =
                       idempotency::seen(found.record, clock_.wall_now());
                   if (!record) return idempotency::record_not_found();
                   return *std::move(record);
                 });
}

void NatsRecordStore::list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) {
  submit<std::vector<KeptRecord>>({}, std::move(done),
                                  [this, filter](Until until) { return try_list(filter, until); });
}

Result<void> NatsRecordStore::health() {
  const Result<void> found = connection_->health();
  if (found) return found;
  {
    const std::lock_guard guard(mutex_);
    if (std::exchange(seeking_, true)) return found;
  }
  Done<void> sought = [this](const Result<void>&) {
    const std::lock_guard guard(mutex_);
    seeking_ = false;
  };
  submit<void>({}, std::move(sought), [this](Until) { return connection_->seek(); });
  return found;
}

Result<NatsRecordStore::Found> NatsRecordStore::read(const std::string& subject, Until until) {
  const std::optional<nats::Kept> kept = PAWL_TRY(connection_->last(subject, until));
  if (!kept) return Found();
  return Found{.record = PAWL_TRY(record_in(*kept)), .sequence = kept->sequence};
}

// Behind the message that was found. Error refused: another came first.
Result<std::uint64_t> NatsRecordStore::write(const std::string& subject, const Found& found,
                                             Until until) {
  const std::string text = found.record ? idempotency::to_text(*found.record) : std::string();
  Result<std::uint64_t> put =
      connection_->put({.subject = subject, .data = text, .after = found.sequence}, until);
  if (put || put.error().code != Code::refused) return put;
  if (std::chrono::steady_clock::now() < until) return put;
  return failure(Code::unavailable, "so many change one record at " + to_string(options_.url) +
                                        " that this call did not get its turn in time; try again");
}

Result<Begun> NatsRecordStore::try_begin(const std::string& subject, const Begin& ask,
                                         Until until) {
  Found found;  // most keys are new
  while (true) {
    Begun begun = idempotency::begin(found.record, ask, fence_to_come, clock_.wall_now());
    const bool started =
        begun.verdict == Begun::Verdict::started || begun.verdict == Begun::Verdict::took_over;
    if (!started) return begun;
    const Result<std::uint64_t> written = write(subject, found, until);
    if (written) {
      begun.record.fence = *written;
      return begun;
    }
    if (written.error().code != Code::refused) return std::unexpected(written.error());
    found = PAWL_TRY(read(subject, until));
  }
}

Result<void> NatsRecordStore::try_change(const std::string& subject, const Decide& decide,
                                         Until until) {
  while (true) {
    Found found = PAWL_TRY(read(subject, until));
    const std::optional<Record> before = found.record;
    PAWL_TRY(decide(found.record, clock_.wall_now()));
    if (found.record == before) return {};
    const Result<std::uint64_t> written = write(subject, found, until);
    if (written) return {};
    if (written.error().code != Code::refused) return std::unexpected(written.error());
  }
}

Result<std::vector<KeptRecord>> NatsRecordStore::try_list(const RecordFilter& filter, Until until) {
  const Instant now = clock_.wall_now();
  Newest newest(std::min(filter.limit, bounds::record_list_max));
  std::optional<Error> unreadable;
  const auto take = [&](const nats::Kept& kept) -> Result<void> {
    const RecordKey key = PAWL_TRY(nats::parse_record_subject(options_.url.name, kept.subject));
    if (!fits(filter, key)) return {};
    std::optional<Record> record = idempotency::seen(PAWL_TRY(record_in(kept)), now);
    if (!record || !fits(filter, record->status)) return {};
    record->response.body.clear();
    newest.take({.key = key, .record = *std::move(record)});
    return {};
  };
  PAWL_TRY(connection_->walk(
      nats::record_subjects(options_.url.name, filter.scope), 1,
      [&](const nats::Kept& kept) {
        Result<void> taken = take(kept);
        if (!taken) unreadable = std::move(taken).error();
        return taken.has_value();
      },
      until));
  if (unreadable) return std::unexpected(*std::move(unreadable));
  return newest.all();
}

void NatsRecordStore::work_until_closed() {
  block_signals();
  while (true) {
    std::optional<Job> job = next_job();
    if (!job) return;
    if (std::chrono::steady_clock::now() < job->until) {
      job->run(std::nullopt);
    } else {
      job->run(Error(Code::unavailable, Outcome::not_applied,
                     "the records at " + to_string(options_.url) +
                         " are behind: this call waited longer than its deadline"));
    }
  }
}

// None when the store closes. Sweeps when it is time to.
std::optional<NatsRecordStore::Job> NatsRecordStore::next_job() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait_until(lock, sweep_at_, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return std::nullopt;
    if (std::chrono::steady_clock::now() >= sweep_at_) {
      // One worker sweeps; the others see the maximum meanwhile.
      sweep_at_ = std::chrono::steady_clock::time_point::max();
      lock.unlock();
      sweep();
      lock.lock();
      sweep_at_ = nats::from_now(options_.sweep_interval);
      continue;
    }
    if (queue_.empty()) continue;
    std::optional<Job> job = std::move(queue_.front());
    queue_.pop_front();
    return job;
  }
}

// Forgets what has expired or was cleared. What cannot be read stays, and trouble ends the sweep:
// the next one goes on from there.
void NatsRecordStore::sweep() {
  const Instant passed = opened_wall_ + (clock_.steady_now() - opened_steady_);
  const Instant now = std::min(clock_.wall_now(), passed);
  const Until until = nats::from_now(options_.sweep_interval);
  std::vector<nats::Kept> over;
  std::size_t seen = 0;
  std::uint64_t next = 1;
  const Result<void> walked = connection_->walk(
      nats::record_subjects(options_.url.name, ""), sweep_from_,
      [&](const nats::Kept& kept) {
        const Result<std::optional<Record>> record = record_in(kept);
        if (record && !idempotency::seen(*record, now)) {
          over.push_back({.sequence = kept.sequence, .subject = kept.subject});
        }
        const bool more = ++seen < bounds::nats_sweep_max;
        next = more ? 1 : kept.sequence + 1;
        return more;
      },
      until);
  if (!walked) return;
  for (const nats::Kept& kept : over) {
    if (!connection_->forget(kept.subject, kept.sequence, until)) return;
  }
  sweep_from_ = next;
}

}  // namespace pawl
