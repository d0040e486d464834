// OrderOffice: an order desk with all it stands on: database, paces, HTTP client, venues.
//
//   auto office = PAWL_TRY(OrderOffice::open(settings, {.clock = clock, .entropy = entropy, …}));
//   office->desk().place({.order = order}, done);
//   office->close();
//
// Why:      the binary and the library trade in the same way.
// Contract: open() makes the database where it is missing (`made_database` says so). One that
//           cannot be opened (another process has locked it, say) is tried again after 1 s, 2 s and
//           4 s, as all that is asked of it later is. The paces
//           stand in a file beside it, PATH-pace: they survive a kill and no power cut, which loses
//           less than a second of pace.
// End:      close() begins nothing more, waits until what is on the wire is recorded, and ends the
//           timers; the destructor does, where nobody did.
// Errors:   invalid: a setting makes no sense. unavailable: a file cannot be used.
// Threads:  any; close() once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "core/limit/rate.h"
#include "core/order/placement.h"
#include "core/order/quota.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "port/entropy.h"
#include "port/event_sink.h"
#include "port/intent_store.h"
#include "port/venue.h"
#include "runtime/order_desk.h"
#include "venue/okx/okx_venue.h"
#include "venue/saxo/saxo_venue.h"

namespace pawl {

struct OrderOfficeSettings {
  std::string database = "data/orders.db";
  order::FrequencyLimit limit = {};
  order::Settings placement = {};
  limit::Rate rate = {1, Duration::seconds(1)};
  std::int64_t burst = 0;
  bool adaptive = true;
  std::optional<saxo::SaxoOptions> saxo = {};  // without a token_file: one beside the database
  std::optional<okx::OkxOptions> okx = {};
  Secret<std::string> saxo_proxy = {};  // as CurlHttpClientOptions has it
  Secret<std::string> okx_proxy = {};
  bool with_channel = false;  // hear of orders from venues that tell
};

// Where the tokens of Saxo are kept, for all who use that database.
std::string token_file_of(const OrderOfficeSettings& settings);

class OrderOffice {
 public:
  struct Parts {
    Clock& clock;
    Entropy& entropy;
    EventSink* audit = nullptr;
    desk::Tell note = {};
    SessionPacer::Tell pace_note = {};
    std::function<void(const std::string& venue, const std::string& text)> venue_note = {};
    // Why the database is wanted: what `note` is told when it cannot be opened.
    desk::StoreFailed::What wants = desk::StoreFailed::What::read;
    std::function<void(Duration)> wait = {};  // empty: sleeps
  };
  static Result<std::unique_ptr<OrderOffice>> open(OrderOfficeSettings settings,
                                                   const Parts& parts);
  ~OrderOffice();
  OrderOffice(const OrderOffice&) = delete;
  OrderOffice& operator=(const OrderOffice&) = delete;

  OrderDesk& desk();
  IntentStore& store();
  const std::vector<Venue*>& venues() const;
  bool made_database() const;
  void close();

 private:
  struct Rooms;
  explicit OrderOffice(std::unique_ptr<Rooms> rooms);

  std::unique_ptr<Rooms> rooms_;
};

}  // namespace pawl
