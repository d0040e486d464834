// The file in which the tokens of a Saxo session live, for all processes that share it.
//
// Why:      a refresh token is good for one use: whoever renews must be alone, and the new pair
//           must be on the disk before anything else happens. A process that starts later goes on
//           with what the file has, not with what its configuration said once.
// Contract: store() writes beside it, syncs, renames and syncs the folder: whoever reads finds the
//           old pair or the new one. Only whoever holds the lock may store. The lock is one of the
//           operating system on a file of its own (FILE.lock), which stays: it ends with its
//           owner, however that comes.
// Secrets:  the file is 0600, and one that others can read is refused.
// Threads:  any.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/secret.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::saxo {

struct Tokens {
  Secret<std::string> access = {};
  Secret<std::string> refresh = {};
  std::optional<Instant> since = {};         // when they were given, by our clock
  std::optional<Instant> access_ends = {};   // none: nobody said
  std::optional<Instant> refresh_ends = {};  // likewise
  // Of the pair in the configuration that they descend from, so that a new pair there is noticed.
  std::string origin = {};
};
// SHA-256 of both: tells pairs apart, and nothing else.
std::string origin_of(const Secret<std::string>& access, const Secret<std::string>& refresh);

class TokenFile {
 public:
  class Lock {
   public:
    explicit Lock(int fd) : fd_(fd) {}
    Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Lock& operator=(Lock&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
    }
    ~Lock();

   private:
    int fd_;
  };

  // Symbolic links are followed, so that two names of one file have one lock.
  explicit TokenFile(const std::string& path);

  const std::string& path() const { return path_; }
  // Nothing: there is no file yet.
  Result<std::optional<Tokens>> load() const;
  Result<void> store(const Tokens& tokens) const;
  // Nothing: somebody else has it.
  Result<std::optional<Lock>> try_lock() const;

 private:
  std::string path_;
};

}  // namespace pawl::saxo
