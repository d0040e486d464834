// Goal:   a placed order is modified and canceled at the pace of its session; what got lost is sent
//         again, and is never told as not done, whatever came after it.
// Method: scripted answers of the venue; an audit log that refuses on demand; time moved by hand.
#include <algorithm>
#include <functional>
#include <gmock/gmock.h>

#include "core/audit/event.h"
#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Life;
using order::Sent;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Takes all but what it is told to refuse.
class PickySink final : public EventSink {
 public:
  Result<void> append(audit::Event event) override {
    if (refuses && refuses(event)) return failure(Code::unavailable, "the audit log is full");
    return {};
  }
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }

  std::function<bool(const audit::Event&)> refuses;
};

bool is_of_pace(const audit::Event& event) {
  return event.type == audit::EventType::pace;
}
bool is_of_order(const audit::Event& event) {
  return event.type == audit::EventType::order;
}
bool is_decision(const audit::Event& event) {
  const auto decides = [](const auto& detail) { return detail.first == "decision"; };
  return is_of_order(event) && std::ranges::any_of(event.details, decides);
}

const order::Answer lost{.sent = Sent::unknown, .message = "timed out"};

class OrderChanges : public OrderDeskTest {
 protected:
  // A desk with that audit log and one placed order.
  void open_with(EventSink& events) {
    audit = &events;
    open();
    place("A-1");
    timers.advance(Duration::seconds(1));
  }
  Later<Changed> cancel(const std::string& reference) {
    Later<Changed> later;
    desk->cancel(reference, later.done());
    return later;
  }
  Later<Changed> modify(const std::string& reference, OrderChange change) {
    Later<Changed> later;
    desk->modify(reference, std::move(change), later.done());
    return later;
  }
};

TEST_F(OrderChanges, CancelsAndRecordsThatItIsOver) {
  place("A-1");
  const auto canceled = cancel("A-1");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(canceled.value().life, Life::canceled);
  EXPECT_EQ(venue.changed[0].second.order_id, "1000");
  EXPECT_THAT(venue.changed[0].second.request_id, HasSubstr("A-1_cancel_"));
  EXPECT_EQ(intents.history()[0].status, "canceled");
  EXPECT_EQ(told<desk::StatusUpdated>().back().order_id, "1000");
}

TEST_F(OrderChanges, LetsACancelPassNewOrders) {
  place("A-1");
  place("A-2");
  cancel("A-1");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(venue.changed.size(), 1U);
  EXPECT_EQ(sent(), 1U);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderChanges, SendsACancelAgainWhoseAnswerGotLost) {
  place("A-1");
  venue.changes = {{.sent = Sent::unknown, .message = "timed out"}};
  const auto canceled = cancel("A-1");
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(canceled.value().life, Life::canceled);
  EXPECT_EQ(venue.changed.size(), 2U);
  EXPECT_NE(venue.changed[0].second.request_id, venue.changed[1].second.request_id);
}

