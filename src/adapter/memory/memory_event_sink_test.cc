// Goal: the sink in memory is an EventSink like any other, and says when it is full.
// Method: the port's conformance suite, then its one bound.
#include "adapter/memory/memory_event_sink.h"

#include "port/event_sink_conformance.h"

namespace pawl {
namespace {

class MemorySinkUnderTest final : public EventSinkUnderTest {
 public:
  EventSink& sink() override { return sink_; }
  std::vector<std::string> operations_at_rest() override {
    std::vector<std::string> operations;
    for (const audit::Event& event : sink_.events()) operations.push_back(event.operation);
    return operations;
  }

 private:
  MemoryEventSink sink_;
};

std::unique_ptr<EventSinkUnderTest> make_memory_sink() {
  return std::make_unique<MemorySinkUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Memory, EventSinkConformance, testing::Values(make_memory_sink));

audit::Event event(std::string operation) {
  return {.type = audit::EventType::limit,
          .timestamp = Instant::from_ns(5),
          .operation = std::move(operation),
          .correlation = {.tenant_id = "acme"},
          .details = {{"allowed", true}}};
}

TEST(MemoryEventSink, KeepsTheWholeEvent) {
  MemoryEventSink sink;
  ASSERT_TRUE(sink.append(event("check")).has_value());
  const std::vector<audit::Event> kept = sink.events();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].type, audit::EventType::limit);
  EXPECT_EQ(kept[0].timestamp, Instant::from_ns(5));
  EXPECT_EQ(kept[0].correlation.tenant_id, "acme");
  EXPECT_EQ(kept[0].details[0].second, json::Value(true));
}

TEST(MemoryEventSink, RefusesOneEventMoreThanItKeeps) {
  MemoryEventSink sink(2);
  ASSERT_TRUE(sink.append(event("first")).has_value());
  ASSERT_TRUE(sink.append(event("second")).has_value());
  const Result<void> refused = sink.append(event("third"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
  EXPECT_EQ(sink.events().size(), 2u);
}

}  // namespace
}  // namespace pawl
