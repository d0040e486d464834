#include "core/order/words.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "core/order/record.h"

namespace pawl::order {
namespace {

constexpr std::string_view conflict_text =
    "Duplicate operation detected (409). Check x-request-id. The venue refuses an identical "
    "operation within its duplicate window (Saxo: 15 seconds), so the first copy arrived.";
constexpr std::string_view known_text =
    "Duplicate operation detected: the venue has an order of this client order id, so the first "
    "copy arrived. It is looked for, and not sent again.";
constexpr std::string_view not_completed_text =
    "Order may be pending. Reconcile via portfolio query.";

struct Line {
  Told what;
  std::string_view message;
};

// Beside operation_failed.
std::optional<Line> line_for(const Answer& answer, const Decision& decision) {
  const std::string_view why = explain(decision.reason);
  if (decision.next == Next::send_again) return Line{Told::retrying_after_delay, why};
  switch (decision.reason) {
    case Reason::duplicate:
      return Line{Told::conflict_no_retry, answer.status == 409 ? conflict_text : known_text};
    case Reason::trade_not_completed:
      return Line{Told::trade_not_completed_no_retry, not_completed_text};
    case Reason::refused:
      return Line{Told::client_error_no_retry, answer.message};
    case Reason::attempts_exhausted:
      return Line{Told::max_retries_exhausted, why};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string text_of(const Answer& answer) {
  std::string text(to_string(answer.sent));
  if (answer.status != 0) text += ", " + std::to_string(answer.status);
  if (!answer.code.empty()) text += " " + answer.code;
  if (!answer.message.empty()) text += ": " + answer.message;
  if (!answer.order_id.empty()) text += " (order " + answer.order_id + ")";
  if (!answer.correlation.empty()) text += " [" + answer.correlation + "]";
  return text;
}

std::vector<Note> notes_of(const Answer& answer, const Decision& decision, const Note& like) {
  if (decision.next == Next::confirm) return {};
  Note note = like;
  note.what = Told::operation_failed;
  note.message = text_of(answer);
  note.status = answer.status;
  note.category = category_of(answer);
  note.limits = answer.limits;
  note.correlation = answer.correlation;
  note.delay = decision.delay;
  std::vector<Note> notes = {note};
  if (const auto line = line_for(answer, decision)) {
    note.what = line->what;
    note.message = line->message;
    notes.push_back(std::move(note));
  }
  return notes;
}

Entropy16 attempt_entropy(const Entropy16& seed, int attempt) {
  const std::string_view bytes(reinterpret_cast<const char*>(seed.data()), seed.size());
  const Hash128 hash = hash_of(bytes, static_cast<std::uint64_t>(attempt));
  Entropy16 made;
  for (std::size_t i = 0; i < 8; ++i) {
    made[i] = static_cast<std::uint8_t>(hash.high >> (8 * i));
    made[8 + i] = static_cast<std::uint8_t>(hash.low >> (8 * i));
  }
  return made;
}

}  // namespace pawl::order
