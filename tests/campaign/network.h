// Network: what lies between a process and an emulated exchange, by virtual time.
//
// Contract: a call that has left arrives, or is lost; its answer comes back, late, cut or not at
//           all. A process that dies takes back nothing that has left. The way there always takes
//           the same time, so that what leaves a second apart arrives a second apart. Renewals of
//           tokens do not get lost: with their answer goes the session, and a person must log in.
// Threads:  one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "emulator/core/exchange.h"
#include "emulator/core/rush.h"
#include "port/http_client.h"
#include "tests/campaign/agenda.h"

namespace pawl::campaign {

class Network {
 public:
  Network(Agenda& agenda, Dice& dice, emulator::Exchange& exchange)
      : agenda_(agenda), dice_(dice), exchange_(exchange) {}

  void send(HttpRequest request, const std::shared_ptr<const bool>& alive, HttpClient::Done done);
  // From now on nothing gets lost.
  void calm_down() { calm_ = true; }
  // Told after every call that may have changed an order.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
  // When they arrived: placements that the exchange accepted, as it tells, and all calls that
  // change something, once for each order of a batch.
  const emulator::Rush& accepted() const { return accepted_; }
  const emulator::Rush& written() const { return written_; }
  // Calls that change something, with an x-request-id that had arrived before.
  std::size_t repeated_ids() const { return repeated_ids_; }
  std::uint64_t calls() const { return last_call_; }
  std::uint64_t renewals() const { return renewals_; }  // of tokens

 private:
  struct Flight;
  using FlightPtr = std::shared_ptr<Flight>;

  void arrive(const FlightPtr& flight);
  void note_writing(const FlightPtr& flight);
  void note(const FlightPtr& flight, const emulator::Reply& reply);
  void bring_back(const FlightPtr& flight, emulator::Reply reply);
  static void end(const FlightPtr& flight, Result<HttpAnswer> answer);
  bool happens(std::uint64_t percent) { return !calm_ && dice_.chance(percent); }

  Agenda& agenda_;
  Dice& dice_;
  emulator::Exchange& exchange_;
  bool calm_ = false;
  std::uint64_t last_call_ = 0;
  std::uint64_t renewals_ = 0;
  std::function<void()> changed_;
  emulator::Rush accepted_;
  emulator::Rush written_;
  std::set<std::string> request_ids_;  // that have arrived
  std::size_t repeated_ids_ = 0;
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
