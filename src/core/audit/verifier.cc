#include "core/audit/verifier.h"

#include "base/bounds.h"

namespace pawl::audit {
namespace {

std::string record(std::uint64_t seq) {
  return "record " + std::to_string(seq);
}

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::changed:
      return "changed";
    case Fault::missing:
      return "missing";
    case Fault::swapped:
      return "swapped";
    case Fault::repeated:
      return "repeated";
    case Fault::cut:
      return "cut";
  }
  __builtin_unreachable();
}

void Verifier::take(std::string_view bytes) {
  // After the first flaw only one question is open: whether a missing record turns up later.
  while (!flaw_ || flaw_->fault == Fault::missing) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (end == std::string_view::npos || !partial_.empty()) {
      // A byte more than a record can have is enough to see that this is none.
      partial_.append(piece.substr(0, bounds::audit_event_bytes_max + 1 - partial_.size()));
    }
    if (end == std::string_view::npos) return;
    take_line(partial_.empty() ? piece : partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
}

void Verifier::end_part() {
  if (!flaw_ && !partial_.empty()) {
    ++line_;
    found(Fault::cut, "the log ends in the middle of " + record(head_.seq + 1));
  }
  partial_.clear();
}

void Verifier::next_part() {
  end_part();
  ++part_;
  line_ = 0;
}

std::optional<Flaw> Verifier::finish() {
  end_part();
  const bool ends_early = anchor_ && head_.seq < anchor_->seq;
  if (ends_early && !flaw_) ++line_;
  if (ends_early && (!flaw_ || flaw_->fault == Fault::cut)) {
    found(Fault::missing, record(head_.seq + 1) +
                              " is missing: the log ends before it, and its "
                              "anchor names " +
                              record(anchor_->seq));
  }
  return flaw_;
}

void Verifier::take_line(std::string_view line) {
  ++line_;
  Result<Link> link = read_link(line);
  if (link && from_ == From::any_record) {
    head_ = {.seq = link->seq - 1, .prev = {}, .hash = link->prev};
  }
  from_ = From::first_record;
  const std::uint64_t wanted = head_.seq + 1;
  if (flaw_) {
    if (link && link->seq == wanted) {
      flaw_->fault = Fault::swapped;
      flaw_->message += "; it comes later, in line " + std::to_string(line_) +
                        (flaw_->part == part_ ? "" : " of a later file");
    }
  } else if (!link) {
    found(Fault::changed, record(wanted) + " was changed: " + link.error().message);
  } else if (link->seq > wanted) {
    found(Fault::missing, record(link->seq) + " stands in the place of " + record(wanted));
  } else if (link->seq < wanted) {
    found(Fault::repeated, record(link->seq) + " stands here a second time");
  } else if (link->prev != head_.hash) {
    found(Fault::changed, record(wanted) + " does not follow the record before it, whose hash is " +
                              head_.hash + ": one of the two was replaced");
  } else if (anchor_ && anchor_->seq == wanted && anchor_->hash != link->hash) {
    found(Fault::changed, record(wanted) + " is not the one that the anchor names, whose hash is " +
                              anchor_->hash + ": it was written anew");
  } else {
    head_ = *std::move(link);
    ++verified_;
  }
}

void Verifier::found(Fault fault, std::string what) {
  flaw_ = Flaw{.fault = fault,
               .part = part_,
               .line = line_,
               .message = "line " + std::to_string(line_) + ": " + std::move(what)};
}

}  // namespace pawl::audit
