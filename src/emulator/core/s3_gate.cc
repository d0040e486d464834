#include "emulator/core/s3_gate.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/md5.h"
#include "base/percent.h"
#include "base/text.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

// The parts of an Authorization field.
struct Claim {
  std::string access_key;
  std::string scope;  // "20130524/us-east-1/s3/aws4_request"
  std::string fields;
  std::string signature;
};

std::optional<Claim> claim_of(std::string_view text) {
  if (!text.starts_with(aws::algorithm)) return std::nullopt;
  text.remove_prefix(aws::algorithm.size());
  Claim claim;
  while (!text.empty()) {
    std::string_view value = trim_blanks(take_until(text, ','));
    const std::string_view name = take_until(value, '=');
    if (name == "Credential") {
      claim.access_key = take_until(value, '/');
      claim.scope = value;
    } else if (name == "SignedHeaders") {
      claim.fields = value;
    } else if (name == "Signature") {
      claim.signature = value;
    } else {
      return std::nullopt;
    }
  }
  const bool is_whole = !claim.access_key.empty() && !claim.scope.empty() &&
                        !claim.fields.empty() && !claim.signature.empty();
  return is_whole ? std::optional(std::move(claim)) : std::nullopt;
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) names.emplace_back(take_until(list, ';'));
  return names;
}

// All that must be signed is.
bool covers(const std::vector<std::string>& names, const Call& call) {
  const auto is_signed = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  return is_signed("host") && std::ranges::all_of(call.fields, [&](const Field& found) {
           return !found.name.starts_with("x-amz-") || is_signed(found.name);
         });
}

S3Refusal check_keys(const S3Settings& settings, const Claim& claim, const Call& call) {
  if (claim.access_key != settings.credentials.access_key) {
    return {.code = "InvalidAccessKeyId",
            .message = "The AWS Access Key Id you provided does not exist in our records."};
  }
  const std::string& token = settings.credentials.session_token.reveal();
  if (!equal_in_constant_time(field(call, "x-amz-security-token"), token)) {
    return {.code = "InvalidToken",
            .message = "The provided token is malformed or otherwise invalid."};
  }
  return {};
}

S3Refusal check_time(const S3Settings& settings, const Result<Instant>& signed_at, Instant now) {
  if (!signed_at) {
    return {.code = "AccessDenied",
            .message = "AWS authentication requires a valid Date or x-amz-date header"};
  }
  const Duration apart = *signed_at < now ? now - *signed_at : *signed_at - now;
  if (apart <= settings.clock_window) return {};
  return {.code = "RequestTimeTooSkewed",
          .message = "The difference between the request time and the current time is too large."};
}

S3Refusal check_body(const Call& call) {
  const std::string_view hash = field(call, "x-amz-content-sha256");
  if (hash.empty()) {
    return {.code = "InvalidRequest",
            .message = "Missing required header for this request: x-amz-content-sha256"};
  }
  if (hash.starts_with("STREAMING-")) {
    return {.code = "NotImplemented",
            .message = "A body signed in pieces is not implemented here: sign it as a whole."};
  }
  if (hash != aws::unsigned_payload && hash != to_hex(sha256(call.body))) {
    return {.code = "XAmzContentSHA256Mismatch",
            .message =
                "The provided 'x-amz-content-sha256' header does not match what was "
                "computed."};
  }
  const std::string_view sum = field(call, "content-md5");
  if (!sum.empty() && sum != to_base64(md5(call.body))) {
    return {.code = "BadDigest",
            .message = "The Content-MD5 you specified did not match what we received."};
  }
  return {};
}

// What the client should have signed.
aws::Call signed_call(const Call& call, const S3Target& target,
                      const std::vector<std::string>& names) {
  aws::Call signing{.method = call.method,
                    .path = percent_decoded(call.path).value_or(""),
                    .query = target.query,
                    .payload_hash = std::string(field(call, "x-amz-content-sha256"))};
  for (const Field& found : call.fields) {
    if (std::ranges::find(names, found.name) == names.end()) continue;
    signing.fields.push_back({.name = found.name, .value = found.value});
  }
  return signing;
}

S3Refusal check_signature(const S3Settings& settings, const Claim& claim, const Call& call) {
  const std::vector<std::string> names = names_in(claim.fields);
  if (!covers(names, call)) {
    return {.code = "AccessDenied",
            .message = "There were headers present in the request which were not signed"};
  }
  const aws::Scope scope{
      .region = settings.region,
      .time = aws::parse_amz_date(field(call, "x-amz-date")).value_or(Instant())};
  if (claim.scope != to_string(scope)) {
    return {.code = "AuthorizationHeaderMalformed",
            .message = "The authorization header is malformed; the scope must be '" +
                       to_string(scope) + "'"};
  }
  const std::optional<S3Target> target = s3_target(call);
  const std::string canonical = aws::canonical_request(signed_call(call, *target, names));
  const std::string expected =
      aws::signature(settings.credentials.secret_key, scope, aws::string_to_sign(scope, canonical));
  if (equal_in_constant_time(expected, claim.signature)) return {};
  return {.code = "SignatureDoesNotMatch",
          .message =
              "The request signature we calculated does not match the signature you "
              "provided. Check your key and signing method.",
          .note = "signed here: " + canonical};
}

}  // namespace

std::optional<std::string> S3Target::parameter(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &aws::Pair::name);
  return found == query.end() ? std::nullopt : std::optional(found->value);
}

std::optional<S3Target> s3_target(const Call& call) {
  const std::optional<std::string> path = percent_decoded(call.path);
  if (!path || !path->starts_with('/')) return std::nullopt;
  std::string_view rest = std::string_view(*path).substr(1);
  S3Target target;
  target.bucket = take_until(rest, '/');
  target.key = rest;
  std::string_view query = call.query;
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    const auto name = percent_decoded(take_until(value, '='));
    const auto decoded = percent_decoded(value);
    if (!name || !decoded) return std::nullopt;
    target.query.push_back({.name = *name, .value = *decoded});
  }
  return target;
}

S3Refusal check_s3_call(const S3Settings& settings, const Call& call, Instant now) {
  if (!settings.authenticates) return {};
  const std::string_view text = field(call, "authorization");
  if (text.empty()) return {.code = "AccessDenied", .message = "Access Denied"};
  const std::optional<Claim> claim = claim_of(text);
  if (!claim) {
    return {.code = "AuthorizationHeaderMalformed",
            .message = "The authorization header that you provided is not valid."};
  }
  if (S3Refusal refusal = check_keys(settings, *claim, call); refusal.refuses()) return refusal;
  const Result<Instant> signed_at = aws::parse_amz_date(field(call, "x-amz-date"));
  if (S3Refusal refusal = check_time(settings, signed_at, now); refusal.refuses()) return refusal;
  if (S3Refusal refusal = check_signature(settings, *claim, call); refusal.refuses()) {
    return refusal;
  }
  return check_body(call);
}

}  // namespace pawl::emulator
