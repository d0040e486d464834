// QueueUrl: where a queue is, as one line of a configuration says it.
//
//   dir:PATH                         a folder
//   s3://BUCKET/PREFIX?endpoint=…    a bucket (s3_url.h)
//   http://HOST[:PORT][,HOST…]       brokers, or https; tried in this order
//     …?store=URL                    and where their queue is, for when none of them answers: one
//                                    of the first two, as it stands, to the end of the line
//   memory:                          ends with whoever opened it
//
// Contract: pure. The error says what was found and what there is. Keys never stand in a URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/s3_url.h"
#include "pawl/result.h"

namespace pawl {

struct QueueUrl {
  enum class Kind : std::uint8_t { directory, s3, broker, memory };
  Kind kind = Kind::directory;
  std::string path = {};                  // directory
  S3Url s3 = {};                          // s3
  std::vector<std::string> brokers = {};  // "http://host:port", one at the least
  std::string store = {};                 // behind the brokers: dir: or s3://; empty: none

  bool operator==(const QueueUrl&) const = default;
};

Result<QueueUrl> parse_queue_url(std::string_view text);

}  // namespace pawl
