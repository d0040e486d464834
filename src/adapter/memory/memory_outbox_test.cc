// Goal: the outbox conforms.
// Method: the conformance suite with a hand-moved clock.
#include "adapter/memory/memory_outbox.h"

#include <gtest/gtest.h>

#include "port/outbox_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

TEST(MemoryOutbox, Conforms) {
  expect_outbox_conforms([](const auto& part) {
    ManualClock clock;
    MemoryOutbox outbox(clock, {.pending_max = 8, .ended_max = 4});
    part({.outbox = outbox, .advance = [&](Duration by) { clock.advance(by); }});
  });
}

}  // namespace
}  // namespace pawl
