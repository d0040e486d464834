#include "adapter/s3/s3_answer.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/xml.h"
#include "core/limit/pushback.h"

namespace pawl {
namespace {

constexpr std::size_t words_bytes_max = 300;  // of what S3 says, in an error

// The <Error> of an answer; empty when there is none.
struct Said {
  std::string code = {};
  std::string message = {};
  std::string region = {};
};

std::string visible(std::string_view text) {
  std::string out(text.substr(0, words_bytes_max));
  std::ranges::replace_if(out, [](char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return out;
}

Said said_in(const HttpAnswer& answer) {
  Said said{.region = visible(field_of(answer, "x-amz-bucket-region"))};
  const Result<xml::Element> body = xml::parse(answer.body);
  if (!body || body->name != "Error") return said;
  said.code = visible(body->text_of("Code"));
  said.message = visible(body->text_of("Message"));
  if (said.region.empty()) said.region = visible(body->text_of("Region"));
  return said;
}

std::string told(const S3Asked& asked, int status, const Said& said) {
  std::string text = asked.store + ": " + asked.what + ": " + std::to_string(status);
  if (!said.code.empty()) text += " " + said.code;
  if (!said.message.empty()) text += ": " + said.message;
  return text;
}

Error unavailable(const S3Asked& asked, std::string message) {
  return {Code::unavailable, asked.changes ? Outcome::unknown : Outcome::not_applied,
          std::move(message)};
}

// What S3 itself would never have said.
std::unexpected<Error> strange(const S3Asked& asked, const HttpAnswer& answer,
                               std::string_view what) {
  return std::unexpected(unavailable(
      asked, asked.store + ": " + asked.what + ": " + std::to_string(answer.status) + ", but " +
                 std::string(what) + "; is there a proxy between, or another server?"));
}

// What to do about a refusal, by S3's code.
std::string_view advice_on(const Said& said) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"RequestTimeTooSkewed", "set this machine's clock, which differs by over 15 minutes"},
      {"AccessDenied",
       "allow s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket; without the last S3 "
       "says so of an object that is not there, too"},
      {"SignatureDoesNotMatch", "check the secret key, and the region"},
      {"InvalidAccessKeyId", "check the access key, and that the endpoint is the right one"},
      {"ExpiredToken", "the session's keys have run out: get new ones"},
      {"InvalidToken", "the session token does not belong to the keys"},
      {"NoSuchBucket", "make the bucket, or name another one"},
      {"NotImplemented", "this store does not know conditional writes: use another one"},
      {"EntityTooLarge", "the store takes no object of that size"},
  };
  const auto* row =
      std::ranges::find(known, said.code, [](const auto& pair) { return pair.first; });
  return row == std::end(known) ? std::string_view() : row->second;
}

Duration named_wait(const S3Asked& asked, const HttpAnswer& answer) {
  std::vector<limit::Field> fields;
  for (const HttpField& field : answer.fields) {
    fields.push_back({.name = field.name, .value = field.value});
  }
  const auto at = limit::refused_until(limit::parse_pushback(fields, asked.now));
  return at ? std::max(Duration(), *at - asked.now) : Duration();
}

bool is_passing(int status, const Said& said) {
  return status == 429 || status == 408 || (status >= 500 && status != 501) ||
         said.code == "RequestTimeout" || said.code == "SlowDown";
}

// Of an answer that is none of those that were hoped for.
Error refusal_of(const S3Asked& asked, const HttpAnswer& answer) {
  const Said said = said_in(answer);
  const std::string words = told(asked, answer.status, said);
  if (is_passing(answer.status, said)) {
    Error error = unavailable(asked, words);
    error.retry_after = named_wait(asked, answer);
    return error;
  }
  if (answer.status >= 300 && answer.status < 400) {
    return {Code::refused, Outcome::not_applied,
            words + "; the bucket is elsewhere: " +
                (said.region.empty() ? "name its region or its endpoint in the URL"
                                     : "write region=" + said.region + " into the URL")};
  }
  if (answer.status < 400 || said.code.empty()) {
    return strange(asked, answer, "not as S3 answers").error();
  }
  if (said.code == "AuthorizationHeaderMalformed" && !said.region.empty()) {
    return {Code::refused, Outcome::not_applied,
            words + "; write region=" + said.region + " into the URL"};
  }
  const std::string_view advice = advice_on(said);
  return {Code::refused, Outcome::not_applied,
          words + (advice.empty() ? "" : "; " + std::string(advice))};
}

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  return !text.empty() && read.ec == std::errc() && read.ptr == end;
}

// The part of a whole object, of a server that does not read in parts.
std::string part_of(std::string body, const GetObject& get) {
  if (get.offset >= body.size()) return {};
  body.erase(0, get.offset);
  if (get.bytes > 0 && body.size() > get.bytes) body.resize(get.bytes);
  return body;
}

// "bytes 5-9/10"
bool begins_at(std::string_view range, std::uint64_t offset) {
  constexpr std::string_view unit = "bytes ";
  std::uint64_t first = 0;
  return range.starts_with(unit) &&
         read_number(range.substr(unit.size(), range.find('-') - unit.size()), first) &&
         first == offset;
}

