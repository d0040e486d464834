// S3Url: a place in an S3 store, as one line of a configuration says it.
//
//   s3://BUCKET[/PREFIX][?endpoint=http://HOST[:PORT]][&region=REGION][&etag=bare]
//
//   endpoint  a store that is not AWS, by http or https. Its objects are asked for by path
//             (endpoint/BUCKET/…), those of AWS at https://BUCKET.s3.REGION.amazonaws.com.
//   region    what calls are signed for; else the environment says it (AWS_REGION).
//   etag      bare: If-Match is sent without quotes, which Ceph's radosgw wants, unlike S3.
//
// Contract: pure. Keys never stand in a URL: one that seems to have any is refused, and not
//           repeated.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

struct S3Url {
  std::string bucket = {};
  std::string prefix = {};    // without a / at its ends; empty: the whole bucket
  std::string endpoint = {};  // "http://host[:port]", in lower case; empty: AWS
  std::string region = {};    // empty: nothing was said
  bool bare_etags = false;

  bool operator==(const S3Url&) const = default;
};

Result<S3Url> parse_s3_url(std::string_view text);
// For people: "s3://bucket/prefix at http://host:9000".
std::string to_string(const S3Url& url);

}  // namespace pawl
