#include "core/order/intent.h"

#include <utility>

#include "base/bounds.h"
#include "base/utf8.h"
#include "core/order/names.h"

namespace pawl::order {
namespace {

constexpr Names<5> status_names = {"sending", "reconciling", "unresolved", "confirmed", "rejected"};
constexpr std::size_t first_evidence_kept = 16;

}  // namespace

std::string_view to_string(Status status) {
  return name_in(status_names, status);
}
std::optional<Status> status_of(std::string_view name) {
  return find_in<Status>(status_names, name);
}

std::string line_of(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (line.size() + bytes > bounds::order_text_bytes_max) break;
    const bool shown = character.bytes > 0 && is_printable(text.substr(0, bytes));
    line.append(shown ? text.substr(0, bytes) : " ");
    text.remove_prefix(bytes);
  }
  return line;
}

void add_evidence(Progress& progress, Evidence evidence) {
  auto& all = progress.evidence;
  if (all.size() >= bounds::order_evidence_max) all.erase(all.begin() + first_evidence_kept);
  evidence.source = line_of(evidence.source);
  evidence.says = line_of(evidence.says);
  all.push_back(std::move(evidence));
}

std::string unsent_text(const Progress& progress) {
  return "Nothing was sent: " + progress.reason + ". The same reference may be placed again.";
}

bool may_open_again(const Intent& intent, const Order& order) {
  const Progress& progress = intent.progress;
  return progress.status == Status::rejected && progress.unsent && intent.order == order;
}

Progress opened_again(const Progress& last, std::string request_id, Instant now) {
  Progress progress{.request_id = std::move(request_id), .evidence = last.evidence};
  add_evidence(progress, {now, "caller", "placed it again: nothing of it had left"});
  return progress;
}

}  // namespace pawl::order
