// The gate of the emulated S3: is a call signed by the key, for this region and service, at about
// this time, and is its body what was signed?
//
// Contract: pure. Stricter than S3: there is no anonymous call, no URL with a signature in it, no
//           signature of a stream in pieces. A signature that does not match is told with what was
//           signed here, in S3Refusal::note: whoever writes a client compares it with his own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/s3_replies.h"
#include "emulator/core/s3_settings.h"

namespace pawl::emulator {

// A call's address, decoded.
struct S3Target {
  std::string bucket = {};  // empty: the service
  std::string key = {};     // empty: the bucket
  std::vector<aws::Pair> query = {};

  // The value of a parameter; none when it is not there.
  std::optional<std::string> parameter(std::string_view name) const;
};
// None: what is behind a % is no number.
std::optional<S3Target> s3_target(const Call& call);

// Refuses nothing when all is well.
S3Refusal check_s3_call(const S3Settings& settings, const Call& call, Instant now);

}  // namespace pawl::emulator
