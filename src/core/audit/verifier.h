// Verifier: reads an audit log from its beginning and names the first record that is not as it was
// written, and what became of it.
//
// Contract: pure. The bytes come in order, in pieces of any size; how they are cut makes no
//           difference. A log that was cut between two records is a shorter log without a flaw:
//           compare head() with one noted earlier.
// Bounds:   holds at most one record beside the piece it is given.
// Threads:  none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/audit/chain.h"

namespace pawl::audit {

enum class Fault : std::uint8_t {
  changed,   // the text is not the one that was hashed, or does not follow the record before it
  missing,   // one or more records are gone
  swapped,   // a record stands after a later one
  repeated,  // a record stands a second time
  cut,       // the last line does not end
};
std::string_view to_string(Fault fault);

struct Flaw {
  Fault fault;
  std::uint64_t line;   // counted from 1
  std::string message;  // a sentence with the line in it
};

class Verifier {
 public:
  void take(std::string_view bytes);
  // No more bytes come: the first flaw, or none.
  std::optional<Flaw> finish();
  // The last record before the flaw, or of the log.
  const Link& head() const { return head_; }

 private:
  void take_line(std::string_view line);
  void found(Fault fault, std::string what);

  Link head_;
  std::uint64_t line_ = 0;
  std::string partial_;
  std::optional<Flaw> flaw_;
};

}  // namespace pawl::audit