Result<Listing::Entry> read_entry(const xml::Element& contents, std::string_view prefix) {
  const std::string_view key = contents.text_of("Key");
  const Result<Instant> modified = parse_instant(contents.text_of("LastModified"));
  Listing::Entry entry;
  if (!key.starts_with(prefix) || !modified ||
      !read_number(contents.text_of("Size"), entry.bytes)) {
    return failure(Code::invalid, "an entry without a key, a size or a time");
  }
  entry.name = key.substr(prefix.size());
  entry.modified = *modified;
  return entry;
}

}  // namespace

std::string_view field_of(const HttpAnswer& answer, std::string_view name) {
  for (const HttpField& field : answer.fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

bool is_own(const HttpAnswer& answer) {
  if (answer.status >= 500 || !answer.complete) return false;
  if (!field_of(answer, "x-amz-request-id").empty() || !field_of(answer, "etag").empty())
    return true;
  const Result<xml::Element> body = xml::parse(answer.body);
  if (!body) return false;
  const bool is_error = body->name == "Error" && !body->text_of("Code").empty();
  return is_error || body->name == "ListBucketResult" || body->name == "DeleteResult";
}

Error unanswered(const S3Asked& asked, const Error& error) {
  Error told = error;
  if (!asked.changes) told.outcome = Outcome::not_applied;
  told.message = asked.store + ": " + asked.what + ": " + error.message;
  return told;
}

Result<PutAnswer> read_put(const S3Asked& asked, const HttpAnswer& answer, PutObject::If only) {
  using Verdict = PutAnswer::Verdict;
  const bool has_condition = only != PutObject::If::always;
  switch (answer.status) {
    case 200: {
      const std::string_view tag = field_of(answer, "etag");
      if (!answer.complete) return strange(asked, answer, "it broke off");
      if (!said_in(answer).code.empty()) return strange(asked, answer, "with an error in it");
      if (tag.empty()) return strange(asked, answer, "without an ETag");
      return PutAnswer{.verdict = Verdict::stored, .tag = std::string(tag)};
    }
    case 304:  // an old MinIO
    case 412:
      if (has_condition) return PutAnswer{.verdict = Verdict::exists};
      break;
    case 409:
      return PutAnswer{.verdict = Verdict::busy};
    case 404:
      if (only == PutObject::If::match && said_in(answer).code == "NoSuchKey") {
        return PutAnswer{.verdict = Verdict::gone};
      }
      break;
    default:
      break;
  }
  return std::unexpected(refusal_of(asked, answer));
}

Result<Object> read_object(const S3Asked& asked, HttpAnswer answer, const GetObject& get) {
  const bool has_range = get.offset > 0 || get.bytes > 0;
  if (answer.status == 404 && said_in(answer).code == "NoSuchKey") {
    return failure(Code::not_found, asked.store + ": " + asked.what + ": there is no such object");
  }
  if (answer.status == 416 && has_range) return Object();
  const bool is_part = answer.status == 206 && has_range;
  if (answer.status != 200 && !is_part) return std::unexpected(refusal_of(asked, answer));
  if (!answer.complete) return strange(asked, answer, "it broke off");
  const std::string_view tag = field_of(answer, "etag");
  // What is no object has none: a page of a proxy, an error in a 200.
  if (tag.empty()) return strange(asked, answer, "without an ETag");
  Object object{.tag = std::string(tag)};
  if (!is_part) {
    object.body = part_of(std::move(answer.body), get);
    return object;
  }
  const bool is_asked_part = begins_at(field_of(answer, "content-range"), get.offset) &&
                             (get.bytes == 0 || answer.body.size() <= get.bytes);
  if (!is_asked_part) return strange(asked, answer, "with another part than was asked for");
  object.body = std::move(answer.body);
  return object;
}

Result<Listing> read_listing(const S3Asked& asked, const HttpAnswer& answer,
                             std::string_view prefix) {
  if (answer.status != 200) return std::unexpected(refusal_of(asked, answer));
  const Result<xml::Element> body = xml::parse(answer.body);
  if (!answer.complete || !body || body->name != "ListBucketResult") {
    return strange(asked, answer, "no whole list");
  }
  Listing listing{.more = body->text_of("IsTruncated") == "true"};
  for (const xml::Element& child : body->children) {
    if (child.name != "Contents") continue;
    Result<Listing::Entry> entry = read_entry(child, prefix);
    if (!entry) return strange(asked, answer, entry.error().message);
    // Consoles make an object for the folder itself.
    if (!entry->name.empty()) listing.entries.push_back(*std::move(entry));
  }
  return listing;
}

Result<void> read_removal(const S3Asked& asked, const HttpAnswer& answer) {
  if (answer.status != 200) return std::unexpected(refusal_of(asked, answer));
  const Result<xml::Element> body = xml::parse(answer.body);
  if (!answer.complete || !body || body->name != "DeleteResult") {
    return strange(asked, answer, "no whole result");
  }
  for (const xml::Element& child : body->children) {
    if (child.name != "Error" || child.text_of("Code") == "NoSuchKey") continue;
    const Said said{.code = visible(child.text_of("Code")),
                    .message = visible(child.text_of("Message"))};
    const std::string words =
        told(asked, answer.status, said) + " (" + visible(child.text_of("Key")) + ")";
    const bool is_passing_error = said.code == "InternalError" || is_passing(200, said);
    if (is_passing_error) return std::unexpected(unavailable(asked, words));
    // Others of the same call may have been removed.
    return std::unexpected(Error(Code::refused, Outcome::unknown, words));
  }
  return {};
}

}  // namespace pawl
