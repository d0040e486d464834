#include "core/queue/cut.h"

#include <algorithm>

#include "base/text.h"

namespace pawl::queue {

std::string cut(std::string_view text, std::size_t most) {
  return cut(text, most, text.size());
}

std::string cut(std::string_view text, std::size_t most, std::uint64_t had) {
  if (had <= text.size() && text.size() <= most) return std::string(text);
  std::string note = " … (cut: it had ";
  append_number(note, had);
  note += " bytes)";
  std::size_t end = std::min(most - note.size(), text.size());
  const auto continues = [&] {
    return end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
  };
  while (end > 0 && continues()) --end;
  return std::string(text.substr(0, end)) + note;
}

}  // namespace pawl::queue
