// Network: what lies between a process and an emulated exchange, by virtual time.
//
// Contract: a call that has left arrives, or is lost; its answer comes back, late, cut or not at
//           all. A process that dies takes back nothing that has left. The way there always takes
//           the same time, so that what leaves a second apart arrives a second apart.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/core/exchange.h"
#include "port/http_client.h"
#include "tests/campaign/agenda.h"

namespace pawl::campaign {

class Network {
 public:
  // Placements that the exchange accepted, as it tells.
  struct Accepted {
    Instant arrived = {};  // the first copy of the attempt
    std::string reference = {};
    std::string order_id = {};
  };

  Network(Agenda& agenda, Dice& dice, emulator::Exchange& exchange)
      : agenda_(agenda), dice_(dice), exchange_(exchange) {}

  void send(HttpRequest request, const std::shared_ptr<const bool>& alive, HttpClient::Done done);
  // From now on nothing gets lost.
  void calm_down() { calm_ = true; }
  const std::vector<Accepted>& accepted() const { return accepted_; }
  std::uint64_t calls() const { return last_call_; }

 private:
  struct Flight;
  using FlightPtr = std::shared_ptr<Flight>;

  void arrive(const FlightPtr& flight);
  void note(const FlightPtr& flight, const emulator::Reply& reply);
  void bring_back(const FlightPtr& flight, emulator::Reply reply);
  static void end(const FlightPtr& flight, Result<HttpAnswer> answer);
  bool happens(std::uint64_t percent) { return !calm_ && dice_.chance(percent); }

  Agenda& agenda_;
  Dice& dice_;
  emulator::Exchange& exchange_;
  bool calm_ = false;
  std::uint64_t last_call_ = 0;
  std::vector<Accepted> accepted_;
  std::map<std::string, Instant> turned_away_;  // by reference: when a copy met a closed gate
};

class NetworkClient final : public HttpClient {
 public:
  NetworkClient(Network& network, std::shared_ptr<const bool> alive)
      : network_(network), alive_(std::move(alive)) {}
  void send(HttpRequest request, Done done) override {
    network_.send(std::move(request), alive_, std::move(done));
  }

 private:
  Network& network_;
  const std::shared_ptr<const bool> alive_;
};

}  // namespace pawl::campaign
