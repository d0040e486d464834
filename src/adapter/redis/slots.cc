#include "adapter/redis/slots.h"

#include <array>
#include <charconv>
#include <string>

#include "base/address.h"
#include "base/bounds.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

// CRC-16/XMODEM: polynomial 0x1021, begins with 0.
constexpr std::array<std::uint16_t, 256> make_table() {
  std::array<std::uint16_t, 256> table = {};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr std::array<std::uint16_t, 256> crc_table = make_table();

std::uint16_t crc16(std::string_view text) {
  std::uint16_t crc = 0;
  for (const char c : text) {
    const auto index = static_cast<std::uint8_t>((crc >> 8) ^ static_cast<std::uint8_t>(c));
    crc = static_cast<std::uint16_t>((crc << 8) ^ crc_table[index]);
  }
  return crc;
}

std::unexpected<Error> wrong(const Reply& reply) {
  return failure(Code::invalid, "cannot read this answer to CLUSTER SLOTS: " +
                                    to_string(reply).substr(0, bounds::config_excerpt_bytes_max));
}

bool is_slot(const std::int64_t* number) {
  return number != nullptr && *number >= 0 && *number < slots_count;
}

// [first, last, [host, port, …], replicas …]
std::optional<SlotRange> read_range(const Reply& reply, const net::Target& asked) {
  const auto fields = reply.items();
  if (fields.size() < 3 || !is_slot(fields[0].integer()) || !is_slot(fields[1].integer())) {
    return std::nullopt;
  }
  const auto master = fields[2].items();
  if (master.size() < 2 || *fields[0].integer() > *fields[1].integer()) return std::nullopt;
  const std::string* host = master[0].text();
  const std::int64_t* port = master[1].integer();
  if (port == nullptr || *port < 1 || *port > 65'535) return std::nullopt;
  const bool is_same_host = host == nullptr || host->empty() || *host == "?";
  return SlotRange{.first = static_cast<std::uint16_t>(*fields[0].integer()),
                   .last = static_cast<std::uint16_t>(*fields[1].integer()),
                   .master = {.host = is_same_host ? asked.host : *host,
                              .port = static_cast<std::uint16_t>(*port)}};
}

}  // namespace

std::uint16_t key_slot(std::string_view key) {
  const auto open = key.find('{');
  if (open != key.npos) {
    const auto close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % slots_count;
}

std::optional<Redirect> parse_redirect(std::string_view error, const net::Target& asked) {
  const std::string_view word = take_until(error, ' ');
  if (word != "MOVED" && word != "ASK") return std::nullopt;
  const std::string_view number = take_until(error, ' ');
  std::uint16_t slot = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), slot);
  const auto colon = error.rfind(':');
  if (problem != std::errc() || end != number.data() + number.size() || slot >= slots_count ||
      colon == error.npos) {
    return std::nullopt;
  }
  const auto port = parse_port(error.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  const std::string_view host = colon == 0 ? asked.host : error.substr(0, colon);
  return Redirect{
      .ask = word == "ASK", .slot = slot, .target = {.host = std::string(host), .port = *port}};
}

Result<std::vector<SlotRange>> parse_slots(const Reply& reply, const net::Target& asked) {
  if (reply.kind() != Reply::Kind::array || reply.items().size() > slots_count) return wrong(reply);
  std::vector<SlotRange> ranges;
  for (const Reply& item : reply.items()) {
    auto range = read_range(item, asked);
    if (!range) return wrong(reply);
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

}  // namespace pawl::redis
