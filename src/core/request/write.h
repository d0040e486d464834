// Write: what is decided about a request that carries an idempotency key, apart from its course
// (machine.h): the key itself, its fingerprint, what is kept of an answer and what a replay gives.
//
// Contract: pure. A key is accepted bare and as a structured field's string, as the same key. The
//           record's key holds method, path and key, and its scope the tenant, so nobody ever gets
//           another tenant's answer. Only fields that are safe are kept: none that belong to one
//           connection, to one client (cookies, authentication) or to the moment (dates, limits).
// Bounds:   bounds::idempotency_key_bytes_max; what is kept as core/idempotency/record.h says.
// See:      docs/formats.md has the form of what is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/head.h"
#include "core/idempotency/record.h"
#include "core/request/match.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::request {

enum class Fingerprint : std::uint8_t { bytes, json };  // json: canonical, where it is JSON
enum class OnMismatch : std::uint8_t { reject, conflict, separate };
enum class OnInFlight : std::uint8_t { conflict, wait };
enum class OnUnknown : std::uint8_t { conflict, execute };
enum class OnRecordFailure : std::uint8_t { execute, reject };

struct StatusRange {
  int least = 0;
  int most = 0;
};

struct WriteRules {
  std::string header = {};
  std::vector<std::string> methods = {};
  std::vector<PathPattern> require = {};
  Fingerprint fingerprint = {};
  OnMismatch on_mismatch = {};
  OnInFlight on_in_flight = {};
  OnUnknown on_unknown = {};
  OnRecordFailure on_store_failure = {};
  std::vector<StatusRange> store_statuses = {};
  std::size_t body_limit = 0;  // of a request with a key, and of an answer that is kept
  Duration ttl = {};
  Duration lease = {};
  Duration store_deadline = {};  // of one ask
};

// What became of a write with a key, for people and the audit log.
enum class WriteEvent : std::uint8_t {
  executed,       // and its answer is on record
  replayed,       // answered from the record
  tombstone,      // done before, and its answer is not kept
  in_flight,      // somebody else has the key
  mismatch,       // the key was used for another request
  unknown,        // nobody knows how it ended
  not_stored,     // executed, and its answer is none that is kept
  store_failure,  // the store did not answer, or did not take the result
  taken_over,     // begun anew after somebody who may have acted, as the setting asks
  invalid_key,
  missing_key,
};
inline constexpr std::size_t write_events = 11;
std::string_view to_string(WriteEvent event);

// The key of a request, if it is a write that has one or must have one.
struct KeyFound {
  enum class Kind : std::uint8_t { none, key, missing, invalid };
  Kind kind = Kind::none;
  std::string key = {};  // without quotes
};
KeyFound find_key(const WriteRules& rules, const http::RequestHead& head);

// What a write's record is kept under, beside the tenant.
struct WriteKey {
  std::string method = {};
  std::string path = {};  // without its query; of a long one its hash
  std::string key = {};   // as the client gave it, without quotes
  bool operator==(const WriteKey&) const = default;
};
// "METHOD PATH KEY", which fits bounds::record_key_bytes_max. `fingerprint` is put behind it where
// another body makes another intent (OnMismatch::separate).
std::string to_record_key(const WriteKey& key, std::string_view separate_fingerprint = "");
// Nothing: it is the key of a record that is no write's.
std::optional<WriteKey> parse_record_key(std::string_view text);

// Of a request's query and body: 64 hexadecimal digits.
std::string fingerprint_of(Fingerprint kind, std::string_view query, std::string_view content_type,
                           std::string_view body);

// What tells apart those who share an address: a hash of what they prove themselves by
// (Authorization, Cookie, X-Api-Key and their kin); empty where there is nothing of that.
std::string credentials_of(const http::Fields& fields);

// What is kept of an answer beside its body: JSON. `credentials` are those of a client that is
// known by its address alone: whoever comes with others does not get the answer.
std::string answer_metadata(int status, std::string_view reason, const http::Fields& fields,
                            std::string_view credentials = "");

// In words, for whoever looks into it.
std::string answered_with(int status);

// How a write ends on record that was answered with `status`; `kept` is the answer.
// An answer that is not stored leaves the key free (nothing was applied), protected without an
// answer, or unknown.
idempotency::Completion completion_of(const WriteRules& rules, int status,
                                      idempotency::Response kept);
// Of one of unknown end, or that did nothing.
idempotency::Completion completion_without_answer(const WriteRules& rules,
                                                  idempotency::Status status, std::string why);

struct ReplayedHead {
  int status = 200;
  std::string reason = {};
  std::string fields = {};       // "Name: value\r\n" lines, nothing of the framing
  std::string credentials = {};  // of whom it is for; empty: of nobody in particular
};
// Reads what answer_metadata() made. Errors: invalid.
Result<ReplayedHead> replayed_head(const idempotency::Response& kept);

}  // namespace pawl::request
