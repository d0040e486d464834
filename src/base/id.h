// Identifiers. Randomness comes in as an argument (port Entropy): the same inputs give the same id.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pawl/time.h"

namespace pawl {

using Entropy16 = std::array<std::uint8_t, 16>;

// The first eight bytes as a number, for hashes that strangers must not foresee.
std::uint64_t seed_of(const Entropy16& entropy);

// UUID version 7 (RFC 9562): sorts by its time in milliseconds.
std::string uuid_v7(Instant now, const Entropy16& entropy);
void append_uuid_v7(std::string& out, Instant now, const Entropy16& entropy);

// The name of one wire attempt: {external_reference}_{operation}_{timestamp_ms}_{uuid8}.
std::string request_id(std::string_view external_reference, std::string_view operation, Instant now,
                       const Entropy16& entropy);

}  // namespace pawl
