#include "adapter/redis/redis_record_store.h"

#include <algorithm>
#include <utility>

#include "adapter/redis/kept_count.h"
#include "adapter/redis/record_key.h"
#include "adapter/redis/redis_router.h"
#include "base/assert.h"
#include "core/idempotency/record_text.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using idempotency::Status;
using redis::Reply;

constexpr std::size_t excerpt_bytes = 80;  // of what a key holds, in a message

Duration whole_microseconds(Duration length) {
  return Duration::microseconds(redis::microseconds_up(std::max(length, Duration()).ns()));
}

std::string microseconds_text(Duration length) {
  return std::to_string(whole_microseconds(length).ns() / 1'000);
}

std::vector<std::string> words_of(const Completion& how) {
  return {std::string(to_string(how.status)), microseconds_text(how.ttl),
          how.response.tombstone ? "1" : "0", how.response.metadata, how.response.body};
}

std::string record_key_of(const RecordKey& key) {
  const std::string name = redis::record_name(key);
  return redis::prefix_of(name) + name;
}

std::unexpected<Error> not_ours(std::string_view key, const std::string& what) {
  return failure(Code::invalid, "redis: the key '" + std::string(key) + "' holds " + what +
                                    "; delete it, or keep the records in another database");
}

std::unexpected<Error> damage(std::string_view key, std::string_view text) {
  const auto parsed = idempotency::parse_record(text);
  return not_ours(key, "'" + std::string(text.substr(0, excerpt_bytes)) + "': " +
                           (parsed ? "it is not a record of pawl's" : parsed.error().message));
}

// The server's words, while nothing of the record had been changed.
std::unexpected<Error> trouble(std::string_view key, std::string_view words) {
  if (words.starts_with('-')) words.remove_prefix(1);  // some versions hand them out so
  if (words.starts_with("WRONGTYPE")) return not_ours(key, "no text: " + std::string(words));
  Error error = redis::server_error("redis: the key '" + std::string(key) + "'", words);
  if (words.starts_with("OOM")) error.code = Code::unavailable;
  error.outcome = Outcome::not_applied;
  return std::unexpected(std::move(error));
}

std::unexpected<Error> disagreement(std::string_view script, std::string_view machine) {
  return std::unexpected(Error(Code::internal, Outcome::unknown,
                               "redis: a script said '" + std::string(script) +
                                   "' of a record of which the machine says '" +
                                   std::string(machine) + "': a bug in pawl"));
}

// None for an empty text.
Result<std::optional<Record>> record_in(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Result<Record> record = idempotency::parse_record(text);
  if (record) return *std::move(record);
  // The script took it for one.
  return std::unexpected(Error(Code::internal, Outcome::unknown, record.error().message));
}

// What only looks cannot have changed anything, whatever became of it.
Error harmless(Error error) {
  error.outcome = Outcome::not_applied;
  return error;
}

}  // namespace

// Of a script: the time, a word, and what comes after it.
struct RedisRecordStore::Answer {
  Instant now;
  std::string word;
  Reply reply;

  static Result<Answer> of(Result<Reply> reply) {
    if (!reply) return std::unexpected(std::move(reply.error()));
    const auto items = reply->items();
    if (items.size() < 2 || items[0].integer() == nullptr || items[1].text() == nullptr) {
      return redis::strange_reply(*reply);
    }
    Answer answer{.now = Instant() + Duration::microseconds(*items[0].integer()),
                  .word = *items[1].text(),
                  .reply = std::move(*reply)};
    if (answer.word == "damaged") return damage(answer.text(0), answer.text(1));
    if (answer.word == "trouble") return trouble(answer.text(0), answer.text(1));
    return answer;
  }
  std::size_t size() const { return reply.items().size() - 2; }
  // Empty where there is none.
  std::string_view text(std::size_t i) const {
    const std::string* found = i < size() ? reply.items()[i + 2].text() : nullptr;
    return found == nullptr ? std::string_view() : *found;
  }
  std::uint64_t number(std::size_t i) const {
    const std::int64_t* found = i < size() ? reply.items()[i + 2].integer() : nullptr;
    return found == nullptr ? 0 : static_cast<std::uint64_t>(*found);
  }
};

struct RedisRecordStore::Listing {
  std::string names;  // what they begin with
  RecordFilter filter;
  std::size_t limit;
  Done<std::vector<KeptRecord>> done;
  int group = 0;
  std::string after_time = "";  // where the last page ended
  std::string after_name = "";
  std::vector<KeptRecord> newest = {};  // so far, in order

  // Of those that a page has, any may fit: then it is filled, which takes fewer than this.
  std::size_t most_of_a_page() const {
    return filter.key_part.empty() ? limit : bounds::record_list_max;
  }
  // None that is older can be among them any more.
  Instant oldest() const {
    return newest.size() < limit ? Instant() : newest.back().record.created_at;
  }
};

