// Goal: the names of the event types are the ones users search by.
// Method: pinned.
#include "core/audit/event.h"

#include <gtest/gtest.h>

namespace pawl::audit {
namespace {

TEST(EventType, HasTheNameThatUsersSearchBy) {
  EXPECT_EQ(to_string(EventType::limit), "limit");
  EXPECT_EQ(to_string(EventType::pace), "pace");
  EXPECT_EQ(to_string(EventType::request), "request");
  EXPECT_EQ(to_string(EventType::config), "config");
  EXPECT_EQ(to_string(EventType::rejected), "rejected");
}

}  // namespace
}  // namespace pawl::audit
