#include "runtime/order_pace.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

std::shared_ptr<OrderPace> OrderPace::open(SessionPacer::Options options, Ports ports,
                                           Venue& venue) {
  options.session = venue.traits().session;
  const std::shared_ptr<OrderPace> pace(new OrderPace(std::move(ports)));
  const std::weak_ptr<OrderPace> weak = pace;
  SessionPacer::Hooks hooks{.note = pace->ports_.note, .wake_at = [weak](SteadyInstant at) {
                              if (const auto self = weak.lock()) self->wake_at(at);
                            }};
  pace->pacer_ = std::make_unique<SessionPacer>(
      std::move(options),
      SessionPacer::Ports{.clock = ports.clock, .counters = ports.counters, .events = ports.audit},
      std::move(hooks));
  venue.on_heard(
      [weak](int status, const std::vector<limit::Field>& fields, const Correlation& ids) {
        if (const auto self = weak.lock()) self->pacer_->heard("order", status, fields, ids);
      });
  return pace;
}

// Timers that are no longer wanted come too early, which does nothing.
void OrderPace::wake_at(SteadyInstant at) {
  const Duration wait = std::max(Duration(), at - ports_.clock.steady_now());
  ports_.timers.after(wait, [weak = weak_from_this()](bool over) {
    if (over) return;
    if (const auto self = weak.lock()) self->pacer_->poll();
  });
}

}  // namespace pawl
