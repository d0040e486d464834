// The overview: how pawl does now and did of late, for who watches.
//
//   Sampler           once a second: reads the metrics, makes the overview of them and adds a point
//                     to its lines. How much of the week's orders is used is asked of the desk,
//                     and how many writes are of unknown end of the record store.
//   GET /v1/overview  the last one
//   GET /v1/live      the same as server-sent events, one a second
//   GET /v1/series    the lines of the last 15 minutes, hour or day
//
// Contract: rates are what was counted since the sample before, a second. What this pawl does not
//           have (orders, a queue) is null. Who would not be let in any more is not told any more.
// Bounds:   bounds::panel_listeners_max listeners, bounds::panel_series_max lines.
// Threads:  those of the admin listener's loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/context.h"
#include "admin/route.h"
#include "admin/time_series.h"

namespace pawl::admin {

// What of the metrics the overview tells.
struct Counted {
  double allowed = 0;  // since the start
  double refused = 0;
  double replayed = 0;
  double retries = 0;  // in the last minute
  bool retry_alert = false;
  bool has_queue = false;  // it was read
  double pending = 0, due = 0, running = 0, failed = 0;
  double oldest_due_seconds = 0;
  double unresolved = 0, left_open = 0, under_way = 0;
};
Counted counted(const metrics::Registry& metrics);

class Sampler {
 public:
  Sampler(Context& context, Gate& gate);

  // Once a second.
  void tick();
  void add(Call call);
  // As JSON; made at the last tick, or by the first who asks.
  const std::string& overview();
  const TimeSeries& series() const { return series_; }

 private:
  struct Listener {
    server::Request request;  // by which it was let in
    server::ReplyStream stream;
  };
  // Answers of the desk may come when the sampler is gone.
  struct Quota {
    std::optional<order::Quota> known = {};
    bool asked = false;
  };
  struct Unknown {
    std::optional<std::int64_t> writes = {};
    bool asked = false;
    SteadyInstant next = {};  // ask no earlier
  };

  void ask_quota();
  void ask_unknown();
  void sample();
  json::Value make(const Counted& now, double allowed, double refused, double replayed) const;

  Context& context_;
  Gate& gate_;
  TimeSeries series_;
  std::optional<Counted> last_;
  SteadyInstant last_at_;
  std::string overview_;
  std::shared_ptr<Quota> quota_ = std::make_shared<Quota>();
  std::shared_ptr<Unknown> unknown_ = std::make_shared<Unknown>();
  std::uint64_t ticks_ = 0;
  std::vector<Listener> listeners_;
};

Routes overview_routes(Context& context, Sampler& sampler);

}  // namespace pawl::admin
