#include "pawl/idempotency.h"

#include <algorithm>
#include <utility>

#include "assembly/record_stores.h"
#include "base/assert.h"
#include "base/bounds.h"
#include "base/json.h"
#include "base/store_setting.h"
#include "core/idempotency/key.h"
#include "library/idempotency_state.h"
#include "port/answer_of.h"

namespace pawl {
namespace {

using idempotency::Status;

// Of record(), which completes at once: how long a crash in between keeps others waiting.
constexpr Duration record_lease = Duration::seconds(10);

KeyState state_of(Status status) {
  switch (status) {
    case Status::in_flight:
      return KeyState::in_flight;
    case Status::done:
      return KeyState::done;
    case Status::failed:
      return KeyState::failed;
    case Status::unknown:
      return KeyState::unknown;
  }
  __builtin_unreachable();
}

KeptKey kept_of(RecordKey key, idempotency::Record record) {
  return {.tenant_id = std::move(key.scope),
          .key = std::move(key.key),
          .state = state_of(record.status),
          .result = std::move(record.response.body),
          .too_large = record.response.tombstone,
          .replays = record.replays,
          .created_at = record.created_at,
          .expires_at = record.expires_at};
}

RecordKey key_of(std::string_view tenant_id, std::string_view key) {
  return {.scope = std::string(tenant_id), .key = std::string(key)};
}

}  // namespace

std::string_view to_string(KeyState state) {
  switch (state) {
    case KeyState::in_flight:
      return "in_flight";
    case KeyState::done:
      return "done";
    case KeyState::failed:
      return "failed";
    case KeyState::unknown:
      return "unknown";
  }
  __builtin_unreachable();
}

Result<std::string> compute_idempotency_key(std::string_view operation, std::string_view tenant_id,
                                            std::string_view correlation_id,
                                            std::string_view params) noexcept {
  json::Value parsed = PAWL_TRY(json::parse(params));
  return idempotency::compute_key({.operation = operation,
                                   .tenant_id = tenant_id,
                                   .correlation_id = correlation_id,
                                   .params = std::move(parsed)});
}

Idempotency::Idempotency(std::unique_ptr<State> state) : state_(std::move(state)) {}
Idempotency::Idempotency(Idempotency&& other) noexcept = default;
Idempotency& Idempotency::operator=(Idempotency&& other) noexcept = default;
Idempotency::~Idempotency() = default;

Result<Idempotency> Idempotency::make(const IdempotencyOptions& options, Clock* clock) noexcept {
  auto state = std::make_unique<State>(clock);
  state->ttl = options.ttl;
  const StoreSetting setting = PAWL_TRY(parse_store(options.store));
  state->records = PAWL_TRY(open_records(setting, options.durability, state->clock));
  return Idempotency(std::move(state));
}

Result<std::optional<KeptKey>> Idempotency::check(std::string_view tenant_id,
                                                  std::string_view key) noexcept {
  RecordKey wanted = key_of(tenant_id, key);
  auto found = answer_of<idempotency::Record>(
      [&](auto done) { state_->records->get(wanted, std::move(done)); });
  if (found) return kept_of(std::move(wanted), *std::move(found));
  if (found.error().code == Code::not_found) return std::nullopt;
  return std::unexpected(std::move(found).error());
}

Result<void> Idempotency::record(std::string_view tenant_id, std::string_view key,
                                 std::string result) noexcept {
  const RecordKey wanted = key_of(tenant_id, key);
  const idempotency::Begin ask{.lease = record_lease, .ttl = state_->ttl};
  const auto begun = PAWL_TRY(answer_of<idempotency::Begun>(
      [&](auto done) { state_->records->begin(wanted, ask, std::move(done)); }));
  if (begun.verdict != idempotency::Begun::Verdict::started) {
    return failure(Code::refused, "the key is " + std::string(to_string(begun.record.status)) +
                                      ": what is kept of it stays as it is");
  }
  return answer_of<void>([&](auto done) {
    state_->records->complete(
        wanted, begun.record.fence,
        {.status = Status::done, .response = {.body = std::move(result)}, .ttl = state_->ttl},
        std::move(done));
  });
}

Result<void> Idempotency::settle(std::string_view tenant_id, std::string_view key, Outcome outcome,
                                 std::string result) noexcept {
  if (outcome == Outcome::unknown) {
    return failure(Code::usage, "to settle a key is to say whether it was applied");
  }
  return answer_of<void>([&](auto done) {
    state_->records->settle(key_of(tenant_id, key),
                            {.status = outcome == Outcome::applied ? Status::done : Status::failed,
                             .response = {.body = std::move(result)},
                             .ttl = state_->ttl},
                            std::move(done));
  });
}

Result<void> Idempotency::clear(std::string_view tenant_id, std::string_view key) noexcept {
  return answer_of<void>(
      [&](auto done) { state_->records->clear(key_of(tenant_id, key), false, std::move(done)); });
}

Result<std::vector<KeptKey>> Idempotency::list(std::string_view tenant_id,
                                               std::size_t limit) noexcept {
  auto found = PAWL_TRY(answer_of<std::vector<KeptRecord>>([&](auto done) {
    state_->records->list({.scope = std::string(tenant_id), .limit = limit}, std::move(done));
  }));
  std::vector<KeptKey> kept;
  kept.reserve(found.size());
  for (KeptRecord& each : found) {
    kept.push_back(kept_of(std::move(each.key), std::move(each.record)));
  }
  return kept;
}

}  // namespace pawl
