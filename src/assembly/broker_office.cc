#include "assembly/broker_office.h"

#include <utility>

#include "adapter/curl/curl_http_client.h"
#include "base/secret.h"
#include "port/answer_of.h"

namespace pawl {
namespace {

// As the admin listener of a broker wants it.
constexpr const char* token_variable = "PAWL_ADMIN_TOKEN";

}  // namespace

Result<std::unique_ptr<BrokerOffice>> BrokerOffice::open(QueueUrl place,
                                                         QueueOfficeSettings settings,
                                                         const QueueOffice::Parts& parts) {
  std::unique_ptr<BrokerOffice> office(
      new BrokerOffice(std::move(place.store), std::move(settings), parts));
  office->http_ = PAWL_TRY(CurlHttpClient::open());
  RemoteQueue::Options options{.brokers = std::move(place.brokers),
                               .deadline = office->settings_.deadline};
  if (parts.environment) {
    options.token = Secret<std::string>(parts.environment(token_variable).value_or(""));
  }
  RemoteQueue::Ports ports{
      .http = *office->http_, .clock = parts.clock, .timers = office->timers_, .note = parts.note};
  if (!office->store_.empty()) {
    ports.open_directly = [self = office.get()](const Named& named, auto done) {
      self->open_directly(named, std::move(done));
    };
  }
  office->remote_ = std::make_unique<RemoteQueue>(std::move(options), std::move(ports));
  PAWL_TRY(answer_of<void>([&](auto done) { office->remote_->open(std::move(done)); }));
  return office;
}

BrokerOffice::~BrokerOffice() {
  close();
}

// One at a time: the next is asked for when the last was answered.
void BrokerOffice::open_directly(const Named& named, TaskQueue::Done<RemoteQueue::Direct> done) {
  std::unique_lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    return done(failure(Code::unavailable, "the queue was closed"));
  }
  std::thread last = std::exchange(opener_, {});
  opener_ = std::thread([this, named, done = std::move(done), last = std::move(last)]() mutable {
    if (last.joinable()) last.join();
    done(open_store(named));
  });
}

// Reads nothing else, and writes nothing.
Result<void> BrokerOffice::check_mark(const std::string& mark) const {
  const auto store = PAWL_TRY(QueueStore::open(store_, parts_));
  const auto found = answer_of<Object>([&](auto done) {
    store->objects().get({.name = std::string(queue_mark_name)}, std::move(done));
  });
  store->close();
  if (found && !mark.empty() && found->body == mark) return {};
  if (!found && found.error().code != Code::not_found) return std::unexpected(found.error());
  return failure(Code::unavailable,
                 store_ + " is another queue than the broker has: nothing is done there");
}

Result<RemoteQueue::Direct> BrokerOffice::open_store(const Named& named) {
  if (named) PAWL_TRY(check_mark(named->mark));
  QueueOfficeSettings settings = settings_;
  settings.url = store_;
  settings.wanted = {};
  if (named) {
    const queue::Settings& there = named->view.settings;
    settings.wanted = {.shards = there.shards, .kept = there.kept};
  }
  settings.makes = false;
  auto office = PAWL_TRY(QueueOffice::open(std::move(settings), parts_));
  std::string mark = PAWL_TRY(office->mark());
  const std::lock_guard lock(mutex_);
  if (closed_) return failure(Code::unavailable, "the queue was closed");
  direct_ = std::move(office);
  return RemoteQueue::Direct{.queue = &direct_->queue(), .mark = std::move(mark)};
}

void BrokerOffice::close() {
  std::thread opener;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    opener = std::exchange(opener_, {});
  }
  if (opener.joinable()) opener.join();
  if (remote_) remote_->stop_claims();
  if (direct_) direct_->close();
  timers_.close();
}

}  // namespace pawl
