// OkxExchange: the emulated OKX. See docs/emulators.md for what it serves.
//
// Contract: as emulator/core/exchange.h. A call passes, in this order: its key and signature (401),
//           limits (429 with 50011, or 50061), expTime, its own checks, and then it is done. What
//           becomes of an order is pushed: a Push of the channel "orders" has the order as its
//           text; one of the channel "close" tells to close every channel's connection.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/faults.h"
#include "emulator/core/okx_book.h"
#include "emulator/core/okx_desk.h"
#include "emulator/core/okx_limits.h"
#include "emulator/core/okx_settings.h"

namespace pawl::emulator {

inline constexpr std::string_view okx_orders_push = "orders";
inline constexpr std::string_view okx_close_push = "close";

class OkxExchange final : public Exchange {
 public:
  OkxExchange();
  OkxExchange(const OkxExchange&) = delete;  // the desk looks at what stands beside it
  OkxExchange& operator=(const OkxExchange&) = delete;

  Reply answer(const Call& call, Instant now) override;
  std::vector<Push> take_pushes() override { return std::exchange(pushes_, {}); }
  Result<void> play(const Script& script) override;
  void forget() override { limits_.forget(); }
  void reset() override;
  std::vector<std::string> take_changes() override;
  Result<void> restore(std::string_view line) override;
  json::Value orders() const override;
  json::Value stats() const override;
  // Besides fill, cancel, expire and reject: fill_half.
  Result<void> act(std::string_view order_id, std::string_view verb, Instant now) override;

  const OkxSettings& settings() const { return settings_; }

 private:
  struct Visit {
    const Call& call;
    std::string_view operation;
    const std::vector<json::Value>& items;  // orders that a call that changes some names
    const Fault* fault;
    Instant now;
  };

  Reply serve(const Visit& visit);
  Reply refuse(const Visit& visit, const OkxRefusal& refusal) const;
  OkxRefusal admit(const Visit& visit);
  Reply read(const Visit& visit) const;
  std::vector<OkxItem> work(const Visit& visit);
  OkxItem work_on(const Visit& visit, const json::Value& item);
  Reply tell(const Visit& visit, const std::vector<OkxItem>& items);
  void push(const Fault* fault);

  OkxSettings settings_;
  Faults faults_;
  OkxBook book_;
  OkxDesk desk_;
  OkxLimits limits_;
  std::vector<Push> pushes_;
  std::vector<std::string> changes_;
  std::map<std::string, std::int64_t> calls_;  // of an operation
  std::int64_t repeats_refused_ = 0;
};

}  // namespace pawl::emulator
