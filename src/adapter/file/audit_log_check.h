// AuditLogCheck: whether an audit log on disk is as it was written. What `pawl audit verify` says,
// and the panel.
//
// Contract: AuditCheck, over all files of the log, which must begin with its first record and reach
//           its anchor. One full part alone (AuditLog) may begin with any record, and must end with
//           the one that it is named after.
// Errors:   those of AuditLog.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "adapter/file/audit_log.h"
#include "port/audit_trail.h"

namespace pawl {

class AuditLogCheck final : public AuditCheck {
 public:
  // `noted`: an anchor that was kept elsewhere, in place of the log's own.
  static Result<std::unique_ptr<AuditLogCheck>> open(const std::string& path,
                                                     std::optional<audit::Anchor> noted = {});

  Result<bool> go_on(std::size_t bytes) override;
  const AuditVerdict& verdict() const override { return verdict_; }

 private:
  AuditLogCheck(AuditLog log, std::optional<audit::Anchor> noted);
  void finish();

  AuditLog log_;
  audit::Verifier verifier_;
  AuditVerdict verdict_;
  std::size_t part_ = 0;  // what is read now, and how far it was
  std::int64_t at_ = 0;
};

}  // namespace pawl
