// Sink: where finished log lines go.
//
// Contract: write() takes one line without its newline and hands it on whole before it returns:
//           nothing is kept in a buffer that a crash could lose. It never throws; false means
//           that the line was not taken. Unlike the audit log, the log may lose a line when its
//           disk is full, and counts it.
// Threads:  any.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::log {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual bool write(std::string_view line) = 0;
};

std::unique_ptr<Sink> stderr_sink();
// Appends to the file; makes it, and the folder it is in, when they are not there.
Result<std::unique_ptr<Sink>> file_sink(const std::string& path);

}  // namespace pawl::log
