// Flights: the keys that writes of this process have right now.
//
// Why:      a hot key that a thousand callers retry at once would make a thousand asks of the store
//           for one answer. Here the first asks, and the others hear at once that it is under way,
//           or wait and are told when it has ended.
// Contract: a key is had by one ticket at a time. What on_end() was given is called once, when the
//           ticket ends, on the thread that ends it. The store has the last word: a ticket is no
//           claim.
// Threads:  any. Outlives its tickets.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "port/record_store.h"

namespace pawl {

class Flights {
 public:
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept { *this = std::move(other); }
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { end(); }
    void end();

   private:
    friend class Flights;
    Ticket(Flights& flights, RecordKey key) : flights_(&flights), key_(std::move(key)) {}
    Flights* flights_ = nullptr;
    RecordKey key_;
  };

  // Nothing: somebody has it.
  std::optional<Ticket> begin(const RecordKey& key, std::string fingerprint);
  // The fingerprint of whoever has it; nothing: nobody has.
  std::optional<std::string> find(const RecordKey& key) const;
  // False: nobody has it, or too many wait for it; nothing will be called.
  bool on_end(const RecordKey& key, std::move_only_function<void()> call);

 private:
  struct Flight {
    std::string fingerprint;
    std::vector<std::move_only_function<void()>> waiting = {};
  };
  void end(const RecordKey& key);

  mutable std::mutex mutex_;
  std::map<RecordKey, Flight> flights_;
};

}  // namespace pawl
