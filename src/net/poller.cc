#include "net/poller.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include "base/assert.h"

namespace pawl::net {

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  PAWL_ASSERT(epoll_ >= 0);
}

Poller::~Poller() {
  ::close(epoll_);
}

bool Poller::add(int descriptor, std::uint32_t events, Source& source) {
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.ptr = &source;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted) == 0;
}

void Poller::remove(int descriptor, const Source& source) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
  for (int i = next_; i < count_; ++i) {
    epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == &source) event.data.ptr = nullptr;
  }
  std::erase(again_, &source);
  std::ranges::replace(turn_, &source, nullptr);
}

void Poller::turn(int wait_ms) {
  const int wait = again_.empty() ? wait_ms : 0;
  next_ = 0;
  count_ = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), wait);
  PAWL_ASSERT(count_ >= 0 || errno == EINTR);
  turn_.swap(again_);
  while (next_ < count_) {
    const epoll_event& event = events_[static_cast<std::size_t>(next_++)];
    if (event.data.ptr != nullptr) static_cast<Source*>(event.data.ptr)->on_ready(event.events);
  }
  for (std::size_t i = 0; i < turn_.size(); ++i) {
    if (turn_[i] != nullptr) turn_[i]->on_ready(0);
  }
  turn_.clear();
}

}  // namespace pawl::net
