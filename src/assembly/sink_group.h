// SinkGroup: several audit sinks as one; every event goes to each of them.
//
// Contract: EventSink. append() fails when one of the sinks does, and the others may have the event
//           then: the record of a decision that was not carried out, never the reverse. flush()
//           returns when all are durable. lag() is the largest of theirs, health() the first error;
//           there is room when all have some.
// Order:    that of each sink's own append() calls; two threads may come in another order in each.
// Threads:  any.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "port/event_sink.h"

namespace pawl {

class SinkGroup final : public EventSink {
 public:
  explicit SinkGroup(std::vector<std::unique_ptr<EventSink>> sinks) : sinks_(std::move(sinks)) {}

  Result<void> append(audit::Event event) override {
    for (const auto& sink : sinks_) PAWL_TRY(sink->append(event));
    return {};
  }
  Result<void> append_late(audit::Late late) override {
    for (const auto& sink : sinks_) PAWL_TRY(sink->append_late(late));
    return {};
  }
  bool has_room() const override {
    return std::ranges::all_of(sinks_, [](const auto& sink) { return sink->has_room(); });
  }
  Result<void> flush() override {
    Result<void> flushed;
    for (const auto& sink : sinks_) {
      if (Result<void> one = sink->flush(); flushed && !one) flushed = std::move(one);
    }
    return flushed;
  }
  Result<void> health() override {
    for (const auto& sink : sinks_) PAWL_TRY(sink->health());
    return {};
  }
  Result<void> alive() const override {
    for (const auto& sink : sinks_) PAWL_TRY(sink->alive());
    return {};
  }
  std::uint64_t lag() const override {
    std::uint64_t most = 0;
    for (const auto& sink : sinks_) most = std::max(most, sink->lag());
    return most;
  }
  std::string take_note() override {
    std::string notes;
    for (const auto& sink : sinks_) {
      const std::string note = sink->take_note();
      notes.append(notes.empty() || note.empty() ? "" : "; ").append(note);
    }
    return notes;
  }

 private:
  const std::vector<std::unique_ptr<EventSink>> sinks_;
};

}  // namespace pawl
