#include "assembly/queue_office.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "adapter/curl/curl_http_client.h"
#include "adapter/directory/directory_object_store.h"
#include "adapter/memory/memory_object_store.h"
#include "adapter/s3/s3_object_store.h"
#include "adapter/system/own_name.h"
#include "adapter/system/system_zones.h"
#include "adapter/system/waiting_room.h"
#include "assembly/broker_office.h"
#include "base/id.h"
#include "base/queue_url.h"
#include "port/answer_of.h"
#include "runtime/local_queue.h"
#include "runtime/object_store_probe.h"
#include "runtime/queue_settings.h"

namespace pawl {
namespace {

using Replies = std::vector<queue::Reply>;

std::unexpected<Error> no_queue(const std::string& where) {
  return failure(Code::not_found,
                 "there is no queue at " + where +
                     " yet: it is made by the first submit, worker, closing or limit");
}

// The settings of a queue, as they stand there.
Result<std::optional<std::string>> kept_settings(ObjectStore& store) {
  auto found = answer_of<Object>(
      [&](auto done) { store.get({.name = queue_settings_name}, std::move(done)); });
  if (found) return std::move(found->body);
  if (found.error().code == Code::not_found) return std::nullopt;
  return std::unexpected(found.error());
}

// Made anew, it might have other shards than its tasks are in, and nobody would see them. Whoever
// makes a queue writes its settings first: so they are read again behind the log that was found.
Result<void> refuse_lost_settings(ObjectStore& store) {
  for (const char* under : {"log/", "snapshot/"}) {
    const auto found = PAWL_TRY(answer_of<Listing>(
        [&](auto done) { store.list({.under = under, .limit = 1}, std::move(done)); }));
    if (found.entries.empty()) continue;
    if (PAWL_TRY(kept_settings(store))) return {};
    return failure(Code::invalid,
                   std::string(queue_settings_name) + " is missing at " + store.name() +
                       ", though " + found.entries.front().name +
                       " is there. Nothing is done: put it back as it was, from a backup or with "
                       "the shards and kept_seconds that the queue was made with");
  }
  return {};
}

// One request: to create what is there must be refused. A store that does not only writes what it
// had. One that gives no answer to it has not broken its promise.
Result<void> try_condition(ObjectStore& store, const std::string& settings) {
  PutObject again{.name = queue_settings_name, .body = settings, .only = PutObject::If::absent};
  const auto answer =
      answer_of<PutAnswer>([&](auto done) { store.put(std::move(again), std::move(done)); });
  if (!answer || answer->verdict != PutAnswer::Verdict::stored) return {};
  return failure(Code::invalid,
                 store.name() +
                     " ignores the condition of a put (If-None-Match): two that write at once "
                     "would overwrite each other, and tasks be lost. Nothing is done there; move "
                     "the queue to a store that keeps it (pawl doctor tries one)");
}

// A file costs its sync, and a request is paid for: so on S3 more is gathered before one is made.
queue::GatherTerms gather_of(QueueUrl::Kind kind) {
  switch (kind) {
    case QueueUrl::Kind::directory:
      return {.window = Duration::milliseconds(2), .gap = Duration::microseconds(500)};
    case QueueUrl::Kind::s3:
      return {
          .window = Duration::milliseconds(100), .gap = Duration::milliseconds(10), .enough = 256};
    case QueueUrl::Kind::memory:
    case QueueUrl::Kind::broker:
      break;
  }
  return {};
}

}  // namespace

Duration idle_poll(std::uint32_t shards) {
  constexpr Duration poll_max = Duration::seconds(30);
  const Duration one = QueueLog::Options().poll_max;
  return std::max(one, std::min(one * std::int64_t{shards}, poll_max));
}

// In this order: what stands further down uses what is above it, and goes first.
struct QueueStore::Rooms {
  WaitingRoom timers;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<ObjectStore> store;
};

QueueStore::QueueStore(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}
QueueStore::~QueueStore() {
  close();
}

Result<std::unique_ptr<QueueStore>> QueueStore::open(const std::string& url,
                                                     const QueueOffice::Parts& parts) {
  const QueueUrl place = PAWL_TRY(parse_queue_url(url));
  auto rooms = std::make_unique<Rooms>();
  switch (place.kind) {
    case QueueUrl::Kind::directory:
      rooms->store = PAWL_TRY(DirectoryObjectStore::open({.path = place.path}, parts.clock));
      break;
    case QueueUrl::Kind::s3: {
      const auto environment =
          parts.environment
              ? parts.environment
              : [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
      S3Access access = PAWL_TRY(find_s3_access(place.s3, environment));
      rooms->http = PAWL_TRY(CurlHttpClient::open());
      rooms->store = std::make_unique<S3ObjectStore>(
          place.s3, std::move(access),
          S3ObjectStore::World{*rooms->http, parts.clock, rooms->timers});
      break;
    }
    case QueueUrl::Kind::memory:
      rooms->store = std::make_unique<MemoryObjectStore>(parts.clock);
      break;
    case QueueUrl::Kind::broker:
      return failure(Code::invalid, url + " is a broker, and not the store of a queue");
  }
  return std::unique_ptr<QueueStore>(new QueueStore(std::move(rooms)));
}

ObjectStore& QueueStore::objects() {
  return *rooms_->store;
}

Timers& QueueStore::timers() {
  return rooms_->timers;
}

void QueueStore::close() {
  rooms_->timers.close();
}

struct QueueOffice::Rooms {
  Result<void> open_store(const QueueOfficeSettings& settings, const Parts& parts);
  Result<void> open_queue(const QueueOfficeSettings& settings, const Parts& parts);
  Result<void> set_limits(const std::vector<queue::SetLimit>& limits);
  void close();

  std::string new_mark;
  bool closed = false;
  std::unique_ptr<QueueStore> store;
  std::unique_ptr<LocalQueue> local;
  std::unique_ptr<BrokerOffice> broker;
  TaskQueue* queue = nullptr;
};

// What is only looked at is not made, nor is its folder.
Result<void> QueueOffice::Rooms::open_store(const QueueOfficeSettings& settings,
                                            const Parts& parts) {
  const QueueUrl place = PAWL_TRY(parse_queue_url(settings.url));
  std::error_code ignored;
  const bool absent =
      place.kind == QueueUrl::Kind::directory && !std::filesystem::exists(place.path, ignored);
  if (!settings.makes && absent) return no_queue(settings.url);
  store = PAWL_TRY(QueueStore::open(settings.url, parts));
  ObjectStore& objects = store->objects();
  if (const auto kept = PAWL_TRY(kept_settings(objects))) {
    return settings.changes ? try_condition(objects, *kept) : Result<void>();
  }
  PAWL_TRY(refuse_lost_settings(objects));
  if (!settings.makes) return no_queue(objects.name());
  PAWL_TRY(probe_object_store(
      objects, parts.clock,
      {.id = uuid_v7(parts.clock.wall_now(), parts.entropy.next()), .with_match = false}));
  return {};
}

Result<void> QueueOffice::Rooms::open_queue(const QueueOfficeSettings& settings,
                                            const Parts& parts) {
  ObjectStore& objects = store->objects();
  LocalQueue::Options options;
  options.settings = PAWL_TRY(answer_of<queue::Settings>(
      [&](auto done) { open_queue_settings(objects, settings.wanted, std::move(done)); }));
  options.log.writer = own_name();
  options.log.follows = settings.follows;
  options.fires = settings.follows && settings.works;
  options.log.deadline = settings.deadline;
  options.log.poll_max = idle_poll(options.settings.shards);
  options.log.gather = gather_of(PAWL_TRY(parse_queue_url(settings.url)).kind);
  local =
      std::make_unique<LocalQueue>(std::move(options), LocalQueue::Ports{.clock = parts.clock,
                                                                         .timers = store->timers(),
                                                                         .store = objects,
                                                                         .entropy = parts.entropy,
                                                                         .zones = load_zone,
                                                                         .note = parts.note});
  queue = local.get();
  return answer_of<void>([&](auto done) { local->open(std::move(done)); });
}

Result<void> QueueOffice::Rooms::set_limits(const std::vector<queue::SetLimit>& limits) {
  if (limits.empty()) return {};
  const auto known = PAWL_TRY(
      answer_of<std::vector<queue::SetLimit>>([&](auto done) { queue->limits(std::move(done)); }));
  std::vector<queue::Command> commands;
  for (const queue::SetLimit& limit : limits) {
    if (std::ranges::find(known, limit) == known.end()) commands.emplace_back(limit);
  }
  if (commands.empty()) return {};
  const auto replies = PAWL_TRY(
      answer_of<Replies>([&](auto done) { queue->give(std::move(commands), std::move(done)); }));
  for (const queue::Reply& reply : replies) {
    const auto* refusal = std::get_if<queue::Refusal>(&reply);
    if (refusal != nullptr) return failure(refusal->code, refusal->message);
  }
  return {};
}

void QueueOffice::Rooms::close() {
  if (std::exchange(closed, true)) return;
  if (local) {
    (void)answer_of<void>(
        [&](auto done) { local->close([done = std::move(done)]() mutable { done({}); }); });
  }
  if (broker) broker->close();
  if (store) store->close();
}

QueueOffice::QueueOffice(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}

QueueOffice::~QueueOffice() {
  close();
}

Result<std::unique_ptr<QueueOffice>> QueueOffice::open(QueueOfficeSettings settings,
                                                       const Parts& parts) {
  const QueueUrl place = PAWL_TRY(parse_queue_url(settings.url));
  std::unique_ptr<QueueOffice> office(new QueueOffice(std::make_unique<Rooms>()));
  Rooms& rooms = *office->rooms_;
  if (place.kind == QueueUrl::Kind::broker) {
    rooms.broker = PAWL_TRY(BrokerOffice::open(place, settings, parts));
    rooms.queue = &rooms.broker->queue();
  } else {
    PAWL_TRY(rooms.open_store(settings, parts));
    PAWL_TRY(rooms.open_queue(settings, parts));
    rooms.new_mark = uuid_v7(parts.clock.wall_now(), parts.entropy.next());
  }
  PAWL_TRY(rooms.set_limits(settings.limits));
  return office;
}

TaskQueue& QueueOffice::queue() {
  return *rooms_->queue;
}

Timers& QueueOffice::timers() {
  return rooms_->broker ? rooms_->broker->timers() : rooms_->store->timers();
}

// Whoever is first has written it; all others read that.
Result<std::string> QueueOffice::mark() {
  if (!rooms_->store) return failure(Code::invalid, "a broker's queue has its mark at the broker");
  ObjectStore& objects = rooms_->store->objects();
  const auto read = [&] {
    return answer_of<Object>(
        [&](auto done) { objects.get({.name = std::string(queue_mark_name)}, std::move(done)); });
  };
  const auto known = read();
  if (known) return known->body;
  if (known.error().code != Code::not_found) return std::unexpected(known.error());
  PAWL_TRY(answer_of<PutAnswer>([&](auto done) {
    PutObject put{.name = std::string(queue_mark_name),
                  .body = rooms_->new_mark,
                  .only = PutObject::If::absent};
    objects.put(std::move(put), std::move(done));
  }));
  return PAWL_TRY(read()).body;
}

void QueueOffice::close() {
  rooms_->close();
}

}  // namespace pawl
