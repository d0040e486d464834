// Any bytes, as a field or as correlation, give exactly one line of clean UTF-8 in both formats,
// and the JSON line reads back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/json.h"
#include "base/utf8.h"
#include "log/format.h"

namespace {

void check_one_clean_line(std::string_view line) {
  while (!line.empty()) {
    const auto [code, bytes] = pawl::first_utf8_character(line);
    PAWL_ASSERT(bytes > 0);
    PAWL_ASSERT(code >= 0x20 && (code < 0x7F || code > 0x9F));
    PAWL_ASSERT(code != 0x2028 && code != 0x2029);
    line.remove_prefix(bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pawl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Correlation correlation = {.tenant_id = std::string(bytes)};
  const log::Field fields[] = {{"value", bytes}, {"after", 1}};
  const log::Line line = {Instant(), log::Level::info, "fuzzed", fields, correlation};
  check_one_clean_line(log::format(line, log::Format::text));
  const std::string as_json = log::format(line, log::Format::json);
  check_one_clean_line(as_json);
  const auto parsed = json::parse(as_json);
  PAWL_ASSERT(parsed.has_value());
  PAWL_ASSERT(parsed->find("value")->if_string() != nullptr);
  PAWL_ASSERT(*parsed->find("after") == json::Value(1));
  return 0;
}
