// RetryTally: an audit sink that counts retries, all and by category, and knows which breakers are
// not closed, on their way to another sink.
//
// Why:      a rate that rises is the first sign of an other side in trouble, before anything is
//           given up; the category and the breaker say which.
// Contract: EventSink, as the one behind it is. An event counts when that has taken it.
// Bounds:   bounds::retry_tally_categories_max categories, further ones count as "other";
//           bounds::retry_tally_breakers_max breakers.
// Threads:  any.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/audit/stats.h"
#include "port/event_sink.h"

namespace pawl {

class RetryTally final : public EventSink {
 public:
  // `sink` must outlive it.
  explicit RetryTally(EventSink& sink) : sink_(sink) {}

  Result<void> append(audit::Event event) override;
  Result<void> append_late(audit::Late late) override { return sink_.append_late(std::move(late)); }
  bool has_room() const override { return sink_.has_room(); }
  Result<void> flush() override { return sink_.flush(); }
  Result<void> health() override { return sink_.health(); }
  Result<void> alive() const override { return sink_.alive(); }
  std::uint64_t lag() const override { return sink_.lag(); }
  std::string take_note() override { return sink_.take_note(); }

  struct Breaker {
    std::string name = {};
    std::string state = {};  // open, half_open
    Instant since = {};      // not closed; probes that failed since then do not move it
  };
  // Of the 60 seconds before `now`: all retries, and the categories that had any.
  std::uint64_t all_of_last_minute(Instant now) const;
  std::vector<std::pair<std::string, std::uint64_t>> last_minute(Instant now) const;
  std::vector<Breaker> breakers() const;

 private:
  void count(const std::string& category, Instant at);
  void note(std::string breaker, std::string state, Instant at);

  EventSink& sink_;
  mutable std::mutex mutex_;  // guards what follows
  audit::RetryRate all_;
  std::map<std::string, audit::RetryRate, std::less<>> categories_;
  std::map<std::string, Breaker, std::less<>> breakers_;
};

}  // namespace pawl
