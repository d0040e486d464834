// What the tests of this folder share: a disk whose sync can fail, a file-size limit, and a way to
// read a log that checks its chain.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "core/audit/chain.h"
#include "core/audit/verifier.h"
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

// The operations of a log, oldest first. A flaw in the chain is a failed test.
inline std::vector<std::string> operations_of(const std::string& path) {
  const std::string text = read_file(path);
  audit::Verifier verifier;
  verifier.take(text);
  const auto flaw = verifier.finish();
  EXPECT_FALSE(flaw.has_value()) << flaw->message;

  std::vector<std::string> operations;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto record = json::parse(line);
    if (!record) continue;
    operations.push_back(*record->find("operation")->if_string());
  }
  return operations;
}

}  // namespace pawl
