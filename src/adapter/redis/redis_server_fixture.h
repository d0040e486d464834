// Redis servers of a test's own, beside those of the run.
#pragma once

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "pawl/result.h"
#include "tests/own_server.h"

namespace pawl::redis {

using pawl::eventually;
using pawl::RealClock;

inline std::string server_of_run(const char* variable) {
  return pawl::server_of_run(variable, "redis://127.0.0.1:1");
}

class RedisServer : public OwnServer {
 public:
  using Options = Words;

  // The word PORT among the options stands for the port.
  explicit RedisServer(Options options = {}) {
    Words words = {"redis-server", "--bind",         "127.0.0.1", "--dir", folder().path(),
                   "--logfile",    log_path(),       "--save",    "",      "--port",
                   port(),         "--cluster-port", bus_port()};
    for (std::string& option : options) words.push_back(option == "PORT" ? port() : option);
    set_command(std::move(words));
    start();
  }

  std::string bus_port() const { return std::to_string(bus_port_); }

  // What redis-cli prints.
  std::string cli(const std::string& command) const {
    const std::string line = "redis-cli -p " + port() + " " + command + " 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) std::abort();
    std::string output;
    std::array<char, 4096> buffer;
    while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
    pclose(pipe);
    while (output.ends_with('\n')) output.pop_back();
    return output;
  }

 private:
  const int bus_port_ = free_port();
};

// Three masters, the second of which has the slots from 5461 to 10922, and a replica of the first.
class RedisCluster {
 public:
  explicit RedisCluster(const RedisServer::Options& more = {}) {
    RedisServer::Options options = {"--cluster-enabled",
                                    "yes",
                                    "--cluster-node-timeout",
                                    "1000",
                                    "--cluster-replica-validity-factor",
                                    "0",
                                    "--repl-diskless-sync-delay",
                                    "0"};
    options.insert(options.end(), more.begin(), more.end());
    for (int i = 0; i < 4; ++i) nodes_.push_back(std::make_unique<RedisServer>(options));
  }
  // False, with a failure of the test, when it does not come up.
  bool meet() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!comes([&] { return node(i).cli("PING") == "PONG"; })) return false;
      node(i).cli("CLUSTER SET-CONFIG-EPOCH " + std::to_string(i + 1));
      node(i).cli("CLUSTER MEET 127.0.0.1 " + node(0).port() + " " + node(0).bus_port());
    }
    node(0).cli("CLUSTER ADDSLOTSRANGE 0 5460");
    node(1).cli("CLUSTER ADDSLOTSRANGE 5461 10922");
    node(2).cli("CLUSTER ADDSLOTSRANGE 10923 16383");
    const std::string first = id(0);
    return comes([&] { return node(3).cli("CLUSTER REPLICATE " + first) == "OK"; }) &&
           comes([&] { return is_whole(); }) &&
           comes([&] { return says(3, "master_link_status:up", "INFO"); });
  }

  RedisServer& node(std::size_t index) { return *nodes_[index]; }
  std::string id(std::size_t index) { return node(index).cli("CLUSTER MYID"); }
  // Every node says so.
  bool is_whole() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!says(i, "cluster_state:ok", "CLUSTER INFO")) return false;
    }
    return true;
  }
  std::string url() const {
    std::string text = "redis+cluster://";
    for (const auto& node : nodes_) text += (text.ends_with('/') ? "" : ",") + node->address();
    return text;
  }

 private:
  bool comes(const std::function<bool()>& holds) {
    const ::testing::AssertionResult result = eventually(holds);
    EXPECT_TRUE(result) << node(0).log();
    return bool(result);
  }
  bool says(std::size_t index, const std::string& words, const std::string& command) {
    return node(index).cli(command).find(words) != std::string::npos;
  }

  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

// How many calls ended how, as they were told.
struct Ends {
  std::atomic<int> applied = 0;
  std::atomic<int> unknown = 0;
  std::atomic<int> not_applied = 0;
};

// Makes `many` calls at once, each by `call(done)`, and kills the server in the middle of them,
// when some have been answered. All have ended when it returns.
template <class Call>
void kill_midway(RedisServer& server, int many, Ends& ends, Call call) {
  std::latch all(many);
  for (int i = 0; i < many; ++i) {
    call([&](const auto& result) {
      if (result) {
        ++ends.applied;
      } else {
        ++(result.error().outcome == Outcome::unknown ? ends.unknown : ends.not_applied);
      }
      all.count_down();
    });
    if (i == many / 2) {
      while (ends.applied < many / 10) std::this_thread::yield();
      server.kill();
    }
    if (i == many * 9 / 10) {  // the rest is asked once the loss is known
      EXPECT_TRUE(eventually([&] { return ends.unknown + ends.not_applied > 0; }));
    }
  }
  all.wait();
  EXPECT_EQ(ends.applied + ends.unknown + ends.not_applied, many);
  EXPECT_GT(ends.not_applied, 0) << "the later ones failed at once";
}

}  // namespace pawl::redis
