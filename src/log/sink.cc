#include "log/sink.h"

#include <exception>
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <utility>

namespace pawl::log {
namespace {

class SpdlogSink : public Sink {
 public:
  explicit SpdlogSink(std::unique_ptr<spdlog::sinks::sink> sink) : sink_(std::move(sink)) {
    sink_->set_pattern("%v");
  }

  bool write(std::string_view line) override {
    try {
      sink_->log({"", spdlog::level::info, {line.data(), line.size()}});
      sink_->flush();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  std::unique_ptr<spdlog::sinks::sink> sink_;
};

}  // namespace

std::unique_ptr<Sink> stderr_sink() {
  return std::make_unique<SpdlogSink>(std::make_unique<spdlog::sinks::stderr_sink_mt>());
}

Result<std::unique_ptr<Sink>> file_sink(const std::string& path) {
  try {
    return std::make_unique<SpdlogSink>(std::make_unique<spdlog::sinks::basic_file_sink_mt>(path));
  } catch (const std::exception& e) {
    return failure(Code::unavailable, "cannot write the log file '" + path + "': " + e.what() +
                                          "; check that its folder exists and may be written");
  }
}

}  // namespace pawl::log
