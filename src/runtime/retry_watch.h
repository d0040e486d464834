// RetryWatch: an audit sink that counts the retries on their way to another, and says when there
// are too many a minute.
//
// Why:      a rate that rises is the first sign of an other side in trouble, before anything is
//           given up; whoever watches a service wants to hear of it without reading its log.
// Contract: EventSink, as the one behind it is. A retry counts when that has taken it. look() says
//           how many the last 60 seconds had, and whether that is more than `alert_above`.
// Threads:  any. look() is for one.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "core/audit/stats.h"
#include "port/event_sink.h"

namespace pawl {

class RetryWatch final : public EventSink {
 public:
  // `sink` must outlive it.
  RetryWatch(EventSink& sink, std::int64_t alert_above)
      : sink_(sink), alert_above_(static_cast<std::uint64_t>(alert_above)) {}

  Result<void> append(audit::Event event) override;
  Result<void> append_late(audit::Late late) override { return sink_.append_late(std::move(late)); }
  bool has_room() const override { return sink_.has_room(); }
  Result<void> flush() override { return sink_.flush(); }
  Result<void> health() override { return sink_.health(); }
  Result<void> alive() const override { return sink_.alive(); }
  std::uint64_t lag() const override { return sink_.lag(); }
  std::string take_note() override { return sink_.take_note(); }

  struct Seen {
    std::uint64_t retries = 0;  // in the last minute
    bool alert = false;
    bool changed = false;  // since the last look
  };
  Seen look(Instant now);
  void set_alert_above(std::int64_t retries);

 private:
  EventSink& sink_;
  std::mutex mutex_;  // guards what follows
  std::uint64_t alert_above_;
  audit::RetryRate rate_;
  bool alert_ = false;
};

}  // namespace pawl
