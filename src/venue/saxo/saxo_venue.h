// SaxoVenue: Venue on Saxo's OpenAPI.
//
//   auto venue =
//       PAWL_TRY(SaxoVenue::open({.base_url = …, .account_key = …}, {http, clock, timers}));
//
// Contract: Venue. One order a call, each with ManualOrder and ExternalReference; x-request-id is
//           that of the ask. Within an attempt only a 401 leads to a second send, with the same ids
//           and a renewed token: together they take at most two timeouts and a renewal.
//           There is no reduce-only flag: whoever says so is taken at his word, and counted.
//           A change is sent as the whole order: what it leaves as it is, is read by prepare(), so
//           that the change itself leaves when it is its turn; where that cannot be seen nothing is
//           sent. Stop prices are not shown: a change must say them.
//           A cancel that is refused because the order is over counts as accepted; order activities
//           say so, not the code of the error.
// Parts:    saxo_wire.h and saxo_answer.h say what the bytes mean, saxo_reading.h what the rows do:
//           pure. saxo_token.h keeps the session's token, saxo_caller.h sends, saxo_reader.h reads.
// Threads:  any. `done` may be called before the call returns. Http client, clock and timers
//           outlive it; calls under way end after it is gone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/secret.h"
#include "pawl/clock.h"
#include "port/http_client.h"
#include "port/timers.h"
#include "port/venue.h"
#include "venue/saxo/saxo_reader.h"

namespace pawl::saxo {

struct SaxoOptions {
  std::string name = "saxo";
  std::string session = {};    // empty: made of name, app and client, so that a login has one pace
  std::string base_url = {};   // https://gateway.saxobank.com/sim/openapi/
  std::string token_url = {};  // https://sim.logonvalidation.net/token
  Secret<std::string> access_token = {};
  Secret<std::string> refresh_token = {};
  std::string app_key = {};
  Secret<std::string> app_secret = {};
  std::string client_key = {};
  std::string account_key = {};
  std::string token_file = {};  // where renewed tokens are kept
  bool manual_order = false;
};

class SaxoVenue final : public Venue {
 public:
  struct Ports {
    HttpClient& http;
    Clock& clock;
    Timers& timers;
    std::function<void(const std::string&)> note = {};  // for the log
  };

  // invalid: a setting is missing, or the token file cannot be used.
  static Result<std::unique_ptr<SaxoVenue>> open(SaxoOptions options, Ports ports);

  const VenueTraits& traits() const override { return traits_; }
  Result<void> check(const order::Order& order, const std::string& reference) const override;
  bool enforces_reduce_only(const order::Order&) const override { return false; }
  void ready(Leaving what, Done<Result<void>> done) override;
  void place(std::vector<PlaceAsk> asks, Done<std::vector<order::Answer>> done) override;
  void precheck(PlaceAsk ask, Done<Result<Precheck>> done) override;
  void prepare(ChangeAsk ask, Done<Prepared> done) override;
  void modify(ChangeAsk ask, Done<order::Answer> done) override;
  void cancel(ChangeAsk ask, Done<order::Answer> done) override;
  void read(ReadAsk ask, Done<order::Reading> done) override;
  void look(ReadAsk ask, Done<Result<order::VenueOrder>> done) override;
  // All in one page: what became of an order may stand a page away from its placement.
  void history(Instant from, Instant to, std::string page, Done<Result<HistoryPage>> done) override;
  void probe(Done<Result<std::string>> done) override;
  void watch(std::function<void(order::VenueOrder)>) override {}
  void on_heard(HeardAnswer heard) override;

 private:
  SaxoVenue(VenueTraits traits, Account account, ReaderPorts ports)
      : traits_(std::move(traits)), account_(std::move(account)), ports_(std::move(ports)) {}

  const VenueTraits traits_;
  const Account account_;
  const ReaderPorts ports_;
};

}  // namespace pawl::saxo
