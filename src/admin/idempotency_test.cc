// Goal: an operator sees what is on record, and forgets or settles by the client's key, on record
// first. Method: an Admin on records in memory.
#include "admin/idempotency.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using idempotency::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

class IdempotencyTest : public AdminFixture {
 protected:
  static RecordKey key(std::string path, std::string name, std::string tenant = "acme") {
    return {
        .scope = std::move(tenant),
        .key = request::to_record_key({.method = "POST", .path = std::move(path), .key = name})};
  }
  // A record that has ended so; in flight: not at all.
  void keep(const RecordKey& which, Status status, const std::string& fingerprint = "f") {
    std::uint64_t fence = 0;
    records.begin(
        which,
        {.fingerprint = fingerprint, .lease = Duration::minutes(1), .ttl = Duration::hours(1)},
        [&](const Result<idempotency::Begun>& begun) { fence = begun->record.fence; });
    if (status == Status::in_flight) return;
    records.complete(which, fence, {.status = status, .response = {}, .ttl = Duration::hours(1)},
                     [](const Result<void>& done) { EXPECT_TRUE(done.has_value()); });
  }
  std::string status_of(const RecordKey& which) {
    std::string status = "none";
    records.get(which, [&](const Result<idempotency::Record>& record) {
      if (record) status = to_string(record->status);
    });
    return status;
  }
};

TEST_F(IdempotencyTest, ListsRecordsAndHits) {
  keep(key("/orders", "k 1"), Status::done);
  keep(key("/orders", "k2", "beta"), Status::in_flight);
  keep({.scope = "acme", .key = "no-write"}, Status::unknown);
  writes.note({.at = clock.wall_now(),
               .what = request::WriteEvent::replayed,
               .tenant = "acme",
               .operation = "POST /orders",
               .key = "k 1"});
  const json::Value all = get("/v1/idempotency").json();
  EXPECT_EQ(all.find("records")->if_array()->size(), 3U);
  EXPECT_THAT(json::print(*all.find("hits")),
              AllOf(HasSubstr(R"("what":"replayed")"), HasSubstr(R"("key":"k 1")")));
  const std::string of_acme = get("/v1/idempotency?tenant=acme&limit=5").body;
  EXPECT_THAT(of_acme, AllOf(HasSubstr(R"("key":"k 1","lease_until":null,"method":"POST",)"),
                             HasSubstr(R"("path":"/orders")"),
                             HasSubstr(R"("key":"no-write","lease_until":null,"method":null)")));
  EXPECT_EQ(get("/v1/idempotency?tenant=beta").json().find("hits")->if_array()->size(), 0U);
  EXPECT_EQ(get("/v1/idempotency?limit=1").json().find("records")->if_array()->size(), 1U);
}

TEST_F(IdempotencyTest, FindsAKeyBehindNewerOnes) {
  keep(key("/orders", "needle"), Status::done);
  for (int i = 0; i < 5; ++i) {
    clock.advance(Duration::seconds(1));
    keep(key("/orders", "hay " + std::to_string(i)), Status::done);
  }
  const json::Value found = get("/v1/idempotency?limit=2&key=eedl").json();
  ASSERT_EQ(found.find("records")->if_array()->size(), 1U);
  EXPECT_THAT(json::print(found), HasSubstr(R"("key":"needle")"));
  for (const char* name : {"needle", "hay 1"}) {
    writes.note({.at = clock.wall_now(),
                 .what = request::WriteEvent::replayed,
                 .tenant = "acme",
                 .operation = "POST /orders",
                 .key = name});
  }
  EXPECT_EQ(get("/v1/idempotency?key=needle").json().find("hits")->if_array()->size(), 1U);
}

// Browsers take dot segments out of a path: DELETE /v1/idempotency/acme/.. is another call.
TEST_F(IdempotencyTest, NamesAKeyOfDotsInTheBody) {
  keep(key("/orders", ".."), Status::done);
  keep(key("/orders", "."), Status::unknown);
  const Heard settled = ask("POST", "/v1/idempotency/settle",
                            R"({"tenant":"acme","key":".","as":"done","reason":"seen"})");
  EXPECT_EQ(settled.status, 200) << settled.body;
  EXPECT_EQ(status_of(key("/orders", ".")), "done");
  const char* whole = R"({"tenant":"acme","key":"..","method":"POST","path":"/orders"})";
  EXPECT_EQ(ask("POST", "/v1/idempotency/forget", whole).status, 200);
  EXPECT_EQ(status_of(key("/orders", "..")), "none");
  EXPECT_EQ(ask("POST", "/v1/idempotency/forget", R"({"key":".."})").status, 400);
  keep(key("/orders", ".."), Status::in_flight);
  EXPECT_EQ(ask("POST", "/v1/idempotency/forget", whole).status, 409);
  EXPECT_EQ(
      ask("POST", "/v1/idempotency/forget", R"({"tenant":"acme","key":"..","force":true})").status,
      200);
}

