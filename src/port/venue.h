// Venue: the other side of an order. One object is one session (an account and its credentials).
//
// Contract: `done` is called exactly once, on any thread, and must not keep it. What was asked
//           leaves at most once: no redirect, no retry, no second send, whatever came back. A call
//           that a gate turned away (401, 50102) ends as that; the token or the clock offset is
//           renewed by ready(), before the next attempt takes its turn under an id of its own. Only
//           what reads, and has no turn, may be sent again in here.
//           Nothing in here decides: pace, retries and verdicts are runtime/order_desk.h's
//           and core/order's.
// Secrets:  never in an Answer, a Reading or an Error.
// Threads:  any.
// Held by:  venue/saxo, venue/okx; tests have fakes. docs/adding-a-venue.md shows a third one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/correlation.h"
#include "core/limit/pushback.h"
#include "core/order/answer.h"
#include "core/order/order.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct VenueTraits {
  std::string name = {};
  std::string session = {};        // whose pace it is; a name, never a token
  bool has_reduce_only = false;    // a flag of the venue's own, that it enforces
  bool paces_prechecks = false;    // a precheck takes its turn, as what it checks does
  Duration duplicate_window = {};  // what the settle time must be longer than
  std::size_t batch_max = 1;       // orders in one placement call
  Duration history_kept = {};      // how far back a backfill can reach
};

// What is about to leave.
enum class Leaving : std::uint8_t { order, change };

struct PlaceAsk {
  order::Order order = {};
  std::string reference = {};
  std::string request_id = {};
  Duration timeout = {};
};
// All that is known of an intent when it is looked for.
struct ReadAsk {
  order::Order order = {};
  std::string reference = {};
  std::string order_id = {};  // when one was given
  Instant since = {};         // nothing of it left before that
  Instant now = {};
};
struct OrderChange {
  std::optional<Decimal> size = {};
  std::optional<Decimal> price = {};
  std::optional<Decimal> stop_price = {};
};
// The order with the change made.
inline order::Order changed(order::Order order, const OrderChange& change) {
  if (change.size) order.size = *change.size;
  if (change.price) order.price = change.price;
  if (change.stop_price) order.stop_price = change.stop_price;
  return order;
}
struct ChangeAsk {
  order::Order order = {};  // as it was placed; as it is now once prepare() has seen to it
  std::string reference = {};
  std::string order_id = {};
  std::string request_id = {};
  Duration timeout = {};
  OrderChange change = {};  // of modify
  bool prepared = false;    // by prepare()
};
struct Precheck {
  bool ok = false;
  std::string code = {};
  std::string message = {};
  std::vector<std::pair<std::string, std::string>> details = {};  // costs, margin: name and text
};
struct HistoryPage {
  std::vector<order::VenueOrder> orders = {};  // some may have been on a page before
  std::string next = {};                       // of the next page; empty: that was the last
  std::string note = {};                       // what the venue no longer keeps; for people, once
  // How far it is: a venue may have several lists, each from its newest order back.
  std::size_t lists_done = 1;
  std::size_t lists = 1;
};
// Hears every answer to a paced call: the pacer's (SessionPacer::heard). `ids` are those of what is
// answered; of a batch all of them, with commas.
using HeardAnswer =
    std::function<void(int status, std::vector<limit::Field> fields, const Correlation& ids)>;

class Venue {
 public:
  template <class T>
  using Done = std::move_only_function<void(T)>;

  virtual ~Venue() = default;
  virtual const VenueTraits& traits() const = 0;
  // What this venue does not take (a type, a missing asset type, too long a reference …).
  virtual Result<void> check(const order::Order& order, const std::string& reference) const = 0;
  // What the venue calls an order of this reference: its history shows it under that name.
  virtual std::string name_of(const std::string& reference) const { return reference; }
  // Whether the venue itself will hold it to reducing: a flag that it enforces for this instrument
  // and mode. False with reduce_only set: the caller's word alone.
  virtual bool enforces_reduce_only(const order::Order& order) const = 0;

  // Learns what a call needs first: a token, the venue's time, the account's mode. So a call leaves
  // when it is its turn, and enforces_reduce_only() knows (of an order). What was not learnt, the
  // call tells. An error: nothing can leave before a person did something, and no turn is taken.
  virtual void ready(Leaving, Done<Result<void>> done) { done({}); }

  // One to traits().batch_max, one wire call; answers in the same order.
  virtual void place(std::vector<PlaceAsk> asks, Done<std::vector<order::Answer>> done) = 0;
  virtual void precheck(PlaceAsk ask, Done<Result<Precheck>> done) = 0;
  // Before a modification takes its turn: reads what the venue must be told besides the change. An
  // Answer: nothing is to be sent, and why. modify() takes what this gave.
  using Prepared = std::expected<ChangeAsk, order::Answer>;
  virtual void prepare(ChangeAsk ask, Done<Prepared> done) {
    ask.prepared = true;
    done(std::move(ask));
  }
  virtual void modify(ChangeAsk ask, Done<order::Answer> done) = 0;
  // accepted: it is canceled or was over already.
  virtual void cancel(ChangeAsk ask, Done<order::Answer> done) = 0;
  virtual void read(ReadAsk ask, Done<order::Reading> done) = 0;
  // The order as it is now, for status updates. not_found: it is no longer shown.
  virtual void look(ReadAsk ask, Done<Result<order::VenueOrder>> done) = 0;
  // All orders placed in [from, to), oldest or newest first, by pages; `page` is empty at first.
  virtual void history(Instant from, Instant to, std::string page,
                       Done<Result<HistoryPage>> done) = 0;
  // That credentials and host work; for doctor. What it says is for people.
  virtual void probe(Done<Result<std::string>> done) = 0;

  // Status updates that the venue tells by itself; a venue without a channel never calls.
  virtual void watch(std::function<void(order::VenueOrder)> told) = 0;
  virtual void on_heard(HeardAnswer heard) = 0;
};

}  // namespace pawl
