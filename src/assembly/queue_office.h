// QueueOffice: a queue with all it stands on: the object store that its URL names, an HTTP client,
// timers.
//
//   auto office = PAWL_TRY(QueueOffice::open({.url = "dir:data/queue"}, {clock, entropy}));
//   office->queue().give(…);
//   office->close();
//
// Why:      the binary, the library and the workers open a queue in the same way.
// URL:      dir:PATH | s3://BUCKET/PREFIX?endpoint=…&region=… (base/s3_url.h; keys from the
//           environment, adapter/s3/s3_access.h) | http://HOST:PORT[,…][?store=URL], brokers, and
//           their store for when none answers | memory:, which ends with the office.
// Contract: a queue that is not there yet is made, after the store has shown that it keeps the
//           conditional writes it promises (runtime/object_store_probe.h); or, where `makes` is
//           false, is an error: not_found. A queue that is there must have the `wanted` settings,
//           where any are named. Whoever changes anything there tries once whether the store still
//           refuses to create what is there: a queue may have been copied to one that does not.
// End:      close() breaks off claims that wait, waits until what was given is committed, and ends
//           the timers; the destructor does, where nobody did.
// Errors:   invalid: URL, settings, a store that breaks its promises. unavailable: the store does
//           not answer.
// Threads:  any; open() and close() block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "port/entropy.h"
#include "port/object_store.h"
#include "port/task_queue.h"
#include "port/timers.h"
#include "runtime/queue_settings.h"

namespace pawl {

struct QueueOfficeSettings {
  std::string url = "dir:data/queue";
  WantedSettings wanted = {};
  bool makes = true;                          // the queue, if it is not there
  bool follows = true;                        // false: for whoever looks once and goes
  bool changes = true;                        // false: only looks
  bool works = true;                          // fires schedules; false: only looks or submits
  Duration deadline = Duration::seconds(30);  // of a store that does not answer
  std::vector<queue::SetLimit> limits = {};   // set, where the queue has others
};

class QueueOffice {
 public:
  struct Parts {
    Clock& clock;
    Entropy& entropy;
    // A variable of the environment: where keys of S3, and tokens of a broker, come from.
    std::function<std::optional<std::string>(const std::string& name)> environment = {};
    std::function<void(const std::string& text)> note = {};  // what somebody should look at
  };
  static Result<std::unique_ptr<QueueOffice>> open(QueueOfficeSettings settings,
                                                   const Parts& parts);
  ~QueueOffice();
  QueueOffice(const QueueOffice&) = delete;
  QueueOffice& operator=(const QueueOffice&) = delete;

  TaskQueue& queue();
  Timers& timers();
  // What is the same wherever a URL leads to this queue, and nowhere else; written once. An error
  // for a queue by way of a broker.
  Result<std::string> mark();
  void close();

 private:
  struct Rooms;
  explicit QueueOffice(std::unique_ptr<Rooms> rooms);

  std::unique_ptr<Rooms> rooms_;
};

// The object that mark() is kept in.
inline constexpr std::string_view queue_mark_name = "mark";

// How often the end of each shard's log is looked for when nothing happens; with many shards less
// often, so that all together cost about as much as one.
Duration idle_poll(std::uint32_t shards);

// The store alone, with what it stands on: for whoever looks at it and not at the queue.
class QueueStore {
 public:
  static Result<std::unique_ptr<QueueStore>> open(const std::string& url,
                                                  const QueueOffice::Parts& parts);
  ~QueueStore();
  QueueStore(const QueueStore&) = delete;
  QueueStore& operator=(const QueueStore&) = delete;

  ObjectStore& objects();
  Timers& timers();
  // Nothing is called back any more; before whatever uses the store goes.
  void close();

 private:
  struct Rooms;
  explicit QueueStore(std::unique_ptr<Rooms> rooms);

  std::unique_ptr<Rooms> rooms_;
};

}  // namespace pawl
