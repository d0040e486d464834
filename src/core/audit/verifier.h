// Verifier: reads an audit log from its beginning and names the first record that is not as it was
// written, and what became of it.
//
// Contract: pure. The bytes come in order, in pieces of any size; how they are cut makes no
//           difference. A log may consist of several files, of which each goes on where the one
//           before it ended. One that was cut between two records is a shorter log without a flaw,
//           unless expect() says what must be in it.
// Bounds:   holds at most one record beside the piece it is given.
// Threads:  none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/audit/anchor.h"
#include "core/audit/chain.h"

namespace pawl::audit {

enum class Fault : std::uint8_t {
  changed,   // the text is not the one that was hashed, or does not follow the record before it
  missing,   // one or more records are gone
  swapped,   // a record stands after a later one
  repeated,  // a record stands a second time
  cut,       // the last line of a file does not end
};
std::string_view to_string(Fault fault);

struct Flaw {
  Fault fault;
  std::size_t part;     // which file, counted from 0
  std::uint64_t line;   // of that file, counted from 1
  std::string message;  // a sentence with the line in it
};

class Verifier {
 public:
  // Where the bytes begin: with the log, or with one of its later files.
  enum class From : std::uint8_t { first_record, any_record };
  explicit Verifier(From from = From::first_record) : from_(from) {}

  // This record must be found. To be called before the first bytes come.
  void expect(Anchor anchor) { anchor_ = std::move(anchor); }

  void take(std::string_view bytes);
  // The bytes that come now are of the next file.
  void next_part();
  // No more bytes come: the first flaw, or none.
  std::optional<Flaw> finish();
  // The last record before the flaw, or of the log.
  const Link& head() const { return head_; }
  // How many records stand before the flaw, or in all.
  std::uint64_t verified() const { return verified_; }

 private:
  void take_line(std::string_view line);
  void end_part();
  void found(Fault fault, std::string what);

  From from_;
  Link head_;
  std::optional<Anchor> anchor_;
  std::size_t part_ = 0;
  std::uint64_t verified_ = 0;
  std::uint64_t line_ = 0;
  std::string partial_;
  std::optional<Flaw> flaw_;
};

}  // namespace pawl::audit
