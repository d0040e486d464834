// The hash chain of the audit log: every record carries the hash of the record before it, so that
// one that was changed, removed or moved can be named afterwards.
//
//   draft()      an event's text before it has a place in the chain. Whoever appends makes it, on
//                their own thread; the one who links has little left to do.
//   Chain        gives drafts their places, one after the other.
//   read_link()  reads a record back and checks its hash.
//
// Format:   docs/formats.md, "Audit log".
// Contract: pure. A draft that draft() gave can always be read back with read_link(). What looks
//           like a credential in an event's texts is masked (base/scrub.h).
// Limits:   the hash has no key. It shows damage and careless edits; whoever may write the file
//           can also write a new chain from any record on. A head noted elsewhere shows that too.
// Bounds:   a record takes at most bounds::audit_event_bytes_max bytes; a larger event is an
//           error.
// Threads:  none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/audit/event.h"
#include "pawl/result.h"

namespace pawl::audit {

// A record's place in the chain. By default the place before the first record.
struct Link {
  std::uint64_t seq = 0;
  std::string prev;                         // hexadecimal, as it stands in the record
  std::string hash = std::string(64, '0');  //
  bool operator==(const Link&) const = default;
};

// The record without its members hash, prev and seq, and where in the text these belong.
struct Draft {
  std::string text;
  std::size_t hash_at = 0;
  std::size_t prev_at = 0;
  std::size_t seq_at = 0;
};
Result<Draft> draft(const Event& event);

// A text of an event in quotes. Events quote what callers and failures said, who may say what they
// should not: credentials are masked.
void append_text(std::string& out, std::string_view text);

class Chain {
 public:
  Chain() = default;
  // Goes on after a record that stands already.
  explicit Chain(Link head) : head_(std::move(head)) {}

  // Appends the finished record and its line feed to `out`.
  void link(const Draft& draft, std::string& out);

  // The last record.
  const Link& head() const { return head_; }

 private:
  std::size_t link_at(const Draft& draft, char* begin);

  Link head_;
};

// One record, without its line feed. The error says why the text is none, or that it was changed.
Result<Link> read_link(std::string_view line);

}  // namespace pawl::audit
