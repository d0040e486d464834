// Goal: every reference has a clOrdId that OKX takes, and no two share one. Method: examples of
// each kind, and any references of those characters at all.
#include "venue/okx/okx_client_id.h"

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace pawl::okx {
namespace {

bool is_taken_by_okx(const std::string& id) {
  return !id.empty() && id.size() <= 32 && std::ranges::all_of(id, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

rc::Gen<std::string> any_reference() {
  const auto character = rc::gen::elementOf(std::string("abXZ019_-.:"));
  return rc::gen::suchThat(
      rc::gen::oneOf(rc::gen::container<std::string>(character),
                     rc::gen::map(rc::gen::container<std::string>(character),
                                  [](std::string tail) { return "pawlX" + std::move(tail); })),
      [](const std::string& text) { return !text.empty(); });
}

TEST(OkxClientId, AReferenceOfLettersAndDigitsStaysAsItIs) {
  EXPECT_EQ(client_order_id("pawl0001"), "pawl0001");
  EXPECT_EQ(client_order_id("abcdefghijklmnopqrstuvwxyz012345"),
            "abcdefghijklmnopqrstuvwxyz012345");
}

TEST(OkxClientId, WhatOkxDoesNotTakeIsHashed) {
  // The first 27 digits of the hash, by sha256sum.
  EXPECT_EQ(client_order_id("rebalance-2026-11"), "pawlX3c398a95dda94dd3d5599f3c6c5");
  EXPECT_TRUE(is_taken_by_okx(client_order_id("abcdefghijklmnopqrstuvwxyz0123456")));
  EXPECT_TRUE(is_taken_by_okx(client_order_id("")));
}

TEST(OkxClientId, AReferenceThatLooksLikeAHashedOneIsHashedItself) {
  const std::string hashed = client_order_id("a-b");
  EXPECT_NE(client_order_id(hashed), hashed);
  EXPECT_NE(client_order_id("pawlX"), "pawlX");
}

TEST(OkxClientId, CaseMatters) {
  EXPECT_NE(client_order_id("Order1"), client_order_id("order1"));
  EXPECT_NE(client_order_id("order-A"), client_order_id("order-a"));
}

RC_GTEST_PROP(OkxClientId, IsTakenByOkxWhateverTheReference, ()) {
  RC_ASSERT(is_taken_by_okx(client_order_id(*any_reference())));
}

RC_GTEST_PROP(OkxClientId, TwoReferencesNeverShareOne, ()) {
  const std::string a = *any_reference();
  const std::string b = *any_reference();
  RC_ASSERT((client_order_id(a) == client_order_id(b)) == (a == b));
  // Nor one reference and the id of another.
  RC_ASSERT((client_order_id(client_order_id(a)) == client_order_id(b)) ==
            (client_order_id(a) == b));
}

}  // namespace
}  // namespace pawl::okx
