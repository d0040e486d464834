#include "log/pacer_log.h"

#include <cmath>
#include <optional>
#include <string>
#include <variant>

namespace pawl::log {
namespace {

namespace pacer = limit::pacer;

double hundredths_up(Duration wait) {
  return static_cast<double>(wait.up_in(Duration::milliseconds(10))) / 100.0;
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

std::string text_of(const std::optional<Instant>& at) {
  return at ? to_string(*at) : std::string();
}

void tell(const Logger& logger, const pacer::RateLimitNotSent& note) {
  logger.warn("rate_limit_not_sent",
              {{"operation", note.operation}, {"error", note.error.message}});
}

void tell(const Logger& logger, const pacer::RateLimitRefused& note) {
  logger.warn("rate_limit_refused", {{"operation", note.operation},
                                     {"status", note.status},
                                     {"retry_at", text_of(note.pushback.retry_at)},
                                     {"readings", to_string(note.pushback.readings)}});
}

std::string header_of(const pacer::RateLimitResetScheduled& note) {
  using Word = pacer::RateLimitResetScheduled::Word;
  if (note.word == Word::none) return "";
  return note.word == Word::retry_after ? "Retry-After" : to_string(note.reading);
}

void tell(const Logger& logger, const pacer::RateLimitResetScheduled& note) {
  logger.warn("rate_limit_reset_scheduled", {{"reset_at", to_string(note.reset_at)},
                                             {"wait_seconds", hundredths_up(note.wait)},
                                             {"operation", note.operation},
                                             {"status", note.status},
                                             {"header", header_of(note)},
                                             {"named", text_of(note.named)}});
}

void tell(const Logger& logger, const pacer::RateLimitReopened& note) {
  logger.warn("rate_limit_reopened",
              {{"elsewhere", note.elsewhere}, {"wait_seconds", hundredths_up(note.wait)}});
}

void tell(const Logger& logger, const pacer::ApproachingRateLimit& note) {
  logger.warn("approaching_rate_limit", {{"remaining", note.reading.remaining.value_or(0)},
                                         {"operation", note.operation},
                                         {"reading", to_string(note.reading)}});
}

// A server that writes one of them wrong does so in every answer.
void tell(const Logger& logger, const pacer::RateLimitHeadersIgnored& note) {
  const bool first = note.total == static_cast<std::uint64_t>(note.ignored);
  const Logger::Fields fields = {
      {"operation", note.operation}, {"ignored", note.ignored}, {"total", note.total}};
  first ? logger.warn("rate_limit_headers_ignored", fields)
        : logger.debug("rate_limit_headers_ignored", fields);
}

void tell(const Logger& logger, const pacer::RateLimitStoreFailed& note) {
  logger.warn("rate_limit_store_failed", {{"error", note.error.message}});
}

void tell(const Logger& logger, const pacer::RateLimitUnrecorded& note) {
  logger.error("rate_limit_unrecorded", {{"error", note.error.message}});
}

}  // namespace

void write(const Logger& logger, const limit::pacer::Note& note) {
  std::visit([&](const auto& kind) { tell(logger, kind); }, note);
}

}  // namespace pawl::log
