#include "log/sink.h"

#include <cstdio>
#include <exception>
#include <mutex>
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace pawl::log {
namespace {

class StderrSink : public Sink {
 public:
  StderrSink() { sink_.set_pattern("%v"); }

  bool write(std::string_view line) override {
    const std::lock_guard guard(mutex_);
    try {
      // The library does not look at what its write came to; the stream remembers.
      std::clearerr(stderr);
      sink_.log({"", spdlog::level::info, {line.data(), line.size()}});
      return std::ferror(stderr) == 0;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  std::mutex mutex_;
  spdlog::sinks::stderr_sink_st sink_;
};

}  // namespace

std::unique_ptr<Sink> stderr_sink() {
  return std::make_unique<StderrSink>();
}

}  // namespace pawl::log
