// Classification: what an answer, or its absence, means: the kind of failure, what became of the
// side effect, and whether another attempt could end better.
//
// Why:      everybody who calls an API has this table somewhere, as code. Here it is data, one for
//           an API, so that it is read, tested and extended in one place.
// Contract: pure. The first row that matches holds. What no row matches is `unknown` in kind and
//           outcome: another attempt could end better, but is never made blindly (decide.h).
// Threads:  any, while nobody changes the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::retry {

enum class Failure : std::uint8_t {
  none,  // it succeeded
  transient_network,
  rate_limited,
  conflict,             // a copy arrived before this one
  trade_not_completed,  // taken, and nobody says yet what became of it
  client_error,
  server_error,
  unknown,
};
std::string_view to_string(Failure failure);
std::optional<Failure> failure_of(std::string_view name);

// How far an attempt came.
enum class Transport : std::uint8_t {
  answered,   // there is a status
  not_sent,   // no byte of it left: refused connection, unknown host, failed handshake
  broke_off,  // something had left
  timed_out,  // something had left, and time is up
  raised,     // the caller's code ended with an exception
};
std::string_view to_string(Transport transport);
std::optional<Transport> transport_of(std::string_view name);

struct Observation {
  Transport transport = Transport::answered;
  int status = 0;              // when answered
  std::string_view code = {};  // the error code in the body, or the type of the exception
  bool names_effect = false;   // the answer names what it made (an order's id), whatever its status
  bool operator==(const Observation&) const = default;
};

struct Classification {
  Failure failure = Failure::unknown;
  Outcome outcome = Outcome::unknown;
  bool retryable = false;  // another attempt could end better; the outcome says whether it may

  bool operator==(const Classification&) const = default;
};

// Whether the other side was there: it may have refused, but it did answer.
bool was_there(const Classification& seen);

struct Row {
  Transport transport = Transport::answered;
  int status_min = 0;
  int status_max = 999;
  std::string code = {};                  // empty: any
  std::optional<bool> names_effect = {};  // none: either
  Classification means = {};

  bool operator==(const Row&) const = default;
};
// Refused is a row that matches nothing, or whose meaning contradicts itself.
Result<void> check(const Row& row);

class ClassificationTable {
 public:
  // Rows are ones that check() accepts.
  explicit ClassificationTable(std::vector<Row> rows) : rows_(std::move(rows)) {}
  // These are looked at before those that are there.
  ClassificationTable& prepend(std::vector<Row> first);
  Classification classify(const Observation& seen) const;
  // The row that decides; none when nothing matches. Until the table changes.
  const Row* find(const Observation& seen) const;
  std::span<const Row> rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

// What HTTP itself says: 2xx applied; 408, 425, 429 refused before any effect; 409 the first copy
// arrived; other 4xx refused, unless they name what they made; 5xx, time-outs and broken
// connections unknown; what never left, not applied. And TradeNotCompleted, which is unknown too.
ClassificationTable http_table();

// Of an error that a caller's code returned: it says itself what became of the side effect. One
// that names a wait was told to come again.
Classification classify(const Error& error);

}  // namespace pawl::retry
