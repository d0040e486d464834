// Any bytes as calls, one behind the other: each is answered, whatever it asks for; and what they
// changed can be read back.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/text.h"
#include "emulator/core/faults.h"
#include "emulator/core/s3_exchange.h"

namespace {

using pawl::take_until;

// "METHOD target\nfield: value\n…\n\nbody", up to a zero.
pawl::emulator::Call call_of(std::string_view text) {
  pawl::emulator::Call call{.number = 1};
  std::string_view line = take_until(text, '\n');
  call.method = take_until(line, ' ');
  call.path = take_until(line, '?');
  call.query = line;
  while (!text.empty() && text.front() != '\n') {
    std::string_view value = take_until(text, '\n');
    const std::string_view name = take_until(value, ':');
    call.fields.push_back({.name = std::string(name), .value = std::string(value)});
  }
  call.body = text;
  return call;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool authenticates = text.starts_with('s');
  pawl::emulator::S3Exchange s3;
  const auto script = pawl::emulator::parse_script(
      authenticates ? "{}" : R"({"settings":{"authentication":false}})");
  PAWL_ASSERT(script && s3.play(*script));
  pawl::emulator::S3Exchange again;
  while (!text.empty()) {
    const auto reply = s3.answer(call_of(take_until(text, '\0')), pawl::Instant());
    PAWL_ASSERT(reply.status >= 200 && reply.status < 600);
    for (const std::string& line : s3.take_changes()) {
      PAWL_ASSERT(line.find('\n') == std::string::npos);
      PAWL_ASSERT(again.restore(line));
    }
  }
  PAWL_ASSERT(pawl::json::print(again.orders()) == pawl::json::print(s3.orders()));
  return 0;
}
