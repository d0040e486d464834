// What the tests of this folder share: a disk whose sync can fail, a file-size limit, and a way to
// read a log that checks its chain.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "adapter/file/audit_log.h"
#include "adapter/file/audit_log_check.h"
#include "core/audit/chain.h"
#include "tests/temp_folder.h"

namespace pawl {

// chain_file_test.cc puts its own fdatasync() in front of the C library's, which looks here.
struct Disk {
  static inline std::atomic<bool> sync_fails = false;
  static inline std::atomic<int> syncs = 0;
  static inline std::atomic<std::int64_t> synced_bytes = 0;  // size of the file last synced
};

// No file of this process may grow beyond `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_ = {};
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline audit::Event event(std::string operation) {
  return {.type = audit::EventType::request,
          .timestamp = Instant(),
          .operation = std::move(operation),
          .correlation = {},
          .details = {}};
}

inline std::string operation_of(std::string_view line) {
  const auto record = json::parse(line);
  return record ? *record->find("operation")->if_string() : std::string(line);
}

// The operations of a log, oldest first, over all its files. A flaw in the chain is a failed test,
// and so is an anchor that is not as it should be.
inline std::vector<std::string> operations_of(const std::string& path) {
  const auto check = AuditLogCheck::open(path).value();
  EXPECT_TRUE(check->go_on(std::numeric_limits<std::size_t>::max()).has_value());
  const auto& flaw = check->verdict().flaw;
  EXPECT_FALSE(flaw.has_value()) << flaw->message;

  const AuditLog log = AuditLog::open(path).value();
  std::vector<std::string> operations;
  EXPECT_TRUE(log.read_lines([&](const AuditLog::Line& line) {
                   operations.push_back(operation_of(line.text));
                 })
                  .has_value());
  return operations;
}

}  // namespace pawl
