#include "emulator/core/s3_exchange.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/bounds_queue.h"
#include "base/calendar.h"
#include "base/utf8.h"
#include "base/xml.h"
#include "emulator/core/calls.h"
#include "emulator/core/s3_listing.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view usual_error = "InternalError";  // of error_before, error_after
constexpr std::string_view other_tag = "\"00000000000000000000000000000000\"";

constexpr std::string_view operations[] = {"put",         "get",           "head",
                                           "delete",      "delete_many",   "list",
                                           "make_bucket", "remove_bucket", "head_bucket"};

// Faults that only other venues know.
constexpr FaultKind not_here[] = {
    FaultKind::empty_401,    FaultKind::headers_missing,     FaultKind::reset_zero,
    FaultKind::lag,          FaultKind::trade_not_completed, FaultKind::order_id_in_400,
    FaultKind::s_code_in_0,  FaultKind::reference_missing,   FaultKind::push_before_reply,
    FaultKind::push_silence, FaultKind::push_close};

bool is(const Fault* fault, FaultKind kind) {
  return fault != nullptr && fault->kind == kind;
}

// Empty: nothing of the kind is implemented.
std::string_view operation_of(const Call& call, const S3Target& target) {
  if (target.bucket.empty()) return {};
  const bool is_plain = target.query.empty();
  const std::string_view method = call.method;
  if (target.key.empty()) {
    if (method == "GET") return "list";
    if (method == "POST" && target.query.size() == 1 && target.parameter("delete")) {
      return "delete_many";
    }
    if (!is_plain) return {};
    return method == "PUT"      ? "make_bucket"
           : method == "DELETE" ? "remove_bucket"
           : method == "HEAD"   ? "head_bucket"
                                : "";
  }
  if (!is_plain) return {};
  return method == "PUT"      ? "put"
         : method == "GET"    ? "get"
         : method == "HEAD"   ? "head"
         : method == "DELETE" ? "delete"
                              : "";
}

// Fields of S3 that change nothing in what a call does.
constexpr std::string_view harmless_fields[] = {"x-amz-date", "x-amz-content-sha256",
                                                "x-amz-security-token", "x-amz-user-agent"};

// A copy, an append, access rules, metadata: what is not understood must not be passed over.
bool asks_for_more(const Call& call, std::string_view operation) {
  const bool is_conditional =
      !field(call, "if-match").empty() || !field(call, "if-none-match").empty();
  if (operation.starts_with("delete") && is_conditional) return true;
  return std::ranges::any_of(call.fields, [](const Field& field) {
    return field.name.starts_with("x-amz-") &&
           std::ranges::find(harmless_fields, field.name) == std::end(harmless_fields);
  });
}

S3Refusal no_such_key() {
  return {.code = "NoSuchKey", .message = "The specified key does not exist."};
}
S3Refusal not_implemented_field() {
  return {.code = "NotImplemented",
          .message = "A header you provided implies functionality that is not implemented"};
}
S3Refusal precondition_failed() {
  return {.code = "PreconditionFailed",
          .message = "At least one of the pre-conditions you specified did not hold"};
}

// What If-Match says, as a tag with quotes; none when it is written in a way that never matches.
std::optional<std::string> wanted_tag(std::string_view text, S3Tags tags) {
  const bool is_quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  if ((tags == S3Tags::quoted && !is_quoted) || (tags == S3Tags::bare && is_quoted)) {
    return std::nullopt;
  }
  return is_quoted ? std::string(text) : "\"" + std::string(text) + "\"";
}

// The first byte and how many; none: there is no such part. A field that makes no sense asks for
// the whole.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
  bool is_part = false;
};
std::optional<Part> part_of(std::string_view range, std::size_t size) {
  constexpr std::string_view unit = "bytes=";
  const Part whole{.count = size};
  if (!range.starts_with(unit)) return whole;
  range.remove_prefix(unit.size());
  const auto number = [](std::string_view text) -> std::optional<std::size_t> {
    std::size_t read = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, read);
    if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
    return read;
  };
  const auto dash = range.find('-');
  if (dash == range.npos) return whole;
  const std::string_view before = range.substr(0, dash);
  const std::string_view behind = range.substr(dash + 1);
  const auto first = number(before);
  const auto last = number(behind);
  if (before.empty() && last) {  // the last so many
    if (*last == 0 || size == 0) return std::nullopt;
    const std::size_t count = std::min(*last, size);
    return Part{.first = size - count, .count = count, .is_part = true};
  }
  if (!first || (!last && !behind.empty()) || (last && *last < *first)) return whole;
  if (*first >= size) return std::nullopt;
  const std::size_t end = last ? std::min(*last, size - 1) : size - 1;
  return Part{.first = *first, .count = end - *first + 1, .is_part = true};
}

}  // namespace

