// Goal: whoever asks is told what a check of the log found, piece by piece, and each one of a check
// of their own. Method: a log in memory whose checks are made up.
#include "admin/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_fixture.h"
#include "base/bounds_panel.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ChainTest : public AdminFixture {
 protected:
  Heard go_on(const Heard& from) { return get("/v1/audit/chain?check=" + from.text("check")); }
};

TEST_F(ChainTest, IsToldPieceByPiece) {
  trail.verdicts = {{.verified = 2}, {.verified = 5, .anchor = audit::Anchor{.seq = 5}}};
  const Heard first = get("/v1/audit/chain");
  EXPECT_THAT(first.body, AllOf(HasSubstr(R"("more":true)"), HasSubstr(R"("records":2)"),
                                HasSubstr(R"("anchor":null)")));
  const Heard last = go_on(first);
  EXPECT_THAT(last.body, AllOf(HasSubstr(R"("more":false)"), HasSubstr(R"("records":5)"),
                               HasSubstr(R"("anchor":5)"), HasSubstr(R"("broken":null)")));
  EXPECT_EQ(go_on(first).body, last.body) << "an answer that got lost is told again";
}

TEST_F(ChainTest, NamesWhatIsBroken) {
  trail.verdicts = {{.verified = 3,
                     .flaw = audit::Flaw{.fault = audit::Fault::missing,
                                         .part = 0,
                                         .line = 4,
                                         .message = "record 4 is missing"},
                     .flawed_file = "audit.jsonl"}};
  EXPECT_THAT(get("/v1/audit/chain").body,
              HasSubstr(R"("broken":{"fault":"missing","file":"audit.jsonl","line":4,)"
                        R"("reason":"record 4 is missing"})"));
}

TEST_F(ChainTest, IsOfItsOwnForEachWhoBegins) {
  trail.verdicts = {{.verified = 1}, {.verified = 2}, {.verified = 3}};
  const Heard one = get("/v1/audit/chain");
  EXPECT_EQ(go_on(one).text("records"), "2");
  EXPECT_EQ(get("/v1/audit/chain").text("records"), "1");
  for (std::size_t i = 2; i < bounds::audit_checks_max; ++i) get("/v1/audit/chain");
  EXPECT_EQ(go_on(one).text("records"), "3");
  get("/v1/audit/chain");
  EXPECT_THAT(go_on(one).body, HasSubstr("begin one")) << "the oldest goes";
}

TEST_F(ChainTest, IsNotThereWithoutALog) {
  trail.works = false;
  EXPECT_EQ(get("/v1/audit/chain").status, 503);
  context.trail = nullptr;
  EXPECT_EQ(get("/v1/audit/chain").status, 404);
}

}  // namespace
}  // namespace pawl::admin
