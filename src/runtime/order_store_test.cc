// Goal:   a store that fails is asked again after 1, 2 and 4 seconds, and each failure is told.
// Method: a store that fails so often; time moved by hand.
#include "runtime/order_store.h"

#include <gmock/gmock.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;

class PatientIntentStoreTest : public OrderDeskTest {
 protected:
  PatientIntentStore patient{*store, timers,
                             [this](const desk::Note& note) { notes.push_back(note); }};
  Later<Opening> open_one() {
    Later<Opening> later;
    patient.open(
        {.reference = "A-1", .order = an_order(), .request_id = "r", .now = clock.wall_now()},
        later.done());
    return later;
  }
  std::vector<Duration> delays() const {
    std::vector<Duration> delays;
    for (const desk::StoreFailed& each : told<desk::StoreFailed>()) delays.push_back(each.delay);
    return delays;
  }
};

TEST_F(PatientIntentStoreTest, WaitsOutAStoreThatFailsForAWhile) {
  store->opens_fail = 2;
  const auto opened = open_one();
  timers.advance(Duration::milliseconds(2'999));
  EXPECT_FALSE(opened.is_over());
  timers.advance(Duration::milliseconds(1));
  EXPECT_TRUE(std::holds_alternative<OpenedIntent>(opened.value()));
  EXPECT_THAT(delays(), ElementsAre(Duration::seconds(1), Duration::seconds(2)));
  EXPECT_EQ(told<desk::StoreFailed>()[0].ids.external_reference, "A-1");
  EXPECT_EQ(told<desk::StoreFailed>()[0].ids.request_id, "r");
  EXPECT_EQ(told<desk::StoreFailed>()[0].what, desk::StoreFailed::What::check);
}

TEST_F(PatientIntentStoreTest, GivesUpAfterTheThirdWait) {
  store->opens_fail = 9;
  const auto opened = open_one();
  timers.advance(Duration::seconds(7));
  EXPECT_EQ(opened.error().code, Code::unavailable);
  EXPECT_THAT(delays(), ElementsAre(Duration::seconds(1), Duration::seconds(2),
                                    Duration::seconds(4), Duration()));
}

TEST_F(PatientIntentStoreTest, AsksOnceForWhatIsNotThere) {
  Later<order::Intent> got;
  patient.get("A-9", got.done());
  EXPECT_EQ(got.error().code, Code::not_found);
  EXPECT_TRUE(notes.empty());
}

TEST_F(PatientIntentStoreTest, EndsWithTheTimers) {
  store->opens_fail = 9;
  const auto opened = open_one();
  timers.close();
  EXPECT_EQ(opened.error().code, Code::unavailable);
}

}  // namespace
}  // namespace pawl
