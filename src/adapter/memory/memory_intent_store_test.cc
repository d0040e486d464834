// Goal: the store in memory keeps intents and slots as the one on disk does, for all who share it.
// Method: the conformance suite on two stores of one MemoryIntents.
#include "adapter/memory/memory_intent_store.h"

#include <gtest/gtest.h>

#include "port/intent_store_conformance.h"

namespace pawl {
namespace {

TEST(MemoryIntentStore, Conforms) {
  expect_intent_store_conforms([](const auto& part) {
    MemoryIntents intents;
    MemoryIntentStore store(intents);
    auto beside = std::make_unique<MemoryIntentStore>(intents);
    part({.store = store, .beside = *beside, .end_beside = [&] { beside.reset(); }});
  });
}

TEST(MemoryIntentStore, ShowsWhatIsKept) {
  MemoryIntents intents;
  MemoryIntentStore store(intents);
  const intent_store_suite::Client client(store);
  const order::Intent intent =
      client.ended(intent_store_suite::Client::fresh("a"),
                   intent_store_suite::Client::confirmed("1", order::Life::filled));
  EXPECT_EQ(intents.intents(), std::vector{intent});
  ASSERT_EQ(intents.history().size(), 1u);
  EXPECT_EQ(intents.history()[0].order_id, "1");
  EXPECT_EQ(intents.history()[0].status, "filled");
}

}  // namespace
}  // namespace pawl
