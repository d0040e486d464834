// What a run of a campaign leaves behind, and what must hold of it.
//
// Contract: pure. judge() says what did not hold, for people:
//   orders   at most one that lives for an intent, no second with more than the pace allows, never
//            more than the weekly limit; none that pawl does not know or calls rejected, and none
//            that is missing though pawl calls it confirmed. Every caller hears an outcome, and
//            nothing arrives of what its last caller heard was not sent.
//   changes  none is made once more after another, none is made that its caller heard was not, and
//            none is missing that its caller heard was; the last word is the last one's. Whoever
//            heard that an order is canceled is right.
//   calls    those that change something keep the pace too, all of them together, by when they
//            arrived; no two come with one x-request-id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/order/intent.h"
#include "emulator/core/exchange.h"
#include "emulator/core/rush.h"
#include "runtime/order_desk.h"
#include "tests/campaign/campaign.h"

namespace pawl::campaign {

// What somebody wants placed.
struct Wish {
  std::string reference = {};
  order::Order order = {};
  std::vector<PlacedAs> heard = {};
  std::size_t failed = 0;   // errors: nothing was sent
  std::size_t waiting = 0;  // calls of living processes that are not answered
  bool changes = false;     // its changes are planned
  // Nobody waits for it, the last who did heard that nothing was sent, and nobody heard that its
  // outcome is not known.
  bool called_off = false;
  bool came_late = false;  // an order of it arrived while it was so
};

// What somebody wants of an order that was placed, in the order of the calls. Each has a value of
// its own, so that what was made of the order tells whose doing it is.
struct Change {
  enum class Kind : std::uint8_t { price, size, cancel };
  enum class Heard : std::uint8_t { nothing, done, not_done, unknown };
  std::size_t wish = 0;
  Kind kind = Kind::price;
  std::string value = {};
  Heard heard = Heard::nothing;
  order::Life life = order::Life::unknown;  // of a cancel that was done
};

// A row of the exchange's book.
struct Row {
  std::string order_id = {};
  std::string reference = {};
  std::string state = {};
  std::string price = {};
  std::string size = {};
  bool open = false;
};
// As the exchange calls it.
std::string shown(Against against, const std::string& reference);
std::vector<Row> book_of(const emulator::Exchange& exchange, Against against);

// What an order has been, by its id: prices and sizes, each as often as it was changed to.
class Terms {
 public:
  void see(const std::vector<Row>& rows);
  std::vector<std::string> of(const std::string& order_id, Change::Kind kind) const;

 private:
  struct Of {
    std::vector<std::string> prices = {};
    std::vector<std::string> sizes = {};
  };
  std::map<std::string, Of> orders_;
};

struct Facts {
  Against against = Against::saxo;
  std::int64_t weekly_max = 0;
  std::int64_t at_once = 1;  // calls that the pace lets out together
  std::vector<Row> book = {};
  Terms terms = {};
  std::vector<order::Intent> intents = {};
  std::vector<Wish> wishes = {};
  std::vector<Change> changes = {};
  emulator::Rush accepted = {};  // placements
  emulator::Rush written = {};   // all that changes something
  std::size_t repeated_ids = 0;  // of such calls

  std::string shown(const std::string& reference) const {
    return campaign::shown(against, reference);
  }
};

std::vector<std::string> judge(Facts& facts);

}  // namespace pawl::campaign
