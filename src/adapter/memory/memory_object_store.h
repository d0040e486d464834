// MemoryObjectStore: objects that live as long as they are held: the queue `memory:`; and for
// tests, with every fault by order.
//
// Contract: as ObjectStore, except that nothing is durable. A call is answered before it returns,
//           unless a fault says otherwise; on the caller's thread, or that of release(). The same
//           calls and the same faults give the same answers.
// Shared:   MemoryObjects holds the objects and has the store's clock. Each MemoryObjectStore is
//           one process that uses them, with a clock and faults of its own.
// Faults:   a hook is asked once for each call that passed the checks of names and sizes, before
//           anything is done.
// Threads:  any, if the clocks are; the hook is called with no lock held.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pawl/clock.h"
#include "port/object_store.h"

namespace pawl {

class MemoryObjects {
 public:
  explicit MemoryObjects(Clock& clock) : clock_(clock) {}

  PutAnswer put(const PutObject& put);
  Result<Object> get(const GetObject& get) const;
  Listing list(const ListObjects& list) const;
  void remove(const std::vector<std::string>& names);
  Instant now() const { return clock_.wall_now(); }

 private:
  struct Kept {
    std::string body;
    std::string tag;
    Instant modified;
  };

  Clock& clock_;
  mutable std::mutex mutex_;          // guards what follows
  std::map<std::string, Kept> kept_;  // by the bytes of the name
  std::uint64_t last_tag_ = 0;
};

class MemoryObjectStore final : public ObjectStore {
 public:
  enum class Call : std::uint8_t { put, get, list, remove };
  // How a call ends. "Unknown" is the outcome of a write; a read has none.
  enum class Fault : std::uint8_t {
    none,
    failed,        // nothing was done: unavailable, not_applied
    lost_request,  // nothing was done: unavailable, unknown
    lost_answer,   // it was done: unavailable, unknown
    late,          // answered at once: unavailable, unknown; done when it is released
    busy,          // nothing was done: a put says so, the rest is unavailable with retry_after
    held,          // done and answered when it is released
    held_answer,   // done at once, answered when it is released
  };
  // `name`: of the object; the first of a remove; what a list is under.
  using Hook = std::function<Fault(Call call, const std::string& name)>;

  explicit MemoryObjectStore(Clock& clock)
      : MemoryObjectStore(clock, std::make_shared<MemoryObjects>(clock)) {}
  MemoryObjectStore(Clock& clock, std::shared_ptr<MemoryObjects> objects)
      : clock_(clock), objects_(std::move(objects)) {}

  void put(PutObject put, Done<PutAnswer> done) override;
  void get(GetObject get, Done<Object> done) override;
  void list(ListObjects list, Done<Listing> done) override;
  void remove(std::vector<std::string> names, Done<void> done) override;

  std::optional<TimeSample> time_sample() const override;
  RequestCounts counts() const override;
  std::string name() const override { return "memory"; }

  // None: no more faults.
  void set_faults(Hook hook);
  // How many calls wait for release(), the oldest being number 0.
  std::size_t held() const;
  void release(std::size_t number = 0);

 private:
  template <class T>
  struct Task {
    Call call;
    std::string name;
    Done<T> done;
    std::function<Result<T>()> work;  // on the objects
  };
  template <class T>
  void run(Task<T> task);
  template <class T>
  void hold(Task<T> task);
  Fault fault_of(Call call, const std::string& name);
  void sample_time();

  Clock& clock_;
  const std::shared_ptr<MemoryObjects> objects_;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const Hook> hook_;
  std::deque<std::move_only_function<void()>> held_;
  RequestCounts counts_;
  std::optional<TimeSample> sample_;
};

}  // namespace pawl
