// Upstreams for tests: so many, plain, at a.test, b.test and so on; what changes is written down.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/upstreams.h"

namespace pawl::gateway {

class UpstreamsFixture {
 public:
  // Lists of one fixture share what is known of an upstream.
  UpstreamsPtr list(const std::string& letters) {
    auto made = std::make_shared<Upstreams>();
    for (const char letter : letters) made->all.push_back(find(letter));
    made->health = health;
    made->connect_deadline = Duration::seconds(5);
    made->changed = [this](const HealthChange& change) {
      changes += std::string(change.upstream) + (change.healthy ? " is well. " : " is sick: ") +
                 std::string(change.reason) + (change.healthy ? "" : ". ");
    };
    return made;
  }
  std::shared_ptr<SharedUpstream> find(char letter) {
    const std::string host = std::string(1, letter) + ".test";
    for (const auto& upstream : known_) {
      if (upstream->address().target.host == host) return upstream;
    }
    known_.push_back(std::make_shared<SharedUpstream>(
        Upstream{.target = {.host = host, .port = 80}, .tls = false, .host = host}));
    return known_.back();
  }

  config::Health health{.path = "/healthz",
                        .interval = Duration::seconds(5),
                        .timeout = Duration::seconds(1),
                        .unhealthy_after = 2,
                        .healthy_after = 1};
  std::string changes;

 private:
  std::vector<std::shared_ptr<SharedUpstream>> known_;
};

}  // namespace pawl::gateway
