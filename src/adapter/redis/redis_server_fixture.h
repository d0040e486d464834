// Redis servers of a test's own, which it may kill and start again: each in a folder of its own, on
// a free port, gone with the object. They die with the test program, however that ends.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "tests/temp_folder.h"

namespace pawl::redis {

class RealClock final : public Clock {
 public:
  Instant wall_now() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return Instant::from_ns(std::chrono::nanoseconds(now).count());
  }
  SteadyInstant steady_now() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return SteadyInstant::from_ns(std::chrono::nanoseconds(now).count());
  }
};

// Looks again and again, for a time that is long for any machine.
inline ::testing::AssertionResult eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) {
      return ::testing::AssertionFailure() << "not within 30 s";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return ::testing::AssertionSuccess();
}

// What the test run started; a test without it fails.
inline std::string server_of_run(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) {
    ADD_FAILURE() << variable << " is not set: run this with tools/test, or with"
                  << " tests/services/services.py run redis cluster -- …";
    return "redis://127.0.0.1:1";
  }
  return value;
}

class RedisServer {
 public:
  using Options = std::vector<std::string>;

  explicit RedisServer(Options options = {}) : options_(std::move(options)) {
    port_ = free_port();
    bus_port_ = free_port();
    start();
  }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  void start() {
    std::vector<std::string> words = {"redis-server",
                                      "--bind",
                                      "127.0.0.1",
                                      "--dir",
                                      folder_.path(),
                                      "--logfile",
                                      "redis.log",
                                      "--save",
                                      "",
                                      "--port",
                                      port(),
                                      "--cluster-port",
                                      std::to_string(bus_port_)};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      if (word == "PORT") word = port();
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) execvp(arguments[0], arguments.data());
    _exit(127);
  }
  // As a power cut would: nothing is said to anybody.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  std::string port() const { return std::to_string(port_); }
  std::string bus_port() const { return std::to_string(bus_port_); }
  std::string address() const { return "127.0.0.1:" + port(); }

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
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "redis.log").rdbuf();
    return text.str();
  }

 private:
  // Below the ports that the kernel gives to clients, beside those the test run's servers take.
  static int free_port() {
    static int next = static_cast<int>(getpid() * 13 % 10'000);
    for (int tries = 0; tries < 10'000; ++tries) {
      const int port = 22'000 + next++ % 10'000;
      const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      const bool is_free =
          bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
      close(handle);
      if (is_free) return port;
    }
    std::abort();
  }

  Options options_;
  TempFolder folder_;
  int port_ = 0;
  int bus_port_ = 0;
  pid_t pid_ = 0;
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
  }
  all.wait();
  EXPECT_EQ(ends.applied + ends.unknown + ends.not_applied, many);
  EXPECT_GT(ends.not_applied, 0) << "the later ones failed at once";
}

}  // namespace pawl::redis
