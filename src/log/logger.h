// Logger: how the rest of pawl says what happened. It is passed in; there is no global one.
//
//   logger.info("rate_limit_waiting", {{"operation", name}, {"wait_seconds", wait.seconds()}});
//   const log::Logger mine = logger.with({.tenant_id = tenant});
//
// Why:      a line is found by its event name and its fields, so both are data and never a
//           sentence glued together from input. The form of a line stands in log/format.h.
// Contract: a call below the level costs one comparison and allocates nothing. Repeats beyond
//           bounds::log_repeats_a_second_max are counted instead of written (log/repeats.h); the
//           next line of that event, tick(), flush() and the end of the Output tell the count. A
//           line the sink could not take is counted: take_lines_lost().
// Threads:  any. Lines never mix; their order between threads is that of arrival at the sink.
// Lifetime: the clock and the sink outlive the Output, and the Output outlives its Loggers.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/correlation.h"
#include "log/format.h"
#include "log/repeats.h"
#include "log/sink.h"
#include "pawl/clock.h"

namespace pawl::log {

// The one place where the lines of a process come together.
class Output {
 public:
  struct Settings {
    Level level = Level::info;
    Format format = Format::text;
  };

  Output(Clock& clock, Sink& sink, Settings settings);
  ~Output();  // as flush()
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // A reload; holds from the next call on.
  void set(Settings settings);
  bool enabled(Level level) const { return level >= level_.load(std::memory_order_relaxed); }

  // Tells the counts whose second is over; to be called about once a second.
  void tick();
  // Tells all counts.
  void flush();

  // Since it was asked last.
  std::uint64_t take_lines_lost() { return lines_lost_.exchange(0, std::memory_order_relaxed); }

 private:
  friend class Logger;

  void write(Level level, Name event, std::span<const Field> fields,
             const Correlation& correlation);
  void tell(const std::vector<Repeats::Suppressed>& counts);
  void put(const Line& line);

  Clock& clock_;
  Sink& sink_;
  std::atomic<Level> level_;
  std::atomic<Format> format_;
  std::atomic<std::uint64_t> lines_lost_ = 0;
  std::mutex mutex_;
  Repeats repeats_;  // guarded by mutex_
};

// A cheap handle on an Output, with the correlation its lines carry.
class Logger {
 public:
  using Fields = std::initializer_list<Field>;

  explicit Logger(Output& output) : output_(&output) {}
  // A logger whose lines carry this correlation in place of this one's.
  Logger with(Correlation correlation) const {
    Logger other(*output_);
    other.correlation_ = std::move(correlation);
    return other;
  }

  // For when a field's value is dear to make.
  bool enabled(Level level) const { return output_->enabled(level); }

  void trace(Name event, Fields fields = {}) const { write(Level::trace, event, fields); }
  void debug(Name event, Fields fields = {}) const { write(Level::debug, event, fields); }
  void info(Name event, Fields fields = {}) const { write(Level::info, event, fields); }
  void warn(Name event, Fields fields = {}) const { write(Level::warn, event, fields); }
  void error(Name event, Fields fields = {}) const { write(Level::error, event, fields); }

 private:
  void write(Level level, Name event, Fields fields) const {
    if (enabled(level)) output_->write(level, event, fields, correlation_);
  }

  Output* output_;
  Correlation correlation_;
};

}  // namespace pawl::log
