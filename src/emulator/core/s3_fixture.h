// What the tests of the emulated S3 share: calls that are signed as it asks for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "emulator/core/exchange.h"
#include "emulator/core/s3_gate.h"
#include "emulator/core/s3_settings.h"

namespace pawl::emulator {

inline const Instant s3_now = parse_instant("2026-01-25T21:15:00.500Z").value();

struct S3CallOptions {
  S3Settings settings = {};  // by whose keys and region
  Instant now = s3_now;
  std::string payload_hash = {};  // empty: the body's
};

// `target` is as it stands in a request's first line.
inline Call unsigned_s3_call(std::string method, std::string_view target, std::string body = {},
                             std::vector<Field> fields = {}) {
  Call call{.number = 1, .method = std::move(method), .fields = std::move(fields)};
  call.path = take_until(target, '?');
  call.query = target;
  call.body = std::move(body);
  call.fields.push_back({.name = "host", .value = "127.0.0.1:9000"});
  return call;
}

inline Call signed_s3_call(Call call, const S3CallOptions& options = {}) {
  const std::string hash =
      options.payload_hash.empty() ? to_hex(sha256(call.body)) : options.payload_hash;
  call.fields.push_back({.name = "x-amz-content-sha256", .value = hash});
  call.fields.push_back({.name = "x-amz-date", .value = aws::amz_date(options.now)});
  const aws::Credentials& keys = options.settings.credentials;
  if (!keys.session_token.empty()) {
    call.fields.push_back({.name = "x-amz-security-token", .value = keys.session_token.reveal()});
  }
  const S3Target target = s3_target(call).value();
  aws::Call signing{.method = call.method,
                    .path = "/" + target.bucket + (target.key.empty() ? "" : "/" + target.key),
                    .query = target.query,
                    .payload_hash = hash};
  for (const Field& field : call.fields) signing.fields.push_back({field.name, field.value});
  call.fields.push_back(
      {.name = "authorization",
       .value = aws::authorization(keys, {.region = options.settings.region, .time = options.now},
                                   signing)});
  return call;
}

}  // namespace pawl::emulator
