// Goal: every request gets a connection of its own to the upstream that has least to do; one that
// cannot be reached costs no request, and a connection that the other side has left is not used for
// a write. Method: connections of a fake loop, accepted and refused by the test.
#include "gateway/upstream_router.h"

#include <gtest/gtest.h>
#include <optional>

#include "gateway/upstream_fixture.h"
#include "net/fake.h"

namespace pawl::gateway {
namespace {

using Purpose = UpstreamRouter::Purpose;

class UpstreamRouterTest : public ::testing::Test {
 protected:
  // What a take came to; empty while it waits.
  using Taken = std::shared_ptr<std::optional<Result<UpstreamLinkPtr>>>;

  Taken begin(Purpose purpose = Purpose::read) {
    auto taken = std::make_shared<std::optional<Result<UpstreamLinkPtr>>>();
    router.take(purpose, [taken](Result<UpstreamLinkPtr> link) { *taken = std::move(link); });
    return taken;
  }
  UpstreamLinkPtr take(Purpose purpose = Purpose::read) {
    const Taken taken = begin(purpose);
    if (!*taken) last = loop.accept_connect();
    EXPECT_TRUE(taken->has_value() && (*taken)->has_value());
    return std::move(taken->value().value());
  }
  std::string last_target() const { return loop.targets.back().host; }

