#include "base/id.h"

#include <algorithm>
#include <cstring>

#include "base/sha256.h"
#include "base/text.h"

namespace pawl {
namespace {

// A clock set before 1970 is wrong anyway; it must not put a sign into an identifier.
std::int64_t milliseconds_since_epoch(Instant now) {
  return std::max<std::int64_t>(now.ns(), 0) / 1'000'000;
}

}  // namespace

std::uint64_t seed_of(const Entropy16& entropy) {
  std::uint64_t seed = 0;
  for (const std::uint8_t byte : std::span(entropy).first(8)) seed = seed << 8 | byte;
  return seed;
}

std::string uuid_v7(Instant now, const Entropy16& entropy) {
  std::string text;
  append_uuid_v7(text, now, entropy);
  return text;
}

void append_uuid_v7(std::string& out, Instant now, const Entropy16& entropy) {
  const std::int64_t ms = milliseconds_since_epoch(now);
  Entropy16 bytes = entropy;
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0F));  // version
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));  // variant
  // Every request gets one: the digits are written side by side, and then moved apart.
  constexpr std::size_t dashes = 4;
  const std::size_t begin = out.size();
  append_hex(out, bytes);
  out.append(dashes, '-');
  char* const text = out.data() + begin;
  std::memmove(text + 24, text + 20, 12);
  std::memmove(text + 19, text + 16, 4);
  std::memmove(text + 14, text + 12, 4);
  std::memmove(text + 9, text + 8, 4);
  for (const int at : {8, 13, 18, 23}) text[at] = '-';
}

std::string request_id(std::string_view external_reference, std::string_view operation, Instant now,
                       const Entropy16& entropy) {
  std::string id(external_reference);
  id.append("_").append(operation).append("_");
  append_number(id, milliseconds_since_epoch(now));
  return id.append("_").append(to_hex(std::span(entropy).first(4)));
}

}  // namespace pawl
