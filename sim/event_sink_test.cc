// Goal: the simulated audit log is an EventSink like any other, and keeps what checkers ask for.
// Method: the port's conformance suite; the type of an event.
#include "sim/event_sink.h"

#include "port/event_sink_conformance.h"

namespace pawl {
namespace {

class SimSinkUnderTest final : public EventSinkUnderTest {
 public:
  EventSink& sink() override { return sink_; }
  std::vector<std::string> operations_at_rest() override {
    std::vector<std::string> operations;
    for (const sim::SimEventSink::Kept& event : sink_.kept()) operations.push_back(event.operation);
    return operations;
  }

 private:
  sim::SimEventSink sink_;
};

std::unique_ptr<EventSinkUnderTest> make_sim_sink() {
  return std::make_unique<SimSinkUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Sim, EventSinkConformance, testing::Values(make_sim_sink));

TEST(SimEventSink, KeepsTheTypeOfAnEvent) {
  sim::SimEventSink sink;
  for (const audit::EventType type : {audit::EventType::limit, audit::EventType::request}) {
    ASSERT_TRUE(sink.append({.type = type,
                             .timestamp = Instant(),
                             .operation = "storm",
                             .correlation = {},
                             .details = {}})
                    .has_value());
  }
  ASSERT_EQ(sink.kept().size(), 2u);
  EXPECT_EQ(sink.kept()[0].type, audit::EventType::limit);
  EXPECT_EQ(sink.kept()[1].type, audit::EventType::request);
}

}  // namespace
}  // namespace pawl