  net::FakeLoop loop;
  UpstreamsFixture upstreams;
  UpstreamRouter router{loop};
  std::shared_ptr<net::FakeStream> last;  // connection that was made
};

TEST_F(UpstreamRouterTest, UsesAConnectionAgainThatWasGivenBackAndNoOther) {
  router.use(upstreams.list("a"));
  UpstreamLinkPtr first = take();
  EXPECT_FALSE(first->reused());
  UpstreamLinkPtr second = take();
  const auto* stream = &second->stream();
  EXPECT_EQ(loop.targets.size(), 2u);
  first.reset();
  router.give_back(std::move(second));
  UpstreamLinkPtr third = take();
  EXPECT_EQ(loop.targets.size(), 2u);
  EXPECT_TRUE(third->reused());
  EXPECT_EQ(&third->stream(), stream);
}

// What it said would be taken for the answer to whatever is sent next.
TEST_F(UpstreamRouterTest, DoesNotUseAConnectionAgainThatHasSpokenUnheard) {
  router.use(upstreams.list("a"));
  router.give_back(take());
  last->paused = true;
  last->receive("HTTP/1.1 200 OK\r\n");
  const auto spoken = last;
  EXPECT_FALSE(take(Purpose::read)->reused());
  EXPECT_TRUE(spoken->closed);
}

TEST_F(UpstreamRouterTest, GoesOnWithTheUpstreamsOfAReloadWhenAConnectFails) {
  router.use(upstreams.list("a"));
  const Taken taken = begin();
  router.use(upstreams.list("b"));
  loop.refuse_connect();
  EXPECT_EQ(last_target(), "b.test");
  // However many there are, of reload after reload.
  for (int i = 0; i < 40 && !*taken; ++i) {
    router.use(upstreams.list(std::string(1, static_cast<char>('a' + i % 26))));
    loop.refuse_connect();
  }
  ASSERT_TRUE(taken->has_value());
  EXPECT_FALSE(taken->value().has_value());
}

TEST_F(UpstreamRouterTest, ALinkThatIsDroppedClosesItsConnection) {
  router.use(upstreams.list("a"));
  take();
  EXPECT_TRUE(last->closed);
}

TEST_F(UpstreamRouterTest, CountsARequestFromItsBeginningToItsEnd) {
  router.use(upstreams.list("a"));
  const auto a = upstreams.find('a');
  const Taken waiting = begin();
  EXPECT_EQ(a->pending(), 1);
  loop.accept_connect();
  EXPECT_EQ(a->pending(), 1);
  router.give_back(std::move(waiting->value().value()));
  EXPECT_EQ(a->pending(), 0);
  UpstreamLinkPtr again = take();
  EXPECT_EQ(a->pending(), 1);
  again.reset();
  EXPECT_EQ(a->pending(), 0);
}

TEST_F(UpstreamRouterTest, SpreadsRequestsByWhatIsUnderWay) {
  router.use(upstreams.list("ab"));
  std::vector<UpstreamLinkPtr> links;
  for (int i = 0; i < 10; ++i) links.push_back(take());
  EXPECT_EQ(upstreams.find('a')->pending(), 5);
  EXPECT_EQ(upstreams.find('b')->pending(), 5);
  std::erase_if(links, [this](const UpstreamLinkPtr& link) {
    return &link->upstream() == upstreams.find('a').get();
  });
  for (int i = 0; i < 5; ++i) links.push_back(take());
  EXPECT_EQ(upstreams.find('a')->pending(), 5) << "it had nothing to do";
}

TEST_F(UpstreamRouterTest, SeesWhatOtherLoopsHaveUnderWay) {
  router.use(upstreams.list("ab"));
  upstreams.find('a')->begin_request();
  for (int i = 0; i < 4; ++i) {
    const UpstreamLinkPtr link = take();
    EXPECT_EQ(link->upstream().address().host, "b.test");
  }
}

TEST_F(UpstreamRouterTest, TriesAnotherUpstreamWhenOneDoesNotTakeTheConnection) {
  router.use(upstreams.list("ab"));
  const Taken taken = begin(Purpose::write);
  const std::string refusing = last_target();
  loop.refuse_connect();
  ASSERT_FALSE(taken->has_value()) << "the other one is asked";
  EXPECT_NE(last_target(), refusing);
  loop.accept_connect();
  ASSERT_TRUE(taken->has_value() && (*taken)->has_value());
  EXPECT_NE(taken->value().value()->upstream().address().host, refusing);
}

TEST_F(UpstreamRouterTest, SaysWhyWhenNoneTakesTheConnection) {
  router.use(upstreams.list("abc"));
  const Taken taken = begin();
  for (int i = 0; i < 3; ++i) loop.refuse_connect();
  ASSERT_TRUE(taken->has_value());
  ASSERT_FALSE((*taken)->has_value());
  EXPECT_EQ((*taken)->error().message, "refused");
  EXPECT_EQ((*taken)->error().outcome, Outcome::not_applied);
  for (const char letter : {'a', 'b', 'c'}) EXPECT_EQ(upstreams.find(letter)->pending(), 0);
}

TEST_F(UpstreamRouterTest, ConnectsThatFailMakeAnUpstreamSick) {
  router.use(upstreams.list("ab"));
  upstreams.find('b')->begin_request();  // so that a is first
  for (int i = 0; i < 2; ++i) {
    begin();
    loop.refuse_connect();
    loop.accept_connect();
  }
  EXPECT_EQ(upstreams.changes, "a.test:80 is sick: refused. ");
  begin();
  EXPECT_EQ(last_target(), "b.test") << "though it has more under way";
}

TEST_F(UpstreamRouterTest, UsesTheSickWhenThereIsNoOther) {
  router.use(upstreams.list("a"));
  for (int i = 0; i < 2; ++i) {
    begin();
    loop.refuse_connect();
  }
  ASSERT_FALSE(upstreams.find('a')->is_healthy());
  EXPECT_NE(take(), nullptr);
}

TEST_F(UpstreamRouterTest, AWriteDoesNotGoOutOnAConnectionThatWasLeft) {
  router.use(upstreams.list("a"));
  router.give_back(take());
  last->quiet = false;
  const auto left = last;
  const UpstreamLinkPtr link = take(Purpose::write);
  EXPECT_FALSE(link->reused());
  EXPECT_TRUE(left->closed);
}

TEST_F(UpstreamRouterTest, AReadTriesItWithoutALook) {
  router.use(upstreams.list("a"));
  router.give_back(take());
  last->quiet = false;
  EXPECT_TRUE(take(Purpose::read)->reused());
}

TEST_F(UpstreamRouterTest, AConnectionThatSpeaksOrEndsWhileItRestsIsLetGo) {
  router.use(upstreams.list("a"));
  router.give_back(take());
  last->receive("HTTP/1.1 408 Request Timeout\r\n\r\n");
  EXPECT_TRUE(last->closed);
  EXPECT_FALSE(take()->reused());
  router.give_back(take());
  last->break_off();
  EXPECT_FALSE(take()->reused());
}

TEST_F(UpstreamRouterTest, KeepsNoMoreConnectionsThanItMay) {
  router.use(upstreams.list("a"));
  std::vector<UpstreamLinkPtr> links;
  for (std::size_t i = 0; i <= bounds::upstream_idle_max; ++i) links.push_back(take());
  for (auto& link : links) router.give_back(std::move(link));
  EXPECT_TRUE(last->closed);
}

TEST_F(UpstreamRouterTest, AChangeOfTheListKeepsTheConnectionsOfThoseThatStay) {
  router.use(upstreams.list("ab"));
  UpstreamLinkPtr first = take();
  const auto one = last;
  UpstreamLinkPtr second = take();
  const auto two = last;
  const bool a_first = first->upstream().address().host == "a.test";
  router.give_back(std::move(first));
  router.give_back(std::move(second));
  router.use(upstreams.list("bc"));
  EXPECT_EQ(one->closed, a_first);
  EXPECT_EQ(two->closed, !a_first);
  upstreams.find('c')->begin_request();
  const UpstreamLinkPtr link = take();
  EXPECT_TRUE(link->reused());
  EXPECT_EQ(link->upstream().address().host, "b.test");
}

TEST_F(UpstreamRouterTest, WhatIsUnderWayToOneThatGoesIsFinishedAndThenClosed) {
  router.use(upstreams.list("a"));
  UpstreamLinkPtr link = take();
  const auto stream = last;
  router.use(upstreams.list("b"));
  EXPECT_FALSE(stream->closed);
  router.give_back(std::move(link));
  EXPECT_TRUE(stream->closed);
}

}  // namespace
}  // namespace pawl::gateway
