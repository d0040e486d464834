// A call to S3 as the HTTP request that leaves: its address, its fields, its signature.
//
// Contract: pure. All fields are signed, and the body by its hash, so nothing can be changed on
//           the way, over http either. Keys are nowhere but in the signature.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapter/s3/s3_access.h"
#include "base/s3_url.h"
#include "base/sign_v4.h"
#include "port/http_client.h"

namespace pawl {

struct S3Ask {
  std::string method = "GET";
  std::string key = {};  // of an object, prefix included; empty: the bucket
  std::vector<aws::Pair> query = {};
  std::vector<aws::Pair> fields = {};  // names in lower case
  std::string body = {};
};

// "a/b" as a key of the store: "prefix/a/b".
std::string s3_key(const S3Url& url, std::string_view name);

// Deadlines and bounds of the answer are the caller's to set.
HttpRequest s3_request(const S3Url& url, const S3Access& access, S3Ask ask, Instant now);

}  // namespace pawl