S3Exchange::S3Exchange() {
  make_buckets();
}

void S3Exchange::make_buckets() {
  for (const std::string& bucket : settings_.buckets) {
    if (shelf_.find(bucket) == nullptr) shelf_.make_bucket(bucket);
  }
}

Reply S3Exchange::answer(const Call& call, Instant now) {
  const std::optional<S3Target> target = s3_target(call);
  if (!target || !is_printable(target->bucket) || !is_printable(target->key)) {
    return s3_refused({.code = "InvalidURI", .message = "Couldn't parse the specified URI."}, call);
  }
  const std::string_view operation = operation_of(call, *target);
  if (!call.held) {
    ++calls_[std::string(operation.empty() ? "other" : operation)];
    bytes_in_ += static_cast<std::int64_t>(call.body.size());
  }
  const Sighting sighting{.operation = std::string(operation), .reference = target->key};
  Reply reply = with_faults(faults_, call, sighting, [&](const Fault* fault) {
    return serve(
        {.call = call, .target = *target, .operation = operation, .fault = fault, .now = now});
  });
  reply.tells_body = false;
  reply.fields.push_back({.name = "x-amz-request-id", .value = std::to_string(call.number)});
  if (reply.hold == Duration()) bytes_out_ += static_cast<std::int64_t>(reply.body.size());
  return reply;
}

Reply S3Exchange::serve(const Visit& visit) {
  if (const S3Refusal refusal = admit(visit); refusal.refuses()) {
    Reply reply = s3_refused(refusal, visit.call);
    if (refusal.code == "SlowDown") {
      reply.fields.push_back({.name = "Retry-After", .value = std::to_string(visit.fault->reset)});
    }
    return reply;
  }
  if (is(visit.fault, FaultKind::error_before)) return spoil(visit, {});
  if (is(visit.fault, FaultKind::error_in_200) && visit.operation != "delete_many") {
    Reply reply = s3_refused({.code = std::string(usual_error),
                              .message = "We encountered an "
                                         "internal error. Please try again."},
                             visit.call);
    reply.status = 200;
    return reply;
  }
  return spoil(visit, work(visit));
}

// What a fault makes of an answer that was ready.
Reply S3Exchange::spoil(const Visit& visit, Reply reply) const {
  if (is(visit.fault, FaultKind::wrong_tag)) {
    for (Field& field : reply.fields) {
      if (field.name == "ETag") field.value = other_tag;
    }
  }
  const bool fails =
      is(visit.fault, FaultKind::error_before) || is(visit.fault, FaultKind::error_after);
  if (!fails) return reply;
  const std::string code(visit.fault->code.empty() ? usual_error : visit.fault->code);
  Reply told = s3_refused({.code = code, .message = "As the fault script says."}, visit.call);
  if (visit.fault->status != 0) told.status = visit.fault->status;
  told.accepted = reply.accepted;
  return told;
}

S3Refusal S3Exchange::admit(const Visit& visit) const {
  S3Refusal refusal = check_s3_call(settings_, visit.call, visit.now);
  if (refusal.refuses()) return refusal;
  if (is(visit.fault, FaultKind::rate_limited)) {
    return {.code = "SlowDown", .message = "Please reduce your request rate."};
  }
  if (visit.operation.empty()) {
    return {.code = "NotImplemented", .message = "This call is not implemented here."};
  }
  if (asks_for_more(visit.call, visit.operation)) return not_implemented_field();
  if (visit.target.key.size() > bounds::object_key_bytes_max) {
    return {.code = "KeyTooLongError", .message = "Your key is too long"};
  }
  if (visit.operation != "make_bucket" && shelf_.find(visit.target.bucket) == nullptr) {
    return {.code = "NoSuchBucket", .message = "The specified bucket does not exist"};
  }
  return {};
}

Reply S3Exchange::work(const Visit& visit) {
  if (visit.operation == "put") return put(visit);
  if (visit.operation == "delete") return remove(visit);
  if (visit.operation == "delete_many") return remove_many(visit);
  if (visit.operation == "list") return list(visit);
  if (visit.operation == "make_bucket") return make_bucket(visit);
  if (visit.operation == "remove_bucket") return remove_bucket(visit);
  if (visit.operation == "head_bucket") return {};
  return get(visit);
}

