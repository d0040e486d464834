// For tests: a record store in memory whose answers the test may hold back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapter/memory/memory_record_store.h"

namespace pawl {

class HeldRecords final : public RecordStore {
 public:
  explicit HeldRecords(Clock& clock) : store_(clock) {}

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override {
    asked.push_back("begin");
    store_.begin(key, ask, held(std::move(done)));
  }
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override {
    asked.push_back("renew");
    store_.renew(key, fence, lease, std::move(done));
  }
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override {
    asked.push_back("complete " + std::string(idempotency::to_string(how.status)));
    store_.complete(key, fence, std::move(how), held(std::move(done)));
  }
  void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) override {
    store_.settle(key, std::move(how), std::move(done));
  }
  void get(const RecordKey& key, Done<idempotency::Record> done) override {
    asked.push_back("get");
    store_.get(key, held(std::move(done)));
  }
  void look_up(const RecordKey& key, std::string_view fingerprint,
               Done<idempotency::Record> done) override {
    asked.push_back("look_up");
    store_.look_up(key, fingerprint, held(std::move(done)));
  }
  void clear(const RecordKey& key, bool force, Done<void> done) override {
    store_.clear(key, force, std::move(done));
  }
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override {
    store_.list(filter, std::move(done));
  }
  Durability durability() const override { return store_.durability(); }

  void answer() {
    auto answers = std::exchange(waiting, {});
    for (auto& call : answers) call();
  }

  bool holding = false;
  std::vector<std::string> asked;
  std::vector<std::move_only_function<void()>> waiting;

 private:
  template <class T>
  Done<T> held(Done<T> done) {
    return [this, done = std::move(done)](Result<T> result) mutable {
      if (!holding) {
        done(std::move(result));
        return;
      }
      waiting.push_back([done = std::move(done), result = std::move(result)]() mutable {
        done(std::move(result));
      });
    };
  }

  MemoryRecordStore store_;
};

}  // namespace pawl
