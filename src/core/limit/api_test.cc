// Goal: a program is understood exactly or told what is wrong with which member, and is answered
// what was decided. Method: bodies pinned as text, wrong ones with their errors; requests of every
// size printed and read back; answers of decisions made for real, a peek compared with the ask that
// follows it.
#include "core/limit/api.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/json.h"
#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

const ReservationToken token{.id = 0xdeadbeef, .tenant = "acme", .bucket = "orders"};

template <class T>
std::string error_of(const Result<T>& result) {
  if (result) return "(no error)";
  EXPECT_EQ(result.error().code, Code::invalid);
  return result.error().message;
}

std::string check_error(std::string_view body) {
  return error_of(parse_check_request(body));
}

// Of a body whose other members are right.
std::string reserve_error(const std::string& member) {
  return error_of(parse_reserve_request(R"({"tenant":"acme","bucket":"orders",)" + member + "}"));
}

TEST(LimitApi, ReadsACheckWithEveryMember) {
  const auto request =
      parse_check_request(R"( {"tenant": "acme", "bucket": "orders", "cost": 5, "peek": true} )");
  ASSERT_TRUE(request);
  EXPECT_EQ(*request,
            (CheckRequest{.tenant = "acme", .bucket = "orders", .cost = 5, .peek = true}));
  EXPECT_EQ(request->charge(), 0);
}

TEST(LimitApi, ChargesOneUnlessToldOtherwise) {
  const auto request = parse_check_request(R"({"tenant":"acme","bucket":"orders"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, (CheckRequest{.tenant = "acme", .bucket = "orders"}));
  EXPECT_EQ(request->charge(), 1);
  const auto reserve = parse_reserve_request(R"({"tenant":"a","bucket":"b","hold_ms":1500})");
  ASSERT_TRUE(reserve);
  EXPECT_EQ(*reserve,
            (ReserveRequest{.tenant = "a", .bucket = "b", .hold = Duration::milliseconds(1500)}));
}

TEST(LimitApi, PrintsRequestsAsTheyAreRead) {
  EXPECT_EQ(to_json(CheckRequest{.tenant = "a\"b", .bucket = "orders"}),
            R"({"bucket":"orders","cost":1,"peek":false,"tenant":"a\"b"})");
  EXPECT_EQ(to_json(CommitRequest{.reservation = token, .actual = 3}),
            R"({"actual":3,"reservation":"v1.00000000deadbeef.orders.61636d65"})");
  EXPECT_EQ(to_json(RenewRequest{.reservation = token, .hold = Duration::seconds(2)}),
            R"({"hold_ms":2000,"reservation":"v1.00000000deadbeef.orders.61636d65"})");
}

TEST(LimitApi, SaysWhatIsWrongWithTheBody) {
  EXPECT_EQ(check_error("[]"),
            "the body: found an array; allowed: an object of tenant, bucket, cost, peek");
  EXPECT_EQ(check_error(R"({"tenant":"a","bucket":"b","costs":1})"),
            "\"costs\": no such member; allowed: tenant, bucket, cost, peek");
  EXPECT_EQ(check_error("{\"" + std::string(1000, 'x') + "\":1}"),
            "a name of 1000 bytes: no such member; allowed: tenant, bucket, cost, peek");
  EXPECT_NE(check_error(R"({"tenant":"a","tenant":"b"})"), "(no error)");
  EXPECT_NE(check_error(""), "(no error)");
}

