// Sends paced lines to a receiver, as one of several processes that share a session.
//
//   paced_sender STORE PORT COUNT      STORE is sqlite:PATH or a Redis URL
//
// Each line is one call of the session; the receiver on 127.0.0.1:PORT says what it thinks of the
// pace by its clock. Ends with 0 when all were sent.
#include <arpa/inet.h>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "adapter/redis/redis_counter_store.h"
#include "adapter/sqlite/sqlite_counter_store.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "runtime/session_pacer.h"

namespace {

using namespace pawl;

Result<std::unique_ptr<CounterStore>> open_store(std::string_view store, Clock& clock,
                                                 Entropy& entropy) {
  constexpr std::string_view sqlite = "sqlite:";
  if (store.starts_with(sqlite)) {
    return PAWL_TRY(SqliteCounterStore::open(
        {.path = std::string(store.substr(sqlite.size())), .book = {}}, clock, entropy));
  }
  return PAWL_TRY(RedisCounterStore::make(
      PAWL_TRY(redis::parse_redis_url(store)), clock,
      {.deadline = Duration::seconds(2), .seed = static_cast<std::uint64_t>(::getpid())}));
}

bool send_line(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool sent =
      ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      ::send(socket, "order\n", 6, MSG_NOSIGNAL) == 6;
  ::close(socket);
  return sent;
}

Result<void> send_all(std::string_view store_url, std::uint16_t port, int count) {
  SystemClock clock;
  SystemEntropy entropy;
  const auto store = PAWL_TRY(open_store(store_url, clock, entropy));
  SessionPacer pacer({.session = "saxo", .rate = {.count = 1, .period = Duration::seconds(1)}},
                     {.clock = clock, .counters = *store}, {});
  for (int i = 0; i < count; ++i) {
    PAWL_TRY(pacer.acquire(
        {.operation = "place", .deadline = clock.steady_now() + Duration::seconds(60)}));
    if (!send_line(port)) return failure(Code::unavailable, "the receiver does not listen");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: paced_sender STORE PORT COUNT\n";
    return 2;
  }
  const auto sent =
      send_all(argv[1], static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3]));
  if (sent) return 0;
  std::cerr << sent.error().message << "\n";
  return static_cast<int>(sent.error().code);
}
