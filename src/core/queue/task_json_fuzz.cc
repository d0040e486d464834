// Any text: the parser of an export must not crash, and what it reads is read back from what is
// written of it.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "core/queue/task_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = pawl::queue::parse_export_line(text);
  if (!read) {
    PAWL_ASSERT(!read.error().message.empty());
    return 0;
  }
  const auto again = pawl::queue::parse_export_line(pawl::queue::export_line(*read));
  PAWL_ASSERT(again && *again == *read);
  (void)pawl::queue::to_lines(read->task);
  return 0;
}
