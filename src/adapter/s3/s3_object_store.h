// S3ObjectStore: ObjectStore in a bucket of S3, or of a store that speaks as S3 does.
//
// Contract: ObjectStore. A put leaves once (If-None-Match: *, If-Match), and what its answer means
//           is in s3_answer.h. Reads, lists and removals change nothing when they are made twice:
//           they are sent again by the engine's rules (core/retry) when no answer came, or one that
//           names trouble which passes; attempts, waits and a budget bound that.
//           An object that takes longer than a minute to read is to be read in parts.
// Time:     the Date of each answer that S3 itself gave, in whole seconds: a page of a proxy, or
//           of a server in trouble, has a clock that nobody vouches for.
// Versions: a bucket with versioning is for stores that keep conditions there, as S3 does; radosgw
//           16 does not. runtime/object_store_probe tells.
// Bounds:   reads_attempts_max attempts; bounds::snapshot_bytes_max of an object.
// Threads:  any. `done` comes on the client's thread or a timer's, or before the call returns; it
//           must not destroy the store. Client, clock and timers outlive the store; what is under
//           way when it goes is answered, later, by them.
#pragma once

#include <memory>

#include "adapter/s3/s3_access.h"
#include "base/s3_url.h"
#include "pawl/clock.h"
#include "port/http_client.h"
#include "port/object_store.h"
#include "port/timers.h"

namespace pawl {

class S3ObjectStore final : public ObjectStore {
 public:
  struct World {
    HttpClient& client;
    Clock& clock;
    Timers& timers;
  };
  static constexpr int reads_attempts_max = 4;

  S3ObjectStore(S3Url url, S3Access access, World world);
  ~S3ObjectStore() override;

  void put(PutObject put, Done<PutAnswer> done) override;
  void get(GetObject get, Done<Object> done) override;
  void list(ListObjects list, Done<Listing> done) override;
  void remove(std::vector<std::string> names, Done<void> done) override;

  std::optional<TimeSample> time_sample() const override;
  RequestCounts counts() const override;
  std::string name() const override;

 private:
  class Calls;
  template <class T>
  class Reading;

  std::shared_ptr<Calls> calls_;
};

}  // namespace pawl
