// CaptureSink: keeps lines in memory, for tests of whatever logs.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/sink.h"

namespace pawl::log {

class CaptureSink : public Sink {
 public:
  bool write(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
    return true;
  }

  // What was written since the last call.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace pawl::log
