// RemoteQueue: a queue by way of brokers (`pawl serve`), over HTTP; TaskQueue for those who cannot,
// or need not, reach its store.
//
//   RemoteQueue queue({.brokers = {"http://a:8081", "http://b:8081"}, .token = token},
//                     {http, clock, timers, open_directly});
//   queue.open([](Result<void> opened) { … });
//
// Contract: TaskQueue. A call goes to the broker that answered last. One that does not answer, or
//           whose store does not, is passed over for the next. When none answers at all, the call
//           goes to the store itself, if `open_directly` can open it from here; and from then on
//           brokers are tried again every `back_after`. A process that never heard of a broker does
//           so too. Once a queue is known, each call says which one it means, and a broker that has
//           another is passed over.
// Hangs:    a broker that hangs must not cost its workers their leases: with another way left,
//           what is told of tasks waits for each way for its part of a third of the lease.
// Trust:    a broker's answer is checked against what was asked: no more tasks than that, of no
//           other type. Where the store is, a broker does not decide: see assembly/broker_office.h.
// Again:    a call whose answer was lost is sent again, there or elsewhere: commands may be
//           (command.h). A claim may then have claimed twice; what nobody heard of is taken back
//           when its lease is over, which costs it a retry. An error has the outcome unknown when
//           any of its sends may have arrived.
// Claims:   wait at the broker, at most bounds::broker_wait_max a call; at most
//           bounds::broker_tasks_max come at once. What comes after stop_claims() is given back,
//           not counted.
// Looking:  as the broker has it; from one broker to the next what is shown may go back by
//           bounds::queue_look_age, own commands included. view() is what it said when it was
//           last asked: at open() and by stats().
// Errors:   refused: the broker does not know the token. invalid, not_found: there is no broker at
//           that address.
// Threads:  any. Callbacks come on the HTTP client's thread, or on that of the store.
// Lifetime: the ports outlive it; late answers of the client find nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "pawl/clock.h"
#include "port/http_client.h"
#include "port/task_queue.h"
#include "port/timers.h"
#include "runtime/broker_bytes.h"

namespace pawl {

class RemoteQueue final : public TaskQueue {
 public:
  struct Options {
    std::vector<std::string> brokers = {};      // "http://host:port", one at the least
    Secret<std::string> token = {};             // empty: none is sent
    Duration deadline = Duration::seconds(30);  // of a call, besides what it waits for
    Duration connect_deadline = Duration::seconds(3);
    Duration back_after = Duration::seconds(10);
  };
  struct Direct {
    TaskQueue* queue = nullptr;
    std::string mark = {};  // broker::Hello's
  };
  // Opens the queue that our own settings name, and keeps it open as long as this. It must not
  // block. `named`: what a broker said, if one has. An error: it is not to be reached from here, or
  // is another one than the broker has.
  using OpenDirectly =
      std::function<void(const std::optional<broker::Hello>& named, Done<Direct> done)>;
  struct Ports {
    HttpClient& http;
    Clock& clock;
    Timers& timers;
    OpenDirectly open_directly = {};                         // none: never
    std::function<void(const std::string& text)> note = {};  // what somebody should look at
  };

  RemoteQueue(Options options, Ports ports);
  ~RemoteQueue() override;
  RemoteQueue(const RemoteQueue&) = delete;
  RemoteQueue& operator=(const RemoteQueue&) = delete;

  // Done when a broker has said what its queue is, or the store was opened. Once, before anything
  // else.
  void open(Done<void> done);

  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override;
  void claim(ClaimAsk ask, Done<ClaimedTasks> done) override;
  void find(queue::TaskId id, Done<queue::Task> done) override;
  void history(queue::TaskId id, Done<queue::History> done) override;
  void why(queue::TaskId id, Done<queue::Why> done) override;
  void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) override;
  void stats(Done<queue::Stats> done) override;
  void schedules(Done<std::vector<queue::Schedule>> done) override;
  void closings(Done<std::vector<queue::Closing>> done) override;
  void limits(Done<std::vector<queue::SetLimit>> done) override;
  QueueView view() override;
  void stop_claims() override;

 private:
  class State;
  std::shared_ptr<State> state_;
};

// What was claimed and will not be begun: due at once, not counted. Nobody waits for it.
void give_back(TaskQueue& queue, const std::vector<queue::Task>& tasks);

}  // namespace pawl