TEST_F(OrderChanges, SaysUnresolvedWhenACancelIsNeverAnswered) {
  place("A-1");
  for (int i = 0; i < 3; ++i) venue.changes.push_back({.sent = Sent::unknown, .message = "lost"});
  const auto canceled = cancel("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(canceled.error().code, Code::unresolved);
  EXPECT_EQ(canceled.error().outcome, Outcome::unknown);
  EXPECT_THAT(canceled.error().message, HasSubstr("external_reference=A-1, request_id=A-1_cancel"));
}

TEST_F(OrderChanges, ModifiesOnce) {
  place("A-1");
  const auto modified = modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(modified.value().answer.sent, Sent::accepted);
  EXPECT_EQ(venue.changed[0].second.change.price, *parse_decimal("49000"));
}

TEST_F(OrderChanges, TellsTheTermsAsTheyAreNowAndKeepsThoseItWasPlacedWith) {
  place("A-1");
  timers.advance(Duration::seconds(1));
  const auto modified = modify("A-1", {.size = *parse_decimal("0.05")});
  order::Order now = an_order();
  now.size = *parse_decimal("0.05");
  EXPECT_EQ(modified.value().intent.order, now);
  EXPECT_EQ(kept("A-1").order, an_order()) << "the reference stands for what was placed";
}

TEST_F(OrderChanges, SendsAModificationAgainWhoseAnswerGotLost) {
  place("A-1");
  venue.changes = {lost};
  const auto modified = modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(modified.value().answer.sent, Sent::accepted);
  ASSERT_THAT(venue.changed, SizeIs(2));
  EXPECT_EQ(venue.changed[1].second.change.price, *parse_decimal("49000")) << "the same values";
  EXPECT_THAT(venue.changed[1].second.request_id, HasSubstr("A-1_modify_"));
  EXPECT_NE(venue.changed[0].second.request_id, venue.changed[1].second.request_id);
}

TEST_F(OrderChanges, NeverCallsRefusedWhatWasLostBefore) {
  place("A-1");
  for (const Sent last : {Sent::refused, Sent::rate_limited, Sent::not_sent}) {
    venue.changes = {lost, {.sent = last, .message = "no"}, {.sent = last, .message = "no"}};
    const auto modified = modify("A-1", {.price = *parse_decimal("49000")});
    timers.advance(Duration::minutes(1));
    EXPECT_EQ(modified.error().code, Code::unresolved) << to_string(last);
    EXPECT_EQ(modified.error().outcome, Outcome::unknown);
    EXPECT_THAT(modified.error().message, HasSubstr("may have been done"));
    venue.changes = {lost, {.sent = last, .message = "no"}, {.sent = last, .message = "no"}};
    const auto canceled = cancel("A-1");
    timers.advance(Duration::minutes(1));
    EXPECT_EQ(canceled.error().code, Code::unresolved) << to_string(last);
    EXPECT_EQ(told<desk::ChangeEnded>().back().answer.sent, Sent::unknown);
  }
}

TEST_F(OrderChanges, NeverCallsRefusedByThePacerWhatWasLostBefore) {
  PickySink picky;
  open_with(picky);
  venue.changes = {lost};
  const auto canceled = cancel("A-1");
  ASSERT_THAT(venue.changed, SizeIs(1));
  picky.refuses = is_of_pace;
  timers.advance(Duration::minutes(1));
  EXPECT_THAT(venue.changed, SizeIs(1));
  EXPECT_EQ(canceled.error().code, Code::unresolved);
  EXPECT_EQ(canceled.error().outcome, Outcome::unknown);
  EXPECT_THAT(canceled.error().message, HasSubstr("the audit log is full"));
}

TEST_F(OrderChanges, TellsThePacersRefusalOfWhatWasNeverSent) {
  PickySink picky;
  open_with(picky);
  picky.refuses = is_of_pace;
  const auto modified = modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(modified.error().code, Code::unavailable);
  EXPECT_EQ(modified.error().outcome, Outcome::not_applied);
  EXPECT_THAT(venue.changed, IsEmpty());
}

TEST_F(OrderChanges, SendsNoSecondCopyThatTheAuditLogDoesNotTake) {
  PickySink picky;
  open_with(picky);
  venue.changes = {lost};
  const auto canceled = cancel("A-1");
  ASSERT_THAT(venue.changed, SizeIs(1));
  picky.refuses = is_of_order;
  timers.advance(Duration::minutes(1));
  EXPECT_THAT(venue.changed, SizeIs(1));
  EXPECT_EQ(canceled.error().code, Code::unresolved);
}

TEST_F(OrderChanges, SendsNoSecondCopyWhenWhatWasDecidedIsNotOnRecord) {
  PickySink picky;
  open_with(picky);
  picky.refuses = is_decision;
  venue.changes = {{.sent = Sent::rate_limited}};
  const auto canceled = cancel("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_THAT(venue.changed, SizeIs(1));
  EXPECT_EQ(canceled.error().code, Code::unavailable);
  EXPECT_EQ(canceled.error().outcome, Outcome::not_applied);
}

TEST_F(OrderChanges, RecordsEveryAttemptAndWhatWasDecidedOfIt) {
  place("A-1");
  venue.changes = {lost};
  modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(10));
  std::string way;
  for (const audit::Event& event : sink.events()) {
    if (event.type != audit::EventType::order || event.operation != "modify_order") continue;
    EXPECT_EQ(event.correlation.external_reference, "A-1");
    EXPECT_EQ(event.correlation.correlation_id, "A-1");
    EXPECT_THAT(event.correlation.request_id, HasSubstr("A-1_modify_"));
    way += is_decision(event) ? "decided " : "attempt ";
  }
  EXPECT_EQ(way, "attempt decided attempt decided ");
}

TEST_F(OrderChanges, TellsEachAttemptWithItsIdsAndTheEndOnce) {
  place("A-1");
  notes.clear();
  venue.changes = {lost};
  cancel("A-1");
  timers.advance(Duration::seconds(10));
  ASSERT_THAT(told<desk::ChangeEnded>(), SizeIs(1));
  EXPECT_EQ(told<desk::ChangeEnded>()[0].answer.sent, Sent::accepted);
  EXPECT_EQ(told<desk::ChangeEnded>()[0].ids.request_id, venue.changed[1].second.request_id);
  EXPECT_TRUE(was_told(order::Told::retrying_after_delay));
  for (const order::Note& note : told<order::Note>()) {
    EXPECT_EQ(note.external_reference, "A-1");
    EXPECT_EQ(note.operation, "cancel_order");
    EXPECT_EQ(note.request_id,
              venue.changed[static_cast<std::size_t>(note.attempt) - 1].second.request_id);
  }
}

TEST_F(OrderChanges, BelievesTheOrderThatShowsTheModification) {
  place("A-1");
  venue.changes = {lost, {.sent = Sent::refused, .message = "nothing to change"}};
  venue.book[0].price = *parse_decimal("49000");
  const auto found = modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(found.value().life, Life::working);
  EXPECT_EQ(found.value().answer.sent, Sent::accepted);
  EXPECT_THAT(found.value().answer.message, HasSubstr("nothing to change"));
  EXPECT_EQ(told<desk::ChangeEnded>().back().answer.sent, Sent::accepted);
  EXPECT_EQ(sink.events().back().type, audit::EventType::reconcile) << "after an unresolved one";
}

TEST_F(OrderChanges, BelievesTheOrderThatIsCanceledAndRecordsIt) {
  place("A-1");
  venue.changes = {lost, lost, lost};
  venue.book[0].life = Life::canceled;
  const auto canceled = cancel("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(canceled.value().life, Life::canceled);
  EXPECT_EQ(kept("A-1").progress.life, Life::canceled);
}

TEST_F(OrderChanges, CannotSeeAStopPriceInTheOrder) {
  order::Order stop = an_order();
  stop.type = order::Type::stop;
  stop.stop_price = std::exchange(stop.price, {});
  place("A-1", stop);
  venue.changes = {lost, lost, lost};
  const auto modified = modify("A-1", {.stop_price = *parse_decimal("48000")});
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(modified.error().code, Code::unresolved);
}

TEST_F(OrderChanges, SaysUnavailableWhenEveryCopyWasTurnedAway) {
  place("A-1");
  for (const Sent sent : {Sent::rate_limited, Sent::not_sent}) {
    venue.changed.clear();
    venue.changes = {{.sent = sent}, {.sent = sent}, {.sent = sent}};
    const auto modified = modify("A-1", {.size = *parse_decimal("0.05")});
    timers.advance(Duration::minutes(1));
    EXPECT_THAT(venue.changed, SizeIs(3));
    EXPECT_EQ(modified.error().code, Code::unavailable) << to_string(sent);
    EXPECT_EQ(modified.error().outcome, Outcome::not_applied);
  }
}

TEST_F(OrderChanges, SendsNothingMoreOnceTheDeskDrains) {
  place("A-1");
  venue.changes = {lost};
  const auto modified = modify("A-1", {.price = *parse_decimal("49000")});
  timers.advance(Duration::seconds(1));
  const auto waits = cancel("A-1");
  venue.changes = {};
  Later<void> drained;
  desk->drain(drained.done());
  EXPECT_TRUE(drained.is_over()) << "what waits for its turn holds nobody up";
  const std::size_t before = venue.changed.size();
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(venue.changed.size(), before);
  EXPECT_EQ(modified.error().code, Code::unresolved);
  EXPECT_THAT(modified.error().message, HasSubstr("pawl is shutting down"));
  EXPECT_EQ(waits.error().code, Code::unavailable);
  EXPECT_EQ(waits.error().outcome, Outcome::not_applied);
}

TEST_F(OrderChanges, TriesAgainWhatWasTurnedAway) {
  place("A-1");
  venue.changes = {{.sent = Sent::rate_limited, .retry_after = Duration::seconds(7)}};
  const auto modified = modify("A-1", {.size = *parse_decimal("0.05")});
  timers.advance(Duration::seconds(7));
  EXPECT_EQ(venue.changed.size(), 1U);
  timers.advance(Duration::seconds(3));
  EXPECT_EQ(modified.value().answer.sent, Sent::accepted);
}

TEST_F(OrderChanges, TellsWhyTheVenueRefused) {
  place("A-1");
  venue.changes = {{.sent = Sent::refused, .message = "the order is filled"}};
  const auto refused = modify("A-1", {.size = *parse_decimal("0.05")});
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the order is filled"));
}

TEST_F(OrderChanges, RefusesWhatWasNeverPlacedOrIsNotKnownToBe) {
  EXPECT_EQ(cancel("A-9").error().code, Code::not_found);
  venue.script = {{.answer = {.sent = Sent::refused}}};
  place("A-1");
  EXPECT_EQ(cancel("A-1").error().code, Code::refused);
  timers.advance(Duration::seconds(1));
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  place("A-2");
  EXPECT_THAT(cancel("A-2").error().message, HasSubstr("Reconcile it first"));
  EXPECT_TRUE(venue.changed.empty());
}

TEST_F(OrderChanges, RefusesAPriceThatTheOrderDoesNotHave) {
  place("A-1");
  order::Order market = an_order();
  market.type = order::Type::market;
  market.price.reset();
  place("A-2", market);
  timers.advance(Duration::seconds(2));
  for (const auto& refused : {modify("A-1", {.stop_price = *parse_decimal("48000")}),
                              modify("A-2", {.price = *parse_decimal("49000")}),
                              modify("A-2", {.stop_price = *parse_decimal("48000")}),
                              modify("A-1", {.size = *parse_decimal("0")})}) {
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
    EXPECT_THAT(refused.error().message, HasSubstr("external_reference=A-"));
  }
  EXPECT_THAT(venue.prepared, IsEmpty());
  EXPECT_THAT(venue.changed, IsEmpty());
}

TEST_F(OrderChanges, ReadsWhatAModificationNeedsBeforeItsTurn) {
  place("A-1");
  const SteadyInstant asked = clock.steady_now();
  modify("A-1", {.size = *parse_decimal("0.05")});
  ASSERT_THAT(venue.prepared, SizeIs(1));
  EXPECT_EQ(venue.prepared[0], asked);
  EXPECT_THAT(venue.changed, IsEmpty());
  timers.advance(Duration::seconds(1));
  ASSERT_THAT(venue.changed, SizeIs(1));
  EXPECT_TRUE(venue.changed[0].second.prepared);
}

TEST_F(OrderChanges, TakesNoTurnForWhatIsNotSent) {
  place("A-1");
  timers.advance(Duration::seconds(1));
  venue.unprepared = {{.sent = Sent::refused, .message = "no"}};
  const auto refused = modify("A-1", {.size = *parse_decimal("0.05")});
  EXPECT_EQ(refused.error().code, Code::refused);
  place("A-2");
  EXPECT_EQ(sent(), 2U) << "the turn was free";
  EXPECT_THAT(venue.changed, IsEmpty());
}

TEST_F(OrderChanges, PreparesAgainWhatCouldNotBeSeen) {
  place("A-1");
  venue.unprepared = {{.sent = Sent::not_sent, .message = "open orders were not read"}};
  const auto modified = modify("A-1", {.size = *parse_decimal("0.05")});
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(modified.value().answer.sent, Sent::accepted);
  EXPECT_THAT(venue.prepared, SizeIs(2));
  EXPECT_THAT(venue.changed, SizeIs(1));
}

TEST_F(OrderChanges, ModifiesAnOrderInTheOrderOfTheCalls) {
  place("A-1");
  venue.changes = {lost};
  const auto first = modify("A-1", {.price = *parse_decimal("49000")});
  const auto second = modify("A-1", {.price = *parse_decimal("48000")});
  const auto third = modify("A-1", {.price = *parse_decimal("47000")});
  timers.advance(Duration::minutes(1));
  std::vector<std::string> prices;
  for (const auto& [verb, ask] : venue.changed) prices.push_back(to_string(*ask.change.price));
  EXPECT_THAT(prices, ::testing::ElementsAre("49000", "49000", "48000", "47000"));
  for (const auto& each : {first, second, third}) {
    EXPECT_EQ(each.value().answer.sent, Sent::accepted);
  }
}

TEST_F(OrderChanges, LetsModificationsOfOtherOrdersAndCancelsPass) {
  place("A-1");
  place("A-2");
  timers.advance(Duration::seconds(2));
  venue.changes = {{.sent = Sent::rate_limited, .retry_after = Duration::minutes(1)}};
  modify("A-1", {.price = *parse_decimal("49000")});
  const auto waits = modify("A-1", {.price = *parse_decimal("48000")});
  const auto other = modify("A-2", {.price = *parse_decimal("49000")});
  const auto canceled = cancel("A-1");
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(other.value().answer.sent, Sent::accepted);
  EXPECT_EQ(canceled.value().life, Life::canceled);
  EXPECT_FALSE(waits.is_over());
  timers.advance(Duration::minutes(2));
  EXPECT_EQ(waits.error().code, Code::refused) << "the order is over";
}

TEST_F(OrderChanges, EndsModificationsThatWaitForAnotherWhenTheDeskDrains) {
  place("A-1");
  modify("A-1", {.price = *parse_decimal("49000")});
  const auto waits = modify("A-1", {.price = *parse_decimal("48000")});
  Later<void> drained;
  desk->drain(drained.done());
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(waits.error().code, Code::unavailable);
  EXPECT_EQ(waits.error().outcome, Outcome::not_applied);
  EXPECT_THAT(venue.changed, IsEmpty());
}

TEST_F(OrderChanges, SendsNothingThatTheAuditLogDoesNotTake) {
  place("A-1");
  MemoryEventSink full(0);
  audit = &full;
  open();
  const auto canceled = cancel("A-1");
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(canceled.error().code, Code::unavailable);
  EXPECT_TRUE(venue.changed.empty());
}

}  // namespace
}  // namespace pawl
