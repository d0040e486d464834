// Any bytes: the reader must not crash, must hear the same however the bytes are cut, and what it
// hears must survive being framed and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "base/websocket_frame.h"

using namespace pawl::websocket;

static void require(bool condition) {
  if (!condition) std::abort();
}

struct Heard {
  std::vector<Message> messages = {};
  std::optional<CloseCode> error = {};
  bool operator==(const Heard&) const = default;
};

// In pieces of so many bytes.
static Heard hear(std::string_view bytes, From from, std::size_t piece) {
  Heard heard;
  FrameReader reader(from);
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    for (;;) {
      const auto message = reader.feed(part);
      if (!message) {
        heard.error = message.error();
        return heard;
      }
      if (!*message) break;
      require((*message)->payload.size() <= pawl::bounds::websocket_message_bytes_max);
      require((*message)->opcode != Opcode::continuation);
      heard.messages.push_back(**message);
    }
    require(part.empty());
  }
  return heard;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const From from = data[0] % 2 == 0 ? From::client : From::server;
  const Heard whole = hear(bytes, from, bytes.size() + 1);
  require(hear(bytes, from, 1) == whole);
  require(hear(bytes, from, 1 + data[0] / 2) == whole);
  for (const Message& message : whole.messages) {
    const Mask mask = {data[0], 1, 2, 3};
    const std::string again = frame(message.opcode, message.payload, mask);
    const Heard reread = hear(again, From::client, again.size());
    require(reread.messages == std::vector<Message>{message} && !reread.error);
  }
  return 0;
}
