// OkxVenue: Venue on OKX v5.
//
//   auto venue = PAWL_TRY(OkxVenue::open({.base_url = …, .credentials = …, .simulated = true},
//                                        {http, clock, timers, entropy}));
//   venue->ready(…);
//
// Contract: Venue. One order or up to 20 a call, each with a clOrdId made of its reference
//           (okx_client_id.h) and an expTime, after which OKX takes no copy any more.
//           A cancel of an order that is over counts as accepted; the order itself says so, not the
//           code of the error.
// Reducing: whether OKX enforces reduce-only depends on the account's position mode, which
//           ready(), precheck() and probe() ask for. Until one of them has, it does not.
// Precheck: OKX has no dry run of an order. It is our own checks, the account's mode and the
//           position that a reduce-only order would reduce.
// Parts:    okx_order.h, okx_answer.h, okx_codes.h, okx_reading.h and okx_history.h say what the
//           bytes mean: pure. okx_caller.h signs, paces and sends; okx_channel.h hears of orders.
// Threads:  any; the order channel has one of its own, on which `told` is called. `done` may be
//           called before the call returns. The ports outlive it; calls under way end after it is
//           gone.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/http_client.h"
#include "port/timers.h"
#include "port/venue.h"
#include "venue/okx/okx_caller.h"
#include "venue/okx/okx_learning.h"
#include "venue/okx/okx_order.h"
#include "venue/okx/okx_sign.h"

namespace pawl::okx {

struct OkxOptions {
  std::string name = "okx";
  std::string session = {};   // empty: made of name and key, so that an account has one pace
  std::string base_url = {};  // https://www.okx.com
  std::string ws_url = {};    // wss://ws.okx.com:8443/ws/v5/private; empty: no order channel
  std::string ca_file = {};   // for the channel; empty: the system's authorities
  Credentials credentials = {};
  bool simulated = true;
};

class OkxVenue final : public Venue {
 public:
  struct Ports {
    HttpClient& http;
    Clock& clock;
    Timers& timers;
    Entropy& entropy;
    std::function<void(const std::string&)> note = {};  // of the channel, for the log; any thread
  };

  // invalid: a setting is missing, or is none.
  static Result<std::unique_ptr<OkxVenue>> open(OkxOptions options, Ports ports);
  ~OkxVenue() override;

  // A change needs OKX's time alone, and waits for nothing else.
  void ready(Leaving what, Done<Result<void>> done) override;

  const VenueTraits& traits() const override { return traits_; }
  Result<void> check(const order::Order& order, const std::string& reference) const override;
  std::string name_of(const std::string& reference) const override;
  bool enforces_reduce_only(const order::Order& order) const override;
  void place(std::vector<PlaceAsk> asks, Done<std::vector<order::Answer>> done) override;
  void precheck(PlaceAsk ask, Done<Result<Precheck>> done) override;
  void modify(ChangeAsk ask, Done<order::Answer> done) override;
  void cancel(ChangeAsk ask, Done<order::Answer> done) override;
  void read(ReadAsk ask, Done<order::Reading> done) override;
  void look(ReadAsk ask, Done<Result<order::VenueOrder>> done) override;
  void history(Instant from, Instant to, std::string page, Done<Result<HistoryPage>> done) override;
  void probe(Done<Result<std::string>> done) override;
  // Once; later calls are passed over.
  void watch(std::function<void(order::VenueOrder)> told) override;
  void on_heard(HeardAnswer heard) override;

 private:
  class ChannelThread;
  // Outlives the venue with what is under way.
  struct Account {
    std::atomic<PositionMode> mode = PositionMode::unknown;
    Learning learning{Duration::seconds(5)};  // orders leave without it
  };

  OkxVenue(OkxOptions options, Ports ports);
  // Gives the account's mode, and keeps it.
  void read_mode(Done<Result<PositionMode>> done);

  const OkxOptions options_;
  const Ports ports_;
  const VenueTraits traits_;
  const std::shared_ptr<Caller> caller_;
  const std::shared_ptr<Account> account_ = std::make_shared<Account>();
  std::unique_ptr<ChannelThread> channel_;
};

}  // namespace pawl::okx
