#include "core/queue/gather.h"

#include <algorithm>
#include <variant>

namespace pawl::queue {

SteadyInstant Gather::due(const Gathered& waiting, SteadyInstant now) const {
  if (terms_.enough > 0 && waiting.commands >= terms_.enough) return now;
  const std::size_t eager = waiting.callers - waiting.patient;
  if (eager == 0) return busy(now) ? waiting.first + terms_.window * 2 : now;
  if (last_callers_ <= 1 || (terms_.enough == 0 && eager >= last_callers_)) return now;
  return std::min(waiting.first + terms_.window, waiting.last + terms_.gap);
}

void Gather::went(const Gathered& batch, SteadyInstant now) {
  last_callers_ = batch.callers - batch.patient;
  went_[batches_++ % remembered] = now;
}

// So many batches of late that another one is soon to come.
bool Gather::busy(SteadyInstant now) const {
  if (batches_ < remembered) return false;
  const SteadyInstant first = went_[batches_ % remembered];
  return now - first < terms_.window * static_cast<std::int64_t>(remembered);
}

bool is_patient(const std::vector<Command>& commands) {
  return std::ranges::all_of(commands, [](const Command& command) {
    return std::holds_alternative<Renew>(command) || std::holds_alternative<Complete>(command) ||
           std::holds_alternative<Fail>(command) || std::holds_alternative<Reschedule>(command);
  });
}

}  // namespace pawl::queue
