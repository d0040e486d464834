// Servers of a test's own, which it may kill and start again: each in a folder of its own, on free
// ports, gone with the object. They die with the test program, however that ends. Beside them what
// such tests need to wait: real clocks, and a patient look.
#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "pawl/clock.h"
#include "tests/temp_folder.h"

namespace pawl {

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
inline std::string server_of_run(const char* variable, const char* instead) {
  const char* value = std::getenv(variable);
  if (value == nullptr) {
    ADD_FAILURE() << variable << " is not set: run this with tools/test, or with"
                  << " tests/services/services.py run … -- …";
    return instead;
  }
  return value;
}

// Below the ports that the kernel gives to clients, beside those the test run's servers take.
inline int free_port() {
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

class OwnServer {
 public:
  using Words = std::vector<std::string>;

  ~OwnServer() { kill(); }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  void start() {
    std::vector<char*> arguments;
    for (std::string& word : command_) arguments.push_back(word.data());
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
  // It neither answers nor hangs up until it goes on.
  void pause() {
    ::kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() { ::kill(pid_, SIGCONT); }

  std::string port() const { return std::to_string(port_); }
  std::string address() const { return "127.0.0.1:" + port(); }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(log_path()).rdbuf();
    return text.str();
  }

 protected:
  OwnServer() = default;

  // What start() runs.
  void set_command(Words command) { command_ = std::move(command); }
  std::string log_path() const { return folder_ / "server.log"; }
  const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  Words command_;
  const int port_ = free_port();
  pid_t pid_ = 0;
};

}  // namespace pawl