Reply S3Exchange::make_bucket(const Visit& visit) {
  const std::string& bucket = visit.target.bucket;
  constexpr std::size_t shortest = 3;
  if (bucket.size() < shortest) {
    return s3_refused(
        {.code = "InvalidBucketName", .message = "The specified bucket is not valid."}, visit.call);
  }
  if (shelf_.find(bucket) != nullptr) {
    return s3_refused({.code = "BucketAlreadyOwnedByYou",
                       .message = "Your previous request to create the named bucket succeeded."},
                      visit.call);
  }
  shelf_.make_bucket(bucket);
  return {.fields = {{.name = "Location", .value = "/" + bucket}}, .accepted = true};
}

Reply S3Exchange::remove_bucket(const Visit& visit) {
  if (!shelf_.find(visit.target.bucket)->empty()) {
    return s3_refused(
        {.code = "BucketNotEmpty", .message = "The bucket you tried to delete is not empty"},
        visit.call);
  }
  shelf_.remove_bucket(visit.target.bucket);
  return {.status = 204, .accepted = true};
}

S3Refusal S3Exchange::check_condition(const Visit& visit) const {
  const std::string_view none_match = field(visit.call, "if-none-match");
  const std::string_view match = field(visit.call, "if-match");
  if (none_match.empty() && match.empty()) return {};
  if ((!none_match.empty() && none_match != "*") || (!none_match.empty() && !match.empty())) {
    return not_implemented_field();
  }
  if (!settings_.keeps_conditions || is(visit.fault, FaultKind::condition_ignored)) return {};
  const S3Object* object = shelf_.find(visit.target.bucket, visit.target.key);
  if (match.empty()) return object == nullptr ? S3Refusal() : precondition_failed();
  if (object == nullptr) return no_such_key();
  return wanted_tag(match, settings_.tags) == object->tag ? S3Refusal() : precondition_failed();
}

Reply S3Exchange::put(const Visit& visit) {
  if (const S3Refusal refusal = check_condition(visit); refusal.refuses()) {
    return s3_refused(refusal, visit.call);
  }
  const std::string tag =
      shelf_.put(visit.target.bucket, visit.target.key, visit.call.body, visit.now);
  return {.fields = {{.name = "ETag", .value = tag}}, .accepted = true};
}

Reply S3Exchange::get(const Visit& visit) const {
  const S3Object* object = shelf_.find(visit.target.bucket, visit.target.key);
  if (object == nullptr) return s3_refused(no_such_key(), visit.call);
  const std::string_view match = field(visit.call, "if-match");
  const std::string_view none_match = field(visit.call, "if-none-match");
  if (!match.empty() && wanted_tag(match, S3Tags::any) != object->tag) {
    return s3_refused(precondition_failed(), visit.call);
  }
  Reply reply{.fields = {{.name = "ETag", .value = object->tag},
                         {.name = "Last-Modified", .value = http_date(object->modified)},
                         {.name = "Accept-Ranges", .value = "bytes"},
                         {.name = "Content-Type", .value = "binary/octet-stream"}}};
  if (!none_match.empty() && wanted_tag(none_match, S3Tags::any) == object->tag) {
    reply.status = 304;
    return reply;
  }
  const std::size_t size = object->body.size();
  const std::optional<Part> part = part_of(field(visit.call, "range"), size);
  if (!part) {
    return s3_refused({.code = "InvalidRange", .message = "The requested range is not satisfiable"},
                      visit.call);
  }
  reply.body = object->body.substr(part->first, part->count);
  if (part->is_part) {
    reply.status = 206;
    reply.fields.push_back({.name = "Content-Range",
                            .value = "bytes " + std::to_string(part->first) + "-" +
                                     std::to_string(part->first + part->count - 1) + "/" +
                                     std::to_string(size)});
  }
  return reply;
}

Reply S3Exchange::remove(const Visit& visit) {
  const bool was_there = shelf_.find(visit.target.bucket, visit.target.key) != nullptr;
  shelf_.remove(visit.target.bucket, visit.target.key);
  return {.status = 204, .accepted = was_there};
}

