// What can be set of the emulated S3: its keys, its buckets, and how it differs from the real one.
//
// Contract: pure. parse_s3_settings() takes the "settings" of a script (faults.h); what is not
//           named keeps its default, what is not known is refused. Keys here are made up and guard
//           nothing, yet they are secrets: whoever copies real ones in must not find them in a log.
#pragma once

#include <set>
#include <string>

#include "base/json.h"
#include "base/sign_v4.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

// How a tag must stand in If-Match.
enum class S3Tags : std::uint8_t { quoted, bare, any };

struct S3Settings {
  aws::Credentials credentials = {.access_key = "emulated-key",
                                  .secret_key = Secret<std::string>("emulated-secret")};
  bool authenticates = true;
  std::string region = "us-east-1";
  Duration clock_window = Duration::minutes(15);
  std::set<std::string> buckets = {"pawl"};  // that are there without being made
  bool keeps_conditions = true;  // false: conditions on writes are passed over, by a broken store
  S3Tags tags = S3Tags::quoted;
};

Result<S3Settings> parse_s3_settings(const json::Value& settings);

}  // namespace pawl::emulator