TEST(LimitApi, SaysWhichNamesAreAllowed) {
  const std::string tenant_form =
      "; allowed: a string of 1 to 128 visible ASCII characters without blanks";
  const std::string bucket_form = "; allowed: a string of 1 to 64 of a-z, 0-9, _ and -";
  const auto tenant = [](const std::string& value) {
    return check_error(R"({"bucket":"b","tenant":)" + value + "}");
  };
  const auto bucket = [](const std::string& value) {
    return check_error(R"({"tenant":"a","bucket":)" + value + "}");
  };
  EXPECT_EQ(check_error(R"({"bucket":"b"})"), "tenant: found nothing" + tenant_form);
  EXPECT_EQ(tenant(R"("")"), "tenant: found a string of 0 bytes" + tenant_form);
  EXPECT_EQ(tenant(R"("a b")"), "tenant: found a string of 3 bytes" + tenant_form);
  EXPECT_EQ(tenant(R"("é")"), "tenant: found a string of 2 bytes" + tenant_form);
  EXPECT_EQ(tenant("\"" + std::string(129, 'a') + "\""),
            "tenant: found a string of 129 bytes" + tenant_form);
  EXPECT_EQ(tenant("\"" + std::string(128, '~') + "\""), "(no error)");
  EXPECT_EQ(check_error(R"({"tenant":"a"})"), "bucket: found nothing" + bucket_form);
  EXPECT_EQ(bucket("null"), "bucket: found null" + bucket_form);
  EXPECT_EQ(bucket(R"("Orders")"), "bucket: found a string of 6 bytes" + bucket_form);
  EXPECT_EQ(bucket("\"" + std::string(65, 'b') + "\""),
            "bucket: found a string of 65 bytes" + bucket_form);
  EXPECT_EQ(bucket("\"" + std::string(64, '-') + "\""), "(no error)");
}

TEST(LimitApi, SaysWhichNumbersAreAllowed) {
  const auto cost = [](const std::string& value) {
    return check_error(R"({"tenant":"a","bucket":"b","cost":)" + value + "}");
  };
  const std::string form = "; allowed: a whole number from 0 to 1000000000";
  EXPECT_EQ(cost("-1"), "cost: found -1" + form);
  EXPECT_EQ(cost("1000000001"), "cost: found 1000000001" + form);
  EXPECT_EQ(cost("1.5"), "cost: found 1.5" + form);
  EXPECT_EQ(cost("1e3"), "cost: found 1e3" + form);
  EXPECT_EQ(cost("\"1\""), "cost: found a string of 1 bytes" + form);
  EXPECT_EQ(cost("null"), "cost: found null" + form);
  EXPECT_EQ(cost(std::string(100, '9')), "cost: found a number of 100 characters" + form);
  EXPECT_EQ(cost("0"), "(no error)");
  EXPECT_EQ(cost("1000000000"), "(no error)");
  EXPECT_EQ(check_error(R"({"tenant":"a","bucket":"b","peek":1})"),
            "peek: found 1; allowed: true or false");
}

TEST(LimitApi, ReservesSomethingAndForABoundedTime) {
  const std::string hold_form = "; allowed: a whole number from 1 to 86400000";
  EXPECT_EQ(reserve_error(R"("cost":0,"hold_ms":1)"),
            "cost: found 0; allowed: a whole number from 1 to 1000000000");
  EXPECT_EQ(reserve_error(R"("cost":1)"), "hold_ms: found nothing" + hold_form);
  EXPECT_EQ(reserve_error(R"("hold_ms":0)"), "hold_ms: found 0" + hold_form);
  EXPECT_EQ(reserve_error(R"("hold_ms":86400001)"), "hold_ms: found 86400001" + hold_form);
  EXPECT_EQ(reserve_error(R"("hold_ms":86400000)"), "(no error)");
  EXPECT_EQ(
      error_of(parse_renew_request(R"({"hold_ms":0,"reservation":")" + to_string(token) + "\"}")),
      "hold_ms: found 0" + hold_form);
  EXPECT_EQ(error_of(parse_commit_request(R"({"reservation":")" + to_string(token) + "\"}")),
            "actual: found nothing; allowed: a whole number from 0 to 1000000000");
}

TEST(LimitApi, SettlesNothingButAReservation) {
  const std::string form = "; allowed: the text that /v1/reserve answered with, unchanged";
  EXPECT_EQ(error_of(parse_cancel_request("{}")), "reservation: found nothing" + form);
  EXPECT_EQ(error_of(parse_cancel_request(R"({"reservation":7})")), "reservation: found 7" + form);
  EXPECT_EQ(error_of(parse_cancel_request(R"({"reservation":"v1"})")),
            "reservation: found a string of 2 bytes" + form);
  EXPECT_EQ(error_of(parse_cancel_request(R"({"reservation":"v1","actual":1})")),
            "\"actual\": no such member; allowed: reservation");
}

