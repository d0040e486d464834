#include "adapter/file/audit_log_check.h"

#include <utility>

namespace pawl {

using audit::Verifier;

AuditLogCheck::AuditLogCheck(AuditLog log, std::optional<audit::Anchor> noted)
    : log_(std::move(log)),
      verifier_(log_.last_seq() ? Verifier::From::any_record : Verifier::From::first_record) {
  verdict_.files = log_.parts().size();
  verdict_.anchor = noted ? std::move(noted) : log_.anchor();
  if (verdict_.anchor) verifier_.expect(*verdict_.anchor);
}

Result<std::unique_ptr<AuditLogCheck>> AuditLogCheck::open(const std::string& path,
                                                           std::optional<audit::Anchor> noted) {
  AuditLog log = PAWL_TRY(AuditLog::open(path));  // first: what was begun with new would be lost
  return std::unique_ptr<AuditLogCheck>(new AuditLogCheck(std::move(log), std::move(noted)));
}

Result<bool> AuditLogCheck::go_on(std::size_t bytes) {
  for (std::size_t read = 0; part_ < log_.parts().size() && read < bytes;) {
    const std::string piece = PAWL_TRY(log_.read_piece(log_.parts()[part_], at_));
    if (piece.empty()) {
      at_ = 0;
      if (++part_ == log_.parts().size()) finish();
      if (part_ < log_.parts().size()) verifier_.next_part();
      continue;
    }
    verifier_.take(piece);
    at_ += static_cast<std::int64_t>(piece.size());
    read += piece.size();
  }
  verdict_.head = verifier_.head();
  verdict_.verified = verifier_.verified();
  return part_ < log_.parts().size();
}

void AuditLogCheck::finish() {
  verdict_.flaw = verifier_.finish();
  if (!verdict_.flaw && log_.last_seq() && *log_.last_seq() != verifier_.head().seq) {
    verdict_.flaw =
        audit::Flaw{.fault = audit::Fault::missing,
                    .part = 0,
                    .line = verifier_.verified() + 1,
                    .message = "the file is named after record " +
                               std::to_string(*log_.last_seq()) + ", and does not end with it"};
  }
  if (!verdict_.flaw && !log_.anchor_problem().empty()) {
    verdict_.flaw = audit::Flaw{.fault = audit::Fault::changed,
                                .part = log_.parts().size() - 1,
                                .line = verifier_.verified(),
                                .message = log_.anchor_problem()};
  }
  if (verdict_.flaw) verdict_.flawed_file = log_.parts()[verdict_.flaw->part].path;
}

}  // namespace pawl