TEST_F(IdempotencyTest, TellsCounts) {
  writes.note({.at = clock.wall_now(),
               .what = request::WriteEvent::mismatch,
               .tenant = "acme",
               .operation = "POST /orders",
               .key = "k"});
  EXPECT_THAT(get("/v1/idempotency/stats").body,
              AllOf(HasSubstr("\"mismatch\":1"), HasSubstr("\"executed\":0"),
                    HasSubstr("\"available\":true"), HasSubstr("\"durability\":\"none\"")));
}

TEST_F(IdempotencyTest, ForgetsEveryRecordOfAKeyAndNoOther) {
  keep(key("/orders", "a/b"), Status::done);
  keep(key("/refunds", "a/b"), Status::unknown);
  keep(key("/orders", "a"), Status::done);
  keep(key("/orders", "a/b", "beta"), Status::done);
  const Heard heard = ask("DELETE", "/v1/idempotency/acme/a%2Fb");
  EXPECT_EQ(heard.status, 200);
  EXPECT_EQ(heard.json().find("records")->if_array()->size(), 2U);
  EXPECT_EQ(status_of(key("/orders", "a/b")), "none");
  EXPECT_EQ(status_of(key("/refunds", "a/b")), "none");
  EXPECT_EQ(status_of(key("/orders", "a")), "done");
  EXPECT_EQ(status_of(key("/orders", "a/b", "beta")), "done");
  EXPECT_EQ(audit.events().size(), 2U);
  EXPECT_THAT(last_event(), AllOf(HasSubstr("idempotency idempotency clear acme"),
                                  HasSubstr("\"action\":\"clear\""), HasSubstr("\"peer\"")));
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/a%2Fb").status, 404);
}

TEST_F(IdempotencyTest, ForgetsTheOneThatTheQueryNames) {
  keep(key("/orders", "k"), Status::done);
  keep(key("/refunds", "k"), Status::done);
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k?method=POST&path=/refunds").status, 200);
  EXPECT_EQ(status_of(key("/refunds", "k")), "none");
  EXPECT_EQ(status_of(key("/orders", "k")), "done");
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k?method=POST&path=/none").status, 404);
}

// As they are under on_mismatch: separate.
TEST_F(IdempotencyTest, FindsTheRecordsOfEveryBodyOfAKey) {
  const auto of_body = [](std::string path, const std::string& fingerprint) {
    return RecordKey{.scope = "acme",
                     .key = request::to_record_key(
                         {.method = "POST", .path = std::move(path), .key = "k"}, fingerprint)};
  };
  const std::string one(64, '1');
  const std::string two(64, '2');
  keep(of_body("/orders", one), Status::unknown, one);
  keep(of_body("/orders", two), Status::unknown, two);
  keep(of_body("/refunds", one), Status::unknown, one);
  const Heard settled = ask("POST", "/v1/idempotency/acme/k/settle?method=POST&path=/orders",
                            R"({"as":"done","reason":"x"})");
  EXPECT_EQ(settled.json().find("records")->if_array()->size(), 2U);
  EXPECT_EQ(status_of(of_body("/orders", one)), "done");
  EXPECT_EQ(status_of(of_body("/refunds", one)), "unknown");
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k?method=POST&path=/orders").status, 200);
  EXPECT_EQ(status_of(of_body("/orders", two)), "none");
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k").status, 200);
  EXPECT_EQ(status_of(of_body("/refunds", one)), "none");
}

TEST_F(IdempotencyTest, FindsAnOldRecordByAllThatItIsNamedBy) {
  keep(key("/orders", "old"), Status::done);
  for (std::size_t i = 0; i < bounds::record_list_max; ++i) {
    clock.advance(Duration::milliseconds(1));
    keep(key("/orders", "k" + std::to_string(i)), Status::done);
  }
  EXPECT_THAT(ask("DELETE", "/v1/idempotency/acme/old").body, HasSubstr("for an older one"));
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/old?method=POST&path=/orders").status, 200);
  EXPECT_EQ(status_of(key("/orders", "old")), "none");
}