TEST(ReservationToken, IsReadOnlyAsItWasWritten) {
  EXPECT_EQ(to_string(token), "v1.00000000deadbeef.orders.61636d65");
  for (const std::string_view text : {
           "",
           "v1",
           "v2.00000000deadbeef.orders.61636d65",
           "00000000deadbeef.orders.61636d65",
           "v1.deadbeef.orders.61636d65",  // another way to write the number
           "v1.00000000DEADBEEF.orders.61636d65",
           "v1.00000000deadbeef.orders.61636D65",
           "v1.0000000000000000.orders.61636d65",   // no store gives it
           "v1.100000000deadbeef.orders.61636d65",  // more than 64 bits
           "v1.-0000000deadbeef.orders.61636d65",
           "v1.00000000deadbeef.Orders.61636d65",
           "v1.00000000deadbeef..61636d65",
           "v1.00000000deadbeef.orders",
           "v1.00000000deadbeef.orders.",
           "v1.00000000deadbeef.orders.6",
           "v1.00000000deadbeef.orders.61636d6",
           "v1.00000000deadbeef.orders.61636g65",
           "v1.00000000deadbeef.orders.20",  // a blank
           "v1.00000000deadbeef.orders.61636d65.",
           "v1.00000000deadbeef.orders.61636d65.7",
           " v1.00000000deadbeef.orders.61636d65",
       }) {
    EXPECT_FALSE(parse_reservation_token(text)) << text;
  }
}

TEST(ReservationToken, OfTheLongestNamesIsWithinItsBound) {
  ReservationToken longest{.id = ~std::uint64_t{0},
                           .tenant = std::string(bounds::tenant_bytes_max, '/'),
                           .bucket = std::string(bounds::config_name_bytes_max, 'b')};
  const std::string text = to_string(longest);
  EXPECT_EQ(text.size(), reservation_token_bytes_max);
  EXPECT_EQ(parse_reservation_token(text).value(), longest);
  EXPECT_FALSE(parse_reservation_token(text + "2f"));
}

std::string any_name(Chance& chance, std::size_t bytes_max, std::string_view letters) {
  std::string name;
  const auto bytes = chance.between(1, static_cast<std::int64_t>(bytes_max));
  for (std::int64_t i = 0; i < bytes; ++i) {
    name.push_back(letters[chance.bits() % letters.size()]);
  }
  return name;
}

template <class T, class Parse>
void expect_round_trip(const T& request, Parse parse) {
  const auto again = parse(to_json(request));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, request) << to_json(request);
}

TEST(LimitApi, ReadsBackWhateverItPrints) {
  std::string visible;
  for (char c = '!'; c <= '~'; ++c) visible.push_back(c);
  for_seeds(300, [&](Chance& chance) {
    const std::string tenant = any_name(chance, bounds::tenant_bytes_max, visible);
    const std::string bucket = any_name(chance, bounds::config_name_bytes_max, "az09_-");
    const std::int64_t cost = chance.any_size(1, bounds::limit_count_max);
    const Duration hold =
        Duration::milliseconds(chance.any_size(1, bounds::limit_hold_max.milliseconds_up()));
    const ReservationToken any{.id = chance.bits() | 1, .tenant = tenant, .bucket = bucket};
    const std::string text = to_string(any);
    EXPECT_EQ(parse_reservation_token(text).value(), any);
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-"), text.npos);
    expect_round_trip(
        CheckRequest{
            .tenant = tenant, .bucket = bucket, .cost = cost - 1, .peek = chance.one_in(2)},
        parse_check_request);
    expect_round_trip(
        ReserveRequest{.tenant = tenant, .bucket = bucket, .cost = cost, .hold = hold},
        parse_reserve_request);
    expect_round_trip(CommitRequest{.reservation = any, .actual = cost - 1}, parse_commit_request);
    expect_round_trip(CancelRequest{.reservation = any}, parse_cancel_request);
    expect_round_trip(RenewRequest{.reservation = any, .hold = hold}, parse_renew_request);
  });
}

