// OrderBatch: first attempts that leave in one call of their venue.
//
// Contract: it leaves once every member has said send() or leave(). Each has its own turn of the
//           pace, and its own answer. A venue that answers for fewer has said nothing of any.
// Pace:     members gather before the first of them asks for its turn. Else turns would be taken
//           long before the batch leaves, and what comes behind it would follow too soon.
// Threads:  on the desk's strand, but for the answers.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/order/answer.h"
#include "port/venue.h"

namespace pawl::desk {

class OrderBatch {
 public:
  using Answered = std::move_only_function<void(order::Answer)>;

  OrderBatch(Venue& venue, std::size_t members)
      : venue_(venue), expected_(members), missing_(members) {}

  // `go` is called once all are there, or have left.
  void gather(std::function<void()> go);
  void send(PlaceAsk ask, Answered answered);
  void leave(bool has_gathered);

 private:
  void go_if_gathered();
  void go_if_complete();

  Venue& venue_;
  std::size_t expected_;  // have neither gathered nor left
  std::size_t missing_;   // have neither sent nor left
  std::vector<std::function<void()>> gathered_;
  std::vector<PlaceAsk> asks_;
  std::vector<Answered> answered_;
};

}  // namespace pawl::desk