TEST_F(IdempotencyTest, SettlesAnOldOneThatGoesByItsBody) {
  const request::WriteKey write{.method = "POST", .path = "/orders", .key = "old"};
  const std::string print(64, 'a');
  const RecordKey old{.scope = "acme", .key = request::to_record_key(write, print)};
  keep(old, Status::unknown, print);
  for (std::size_t i = 0; i < bounds::record_list_max; ++i) {
    clock.advance(Duration::milliseconds(1));
    keep(key("/orders", "k" + std::to_string(i)), Status::done);
  }
  const auto settle = [&](const std::string& which) {
    return ask("POST", "/v1/idempotency/settle",
               R"({"tenant":"acme","method":"POST","path":"/orders","as":"done","reason":"seen",)"
               R"("key":")" +
                   which + "\"}");
  };
  EXPECT_EQ(settle("none").code(), "ERR_NOT_FOUND");
  EXPECT_EQ(settle("old").status, 200);
  EXPECT_EQ(status_of(old), "done");
}

TEST_F(IdempotencyTest, ListsByStatusHoweverOld) {
  keep(key("/orders", "lost"), Status::unknown);
  for (std::size_t i = 0; i < bounds::record_list_max; ++i) {
    clock.advance(Duration::milliseconds(1));
    keep(key("/orders", "k" + std::to_string(i)), Status::done);
  }
  const Heard unknown = get("/v1/idempotency?status=unknown&limit=10");
  EXPECT_EQ(unknown.json().find("records")->if_array()->size(), 1U);
  EXPECT_THAT(unknown.body, HasSubstr(R"("key":"lost")"));
  EXPECT_THAT(get("/v1/idempotency?status=failed").body, HasSubstr(R"("records":[])"));
  EXPECT_EQ(get("/v1/idempotency?status=lost").status, 400);
}

TEST_F(IdempotencyTest, ForgetsNothingInFlightUnlessForced) {
  keep(key("/orders", "k"), Status::in_flight);
  keep(key("/refunds", "k"), Status::done);
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k").code(), "ERR_CONFLICT");
  EXPECT_EQ(status_of(key("/refunds", "k")), "done") << "all or none";
  EXPECT_EQ(last_event(), "");
  EXPECT_EQ(ask("DELETE", "/v1/idempotency/acme/k?force=true").status, 200);
  EXPECT_EQ(status_of(key("/orders", "k")), "none");
  EXPECT_THAT(last_event(), HasSubstr("\"force\":true"));
}

TEST_F(IdempotencyTest, SettlesWhatIsUnknown) {
  keep(key("/orders", "k"), Status::unknown);
  keep(key("/refunds", "k"), Status::done);
  EXPECT_EQ(ask("POST", "/v1/idempotency/acme/k/settle", R"({"as":"done","reason":"it is there"})")
                .json()
                .find("records")
                ->if_array()
                ->size(),
            1U);
  EXPECT_EQ(status_of(key("/orders", "k")), "done");
  EXPECT_THAT(last_event(),
              AllOf(HasSubstr("\"action\":\"settle\""), HasSubstr("\"outcome\":\"applied\""),
                    HasSubstr("\"reason\":\"it is there\"")));
  records.get(key("/orders", "k"), [](const Result<idempotency::Record>& record) {
    EXPECT_TRUE(record->response.tombstone) << "there is no answer to replay";
  });
  EXPECT_EQ(ask("POST", "/v1/idempotency/acme/k/settle", R"({"as":"failed","reason":"x"})").code(),
            "ERR_CONFLICT");
}

TEST_F(IdempotencyTest, SettlesAsFailedSoThatItMayBeSentAgain) {
  keep(key("/orders", "k"), Status::unknown);
  EXPECT_EQ(ask("POST", "/v1/idempotency/acme/k/settle", R"({"as":"failed","reason":"x"})").status,
            200);
  EXPECT_EQ(status_of(key("/orders", "k")), "failed");
  EXPECT_THAT(last_event(), HasSubstr("\"outcome\":\"not_applied\""));
}

TEST_F(IdempotencyTest, SettlesNothingWithoutAReason) {
  keep(key("/orders", "k"), Status::unknown);
  for (const char* body :
       {R"({"as":"done"})", R"({"as":"done","reason":""})", R"({"as":"gone","reason":"x"})", ""}) {
    EXPECT_EQ(ask("POST", "/v1/idempotency/acme/k/settle", body).status, 400) << body;
  }
  EXPECT_EQ(status_of(key("/orders", "k")), "unknown");
}

}  // namespace
}  // namespace pawl::admin
