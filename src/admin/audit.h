// The calls about audit events: reading them by number, and following them as they come.
//
// GET /v1/audit gives what stands behind record `after`, oldest first, and the number to go on
// from; with `since` what was recorded from that instant on; without both the newest, or those
// `before` a record, and how far back was looked. A call reads bounds::admin_scan_bytes_max of the
// log at the most, so a filter may find nothing although there is more: whoever looks goes on
// while `more`, or `earlier`, is true.
//
// GET /v1/events is the same as server-sent events. Each listener has a place of its own in the
// log, so a slow one holds nobody up; one that does not take what was sent is let go by its
// connection, and comes back with Last-Event-ID. One who would not be let in any more is let go.
//
// Bounds:  bounds::admin_listeners_max listeners; bounds::admin_event_piece_bytes_max a listener
//          and tick.
// Threads: those of the admin listener's loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

// Which events are wanted; empty: any.
struct EventFilter {
  std::string type = {};
  std::string correlation_id = {};
  // Of one operation: its correlation_id, request_id, external_reference, trace_id or task_id; or
  // several of these, with blanks between.
  std::string thread = {};
  // Decisions in which this bucket refused, or would have were it not in shadow.
  std::string refused_by = {};
};

struct SeenEvent {
  std::uint64_t seq = 0;
  std::string type = {};
  Instant at = {};
  std::string_view line = {};  // as it stands in the log
};
// Takes the next line off the front of `lines`. Nothing: it is not wanted, or is no record.
// `last_seq` is set to the number of every record that is passed.
std::optional<SeenEvent> next_event(std::string_view& lines, const EventFilter& filter,
                                    std::uint64_t& last_seq);

class Listeners {
 public:
  Listeners(Context& context, Gate& gate) : context_(context), gate_(gate) {}

  void add(Call call);
  // About ten times a second: sends what has come.
  void tick();
  std::size_t size() const { return listeners_.size(); }

 private:
  struct Listener {
    server::Request request;  // by which it was let in
    server::ReplyStream stream;
    EventFilter filter;
    std::uint64_t seq;
    SteadyInstant sent_at;
  };

  bool serve(Listener& listener, SteadyInstant now);

  Context& context_;
  Gate& gate_;
  std::vector<Listener> listeners_;
};

Routes audit_routes(Context& context, Listeners& listeners);

}  // namespace pawl::admin