Result<std::unique_ptr<RedisRecordStore>> RedisRecordStore::open(
    const redis::RedisUrl& url, Clock& clock, const RedisRecordStoreOptions& options) {
  auto client = PAWL_TRY(redis::Client::make(url, clock));
  std::vector<std::string> keys;
  for (int group = 0; group < (url.cluster ? redis::record_groups : 1); ++group) {
    keys.push_back(redis::fence_key(redis::group_prefix(group)));
  }
  auto found = PAWL_TRY(redis::probe_durability(*client, keys, options.deadline));
  return std::unique_ptr<RedisRecordStore>(
      new RedisRecordStore(clock, options, std::move(found), std::move(client)));
}

RedisRecordStore::RedisRecordStore(Clock& clock, const RedisRecordStoreOptions& options,
                                   redis::FoundDurability found,
                                   std::unique_ptr<redis::Client> client)
    : clock_(clock),
      options_(options),
      found_(std::move(found)),
      runner_(*client, clock),
      client_(std::move(client)) {}

RedisRecordStore::~RedisRecordStore() = default;

void RedisRecordStore::run(Step step, Done<Answer> done) {
  redis::ScriptCall call{.script = step.script,
                         .key = step.keys.front(),
                         .deadline = clock_.steady_now() + options_.deadline};
  Words& words = call.words;
  words.push_back(std::to_string(step.keys.size()));
  for (std::string& key : step.keys) words.push_back(std::move(key));
  words.emplace_back();
  if (options_.time != nullptr) {
    words.back() = microseconds_text(options_.time->wall_now() - Instant());
  }
  for (std::string& argument : step.arguments) words.push_back(std::move(argument));
  runner_.run(std::move(call), [done = std::move(done)](Result<Reply> reply) mutable {
    done(Answer::of(std::move(reply)));
  });
}

void RedisRecordStore::change(Step step, Machine machine, Done<void> done) {
  run(std::move(step),
      [machine = std::move(machine), done = std::move(done)](Result<Answer> answer) mutable {
        if (!answer) return done(std::unexpected(std::move(answer.error())));
        if (answer->word == "ok") return done({});
        Result<std::optional<Record>> kept = record_in(answer->text(0));
        if (!kept) return done(std::unexpected(std::move(kept.error())));
        Result<void> verdict = machine(*kept, answer->now);
        if (verdict) return done(disagreement(answer->word, "ok"));
        done(std::move(verdict));
      });
}

void RedisRecordStore::begin(const RecordKey& key, const Begin& ask, Done<Begun> done) {
  Result<void> valid = check(key);
  if (valid) valid = idempotency::check(ask);
  if (!valid) return done(std::unexpected(std::move(valid.error())));
  const std::string name = redis::record_name(key);
  const std::string prefix = redis::prefix_of(name);
  Begin whole = ask;
  whole.lease = whole_microseconds(ask.lease);
  whole.ttl = whole_microseconds(ask.ttl);
  run({.script = scripts_.begin,
       .keys = {prefix + name, redis::fence_key(prefix), redis::newest_key(prefix)},
       .arguments = {ask.fingerprint, microseconds_text(ask.lease), microseconds_text(ask.ttl),
                     ask.take_over ? "1" : "0"}},
      [whole = std::move(whole), done = std::move(done)](Result<Answer> answer) mutable {
        if (!answer) return done(std::unexpected(std::move(answer.error())));
        Result<std::optional<Record>> kept = record_in(answer->text(0));
        if (!kept) return done(std::unexpected(std::move(kept.error())));
        Begun begun = idempotency::begin(*kept, whole, answer->number(1), answer->now);
        if (to_string(begun.verdict) != answer->word) {
          return done(disagreement(answer->word, to_string(begun.verdict)));
        }
        done(std::move(begun));
      });
}

void RedisRecordStore::renew(const RecordKey& key, std::uint64_t fence, Duration lease,
                             Done<void> done) {
  if (auto valid = check(key); !valid) return done(std::move(valid));
  change(
      {.script = scripts_.renew,
       .keys = {record_key_of(key)},
       .arguments = {microseconds_text(lease), std::to_string(fence)}},
      [fence, lease](std::optional<Record>& kept, Instant now) {
        return idempotency::renew(kept, fence, lease, now);
      },
      std::move(done));
}

void RedisRecordStore::complete(const RecordKey& key, std::uint64_t fence, Completion how,
                                Done<void> done) {
  PAWL_ASSERT(how.status != Status::in_flight);
  if (auto valid = check(key); !valid) return done(std::move(valid));
  how.response = idempotency::kept_of(std::move(how.response));
  Words arguments = words_of(how);
  arguments.push_back(std::to_string(fence));
  change(
      {.script = scripts_.complete,
       .keys = {record_key_of(key)},
       .arguments = std::move(arguments)},
      [fence, how = std::move(how)](std::optional<Record>& kept, Instant now) mutable {
        return idempotency::complete(kept, fence, std::move(how), now);
      },
      std::move(done));
}

