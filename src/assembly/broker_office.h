// BrokerOffice: a queue by way of brokers (runtime/remote_queue.h) with all it stands on. A part of
// QueueOffice.
//
// Contract: when no broker answers, the store that our own URL names behind the brokers is opened
//           from here, if it is the same queue (QueueOffice::mark), or the one that is there when
//           no broker was heard yet; on a thread of its own. The mark is read before anything else
//           is, and nothing is written before it is right: no queue is made there.
// Trust:    a broker is not asked where its store is: it may be anybody, and our keys would be sent
//           there. Without a ?store= there is no direct way.
// Threads:  any; open() and close() block.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapter/system/waiting_room.h"
#include "assembly/queue_office.h"
#include "base/queue_url.h"
#include "port/http_client.h"
#include "runtime/remote_queue.h"

namespace pawl {

class BrokerOffice {
 public:
  // The settings are of the queue's user; their URL names the brokers.
  static Result<std::unique_ptr<BrokerOffice>> open(QueueUrl place, QueueOfficeSettings settings,
                                                    const QueueOffice::Parts& parts);
  ~BrokerOffice();
  BrokerOffice(const BrokerOffice&) = delete;
  BrokerOffice& operator=(const BrokerOffice&) = delete;

  TaskQueue& queue() { return *remote_; }
  Timers& timers() { return timers_; }
  void close();

 private:
  BrokerOffice(std::string store, QueueOfficeSettings settings, const QueueOffice::Parts& parts)
      : store_(std::move(store)), settings_(std::move(settings)), parts_(parts) {}
  using Named = std::optional<broker::Hello>;
  void open_directly(const Named& named, TaskQueue::Done<RemoteQueue::Direct> done);
  Result<RemoteQueue::Direct> open_store(const Named& named);
  Result<void> check_mark(const std::string& mark) const;

  const std::string store_;  // its URL; empty: none
  const QueueOfficeSettings settings_;
  const QueueOffice::Parts parts_;
  WaitingRoom timers_;
  std::unique_ptr<HttpClient> http_;
  std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  std::thread opener_;
  std::unique_ptr<QueueOffice> direct_;
  // Uses all of the above.
  std::unique_ptr<RemoteQueue> remote_;
};

}  // namespace pawl
