#include "adapter/directory/turn.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <thread>

#include "base/hash.h"

namespace pawl {
namespace {

constexpr auto pause = std::chrono::microseconds(200);

flock place_of(std::string_view name) {
  constexpr std::uint64_t places = std::uint64_t{1} << 62;
  flock place = {};
  place.l_type = F_WRLCK;
  place.l_whence = SEEK_SET;
  place.l_start = static_cast<off_t>(hash_of(name, 0).low % places);
  place.l_len = 1;
  return place;
}

}  // namespace

Turn Turn::take(int root, std::string_view name, Duration wait,
                const std::function<bool()>& is_settled) {
  // Opened each time: the lock belongs to the open file, so threads exclude each other too.
  Turn turn(Descriptor(::openat(root, ".turns", O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
  if (turn.file_.get() < 0) return turn;
  flock place = place_of(name);
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(wait.ns());
  while (true) {
    turn.ours_ = ::fcntl(turn.file_.get(), F_OFD_SETLK, &place) == 0;
    const bool taken = !turn.ours_ && (errno == EAGAIN || errno == EACCES);
    if (!taken || is_settled() || std::chrono::steady_clock::now() > end) return turn;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace pawl
