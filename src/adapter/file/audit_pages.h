// AuditPages: an audit log on disk, read a piece at a time from any of its records on.
//
// Contract: AuditTrail, over all files of the log (log_files.h). A record is found by its number in
//           as many steps as the file's size has bits; the next piece begins where the last one
//           ended. A record that is not whole yet is left for the next time. Files that an operator
//           has taken away are passed over.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapter/file/descriptor.h"
#include "port/audit_trail.h"

namespace pawl {

class AuditPages final : public AuditTrail {
 public:
  explicit AuditPages(std::string path) : path_(std::move(path)) {}

  Result<Piece> after(std::uint64_t seq, std::size_t bytes_max) override;
  Result<Piece> before(std::uint64_t seq, std::size_t bytes_max) override;
  Result<std::unique_ptr<AuditCheck>> check() override;

 private:
  // Where a record ends.
  struct Place {
    std::uint64_t file = 0;  // its number on the disk
    std::uint64_t seq = 0;
    std::int64_t offset = 0;
  };
  struct Part {
    std::string path;
    bool is_last = false;  // of the log, as it was listed
  };

  Result<Part> part_behind(std::uint64_t seq) const;
  static Result<Piece> read_before(const std::vector<std::string>& parts, std::uint64_t seq,
                                   std::size_t bytes_max);
  Result<Piece> read_behind(const Part& part, std::uint64_t seq, std::size_t bytes_max);

  std::string path_;
  std::optional<Place> place_;  // of the piece that was read last
};

}  // namespace pawl