// Policies, and what they remember of one key.
class Limits {
 public:
  explicit Limits(std::vector<Policy> policies)
      : policies_(std::move(policies)), marks_(policies_.size()), states_(policies_.size()) {
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      states_[i].marks = &marks_[i];
      members_.push_back({.policy = &policies_[i], .state = &states_[i]});
      counts_.push_back({.policy = &policies_[i], .key = "acme"});
    }
  }

  CheckAnswer check(std::int64_t cost, bool peek = false) {
    const CheckRequest request{.tenant = "acme", .bucket = "orders", .cost = cost, .peek = peek};
    return check_answer(request, counts_, decide(members_, {.cost = request.charge()}, now));
  }
  CheckAnswer peek_uncounted(std::int64_t cost) {
    Answer answer = decide(members_, {.cost = 0}, now);
    answer.counted_by = CountedBy::nobody;
    return check_answer({.tenant = "acme", .bucket = "orders", .cost = cost, .peek = true}, counts_,
                        answer);
  }
  std::string reserve(std::int64_t cost, std::uint64_t id) {
    const ReserveRequest request{
        .tenant = "acme", .bucket = "orders", .cost = cost, .hold = Duration::seconds(30)};
    const Answer answer = decide(members_, {.cost = cost, .holder = id}, now);
    return to_json(reserve_answer(request, counts_, answer, answer.allowed ? id : 0));
  }
  void close(std::size_t which, Duration lasting) {
    states_[which].closed_until = now.moment + lasting;
  }

  Now now = start;

 private:
  std::vector<Policy> policies_;
  std::vector<Marks> marks_;
  std::vector<State> states_;
  std::vector<Member> members_;
  std::vector<Count> counts_;
};

Policy log_of(std::string name, std::int64_t count, bool shadow = false) {
  return {std::move(name),
          SlidingLog{{.count = count, .period = Duration::minutes(1)}},
          {.shadow = shadow}};
}

TEST(LimitApi, AnswersWithTheBindingPolicy) {
  Limits limits({log_of("global", 100), log_of("login", 5)});
  EXPECT_EQ(to_json(limits.check(3)),
            R"({"allowed":true,"limit":5,"policy":"login","remaining":2,"reset_seconds":60,)"
            R"("retry_after_ms":0,"why":"Allowed. Tightest is 'login' (5/1m exactly): 3 of 5 used,)"
            R"( 2 left."})");
}

TEST(LimitApi, TellsARefusedCallerAWaitThatIsNeverTooShort) {
  Limits limits({log_of("login", 5)});
  limits.check(5);
  limits.now = later(limits.now, Duration::milliseconds(47'650) + nanosecond);
  EXPECT_EQ(to_json(limits.check(1)),
            R"({"allowed":false,"limit":5,"policy":"login","remaining":0,"reset_seconds":13,)"
            R"("retry_after_ms":12350,"why":"Refused by 'login' (5/1m exactly): 5 of 5 used, )"
            R"(nothing left. The earliest that would do is in 12.4s."})");
}

TEST(LimitApi, TellsNoWaitWhenNoneWouldDo) {
  Limits limits({log_of("login", 5)});
  const CheckAnswer answer = limits.check(6);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.retry_after_ms, std::nullopt);
  EXPECT_NE(to_json(answer).find(R"("retry_after_ms":null)"), std::string::npos);
  EXPECT_EQ(limits.check(6, true).retry_after_ms, std::nullopt);
}

