// ListObjectsV2 of the emulated S3: a page of a bucket's keys.
//
// Contract: pure. prefix, delimiter, start-after, continuation-token, max-keys and encoding-type
//           are known; a parameter that is not is refused.
#pragma once

#include <expected>
#include <string>

#include "emulator/core/s3_gate.h"
#include "emulator/core/s3_replies.h"
#include "emulator/core/s3_shelf.h"

namespace pawl::emulator {

std::expected<Reply, S3Refusal> s3_listing(const S3Target& target, const S3Shelf::Objects& objects);

// As S3 shows it: in whole seconds.
std::string s3_time(Instant instant);

}  // namespace pawl::emulator
