#include "log/pacer_log.h"

#include <cmath>
#include <string>
#include <variant>

namespace pawl::log {
namespace {

namespace pacer = limit::pacer;

double hundredths_up(Duration wait) {
  constexpr std::int64_t hundredth = 10'000'000;
  const std::int64_t whole = wait.ns() / hundredth + (wait.ns() % hundredth > 0 ? 1 : 0);
  return static_cast<double>(whole) / 100.0;
}

void tell(const Logger& logger, const pacer::RateLimitWaiting& note) {
  logger.info("rate_limit_waiting",
              {{"operation", note.operation}, {"wait_seconds", hundredths_up(note.wait)}});
}

void tell(const Logger& logger, const pacer::RateLimitTokenWait& note) {
  const double tokens = std::round(note.tokens_available * 1000.0) / 1000.0;
  logger.info("rate_limit_token_wait", {{"operation", note.operation},
                                        {"wait_seconds", hundredths_up(note.wait)},
                                        {"tokens_available", tokens}});
}

void tell(const Logger& logger, const pacer::RateLimitTokenAcquired& note) {
  logger.debug("rate_limit_token_acquired",
               {{"operation", note.operation}, {"tokens_remaining", note.tokens_remaining}});
}

void tell(const Logger& logger, const pacer::RateLimitResetScheduled& note) {
  logger.warn("rate_limit_reset_scheduled",
              {{"reset_at", to_string(note.reset_at)}, {"wait_seconds", hundredths_up(note.wait)}});
}

void tell(const Logger& logger, const pacer::ApproachingRateLimit& note) {
  logger.warn("approaching_rate_limit",
              {{"remaining", note.remaining}, {"operation", note.operation}});
}

void tell(const Logger& logger, const pacer::RateLimitStoreFailed& note) {
  logger.warn("rate_limit_store_failed", {{"error", note.error.message}});
}

}  // namespace

void write(const Logger& logger, const limit::pacer::Note& note) {
  std::visit([&](const auto& kind) { tell(logger, kind); }, note);
}

}  // namespace pawl::log
