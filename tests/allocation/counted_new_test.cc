// Goal: the count that the other tests here rely on counts. Method: memory is asked for.
#include "tests/allocation/counted_new.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <string>

namespace pawl {

thread_local int allocations = 0;

}  // namespace pawl

namespace {

void* counted(std::size_t size) {
  ++pawl::allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  std::abort();
}
void* counted(std::size_t size, std::align_val_t alignment) {
  ++pawl::allocations;
  const auto step = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  std::abort();
}

}  // namespace

// The other forms of new and delete are defined by way of these.
void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace pawl {
namespace {

TEST(CountedNew, TellsWhoAsksForMemory) {
  EXPECT_GE(allocations_of(9, [] { EXPECT_NE(std::make_unique<std::string>(100, 'x'), nullptr); }),
            2 * 9);
  EXPECT_EQ(allocations_of(9, [] {}), 0);
}

}  // namespace
}  // namespace pawl
