// Goal: a secret gives its value to whoever asks by name, and to nobody else.
// Method: what must work is called here; what must not compile stands in tests/compile_fail.
#include "base/secret.h"

#include <gtest/gtest.h>
#include <string>
#include <type_traits>

namespace pawl {
namespace {

TEST(Secret, RevealsWhatItHolds) {
  const Secret<std::string> secret("hunter2");
  EXPECT_EQ(secret.reveal(), "hunter2");
  EXPECT_FALSE(secret.empty());
  EXPECT_TRUE(Secret<std::string>().empty());
}

static_assert(!std::is_convertible_v<Secret<std::string>, std::string>);
static_assert(!std::is_convertible_v<std::string, Secret<std::string>>);
static_assert(!std::equality_comparable<Secret<std::string>>);

}  // namespace
}  // namespace pawl
