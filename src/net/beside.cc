// Asio's one file.
#include "net/beside.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <thread>
#include <utility>

namespace pawl::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

IpAddress to_ip(const asio::ip::address& address) {
  if (address.is_v4()) return IpAddress::v4(address.to_v4().to_bytes());
  return IpAddress::v6(address.to_v6().to_bytes());
}

}  // namespace

struct Beside::Thread {
  explicit Thread(std::function<void(Work)> to) : hand_over(std::move(to)) {
    thread = std::jthread([this] {
      const auto keep_running = asio::make_work_guard(context);
      context.run();
    });
  }
  ~Thread() {
    context.stop();
    thread.join();
  }

  void wait_signal(asio::signal_set& set, std::function<void(int)> action) {
    set.async_wait([this, &set, action = std::move(action)](ErrorCode error, int signal) mutable {
      if (error) return;
      hand_over([action, signal] { action(signal); });
      wait_signal(set, std::move(action));
    });
  }

  std::function<void(Work)> hand_over;
  asio::io_context context{1};
  tcp::resolver resolver{context};
  std::vector<std::unique_ptr<asio::signal_set>> signals;
  std::jthread thread;
};

Beside::Beside(std::function<void(Work)> hand_over)
    : thread_(std::make_unique<Thread>(std::move(hand_over))) {}

Beside::~Beside() = default;

void Beside::look_up(const std::string& host, Found found) {
  asio::post(thread_->context, [&thread = *thread_, host, done = std::move(found)]() mutable {
    thread.resolver.async_resolve(
        host, "", tcp::resolver::flags(),
        [&thread, then = std::move(done)](ErrorCode error,
                                          const tcp::resolver::results_type& results) mutable {
          Result<std::vector<IpAddress>> addresses = std::vector<IpAddress>();
          for (const auto& result : results) {
            addresses->push_back(to_ip(result.endpoint().address()));
          }
          if (error) addresses = failure(Code::unavailable, error.message());
          thread.hand_over([then = std::move(then), addresses = std::move(addresses)]() mutable {
            then(std::move(addresses));
          });
        });
  });
}

void Beside::on_signals(std::initializer_list<int> signals, std::function<void(int)> action) {
  thread_->signals.push_back(std::make_unique<asio::signal_set>(thread_->context));
  asio::signal_set& set = *thread_->signals.back();
  ErrorCode ignored;
  for (const int signal : signals) set.add(signal, ignored);
  asio::post(thread_->context, [&thread = *thread_, &set, act = std::move(action)]() mutable {
    thread.wait_signal(set, std::move(act));
  });
}

}  // namespace pawl::net
