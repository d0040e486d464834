// Any text as a redirection, and any tree of replies as a map of slots: what is read is within its
// range, never without a host, and reads the same when it is written down again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "adapter/redis/slots.h"
#include "base/assert.h"

namespace {

using namespace pawl::redis;

const pawl::net::Target asked{.host = "asked", .port = 1};

// Builds a reply out of bytes. RESP itself is resp_fuzz's; here each byte is to change the tree.
class Builder {
 public:
  explicit Builder(std::string_view bytes) : bytes_(bytes) {}

  Reply reply(int depth = 0) {
    const unsigned byte = take();
    switch (byte % 8) {
      case 0:
        return Reply();
      case 1:
        return Reply(static_cast<std::int64_t>(take() << 8 | take()));  // slots and ports
      case 2:
        return Reply(-static_cast<std::int64_t>(take()) << (byte / 8));
      case 3:
        return Reply(Reply::Kind::error, text(byte / 8));
      case 4:
        return Reply(Reply::Kind::string, text(byte / 8));
      default:
        break;
    }
    std::vector<Reply> items;
    for (unsigned i = 0; i < byte / 8 && depth < 4 && !bytes_.empty(); ++i) {
      items.push_back(reply(depth + 1));
    }
    return Reply(std::move(items));
  }

 private:
  unsigned take() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  std::string text(std::size_t size) {
    const std::string_view found = bytes_.substr(0, size);
    bytes_.remove_prefix(found.size());
    return std::string(found);
  }

  std::string_view bytes_;
};

void check_redirect(std::string_view text) {
  PAWL_ASSERT(key_slot(text) < slots_count);
  const auto found = parse_redirect(text, asked);
  if (!found) return;
  PAWL_ASSERT(found->slot < slots_count);
  PAWL_ASSERT(found->target.port != 0 && !found->target.host.empty());
  const std::string again = std::string(found->ask ? "ASK " : "MOVED ") +
                            std::to_string(found->slot) + " " + found->target.host + ":" +
                            std::to_string(found->target.port);
  PAWL_ASSERT(parse_redirect(again, asked) == found);
}

void check_slots(const Reply& reply) {
  const auto found = parse_slots(reply, asked);
  if (!found) {
    PAWL_ASSERT(found.error().code == pawl::Code::invalid);
    return;
  }
  PAWL_ASSERT(found->size() == reply.items().size());
  std::vector<Reply> again;
  for (const SlotRange& range : *found) {
    PAWL_ASSERT(range.first <= range.last && range.last < slots_count);
    PAWL_ASSERT(range.master.port != 0 && !range.master.host.empty());
    std::vector<Reply> master = {Reply(Reply::Kind::string, range.master.host),
                                 Reply(std::int64_t{range.master.port})};
    again.emplace_back(std::vector<Reply>{Reply(std::int64_t{range.first}),
                                          Reply(std::int64_t{range.last}),
                                          Reply(std::move(master))});
  }
  PAWL_ASSERT(parse_slots(Reply(std::move(again)), asked).value() == *found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_redirect(bytes);
  check_slots(Builder(bytes).reply());
  return 0;
}
