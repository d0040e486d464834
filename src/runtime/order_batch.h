// OrderBatch: first attempts that leave in one call of their venue.
//
// Contract: it leaves once every member has said send() or leave(). Each has its own turn of the
//           pace, and its own answer. A venue that answers for fewer has said nothing of any.
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

  OrderBatch(Venue& venue, std::size_t members) : venue_(venue), missing_(members) {}

  void send(PlaceAsk ask, Answered answered);
  void leave();

 private:
  void go_if_complete();

  Venue& venue_;
  std::size_t missing_;
  std::vector<PlaceAsk> asks_;
  std::vector<Answered> answered_;
};

}  // namespace pawl::desk
