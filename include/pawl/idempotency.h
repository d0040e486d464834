// Idempotency: what was done under a key, kept where it survives.
//
//   auto keys = pawl::Idempotency::make({.store = "sqlite:data/intents.db"});
//   if (!keys) return tell(keys.error().message);
//   const auto key = pawl::compute_idempotency_key("charge card", "acme", "order-17",
//                                                  R"({"amount":"9.99"})");
//   const auto before = keys->check("acme", *key);
//   if (before && *before && (*before)->state == pawl::KeyState::done) use((*before)->result);
//
// Why:      Executor claims, acts and records by itself. This is for who only looks, or has to set
//           right what became of a key.
// Contract: a key belongs to its tenant; "" is a tenant like another. A result that is empty is a
//           result. What record(), settle() and clear() have said is durable as the store is.
// Errors:   Code::refused: the state of the key does not allow it, and the message says which it
//           is. Code::not_found: nothing is kept. Code::unavailable: the store does not answer.
// Waiting:  for the store, on the calling thread.
// Threads:  any may call all of it. Moving and destroying are for one thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/clock.h"
#include "pawl/durability.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// 64 hexadecimal digits, the same on every machine: docs/formats.md has the form. `params` is JSON;
// members may stand in any order. The error says what of it is no JSON, or would be ambiguous.
Result<std::string> compute_idempotency_key(std::string_view operation, std::string_view tenant_id,
                                            std::string_view correlation_id,
                                            std::string_view params = "{}") noexcept;

struct IdempotencyOptions {
  // memory, sqlite:PATH, redis://HOST:PORT/0 (and its cluster and TLS forms) or
  // nats://HOST:PORT/BUCKET
  std::string store = "memory";
  Durability durability = Durability::none;  // make() fails when the store gives less
  Duration ttl = Duration::hours(24);        // of what record() and settle() keep
};

enum class KeyState : std::uint8_t {
  in_flight,  // somebody is at it
  done,       // with `result`
  failed,     // nothing was applied: it may be done again
  unknown,    // nobody knows whether it was applied
};
std::string_view to_string(KeyState state);

struct KeptKey {
  std::string tenant_id = {};
  std::string key = {};
  KeyState state = KeyState::in_flight;
  std::string result = {};  // of done; list() leaves it out
  bool too_large = false;   // done, and the result was too large to be kept
  std::uint64_t replays = 0;
  Instant created_at = {};
  Instant expires_at = {};
};

class Idempotency {
 public:
  // Without a clock it is the machine's own. A clock given must outlive this.
  static Result<Idempotency> make(const IdempotencyOptions& options = {},
                                  Clock* clock = nullptr) noexcept;

  Idempotency(Idempotency&& other) noexcept;
  Idempotency& operator=(Idempotency&& other) noexcept;
  ~Idempotency();

  // None: nothing is kept.
  Result<std::optional<KeptKey>> check(std::string_view tenant_id, std::string_view key) noexcept;
  // Of something that was done without Executor: refused when the key is in flight, done or
  // unknown.
  Result<void> record(std::string_view tenant_id, std::string_view key,
                      std::string result) noexcept;
  // What became of one that is unknown: applied, with its result, or not_applied.
  Result<void> settle(std::string_view tenant_id, std::string_view key, Outcome outcome,
                      std::string result = {}) noexcept;
  // As if the key had never been used; refused while somebody is at it.
  Result<void> clear(std::string_view tenant_id, std::string_view key) noexcept;
  // The newest first; of all tenants when `tenant_id` is empty. At most 1,000.
  Result<std::vector<KeptKey>> list(std::string_view tenant_id = {},
                                    std::size_t limit = 100) noexcept;

 private:
  friend class Executor;
  struct State;
  explicit Idempotency(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pawl
