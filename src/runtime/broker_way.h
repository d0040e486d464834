// BrokerWay: the way of a call to the queue: to the broker that answered last, to the next one, and
// when none answers to the store itself. A part of RemoteQueue.
//
// Contract: as RemoteQueue says. `done` gets the answer of a broker whose queue has taken the call
//           (its errors included, but for unavailable), or the queue to ask directly, or an error.
// Threads:  any.
// Lifetime: the ports outlive close(). What is under way then ends with an error, at the latest
//           when the client lets it go.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/broker_bytes.h"
#include "runtime/remote_queue.h"

namespace pawl {

class BrokerWay : public std::enable_shared_from_this<BrokerWay> {
 public:
  struct Ask {
    std::string_view path = {};
    std::string body = {};
    Duration waits = {};                 // at the broker
    std::optional<Duration> lease = {};  // of the tasks that depend on it
  };
  struct Arrived {
    std::string bytes = {};          // of a broker
    TaskQueue* directly = nullptr;   // in place of them
    bool may_be_the_second = false;  // an earlier one may have arrived too
    SteadyInstant sent = {};         // the one that was answered
  };
  using Done = TaskQueue::Done<Arrived>;

  BrokerWay(RemoteQueue::Options options, RemoteQueue::Ports ports)
      : options_(std::move(options)), ports_(std::move(ports)) {}

  void send(Ask ask, Done done);
  void close();
  bool is_closed();

  void know(broker::Hello hello);
  std::optional<broker::Hello> known();  // its time goes on
  // Where it is used.
  TaskQueue* direct();

 private:
  struct Call {
    Ask ask;
    Done done;
    std::size_t first = 0;
    std::size_t tried = 0;  // brokers, so far
    bool again = false;     // one of them was asked a second time
    bool heard = false;     // one of them answered, for a store that does not
    bool may_have_arrived = false;
    SteadyInstant sent = {};
    Error error;  // the last
  };
  using CallPtr = std::shared_ptr<Call>;

  void attempt(const CallPtr& call);
  void answered(const CallPtr& call, Result<HttpAnswer> answer);
  void pass_over(const CallPtr& call, Error error);
  void go_directly(const CallPtr& call);
  static void fail(const CallPtr& call, Error error);
  HttpRequest request(std::size_t place, const Ask& ask);
  Duration deadline_of(const Ask& ask);
  std::size_t place_of(const Call& call) const {
    return (call.first + call.tried) % options_.brokers.size();
  }
  void tell_of_other(std::size_t place, const std::string& text);
  void found(std::size_t place);
  void reach_directly(TaskQueue::Done<TaskQueue*> done);
  void opened_directly(const Result<RemoteQueue::Direct>& opened);
  void note(const std::string& text) const {
    if (ports_.note) ports_.note(text);
  }

  const RemoteQueue::Options options_;
  const RemoteQueue::Ports ports_;

  std::mutex mutex_;  // of all below
  bool closed_ = false;
  std::size_t current_ = 0;  // the broker that answered last
  std::optional<broker::Hello> hello_ = {};
  SteadyInstant heard_at_ = {};  // of that
  TaskQueue* direct_ = nullptr;
  std::set<std::size_t> others_ = {};  // brokers that were told of: they have another queue
  bool opening_ = false;
  std::vector<TaskQueue::Done<TaskQueue*>> waiting_;  // for it
  std::optional<Error> not_direct_ = {};              // why not, at the last try
  SteadyInstant direct_until_ = {};                   // neither way is tried anew before
};

}  // namespace pawl
