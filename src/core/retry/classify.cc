#include "core/retry/classify.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace pawl::retry {
namespace {

constexpr std::array<std::string_view, 8> failure_names = {
    "none",         "transient_network", "rate_limited", "conflict", "trade_not_completed",
    "client_error", "server_error",      "unknown"};
constexpr std::array<std::string_view, 5> transport_names = {"answered", "not_sent", "broke_off",
                                                             "timed_out", "raised"};

constexpr Classification success = {Failure::none, Outcome::applied, false};
constexpr Classification not_sent = {Failure::transient_network, Outcome::not_applied, true};
constexpr Classification lost = {Failure::transient_network, Outcome::unknown, true};
constexpr Classification rate_limited = {Failure::rate_limited, Outcome::not_applied, true};
constexpr Classification conflict = {Failure::conflict, Outcome::unknown, false};
constexpr Classification not_completed = {Failure::trade_not_completed, Outcome::unknown, true};
constexpr Classification named_effect = {Failure::trade_not_completed, Outcome::unknown, false};
constexpr Classification client_error = {Failure::client_error, Outcome::not_applied, false};
constexpr Classification server_error = {Failure::server_error, Outcome::unknown, true};
constexpr Classification unmatched = {Failure::unknown, Outcome::unknown, true};

bool matches(const Row& row, const Observation& seen) {
  return row.transport == seen.transport && row.status_min <= seen.status &&
         seen.status <= row.status_max && (row.code.empty() || row.code == seen.code) &&
         (!row.names_effect || *row.names_effect == seen.names_effect);
}

Row statuses(int least, int most, Classification means) {
  return {.status_min = least, .status_max = most, .means = means};
}

Row without_answer(Transport transport, Classification means) {
  return {.transport = transport, .means = means};
}

}  // namespace

std::string_view to_string(Failure failure) {
  return failure_names[static_cast<std::size_t>(failure)];
}

std::optional<Failure> failure_of(std::string_view name) {
  const auto found = std::ranges::find(failure_names, name);
  if (found == failure_names.end()) return {};
  return static_cast<Failure>(found - failure_names.begin());
}

std::string_view to_string(Transport transport) {
  return transport_names[static_cast<std::size_t>(transport)];
}

std::optional<Transport> transport_of(std::string_view name) {
  const auto found = std::ranges::find(transport_names, name);
  if (found == transport_names.end()) return {};
  return static_cast<Transport>(found - transport_names.begin());
}

Result<void> check(const Row& row) {
  if (row.status_min < 0 || row.status_max > 999 || row.status_min > row.status_max) {
    return failure(Code::invalid, "the row is for statuses " + std::to_string(row.status_min) +
                                      " … " + std::to_string(row.status_max) +
                                      ": they must go up, from 0 to 999 at most");
  }
  if (row.transport != Transport::answered && row.status_min > 0) {
    return failure(Code::invalid, "the row is for " + std::string(to_string(row.transport)) +
                                      ", where there is no status: leave the statuses out");
  }
  const bool succeeded = row.means.failure == Failure::none;
  if (succeeded != (row.means.outcome == Outcome::applied)) {
    return failure(Code::invalid,
                   "the row means failure '" + std::string(to_string(row.means.failure)) +
                       "' and outcome '" + std::string(pawl::to_string(row.means.outcome)) +
                       "': what was applied has failure 'none', and only that");
  }
  if (succeeded && row.means.retryable) {
    return failure(Code::invalid, "the row means success: it cannot be retryable");
  }
  return {};
}

ClassificationTable& ClassificationTable::prepend(std::vector<Row> first) {
  first.insert(first.end(), std::make_move_iterator(rows_.begin()),
               std::make_move_iterator(rows_.end()));
  rows_ = std::move(first);
  return *this;
}

const Row* ClassificationTable::find(const Observation& seen) const {
  const auto found =
      std::ranges::find_if(rows_, [&](const Row& row) { return matches(row, seen); });
  return found == rows_.end() ? nullptr : &*found;
}

Classification ClassificationTable::classify(const Observation& seen) const {
  const Row* row = find(seen);
  return row == nullptr ? unmatched : row->means;
}

ClassificationTable http_table() {
  return ClassificationTable({
      statuses(409, 409, conflict),
      {.code = "TradeNotCompleted", .means = not_completed},
      statuses(200, 299, success),
      // It made something, though it says that it did not.
      {.status_min = 400, .status_max = 499, .names_effect = true, .means = named_effect},
      statuses(408, 408, not_sent),
      statuses(425, 425, not_sent),
      statuses(429, 429, rate_limited),
      statuses(400, 499, client_error),
      statuses(500, 599, server_error),
      without_answer(Transport::not_sent, not_sent),
      without_answer(Transport::broke_off, lost),
      without_answer(Transport::timed_out, lost),
  });
}

bool was_there(const Classification& seen) {
  switch (seen.failure) {
    case Failure::transient_network:
    case Failure::server_error:
    case Failure::unknown:
      return false;
    case Failure::none:
    case Failure::rate_limited:
    case Failure::conflict:
    case Failure::trade_not_completed:
    case Failure::client_error:
      return true;
  }
  __builtin_unreachable();
}

Classification classify(const Error& error) {
  if (error.retry_after > Duration()) return {Failure::rate_limited, error.outcome, true};
  switch (error.code) {
    case Code::unavailable:
      return {Failure::transient_network, error.outcome, true};
    case Code::internal:
      return {Failure::server_error, error.outcome, true};
    case Code::unresolved:
      return {Failure::unknown, error.outcome, true};
    case Code::invalid:
    case Code::usage:
    case Code::refused:
    case Code::not_found:
      return {Failure::client_error, error.outcome, false};
  }
  __builtin_unreachable();
}

}  // namespace pawl::retry
