#include "adapter/redis/redis_client.h"

#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "adapter/redis/redis_router.h"
#include "adapter/redis/slots.h"
#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::redis {
namespace {

constexpr std::size_t idle_bytes_max = 1024 * 1024;  // of a batch, kept for the next one

struct Queued {
  std::size_t bytes = 0;
  SteadyInstant deadline;
  std::uint16_t slot = any_slot;
  Done done = {};
};

// Calls that were made while the client's thread was busy; their bytes stand one after the other.
struct Batch {
  std::string bytes;
  std::vector<Queued> calls;
};

Error refusal(Code code, std::string why) {
  return Error(code, Outcome::not_applied, "redis: " + std::move(why));
}

}  // namespace

class Client::Core {
 public:
  Core(const RedisUrl& url, Clock& clock, std::unique_ptr<net::Loop> loop,
       std::shared_ptr<const net::Tls> tls)
      : url_(url),
        clock_(clock),
        loop_(std::move(loop)),
        health_{
            .up = false, .detail = "connecting to " + to_string(url), .since = clock.wall_now()},
        router_(std::make_unique<Router>(
            Surroundings{.loop = *loop_, .clock = clock_, .url = url_, .tls = std::move(tls)},
            [this](bool up, std::string detail) { set_health(up, std::move(detail)); })),
        thread_([this] { loop_->run(); }) {}

  ~Core() {
    loop_->post([this] {
      drain();
      {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
      }
      drain();  // what came between
      router_->close();
      loop_->stop();
    });
    thread_.join();
  }

  void call(std::span<const std::string_view> command, std::string_view key, Duration deadline,
            Done done) {
    std::size_t size = 0;
    for (const std::string_view word : command) size += word.size();
    if (command.empty() || size > bounds::redis_command_bytes_max) {
      return done(std::unexpected(
          refusal(Code::invalid, "a command of " + std::to_string(size) + " bytes; the most is " +
                                     std::to_string(bounds::redis_command_bytes_max))));
    }
    Queued queued{.deadline = clock_.steady_now() + deadline, .done = std::move(done)};
    if (url_.cluster && !key.empty()) queued.slot = key_slot(key);
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || pending_.calls.size() >= bounds::redis_calls_max ||
          pending_.bytes.size() + size > bounds::redis_queue_bytes_max) {
        done = std::move(queued.done);
      } else {
        const std::size_t before = pending_.bytes.size();
        append_command(pending_.bytes, command);
        queued.bytes = pending_.bytes.size() - before;
        is_first = pending_.calls.empty();
        pending_.calls.push_back(std::move(queued));
      }
    }
    if (done) {
      done(std::unexpected(refusal(Code::unavailable, "too many calls wait, or the client ends")));
    }
    if (is_first) loop_->post([this] { drain(); });
  }

  Health health() const {
    const std::lock_guard lock(health_mutex_);
    return health_;
  }

  bool is_own_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void drain() {
    Batch batch = std::exchange(spare_, {});
    {
      const std::lock_guard lock(mutex_);
      std::swap(batch, pending_);
    }
    std::shared_ptr<const std::string> kept;
    if (url_.cluster) kept = std::make_shared<const std::string>(std::move(batch.bytes));
    std::string_view rest = kept ? std::string_view(*kept) : std::string_view(batch.bytes);
    for (Queued& queued : batch.calls) {
      router_->send({.bytes = rest.substr(0, queued.bytes),
                     .deadline = queued.deadline,
                     .done = std::move(queued.done),
                     .kept = kept,
                     .slot = queued.slot});
      rest.remove_prefix(queued.bytes);
    }
    batch.calls.clear();
    batch.bytes.clear();
    if (batch.bytes.capacity() <= idle_bytes_max) spare_ = std::move(batch);
  }

  void set_health(bool up, std::string detail) {
    const std::lock_guard lock(health_mutex_);
    if (up != health_.up) health_.since = clock_.wall_now();
    health_.up = up;
    health_.detail = std::move(detail);
  }

  const RedisUrl url_;
  Clock& clock_;
  std::unique_ptr<net::Loop> loop_;

  std::mutex mutex_;
  Batch pending_;
  bool is_closed_ = false;

  mutable std::mutex health_mutex_;
  Health health_;

  // The loop's thread alone.
  Batch spare_;
  std::unique_ptr<Router> router_;

  std::thread thread_;
};

Client::Client(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(const RedisUrl& url, Clock& clock,
                                             std::unique_ptr<net::Loop> loop) {
  std::shared_ptr<const net::Tls> tls;
  if (url.tls) tls = PAWL_TRY(net::Tls::client(url.ca_file));
  if (!loop) loop = net::Loop::make();
  auto core = std::make_unique<Core>(url, clock, std::move(loop), std::move(tls));
  return std::unique_ptr<Client>(new Client(std::move(core)));
}

void Client::call(std::span<const std::string_view> command, std::string_view key,
                  Duration deadline, Done done) {
  core_->call(command, key, deadline, std::move(done));
}

Result<Reply> Client::call_and_wait(std::span<const std::string_view> command, std::string_view key,
                                    Duration deadline) {
  PAWL_ASSERT(!core_->is_own_thread());
  std::promise<Result<Reply>> promise;
  auto answered = promise.get_future();
  call(command, key, deadline, [promise = std::move(promise)](Result<Reply> reply) mutable {
    promise.set_value(std::move(reply));
  });
  return answered.get();
}

Health Client::health() const {
  return core_->health();
}

}  // namespace pawl::redis
