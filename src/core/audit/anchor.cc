#include "core/audit/anchor.h"

#include <charconv>

#include "base/text.h"

namespace pawl::audit {

std::string anchor_text(const Link& link) {
  std::string text;
  text.append("{\"hash\":\"").append(link.hash).append("\",\"seq\":");
  append_number(text, link.seq);
  return text.append("}\n");
}

Result<Anchor> read_anchor(std::string_view text) {
  constexpr std::size_t hash_at = 9;  // behind {"hash":"
  constexpr std::size_t hash_digits = 64;
  constexpr std::size_t seq_at = hash_at + hash_digits + 8;  // behind ","seq":
  Link link;
  if (text.size() > seq_at && text.size() <= anchor_bytes_max) {
    link.hash = text.substr(hash_at, hash_digits);
    const char* end = text.data() + text.size();
    (void)std::from_chars(text.data() + seq_at, end, link.seq);
  }
  // It has one spelling, so whatever was understood must read like this.
  if (link.seq == 0 || link.hash.find_first_not_of("0123456789abcdef") != std::string::npos ||
      anchor_text(link) != text) {
    return failure(Code::invalid, "it is no anchor: one line {\"hash\":\"…\",\"seq\":N} is");
  }
  return Anchor{.seq = link.seq, .hash = std::move(link.hash)};
}

}  // namespace pawl::audit
