// AuditTrail: reads back what an EventSink has taken, a piece at a time.
//
// Why:      whoever looks for the reason of an answer, and whoever watches, reads the log that
//           stands on the disk: there is no second copy to fall behind.
// Contract: records are whole lines as they stand in the log (docs/formats.md), oldest first, and
//           are not checked. A piece is small beside the log, so that a call takes a bounded time.
//           check() is for whether the log is as it was written: one judgement for all who ask.
// Errors:   not_found when there is no log, unavailable when it cannot be read.
// Threads:  one at a time.
// Held by:  adapter/file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/audit/anchor.h"
#include "core/audit/chain.h"
#include "core/audit/verifier.h"
#include "pawl/result.h"

namespace pawl {

struct AuditVerdict {
  audit::Link head = {};  // the last record that is as it was written
  std::uint64_t verified = 0;
  std::optional<audit::Anchor> anchor = {};  // that the log must reach
  std::optional<audit::Flaw> flaw = {};      // the first one; none before all was read
  std::size_t files = 0;
  std::string flawed_file = {};
};

// Holds a log, as it stood when this was opened, against its own hashes and its anchor.
class AuditCheck {
 public:
  virtual ~AuditCheck() = default;
  // Reads on, about so many bytes. False: all was read.
  virtual Result<bool> go_on(std::size_t bytes) = 0;
  virtual const AuditVerdict& verdict() const = 0;
};

class AuditTrail {
 public:
  struct Piece {
    std::string lines = {};  // each with its line feed
    bool at_end = true;      // nothing stands behind it now; of before(): nothing before it
  };

  virtual ~AuditTrail() = default;
  // What stands behind record `seq`, up to `bytes_max` bytes, which must have room for a record.
  virtual Result<Piece> after(std::uint64_t seq, std::size_t bytes_max) = 0;
  // What stands before record `seq`, as much of its end as `bytes_max` bytes hold.
  virtual Result<Piece> before(std::uint64_t seq, std::size_t bytes_max) = 0;
  // The end of the log.
  Result<Piece> last(std::size_t bytes_max) {
    return before(std::numeric_limits<std::uint64_t>::max(), bytes_max);
  }
  virtual Result<std::unique_ptr<AuditCheck>> check() = 0;
};

}  // namespace pawl
