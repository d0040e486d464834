// Sink: where finished log lines go.
//
// Contract: write() takes one line without its newline and hands it on whole before it returns:
//           nothing is kept in a buffer that a crash could lose. It never throws; false means
//           that the line was not taken. Unlike the audit log, the log may lose a line when its
//           disk is full, and counts it.
// Threads:  any.
#pragma once

#include <memory>
#include <string_view>

namespace pawl::log {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual bool write(std::string_view line) = 0;
};

std::unique_ptr<Sink> stderr_sink();

}  // namespace pawl::log
