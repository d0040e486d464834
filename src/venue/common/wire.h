// What the venues share in reading answers and writing calls: fields, bodies, addresses, words.
//
// Why:      each venue says the same few things in its own dialect; what is no dialect stands here.
// Contract: pure, and never fails on what a venue sends: what makes no sense is nothing. Texts that
//           go on to people are one line, bounded and scrubbed.
// Bounds:   bounds::venue_message_bytes_max.
// Threads:  any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/correlation.h"
#include "base/decimal.h"
#include "base/json.h"
#include "core/limit/pushback.h"
#include "core/order/answer.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/http_client.h"
#include "port/venue.h"

namespace pawl::venue {

// Of an answer. `name` in lower case; empty: there is none.
std::string_view field_of(const HttpAnswer& answer, std::string_view name);
// For the pacer. Views into the answer.
std::vector<limit::Field> limit_fields(const HttpAnswer& answer);
// Of what is placed in one call: of several all, with commas.
Correlation ids_of(std::span<const PlaceAsk> asks);
inline Correlation ids_of(const ChangeAsk& ask) {
  return {.request_id = ask.request_id, .external_reference = ask.reference};
}
// The venue's clock, by the Date field; a whole second.
std::optional<Instant> time_of(const HttpAnswer& answer);
// The body of an answer to a reading call: 200, whole, an object or a list. `what` names the call
// in the error.
Result<json::Value> body_of(const HttpAnswer& answer, std::string_view what);

// What the rate-limit fields say: Answer::limits, and where it refused Answer::retry_after.
void note_limits(order::Answer& answer, const HttpAnswer& from, Instant now);
// No answer came: not_sent, or unknown; refused where it never could have been sent.
order::Answer answer_of(const Error& error);

// One line, without secrets that announce themselves, cut at the bound.
std::string for_people(std::string_view text);

// Members of an object that nobody vouches for. A text, or the digits of a number; else empty.
std::string text_of(const json::Value& object, std::string_view member);
// A number or a text; "1.5e-7" is read as well.
std::optional<Decimal> decimal_of(const json::Value& object, std::string_view member);
// RFC 3339.
std::optional<Instant> instant_of(const json::Value& object, std::string_view member);
// Null where there is no list.
const json::Array* list_of(const json::Value& object, std::string_view member);

// "a=1&b=%20"; parameters with an empty value are left out.
std::string query_of(const std::vector<std::pair<std::string_view, std::string>>& parameters);
// One slash between them; the query behind a question mark where there is one.
std::string url_of(std::string_view base, std::string_view path, std::string_view query = {});

}  // namespace pawl::venue
