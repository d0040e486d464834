// HMAC with SHA-256 (RFC 2104): signs what others are to believe.
#pragma once

#include <string_view>

#include "base/sha256.h"

namespace pawl {

Digest hmac_sha256(std::string_view key, std::string_view message);

}  // namespace pawl
