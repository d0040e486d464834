// NATS servers with JetStream of a test's own, beside the one of the run.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "adapter/nats/nats_connection.h"
#include "tests/own_server.h"

namespace pawl::nats {

class NatsServer : public OwnServer {
 public:
  explicit NatsServer(Words options = {}) { start_with(std::move(options)); }

  void start_with(Words options) {
    Words words = {"nats-server", "-a",  "127.0.0.1",     "-p", port(),
                   "-js",         "-sd", folder().path(), "-l", log_path()};
    for (std::string& option : options) words.push_back(std::move(option));
    set_command(std::move(words));
    start();
  }

  // With the words for a login, "user:password@", if there are any.
  NatsUrl url(const std::string& name, const std::string& login = "") const {
    return parse_nats_url("nats://" + login + address() + "/" + name).value();
  }

  // A stream as some operator might have set it up; `settings` are members of its JSON.
  void make_stream(const std::string& name, const std::string& settings) const {
    const std::string config =
        R"({"name":")" + name + R"(","subjects":[")" + name + R"(.>"],)" + settings + "}";
    const std::string answer = ask("$JS.API.STREAM.CREATE." + name, config);
    EXPECT_EQ(answer.find("\"error\""), std::string::npos) << answer;
  }

  // What the server answers to a question in its own tongue.
  std::string ask(const std::string& subject, const std::string& data) const {
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(handle, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    const std::string words = "CONNECT {\"verbose\":false}\r\nSUB answers 1\r\nPUB " + subject +
                              " answers " + std::to_string(data.size()) + "\r\n" + data + "\r\n";
    EXPECT_EQ(write(handle, words.data(), words.size()), static_cast<ssize_t>(words.size()));
    std::string said;
    std::array<char, 4096> buffer;
    while (said.find("MSG answers") == said.npos || !said.ends_with("}\r\n")) {
      const ssize_t got = read(handle, buffer.data(), buffer.size());
      if (got <= 0) break;
      said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(handle);
    const auto answer = said.find("MSG answers");
    return answer == said.npos ? said : said.substr(answer);
  }
};

// The test run's server, and a name of its own there, so that runs do not meet.
inline NatsUrl fresh_url(const std::string& name) {
  static int count = 0;
  const std::string own = name + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  return parse_nats_url(server_of_run("PAWL_TEST_NATS", "nats://127.0.0.1:1") + "/" + own).value();
}

// Opens something, again and again while there is no server: one of a test's own takes a
// moment to come up.
template <class Open>
auto open_soon(Open open) {
  auto opened = open();
  EXPECT_TRUE(eventually([&] {
    if (opened || opened.error().code != Code::unavailable) return true;
    opened = open();
    return false;
  }));
  EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
  return opened ? *std::move(opened) : nullptr;
}

}  // namespace pawl::nats
