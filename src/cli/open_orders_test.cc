// Goal: what somebody has to look at is found, and nothing that is being worked on. Method: two
// stores on the same intents, of which one goes away as a process that was killed.
#include "cli/open_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "adapter/memory/memory_intent_store.h"
#include "port/answer_of.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

class OpenOrdersTest : public ::testing::Test {
 protected:
  std::int64_t begun(IntentStore& by, std::string reference) {
    const auto opened = answer_of<Opening>(
        [&](auto done) { by.open({.reference = std::move(reference)}, std::move(done)); });
    return std::get<OpenedIntent>(opened.value()).intent.id;
  }
  void end_as(std::int64_t id, order::Status status) {
    EXPECT_TRUE(
        answer_of<void>([&](auto done) { here.save(id, {.status = status}, std::move(done)); }));
    here.release(id);
  }

  MemoryIntents intents;
  MemoryIntentStore here{intents};
  std::unique_ptr<MemoryIntentStore> beside = std::make_unique<MemoryIntentStore>(intents);
};

TEST_F(OpenOrdersTest, AreThoseThatNobodyWorksOn) {
  begun(here, "mine");
  begun(*beside, "theirs");
  end_as(begun(here, "unknown"), order::Status::unresolved);
  end_as(begun(here, "done"), order::Status::confirmed);
  OpenOrders found = open_orders(here).value();
  EXPECT_THAT(found.unresolved, ElementsAre(Field(&order::Intent::reference, "unknown")));
  EXPECT_THAT(found.left, IsEmpty());
  beside.reset();
  found = open_orders(here).value();
  EXPECT_THAT(found.unresolved, ElementsAre(Field(&order::Intent::reference, "unknown")));
  EXPECT_THAT(found.left, ElementsAre(Field(&order::Intent::reference, "theirs")));
}

TEST_F(OpenOrdersTest, AreSummedUpInWords) {
  EXPECT_EQ(open_orders_summary(0, 0), "");
  EXPECT_EQ(open_orders_summary(1, 0), "1 order is unresolved");
  EXPECT_EQ(open_orders_summary(2, 1),
            "2 orders are unresolved; 1 order was left open by a process that ended");
  EXPECT_EQ(open_orders_summary(0, 2), "2 orders were left open by a process that ended");
}

}  // namespace
}  // namespace pawl::cli
