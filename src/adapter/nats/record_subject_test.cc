// Goal: a key has one subject, which belongs to no other key and is no pattern, and can be read
// back. Method: examples, and any keys that chance makes.
#include "adapter/nats/record_subject.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::nats {
namespace {

TEST(RecordSubject, StaysReadableWhereItCan) {
  EXPECT_EQ(record_subject("b", {.scope = "acme", .key = "Order_17-a"}), "$KV.b.acme.Order_17-a");
  EXPECT_EQ(record_subject("b", {.scope = "", .key = "k"}), "$KV.b.=.k");
  EXPECT_EQ(record_subject("b", {.scope = "a.b", .key = "*>= \xff"}),
            "$KV.b.a=2Eb.=2A=3E=3D=20=FF");
  EXPECT_EQ(record_subjects("b", "a.b"), "$KV.b.a=2Eb.*");
  EXPECT_EQ(record_subjects("b", ""), "$KV.b.>");
}

TEST(RecordSubject, WhatIsNoneIsRefused) {
  for (const char* subject :
       {"", "$KV.b", "$KV.b.", "$KV.b.x", "$KV.b.x.", "$KV.c.x.y", "$KV.b.x.y.z", "$KV.b.x.=2",
        "$KV.b.x.=2e", "$KV.b.x.=41", "$KV.b.x.y*"}) {
    const auto parsed = parse_record_subject("b", subject);
    ASSERT_FALSE(parsed.has_value()) << subject;
    EXPECT_EQ(parsed.error().code, Code::invalid);
  }
}

RC_GTEST_PROP(RecordSubject, IsReadBackToTheSameKey, (const std::string& scope, std::string key)) {
  const std::string subject = record_subject("bucket", {.scope = scope, .key = key});
  RC_ASSERT(subject.find_first_of("*> \r\n") == std::string::npos);
  const auto parsed = parse_record_subject("bucket", subject);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->scope == scope);
  RC_ASSERT(parsed->key == key);
}

}  // namespace
}  // namespace pawl::nats
