// Goal: the kernel's randomness arrives whole. Method: the conformance suite.
#include "adapter/system/system_entropy.h"

#include <gtest/gtest.h>

#include "port/entropy_conformance.h"

namespace pawl {
namespace {

TEST(SystemEntropy, Conforms) {
  SystemEntropy entropy;
  expect_entropy_conforms(entropy);
}

}  // namespace
}  // namespace pawl
