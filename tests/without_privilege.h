// A process without rights, for a while.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace pawl {

// Root may write anywhere; while this lives, this process is nobody.
class WithoutPrivilege {
 public:
  WithoutPrivilege() { EXPECT_TRUE(!was_root_ || ::seteuid(65534) == 0); }
  WithoutPrivilege(const WithoutPrivilege&) = delete;
  WithoutPrivilege& operator=(const WithoutPrivilege&) = delete;
  ~WithoutPrivilege() { EXPECT_TRUE(!was_root_ || ::seteuid(0) == 0); }

 private:
  const bool was_root_ = ::geteuid() == 0;
};

}  // namespace pawl