TEST(LimitApi, ReservesWithATokenAnyProcessCanSettleBy) {
  Limits limits({log_of("login", 5)});
  const auto reserved = json::parse(limits.reserve(5, 0xdeadbeef));
  ASSERT_TRUE(reserved);
  EXPECT_EQ(*reserved->find("allowed"), json::Value(true));
  EXPECT_EQ(*reserved->find("remaining"), json::Value(0));
  EXPECT_EQ(*reserved->find("expires_in_ms"), json::Value(30'000));
  EXPECT_EQ(parse_reservation_token(*reserved->find("reservation")->if_string()).value(), token);

  const auto refused = json::parse(limits.reserve(1, 7));
  ASSERT_TRUE(refused);
  EXPECT_EQ(*refused->find("allowed"), json::Value(false));
  EXPECT_EQ(*refused->find("retry_after_ms"), json::Value(60'000));
  EXPECT_TRUE(refused->find("expires_in_ms")->is_null());
  EXPECT_TRUE(refused->find("reservation")->is_null());
}

TEST(LimitApi, PeekSaysThatNothingWasCharged) {
  Limits limits({log_of("global", 100), log_of("login", 5)});
  limits.check(4);
  EXPECT_EQ(to_json(limits.check(2, true)),
            R"({"allowed":false,"limit":5,"policy":"login","remaining":1,"reset_seconds":60,)"
            R"("retry_after_ms":60000,"why":"Looked at, nothing was charged. Tightest is 'login' )"
            R"((5/1m exactly): 4 of 5 used, 1 left."})");
  EXPECT_TRUE(limits.check(1, true).allowed);
  EXPECT_TRUE(limits.check(1).allowed);
  limits.close(1, Duration::minutes(2));
  EXPECT_EQ(limits.check(1, true).retry_after_ms, 120'000);
}

TEST(LimitApi, PeekWaitsForAllOfItsCostToComeBack) {
  Limits limits({log_of("login", 5)});
  limits.check(1);
  limits.now = later(limits.now, Duration::seconds(30));
  limits.check(4);
  const CheckAnswer peeked = limits.check(5, true);
  EXPECT_EQ(peeked.retry_after_ms, 60'000);  // after 30 s there would be one
  EXPECT_EQ(peeked.reset_seconds, 60);
  EXPECT_EQ(limits.check(5).retry_after_ms, 60'000);
}

TEST(LimitApi, PeekTellsOfThePolicyThatWouldRefuseForLongest) {
  Limits limits(
      {log_of("minute", 1), {"hour", SlidingLog{{.count = 1, .period = Duration::hours(1)}}, {}}});
  limits.check(1);
  const CheckAnswer peeked = limits.check(1, true);
  EXPECT_EQ(peeked.policy, "hour");
  EXPECT_EQ(peeked.why,
            "Looked at, nothing was charged. Tightest is 'hour' (1/1h exactly): 1 of 1 used, "
            "nothing left; more comes in 1h.");
}

TEST(LimitApi, PeekIsAllowedWhenNobodyCounts) {
  Limits limits({log_of("login", 5)});
  EXPECT_TRUE(limits.peek_uncounted(6).allowed);
  EXPECT_EQ(limits.peek_uncounted(6).retry_after_ms, 0);
}

TEST(LimitApi, PeekForetellsTheAsk) {
  for_seeds(2000, [](Chance& chance) {
    std::vector<Policy> policies;
    for (std::int64_t n = chance.between(1, 3); n > 0; --n) {
      policies.emplace_back("policy-" + std::to_string(n), any_rule(chance),
                            PolicyOptions{.shadow = chance.one_in(4)});
    }
    Limits limits(std::move(policies));
    for (int step = 0; step < 10; ++step) {
      limits.now = later(limits.now, chance.any_duration({}, Duration::hours(1)));
      const std::int64_t left = limits.check(0, true).remaining;
      const std::int64_t cost =
          chance.one_in(3)
              ? 1
              : std::clamp<std::int64_t>(left + chance.between(-1, 2), 1, bounds::limit_count_max);
      if (chance.one_in(8)) limits.close(0, Duration::seconds(chance.between(1, 100)));
      const CheckAnswer peeked = limits.check(cost, true);
      const CheckAnswer asked = limits.check(cost);
      ASSERT_EQ(peeked.allowed, asked.allowed) << peeked.why << " / " << asked.why;
      ASSERT_EQ(peeked.retry_after_ms.has_value(), asked.retry_after_ms.has_value());
      if (!asked.retry_after_ms) continue;
      ASSERT_GE(*peeked.retry_after_ms, *asked.retry_after_ms) << asked.why;
      if (cost > 1) continue;
      ASSERT_EQ(*peeked.retry_after_ms, *asked.retry_after_ms) << asked.why;
    }
  });
}

}  // namespace
}  // namespace pawl::limit
