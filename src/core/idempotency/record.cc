#include "core/idempotency/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"

namespace pawl::idempotency {
namespace {

constexpr std::array<std::string_view, 4> status_names = {"in_flight", "done", "failed", "unknown"};

std::unexpected<Error> out_of_range(std::string_view what, Duration least, Duration most) {
  return failure(Code::invalid, "the " + std::string(what) + " of a record must be from " +
                                    to_string(least) + " to " + to_string(most));
}

std::optional<Status> status_at(const std::optional<Record>& kept, Instant now) {
  return kept ? status_at(*kept, now) : std::nullopt;
}

Record begun(const Begin& ask, std::uint64_t fence, Instant now) {
  const Instant lease_until = now + ask.lease;
  return {.status = Status::in_flight,
          .fence = fence,
          .fingerprint = ask.fingerprint,
          .created_at = now,
          .lease_until = lease_until,
          .expires_at = lease_until + ask.ttl};
}

void end(Record& record, Completion how, Instant now) {
  record.status = how.status;
  record.response = std::move(how.response);
  record.lease_until = {};
  record.expires_at = now + how.ttl;
}

// Of a tombstone nobody can tell what it was; its owner says it again.
bool is_said(const Record& record, const Completion& how) {
  return record.status == how.status &&
         (record.response.tombstone || record.response == how.response);
}

std::unexpected<Error> stale(const Record& record, std::uint64_t fence) {
  std::string message = "stale: ";
  if (record.fence != fence) {
    message += "fence " + std::to_string(fence) + " is not that of the owner, fence " +
               std::to_string(record.fence);
  } else {
    message += "it has ended as " + std::string(to_string(record.status));
  }
  return failure(Code::refused, message + "; what this caller did may have been done again");
}

}  // namespace

std::unexpected<Error> record_not_found() {
  return failure(Code::not_found,
                 "no record of this key: it was never begun, has expired or was cleared");
}

std::string_view to_string(Status status) {
  return status_names[static_cast<std::size_t>(status)];
}

std::optional<Status> status_of(std::string_view name) {
  const auto found = std::ranges::find(status_names, name);
  if (found == status_names.end()) return std::nullopt;
  return static_cast<Status>(found - status_names.begin());
}

std::string_view to_string(Begun::Verdict verdict) {
  static constexpr std::array<std::string_view, 6> names = {"started",   "took_over", "replay",
                                                            "in_flight", "mismatch",  "unknown"};
  return names[static_cast<std::size_t>(verdict)];
}

Response kept_of(Response response, std::size_t bytes_max) {
  const bool metadata_fit = response.metadata.size() <= bounds::record_metadata_bytes_max;
  if (!response.tombstone && metadata_fit && response.body.size() <= bytes_max) return response;
  return {.body = {},
          .metadata = metadata_fit ? std::move(response.metadata) : std::string(),
          .tombstone = true};
}

Result<void> check(const Begin& ask) {
  if (ask.lease < bounds::record_lease_min || ask.lease > bounds::record_lease_max) {
    return out_of_range("lease", bounds::record_lease_min, bounds::record_lease_max);
  }
  if (ask.ttl < bounds::record_ttl_min || ask.ttl > bounds::record_ttl_max) {
    return out_of_range("ttl", bounds::record_ttl_min, bounds::record_ttl_max);
  }
  if (ask.fingerprint.size() > bounds::record_fingerprint_bytes_max) {
    return failure(Code::invalid, "the fingerprint of a record has at most " +
                                      std::to_string(bounds::record_fingerprint_bytes_max) +
                                      " bytes: give a hash of what you fingerprint");
  }
  return {};
}

std::optional<Status> status_at(const Record& kept, Instant now) {
  if (kept.status == Status::in_flight && now < kept.lease_until) return Status::in_flight;
  if (kept.expires_at <= now) return std::nullopt;
  return kept.status == Status::in_flight ? Status::unknown : kept.status;
}

std::optional<Record> seen(const std::optional<Record>& kept, Instant now) {
  const std::optional<Status> status = status_at(kept, now);
  if (!status) return std::nullopt;
  std::optional<Record> record = kept;
  record->status = *status;
  return record;
}

std::optional<Record> looked_up(std::optional<Record>& kept, std::string_view fingerprint,
                                Instant now) {
  if (status_at(kept, now) == Status::done && kept->fingerprint == fingerprint) ++kept->replays;
  return seen(kept, now);
}

Begun begin(std::optional<Record>& kept, const Begin& ask, std::uint64_t next_fence, Instant now) {
  using Verdict = Begun::Verdict;
  const auto start = [&](Verdict verdict) -> Begun {
    const std::uint64_t fence = kept ? std::max(next_fence, kept->fence + 1) : next_fence;
    kept = begun(ask, fence, now);
    return {.verdict = verdict, .retry_after = {}, .record = *kept};
  };
  const auto tell = [&](Verdict verdict) -> Begun {
    return {.verdict = verdict, .retry_after = {}, .record = *seen(kept, now)};
  };
  const std::optional<Status> status = status_at(kept, now);
  if (!status) return start(Verdict::started);
  if (kept->fingerprint != ask.fingerprint) return tell(Verdict::mismatch);
  if (status == Status::failed) return start(Verdict::started);
  if (status == Status::unknown)
    return ask.take_over ? start(Verdict::took_over) : tell(Verdict::unknown);
  if (status == Status::in_flight) {
    Begun wait = tell(Verdict::in_flight);
    wait.retry_after = kept->lease_until - now;
    return wait;
  }
  ++kept->replays;
  return tell(Verdict::replay);
}

Result<void> complete(std::optional<Record>& kept, std::uint64_t fence, Completion how,
                      Instant now) {
  PAWL_ASSERT(how.status != Status::in_flight);
  if (!status_at(kept, now)) return record_not_found();
  how.response = kept_of(std::move(how.response));
  if (kept->fence != fence) return stale(*kept, fence);
  if (is_said(*kept, how)) return {};
  if (kept->status != Status::in_flight) return stale(*kept, fence);
  end(*kept, std::move(how), now);
  return {};
}

Result<void> renew(std::optional<Record>& kept, std::uint64_t fence, Duration lease, Instant now) {
  if (!status_at(kept, now)) return record_not_found();
  if (kept->fence != fence || kept->status != Status::in_flight) return stale(*kept, fence);
  const Duration ttl = kept->expires_at - kept->lease_until;
  kept->lease_until = std::max(kept->lease_until, now + lease);
  kept->expires_at = kept->lease_until + ttl;
  return {};
}

Result<void> settle(std::optional<Record>& kept, Completion how, Instant now) {
  PAWL_ASSERT(how.status == Status::done || how.status == Status::failed);
  const std::optional<Status> status = status_at(kept, now);
  if (!status) return record_not_found();
  if (status != Status::unknown) {
    return failure(Code::refused, "the record is " + std::string(to_string(*status)) +
                                      ": only one whose outcome is unknown can be settled");
  }
  how.response = kept_of(std::move(how.response));
  end(*kept, std::move(how), now);
  return {};
}

Result<void> clear(std::optional<Record>& kept, bool force, Instant now) {
  const std::optional<Status> status = status_at(kept, now);
  if (!status) return record_not_found();
  if (status == Status::in_flight && !force) {
    return failure(Code::refused,
                   "the record is in flight until " + to_string(kept->lease_until) +
                       ": wait, or clear it by force when its owner is known to be dead");
  }
  kept.reset();
  return {};
}

}  // namespace pawl::idempotency
