#include "core/limit/api.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <span>

#include "base/assert.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "core/limit/explain.h"

namespace pawl::limit {
namespace {

constexpr std::int64_t hold_ms_max = bounds::limit_hold_max.milliseconds_up();
constexpr std::size_t excerpt_bytes_max = 32;  // of a number or a name, in a message

bool is_tenant(std::string_view name) {
  return !name.empty() && name.size() <= bounds::tenant_bytes_max &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

bool is_bucket(std::string_view name) {
  return !name.empty() && name.size() <= bounds::config_name_bytes_max &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

std::string count_of(std::size_t n, std::string_view unit) {
  std::string text;
  append_number(text, n);
  return text.append(unit);
}

// The value itself where it is short and says something, else what it is.
std::string found(const json::Value* value) {
  if (value == nullptr) return "nothing";
  if (const auto* number = value->if_number()) {
    return number->text.size() <= excerpt_bytes_max
               ? number->text
               : "a number of " + count_of(number->text.size(), " characters");
  }
  if (const auto* text = value->if_string())
    return "a string of " + count_of(text->size(), " bytes");
  if (value->if_array() != nullptr) return "an array";
  if (value->if_object() != nullptr) return "an object";
  return json::print(*value);  // null, true or false
}

std::unexpected<Error> not_allowed(std::string_view member, const json::Value* value,
                                   std::string_view allowed) {
  std::string message(member);
  message.append(": found ").append(found(value)).append("; allowed: ").append(allowed);
  return failure(Code::invalid, std::move(message));
}

Result<json::Value> parse_body(std::string_view text,
                               std::initializer_list<std::string_view> members) {
  json::Value body = PAWL_TRY(json::parse(text));
  std::string names;
  for (const std::string_view name : members) names.append(names.empty() ? "" : ", ").append(name);
  const json::Object* object = body.if_object();
  if (object == nullptr) return not_allowed("the body", &body, "an object of " + names);
  for (const auto& [name, value] : *object) {
    if (std::ranges::find(members, name) != members.end()) continue;
    std::string message;
    if (name.size() <= excerpt_bytes_max) {
      json::append_quoted(message, name);
    } else {
      message = "a name of " + count_of(name.size(), " bytes");
    }
    message.append(": no such member; allowed: ").append(names);
    return failure(Code::invalid, std::move(message));
  }
  return body;
}

Result<std::string> tenant_of(const json::Value& body) {
  const json::Value* value = body.find("tenant");
  const std::string* name = value == nullptr ? nullptr : value->if_string();
  if (name != nullptr && is_tenant(*name)) return *name;
  return not_allowed("tenant", value,
                     "a string of 1 to " + count_of(bounds::tenant_bytes_max,
                                                    " visible ASCII characters without blanks"));
}

Result<std::string> bucket_of(const json::Value& body) {
  const json::Value* value = body.find("bucket");
  const std::string* name = value == nullptr ? nullptr : value->if_string();
  if (name != nullptr && is_bucket(*name)) return *name;
  return not_allowed(
      "bucket", value,
      "a string of 1 to " + count_of(bounds::config_name_bytes_max, " of a-z, 0-9, _ and -"));
}

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Result<std::int64_t> whole_number(const json::Value& body, std::string_view member, Range range) {
  const json::Value* value = body.find(member);
  if (const auto* number = value == nullptr ? nullptr : value->if_number()) {
    const char* end = number->text.data() + number->text.size();
    std::int64_t n = 0;
    const auto [stop, error] = std::from_chars(number->text.data(), end, n);
    if (error == std::errc() && stop == end && n >= range.least && n <= range.most) return n;
  }
  std::string allowed = "a whole number from ";
  append_number(allowed, range.least);
  allowed.append(" to ");
  append_number(allowed, range.most);
  return not_allowed(member, value, allowed);
}

Result<std::int64_t> cost_of(const json::Value& body, std::int64_t least) {
  if (body.find("cost") == nullptr) return 1;
  return whole_number(body, "cost", {.least = least, .most = bounds::limit_count_max});
}

// What asking and reserving have in common.
template <class Request>
Result<Request> read_ask(const json::Value& body, std::int64_t least_cost) {
  Request request;
  request.tenant = PAWL_TRY(tenant_of(body));
  request.bucket = PAWL_TRY(bucket_of(body));
  request.cost = PAWL_TRY(cost_of(body, least_cost));
  return request;
}

Result<Duration> hold_of(const json::Value& body) {
  return Duration::milliseconds(
      PAWL_TRY(whole_number(body, "hold_ms", {.least = 1, .most = hold_ms_max})));
}

Result<bool> peek_of(const json::Value& body) {
  const json::Value* value = body.find("peek");
  if (value == nullptr) return false;
  if (const bool* peek = value->if_bool()) return *peek;
  return not_allowed("peek", value, "true or false");
}

Result<ReservationToken> reservation_of(const json::Value& body) {
  const json::Value* value = body.find("reservation");
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  if (text != nullptr) {
    if (auto token = parse_reservation_token(*text)) return token;
  }
  return not_allowed("reservation", value, "the text that /v1/reserve answered with, unchanged");
}

// Lower-case hexadecimal digits, all of the text.
template <class T>
std::optional<T> parse_hex(std::string_view text) {
  T number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> parse_hex_bytes(std::string_view text) {
  std::string bytes;
  for (; !text.empty(); text.remove_prefix(2)) {
    if (text.size() == 1) return std::nullopt;
    const auto byte = parse_hex<std::uint8_t>(text.substr(0, 2));
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<char>(*byte));
  }
  return bytes;
}

// What the store would have said to an ask of `cost` instead of a look.
Answer as_if_asked(Counts counts, Answer answer, std::int64_t cost) {
  if (answer.counted_by == CountedBy::nobody) return answer;  // allowed, whatever is left
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Verdict& verdict = answer.verdicts[i];
    verdict.allowed = verdict.remaining >= cost;
    if (verdict.allowed) continue;
    if (cost > capacity_of(counts[i].policy->rule)) {
      verdict.retry_after = Duration::max();
    } else {
      verdict.retry_after = cost == 1 ? verdict.more_after : verdict.full_after;
    }
  }
  conclude(counts, answer);
  return answer;
}

CheckAnswer told(Counts counts, const Answer& answer, std::string why) {
  const Verdict& bound = answer.bound();
  CheckAnswer out;
  out.allowed = answer.allowed;
  if (answer.retry_after != Duration::max()) {
    out.retry_after_ms = answer.retry_after.milliseconds_up();
  }
  out.policy = counts[answer.binding].policy->name;
  out.limit = bound.limit;
  out.remaining = bound.remaining;
  out.reset_seconds = bound.full_after.seconds_up();
  out.why = std::move(why);
  return out;
}

json::Object to_object(const CheckAnswer& answer) {
  json::Object object;
  object.emplace("allowed", answer.allowed);
  object.emplace("limit", answer.limit);
  object.emplace("policy", answer.policy);
  object.emplace("remaining", answer.remaining);
  object.emplace("reset_seconds", answer.reset_seconds);
  object.emplace("retry_after_ms",
                 answer.retry_after_ms ? json::Value(*answer.retry_after_ms) : json::Value());
  object.emplace("why", answer.why);
  return object;
}

}  // namespace

std::string to_string(const ReservationToken& token) {
  PAWL_ASSERT(token.id != 0 && is_tenant(token.tenant) && is_bucket(token.bucket));
  char digits[16];
  const char* end = std::to_chars(digits, digits + sizeof(digits), token.id, 16).ptr;
  const auto length = static_cast<std::size_t>(end - digits);
  std::string text = "v1.";
  text.append(sizeof(digits) - length, '0').append(digits, length);
  text.append(".").append(token.bucket).append(".");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(token.tenant.data());
  return text.append(to_hex({bytes, token.tenant.size()}));
}

Result<ReservationToken> parse_reservation_token(std::string_view text) {
  const auto wrong = [] {
    return failure(Code::invalid,
                   "this is no reservation of pawl's: send the text that /v1/reserve answered "
                   "with, unchanged");
  };
  if (text.size() > reservation_token_bytes_max) return wrong();
  std::string_view rest = text;
  if (take_until(rest, '.') != "v1") return wrong();
  const auto id = parse_hex<std::uint64_t>(take_until(rest, '.'));
  const std::string_view bucket = take_until(rest, '.');
  const auto tenant = parse_hex_bytes(rest);
  if (!id || *id == 0 || !is_bucket(bucket) || !tenant || !is_tenant(*tenant)) return wrong();
  ReservationToken token{.id = *id, .tenant = *tenant, .bucket = std::string(bucket)};
  if (to_string(token) != text) return wrong();  // the same in other letters
  return token;
}

Result<CheckRequest> parse_check_request(std::string_view body) {
  const json::Value value = PAWL_TRY(parse_body(body, {"tenant", "bucket", "cost", "peek"}));
  CheckRequest request = PAWL_TRY(read_ask<CheckRequest>(value, 0));
  request.peek = PAWL_TRY(peek_of(value));
  return request;
}

Result<ReserveRequest> parse_reserve_request(std::string_view body) {
  const json::Value value = PAWL_TRY(parse_body(body, {"tenant", "bucket", "cost", "hold_ms"}));
  ReserveRequest request = PAWL_TRY(read_ask<ReserveRequest>(value, 1));
  request.hold = PAWL_TRY(hold_of(value));
  return request;
}

Result<CommitRequest> parse_commit_request(std::string_view body) {
  const json::Value value = PAWL_TRY(parse_body(body, {"reservation", "actual"}));
  CommitRequest request;
  request.reservation = PAWL_TRY(reservation_of(value));
  request.actual =
      PAWL_TRY(whole_number(value, "actual", {.least = 0, .most = bounds::limit_count_max}));
  return request;
}

Result<CancelRequest> parse_cancel_request(std::string_view body) {
  const json::Value value = PAWL_TRY(parse_body(body, {"reservation"}));
  return CancelRequest{.reservation = PAWL_TRY(reservation_of(value))};
}

Result<RenewRequest> parse_renew_request(std::string_view body) {
  const json::Value value = PAWL_TRY(parse_body(body, {"reservation", "hold_ms"}));
  RenewRequest request;
  request.reservation = PAWL_TRY(reservation_of(value));
  request.hold = PAWL_TRY(hold_of(value));
  return request;
}

std::string to_json(const CheckRequest& request) {
  return json::print(json::Object{{"tenant", request.tenant},
                                  {"bucket", request.bucket},
                                  {"cost", request.cost},
                                  {"peek", request.peek}});
}

std::string to_json(const ReserveRequest& request) {
  return json::print(json::Object{{"tenant", request.tenant},
                                  {"bucket", request.bucket},
                                  {"cost", request.cost},
                                  {"hold_ms", request.hold.milliseconds_up()}});
}

std::string to_json(const CommitRequest& request) {
  return json::print(
      json::Object{{"reservation", to_string(request.reservation)}, {"actual", request.actual}});
}

std::string to_json(const CancelRequest& request) {
  return json::print(json::Object{{"reservation", to_string(request.reservation)}});
}

std::string to_json(const RenewRequest& request) {
  return json::print(json::Object{{"reservation", to_string(request.reservation)},
                                  {"hold_ms", request.hold.milliseconds_up()}});
}

CheckAnswer check_answer(const CheckRequest& request, Counts counts, const Answer& answer) {
  PAWL_ASSERT(counts.size() == answer.verdicts.size() && answer.binding < counts.size());
  if (!request.peek) return told(counts, answer, explain(counts, answer, request.cost));
  const Answer asked = as_if_asked(counts, answer, request.cost);
  Answer looked = answer;
  looked.binding = asked.binding;  // the text is about the policy that the members are about
  return told(counts, asked, explain(counts, looked, 0));
}

ReserveAnswer reserve_answer(const ReserveRequest& request, Counts counts, const Answer& answer,
                             std::uint64_t id) {
  PAWL_ASSERT(counts.size() == answer.verdicts.size() && answer.binding < counts.size());
  PAWL_ASSERT(answer.allowed == (id != 0));
  ReserveAnswer out;
  out.check = told(counts, answer, explain(counts, answer, request.cost));
  if (id == 0) return out;
  out.reservation = {.id = id, .tenant = request.tenant, .bucket = request.bucket};
  out.expires_in = request.hold;
  return out;
}

std::string to_json(const CheckAnswer& answer) {
  return json::print(to_object(answer));
}

std::string to_json(const ReserveAnswer& answer) {
  json::Object object = to_object(answer.check);
  json::Value token;
  json::Value expires_in_ms;
  if (answer.reservation) {
    token = to_string(*answer.reservation);
    expires_in_ms = answer.expires_in.milliseconds_up();
  }
  object.emplace("reservation", std::move(token));
  object.emplace("expires_in_ms", std::move(expires_in_ms));
  return json::print(object);
}

}  // namespace pawl::limit
