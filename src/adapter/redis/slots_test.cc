// Goal: keys land where Redis puts them, and what a server says of slots is checked. Method: slots
// that Redis documents, and answers written by hand, good and bad.
#include "adapter/redis/slots.h"

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

const net::Target asked{.host = "10.0.0.1", .port = 7000};

Reply text(const char* value) {
  return Reply(Reply::Kind::string, value);
}
Reply number(std::int64_t value) {
  return Reply(value);
}
Reply node(const char* host, std::int64_t port) {
  return Reply(std::vector<Reply>{text(host), number(port), text("id")});
}
Reply range(std::int64_t first, std::int64_t last, const Reply& master) {
  return Reply(std::vector<Reply>{number(first), number(last), master, node("replica", 1)});
}

TEST(Slots, AreCrc16OfTheKey) {
  // The check value of CRC-16/XMODEM is 0x31c3; the others as CLUSTER KEYSLOT answers.
  EXPECT_EQ(key_slot("123456789"), 0x31c3);
  EXPECT_EQ(key_slot(""), 0);
  EXPECT_EQ(key_slot("foo"), 12182);
  EXPECT_EQ(key_slot("somekey"), 11058);
  EXPECT_EQ(key_slot("\xff\xfe"), key_slot("{\xff\xfe}"));
}

TEST(Slots, AHashTagAloneDecides) {
  EXPECT_EQ(key_slot("rate:{tenant}:a"), key_slot("tenant"));
  EXPECT_EQ(key_slot("{tenant}"), key_slot("x{tenant}y{other}"));
  EXPECT_NE(key_slot("foo{}{bar}"), key_slot("bar")) << "an empty tag is none";
  EXPECT_EQ(key_slot("foo{{bar}}zap"), key_slot("{bar"));
  EXPECT_NE(key_slot("{open"), key_slot("open"));
  EXPECT_NE(key_slot("}a{b"), key_slot("b"));
}

TEST(Redirect, IsReadFromMovedAndAsk) {
  EXPECT_EQ(parse_redirect("MOVED 3999 127.0.0.1:6381", asked),
            (Redirect{.ask = false, .slot = 3999, .target = {"127.0.0.1", 6381}}));
  EXPECT_EQ(parse_redirect("ASK 0 node.internal:1", asked),
            (Redirect{.ask = true, .slot = 0, .target = {"node.internal", 1}}));
  EXPECT_EQ(parse_redirect("MOVED 1 2001:db8::1:7000", asked)->target.host, "2001:db8::1");
  EXPECT_EQ(parse_redirect("MOVED 1 :7001", asked)->target, (net::Target{"10.0.0.1", 7001}));
}

TEST(Redirect, IsNothingElse) {
  for (const char* error : {"", "ERR no", "MOVED", "MOVED 1", "MOVED 16384 h:1", "MOVED -1 h:1",
                            "MOVED x h:1", "MOVED 1 h", "MOVED 1 h:", "MOVED 1 h:0",
                            "MOVED 1 h:65536", "MOVED 1x h:1", "moved 1 h:1", "MOVEDX 1 h:1"}) {
    EXPECT_FALSE(parse_redirect(error, asked).has_value()) << error;
  }
}

TEST(SlotMap, IsReadFromClusterSlots) {
  const Reply reply(std::vector<Reply>{range(0, 5460, node("a", 1)),
                                       range(5461, 5461, node("b", 2)),
                                       range(5462, 16383, node("", 3)), range(7, 8, node("?", 4))});
  const auto ranges = parse_slots(reply, asked);
  ASSERT_TRUE(ranges.has_value()) << ranges.error().message;
  EXPECT_EQ(*ranges, (std::vector<SlotRange>{{0, 5460, {"a", 1}},
                                             {5461, 5461, {"b", 2}},
                                             {5462, 16383, {"10.0.0.1", 3}},
                                             {7, 8, {"10.0.0.1", 4}}}));
  EXPECT_TRUE(parse_slots(Reply(std::vector<Reply>()), asked).value().empty());
}

TEST(SlotMap, RefusesWhatIsOutOfRange) {
  const Reply bad[] = {
      range(0, 16384, node("a", 1)),
      range(-1, 5, node("a", 1)),
      range(6, 5, node("a", 1)),
      range(0, 5, node("a", 0)),
      range(0, 5, node("a", 65536)),
      range(0, 5, number(1)),
      Reply(std::vector<Reply>{number(0), number(1)}),
      Reply(std::vector<Reply>{text("0"), number(1), node("a", 1)}),
      number(1),
  };
  for (const Reply& item : bad) {
    const auto ranges = parse_slots(Reply(std::vector<Reply>{item}), asked);
    ASSERT_FALSE(ranges.has_value()) << to_string(item);
    EXPECT_NE(ranges.error().message.find("CLUSTER SLOTS"), std::string::npos);
  }
  EXPECT_FALSE(parse_slots(text("OK"), asked).has_value());
}

}  // namespace
}  // namespace pawl::redis
