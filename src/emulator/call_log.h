// CallLog: a line of JSON for every call: what came, what was answered, what went wrong on purpose.
//
// Contract: nothing secret: of the fields only those that matter to a test are told, and the body
//           of a call for tokens is not, nor is an object's.
// Bounds:   the last bounds::emulator_log_rows_max rows are kept for GET /log; the file has all.
// Threads:  one.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "emulator/appended_file.h"
#include "emulator/core/exchange.h"

namespace pawl::emulator {

class CallLog {
 public:
  explicit CallLog(std::optional<AppendedFile> file) : file_(std::move(file)) {}

  Result<void> add(const Call& call, const Reply& reply, Instant now);
  // {"log": [rows]}, as text.
  std::string all() const;
  void clear() { rows_.clear(); }

 private:
  std::optional<AppendedFile> file_;
  std::deque<std::string> rows_;
};

}  // namespace pawl::emulator