void RedisRecordStore::settle(const RecordKey& key, Completion how, Done<void> done) {
  PAWL_ASSERT(how.status == Status::done || how.status == Status::failed);
  if (auto valid = check(key); !valid) return done(std::move(valid));
  how.response = idempotency::kept_of(std::move(how.response));
  Words arguments = words_of(how);
  change(
      {.script = scripts_.settle, .keys = {record_key_of(key)}, .arguments = std::move(arguments)},
      [how = std::move(how)](std::optional<Record>& kept, Instant now) mutable {
        return idempotency::settle(kept, std::move(how), now);
      },
      std::move(done));
}

void RedisRecordStore::clear(const RecordKey& key, bool force, Done<void> done) {
  if (auto valid = check(key); !valid) return done(std::move(valid));
  const std::string name = redis::record_name(key);
  const std::string prefix = redis::prefix_of(name);
  change(
      {.script = scripts_.clear,
       .keys = {prefix + name, redis::newest_key(prefix)},
       .arguments = {force ? "1" : "0"}},
      [force](std::optional<Record>& kept, Instant now) {
        return idempotency::clear(kept, force, now);
      },
      std::move(done));
}

void RedisRecordStore::get(const RecordKey& key, Done<Record> done) {
  get(key, Words(), std::move(done));
}

void RedisRecordStore::look_up(const RecordKey& key, std::string_view fingerprint,
                               Done<Record> done) {
  get(key, Words{std::string(fingerprint)}, std::move(done));
}

void RedisRecordStore::get(const RecordKey& key, Words repeated, Done<Record> done) {
  if (auto valid = check(key); !valid) return done(std::unexpected(std::move(valid.error())));
  run({.script = scripts_.get, .keys = {record_key_of(key)}, .arguments = std::move(repeated)},
      [done = std::move(done)](Result<Answer> answer) mutable {
        if (!answer) return done(std::unexpected(harmless(std::move(answer.error()))));
        Result<std::optional<Record>> kept = record_in(answer->text(0));
        if (!kept) return done(std::unexpected(harmless(std::move(kept.error()))));
        std::optional<Record> record = idempotency::seen(*kept, answer->now);
        if (!record) return done(idempotency::record_not_found());
        done(*std::move(record));
      });
}

void RedisRecordStore::list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) {
  const std::size_t limit = std::min(filter.limit, bounds::record_list_max);
  if (limit == 0) return done(std::vector<KeptRecord>());
  list_next(std::make_unique<Listing>(
      Listing{.names = filter.scope.empty() ? std::string() : redis::scope_prefix(filter.scope),
              .filter = filter,
              .limit = limit,
              .done = std::move(done)}));
}

// One page after the other: a server is never held up for long, and a later group need not tell
// what is older than what we have.
void RedisRecordStore::list_next(std::unique_ptr<Listing> listing) {
  if (listing->group == redis::record_groups) return listing->done(std::move(listing->newest));
  const std::optional<Status> status = listing->filter.status;
  Step step{.script = scripts_.list,
            .keys = {redis::newest_key(redis::group_prefix(listing->group))},
            .arguments = {listing->names, std::to_string(listing->most_of_a_page()),
                          microseconds_text(listing->oldest() - Instant()), listing->after_time,
                          listing->after_name, std::string(status ? to_string(*status) : "")}};
  run(std::move(step), [this, listing = std::move(listing)](Result<Answer> page) mutable {
    if (!page) return listing->done(std::unexpected(harmless(std::move(page.error()))));
    Result<void> taken = take_page(*listing, *page);
    if (!taken) return listing->done(std::unexpected(harmless(std::move(taken.error()))));
    list_next(std::move(listing));
  });
}

Result<void> RedisRecordStore::take_page(Listing& listing, const Answer& page) {
  if (page.word != "page" || page.size() % 2 != 0) return redis::strange_reply(page.reply);
  for (std::size_t i = 2; i < page.size(); i += 2) {
    RecordKey key = PAWL_TRY(redis::parse_record_name(page.text(i)));
    std::optional<Record> record =
        idempotency::seen(PAWL_TRY(record_in(page.text(i + 1))), page.now);
    if (record && fits(listing.filter, key))
      listing.newest.push_back({.key = std::move(key), .record = *std::move(record)});
  }
  std::ranges::sort(listing.newest, [](const KeptRecord& a, const KeptRecord& b) {
    return a.record.created_at != b.record.created_at ? a.record.created_at > b.record.created_at
                                                      : a.record.fence > b.record.fence;
  });
  if (listing.newest.size() > listing.limit) listing.newest.resize(listing.limit);
  listing.after_time = page.text(0);
  listing.after_name = page.text(1);
  if (listing.after_name.empty()) ++listing.group;
  return {};
}

Result<void> RedisRecordStore::health() {
  const redis::Health health = client_->health();
  if (health.up) return {};
  return failure(Code::unavailable, "redis: " + health.detail);
}

}  // namespace pawl
