// Signatures of AWS, version 4: what S3 and its kin believe a call by.
//
// Contract: pure. A call is signed as it is here, in plain text: path and query are encoded by
//           these functions, and must leave in that form (encoded_path, canonical_query). What is
//           signed is all of `fields`, which need `host` and `x-amz-date`.
//           No part of what is given back, but for the signing key, tells the secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/sha256.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::aws {

struct Credentials {
  std::string access_key = {};
  Secret<std::string> secret_key = {};
  Secret<std::string> session_token = {};  // empty: none
};

inline constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

struct Pair {
  std::string name = {};
  std::string value = {};
  auto operator<=>(const Pair&) const = default;
};

struct Call {
  std::string method = {};
  std::string path = "/";         // not encoded
  std::vector<Pair> query = {};   // not encoded
  std::vector<Pair> fields = {};  // names in lower case
  std::string payload_hash = {};  // in hex, or unsigned_payload
};

// For whom, and when, a signature is good.
struct Scope {
  std::string region = {};
  std::string service = "s3";
  Instant time = {};
};
// "20130524/us-east-1/s3/aws4_request"
std::string to_string(const Scope& scope);

// "20130524T000000Z"
std::string amz_date(Instant instant);
Result<Instant> parse_amz_date(std::string_view text);

std::string encoded_path(std::string_view path);
// Sorted and encoded: "delete=&prefix=a%2Fb".
std::string canonical_query(const std::vector<Pair>& query);
// "host;range;x-amz-date"
std::string signed_fields(const Call& call);
std::string canonical_request(const Call& call);
std::string string_to_sign(const Scope& scope, std::string_view canonical);
// In hex.
std::string signature(const Secret<std::string>& secret_key, const Scope& scope,
                      std::string_view to_sign);

// The value of the field Authorization.
std::string authorization(const Credentials& credentials, const Scope& scope, const Call& call);

}  // namespace pawl::aws
