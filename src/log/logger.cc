#include "log/logger.h"

#include <string>

namespace pawl::log {

Output::Output(Clock& clock, Sink& sink, Settings settings)
    : clock_(clock), sink_(sink), level_(settings.level), format_(settings.format) {}

Output::~Output() {
  flush();
}

void Output::set(Settings settings) {
  level_.store(settings.level, std::memory_order_relaxed);
  format_.store(settings.format, std::memory_order_relaxed);
}

void Output::tick() {
  std::unique_lock lock(mutex_);
  const auto counts = repeats_.expire(clock_.steady_now());
  lock.unlock();
  tell(counts);
}

void Output::flush() {
  std::unique_lock lock(mutex_);
  const auto counts = repeats_.drain();
  lock.unlock();
  tell(counts);
}

void Output::write(Level level, Name event, std::span<const Field> fields,
                   const Correlation& correlation) {
  std::unique_lock lock(mutex_);
  const Repeats::Verdict verdict = repeats_.decide(level, event, clock_.steady_now());
  lock.unlock();
  if (!verdict.write) return;
  put({.at = clock_.wall_now(),
       .level = level,
       .event = event,
       .fields = fields,
       .correlation = correlation,
       .repeats_suppressed = verdict.repeats_suppressed});
}

void Output::tell(const std::vector<Repeats::Suppressed>& counts) {
  for (const Repeats::Suppressed& suppressed : counts) {
    put({.at = clock_.wall_now(),
         .level = suppressed.level,
         .event = suppressed.event,
         .fields = {},
         .correlation = {},
         .repeats_suppressed = suppressed.count});
  }
}

void Output::put(const Line& line) {
  const std::string text = format(line, format_.load(std::memory_order_relaxed));
  if (!sink_.write(text)) lines_lost_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace pawl::log
