// Goal:   only what cannot leave this machine counts as local.
// Method: addresses of both kinds.
#include "base/local_url.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(LocalUrl, IsLoopbackOrLocalhost) {
  for (const char* url : {"http://127.0.0.1:9100", "http://127.8.9.1/a?b", "ws://[::1]:80/x",
                          "https://localhost", "http://LOCALHOST:1/"}) {
    EXPECT_TRUE(is_local_url(url)) << url;
  }
}

TEST(LocalUrl, IsNoOtherHost) {
  for (const char* url : {"http://10.0.0.1", "https://www.okx.com", "http://127.0.0.1.example.com",
                          "http://localhost.example.com", "http://[2001:db8::1]/", ""}) {
    EXPECT_FALSE(is_local_url(url)) << url;
  }
}

}  // namespace
}  // namespace pawl
