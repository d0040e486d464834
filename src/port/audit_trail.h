// AuditTrail: reads back what an EventSink has taken, a piece at a time.
//
// Why:      whoever looks for the reason of an answer, and whoever watches, reads the log that
//           stands on the disk: there is no second copy to fall behind.
// Contract: records are whole lines as they stand in the log (docs/formats.md), oldest first, and
//           are not checked. A piece is small beside the log, so that a call takes a bounded time.
// Errors:   not_found when there is no log, unavailable when it cannot be read.
// Threads:  one at a time.
// Held by:  adapter/file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pawl/result.h"

namespace pawl {

class AuditTrail {
 public:
  struct Piece {
    std::string lines = {};  // each with its line feed
    bool at_end = true;      // nothing stands behind it now
  };

  virtual ~AuditTrail() = default;
  // What stands behind record `seq`, up to `bytes_max` bytes, which must have room for a record.
  virtual Result<Piece> after(std::uint64_t seq, std::size_t bytes_max) = 0;
  // The end of the log, up to `bytes_max` bytes.
  virtual Result<Piece> last(std::size_t bytes_max) = 0;
};

}  // namespace pawl
