// Poller: tells the descriptors of one loop apart by what they are ready for.
//
// Why:      each is registered once, for everything, and told of changes alone (edge-triggered): a
//           request on a kept-alive connection costs no call to say what is waited for.
// Contract: a source hears of its descriptor until remove(), and of nothing after that, not even of
//           what the system had told already. It must be removed before it ends.
// Bounds:   a turn takes events_max events; the others come with the next.
// Threads:  one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/epoll.h>
#include <vector>

namespace pawl::net {

class Poller {
 public:
  class Source {
   public:
    // As epoll has them; 0: again() was called.
    virtual void on_ready(std::uint32_t events) = 0;

   protected:
    ~Source() = default;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // False when the system has no room for it.
  bool add(int descriptor, std::uint32_t events, Source& source);
  void remove(int descriptor, const Source& source);
  // It is called again in the next turn. Once at a time.
  void again(Source& source) { again_.push_back(&source); }
  // One turn: waits for so long at the most (-1: for ever) and tells who is ready.
  void turn(int wait_ms);

 private:
  static constexpr std::size_t events_max = 256;

  int epoll_;
  std::array<epoll_event, events_max> events_;
  int next_ = 0;   // of this turn's events, the first that has not been told
  int count_ = 0;  // of this turn's events
  std::vector<Source*> again_;
  std::vector<Source*> turn_;  // those of them whose turn it is
};

}  // namespace pawl::net
