// What the configuration says of the log, as those who open it want it.
#pragma once

#include "config/config.h"
#include "log/logger.h"

namespace pawl::cli {

constexpr log::Level log_level(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::trace:
      return log::Level::trace;
    case config::LogLevel::debug:
      return log::Level::debug;
    case config::LogLevel::info:
      return log::Level::info;
    case config::LogLevel::warn:
      return log::Level::warn;
    case config::LogLevel::error:
      return log::Level::error;
  }
  __builtin_unreachable();
}

inline log::Output::Settings log_settings(const config::Log& log) {
  return {.level = log_level(log.level),
          .format = log.format == config::LogFormat::json ? log::Format::json : log::Format::text};
}

}  // namespace pawl::cli