Reply S3Exchange::remove_many(const Visit& visit) {
  if (field(visit.call, "content-md5").empty()) {
    return s3_refused({.code = "InvalidRequest",
                       .message = "Missing required header for this request: Content-MD5"},
                      visit.call);
  }
  const Result<xml::Element> body = xml::parse(visit.call.body);
  std::vector<std::string> keys;
  bool is_quiet = false;
  for (const xml::Element& child : body ? body->children : std::vector<xml::Element>()) {
    if (child.name == "Object") keys.emplace_back(child.text_of("Key"));
    if (child.name == "Quiet") is_quiet = child.text == "true";
  }
  const bool is_whole = body && body->name == "Delete" && !keys.empty() &&
                        keys.size() <= bounds::objects_removed_max &&
                        std::ranges::none_of(keys, &std::string::empty);
  if (!is_whole) {
    return s3_refused({.code = "MalformedXML",
                       .message = "The XML you provided was not well-formed or did not validate "
                                  "against our published schema"},
                      visit.call);
  }
  std::string result = "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const std::string& key : keys) {
    if (is(visit.fault, FaultKind::error_in_200)) {
      const std::string code =
          visit.fault->code.empty() ? std::string(usual_error) : visit.fault->code;
      result += "<Error><Key>" + xml::escaped(key) + "</Key><Code>" + xml::escaped(code) +
                "</Code><Message>As the fault script says.</Message></Error>";
      continue;
    }
    shelf_.remove(visit.target.bucket, key);
    if (!is_quiet) result += "<Deleted><Key>" + xml::escaped(key) + "</Key></Deleted>";
  }
  Reply reply = s3_xml(200, result + "</DeleteResult>");
  reply.accepted = true;
  return reply;
}

Reply S3Exchange::list(const Visit& visit) const {
  auto page = s3_listing(visit.target, *shelf_.find(visit.target.bucket));
  return page ? *std::move(page) : s3_refused(page.error(), visit.call);
}

Result<void> S3Exchange::play(const Script& script) {
  PAWL_TRY(check_kinds(script.faults, not_here, "S3"));
  const auto check_call = [](const std::string& name) -> Result<void> {
    if (std::ranges::find(operations, name) != std::end(operations)) return {};
    std::string all;
    for (const std::string_view known : operations) all.append(" ").append(known);
    return failure(Code::invalid, "the fault script: the call '" + name +
                                      "' is none of S3's: name some of" + all +
                                      ", or \"*\", in \"calls\"");
  };
  for (const Faults::Row& row : script.faults.rows) {
    if (!row.operation.empty()) PAWL_TRY(check_call(row.operation));
  }
  for (const Faults::Rate& rate : script.faults.rates) {
    for (const std::string& name : rate.operations) PAWL_TRY(check_call(name));
  }
  if (!script.settings.is_null()) {
    settings_ = PAWL_TRY(parse_s3_settings(script.settings));
    make_buckets();
  }
  faults_ = script.faults;
  return {};
}

void S3Exchange::reset() {
  shelf_.clear();
  faults_.forget();
  calls_.clear();
  bytes_in_ = 0;
  bytes_out_ = 0;
}

json::Value S3Exchange::orders() const {
  json::Array rows;
  for (const auto& [bucket, objects] : shelf_.all()) {
    for (const auto& [key, object] : objects) {
      json::Object row;
      row["bucket"] = bucket;
      row["key"] = key;
      row["bytes"] = static_cast<std::int64_t>(object.body.size());
      row["etag"] = object.tag;
      row["modified"] = to_string(object.modified);
      rows.emplace_back(std::move(row));
    }
  }
  json::Object told;
  told["objects"] = std::move(rows);
  return told;
}

json::Value S3Exchange::stats() const {
  const auto count = [&](std::initializer_list<std::string_view> names) {
    std::int64_t sum = 0;
    for (const std::string_view name : names) {
      const auto found = calls_.find(name);
      if (found != calls_.end()) sum += found->second;
    }
    return sum;
  };
  json::Object calls;
  for (const auto& [operation, number] : calls_) calls[operation] = number;
  json::Object requests;
  requests["puts"] = count({"put", "make_bucket"});
  requests["gets"] = count({"get", "head", "head_bucket"});
  requests["lists"] = count({"list"});
  requests["deletes"] = count({"delete", "delete_many", "remove_bucket"});
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
  for (const auto& [bucket, inside] : shelf_.all()) {
    for (const auto& [key, object] : inside) {
      ++objects;
      bytes += static_cast<std::int64_t>(object.body.size());
    }
  }
  json::Object told;
  told["calls"] = std::move(calls);
  told["requests"] = std::move(requests);
  told["bytes_in"] = bytes_in_;
  told["bytes_out"] = bytes_out_;
  told["objects"] = objects;
  told["bytes"] = bytes;
  return told;
}

Result<void> S3Exchange::act(std::string_view, std::string_view, Instant) {
  return failure(Code::not_found, "the emulated S3 has no orders");
}

}  // namespace pawl::emulator
