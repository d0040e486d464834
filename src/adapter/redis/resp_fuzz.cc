// Any bytes, cut anywhere: the same replies as in one piece, and the slots and redirections in them
// are within their range.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "adapter/redis/resp.h"
#include "adapter/redis/slots.h"
#include "base/assert.h"

namespace {

using namespace pawl::redis;

std::vector<Reply> read(std::string_view bytes, std::size_t piece) {
  ReplyReader reader;
  std::vector<Reply> replies;
  while (true) {
    auto reply = reader.next();
    if (!reply) break;
    if (*reply) {
      replies.push_back(std::move(**reply));
    } else if (bytes.empty()) {
      break;
    } else {
      reader.feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
  }
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = 1 + data[0] % 32u;
  const auto replies = read(text.substr(1), text.size());
  PAWL_ASSERT(replies == read(text.substr(1), piece));
  const pawl::net::Target asked{.host = "asked", .port = 1};
  for (const Reply& reply : replies) {
    if (const auto ranges = parse_slots(reply, asked)) {
      for (const SlotRange& range : *ranges) {
        PAWL_ASSERT(range.first <= range.last && range.last < slots_count);
        PAWL_ASSERT(!range.master.host.empty() && range.master.port != 0);
      }
    }
    if (reply.text() == nullptr) continue;
    PAWL_ASSERT(key_slot(*reply.text()) < slots_count);
    if (const auto redirect = parse_redirect(*reply.text(), asked)) {
      PAWL_ASSERT(redirect->slot < slots_count && redirect->target.port != 0);
      PAWL_ASSERT(!redirect->target.host.empty());
    }
  }
  return 0;
}
