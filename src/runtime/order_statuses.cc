// What becomes of placed orders: filled, canceled.
#include <memory>
#include <utility>

#include "base/bounds.h"
#include "runtime/order_desk_state.h"

namespace pawl::desk {
namespace {

bool is_over(order::Life life) {
  return life == order::Life::filled || life == order::Life::canceled ||
         life == order::Life::rejected;
}

// Looks at those that are not known to be over, one after the other. Where there are more than it
// looks at, the next round goes on behind them, so that each has its turn.
struct Round : std::enable_shared_from_this<Round> {
  Round(DeskPtr desk_, Done<std::size_t> done_) : desk(std::move(desk_)), done(std::move(done_)) {
    for (const auto& [name, seat] : desk->seats) venues.push_back(name);
  }

  void next_venue();
  void look_up();
  void next_order();
  void end();

  DeskPtr desk;
  Done<std::size_t> done;
  std::vector<std::string> venues = {};
  std::string venue = {};
  std::vector<order::Intent> orders = {};
  bool goes_on = false;  // the next round does, behind the last order of this one
  std::size_t looked_at = 0;
};

void Round::next_venue() {
  if (venues.empty() || desk->draining) return end();
  venue = std::move(venues.back());
  venues.pop_back();
  look_up();
}

void Round::look_up() {
  desk->store.unfinished(
      venue, desk->polled_to[venue], bounds::orders_polled_max,
      on_strand(desk, [self = shared_from_this()](Result<std::vector<order::Intent>> found) {
        if (!found) return self->done(std::unexpected(found.error()));
        self->orders = *std::move(found);
        const bool has_begun = std::exchange(self->desk->polled_to[self->venue], 0) > 0;
        if (self->orders.empty() && has_begun) return self->look_up();
        self->goes_on = self->orders.size() == bounds::orders_polled_max;
        self->next_order();
      }));
}

void Round::next_order() {
  if (orders.empty() || desk->draining) return next_venue();
  const order::Intent intent = std::move(orders.front());
  orders.erase(orders.begin());
  ++looked_at;
  if (goes_on) desk->polled_to[venue] = intent.id;
  look_at(desk, intent,
          [self = shared_from_this(), id = intent.id](const Result<order::VenueOrder>& seen) {
            // A venue that does not answer now is asked again in the next round, for others first.
            if (!seen && seen.error().code != Code::not_found) {
              self->orders.clear();
              self->desk->polled_to[self->venue] = id;
            }
            self->next_order();
          });
}

void Round::end() {
  desk->store.list({.statuses = {order::Status::unresolved}, .limit = bounds::orders_listed_max},
                   on_strand(desk, [self = shared_from_this()](
                                       const Result<std::vector<order::Intent>>& unresolved) {
                     if (unresolved) self->desk->tally.found_unresolved(*unresolved);
                     self->done(self->looked_at);
                   }));
}

}  // namespace

void record_life(const DeskPtr& desk, const order::VenueOrder& order, const Owner& owner,
                 Done<bool> done) {
  if (!is_over(order.life) || order.order_id.empty()) return done(false);
  const order::Life life =
      order.life == order::Life::filled ? order::Life::filled : order::Life::canceled;
  desk->store.set_life(
      owner.venue, order.order_id, life,
      on_strand(desk, [desk, owner, life, order_id = order.order_id,
                       done = std::move(done)](Result<bool> changed) mutable {
        if (changed && *changed) {
          desk->tell(StatusUpdated{
              .ids = owner.ids, .venue = owner.venue, .order_id = order_id, .life = life});
        }
        done(std::move(changed));
      }));
}

void look_at(const DeskPtr& desk, const order::Intent& intent, Done<order::VenueOrder> done) {
  const Result<Seat*> seat = desk->seat(intent.order.venue);
  if (!seat) return done(std::unexpected(tagged(seat.error(), intent.reference)));
  (*seat)->venue.look(
      {.order = intent.order,
       .reference = intent.reference,
       .order_id = intent.progress.order_id,
       .since = intent.created,
       .now = desk->ports.clock.wall_now()},
      on_strand(desk, [desk, owner = Owner{intent.order.venue, ids_of(intent)},
                       done = std::move(done)](Result<order::VenueOrder> seen) mutable {
        if (!seen) {
          return done(std::unexpected(
              tagged(seen.error(), owner.ids.external_reference, owner.ids.request_id)));
        }
        const order::VenueOrder order = *seen;
        record_life(desk, order, owner,
                    [seen = std::move(seen), done = std::move(done)](const Result<bool>&) mutable {
                      done(std::move(seen));  // the next look records what this one could not
                    });
      }));
}

void poll_statuses(const DeskPtr& desk, Done<std::size_t> done) {
  std::make_shared<Round>(desk, std::move(done))->next_venue();
}

}  // namespace pawl::desk
