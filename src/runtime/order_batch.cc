#include "runtime/order_batch.h"

#include <utility>

namespace pawl::desk {

void OrderBatch::send(PlaceAsk ask, Answered answered) {
  asks_.push_back(std::move(ask));
  answered_.push_back(std::move(answered));
  --missing_;
  go_if_complete();
}

void OrderBatch::leave(bool has_gathered) {
  --missing_;
  if (!has_gathered) --expected_;
  go_if_gathered();
  go_if_complete();
}

void OrderBatch::gather(std::function<void()> go) {
  gathered_.push_back(std::move(go));
  --expected_;
  go_if_gathered();
}

void OrderBatch::go_if_gathered() {
  if (expected_ > 0) return;
  for (const auto& go : std::exchange(gathered_, {})) go();
}

void OrderBatch::go_if_complete() {
  if (missing_ > 0 || asks_.empty()) return;
  venue_.place(std::exchange(asks_, {}), [answered = std::exchange(answered_, {})](
                                             std::vector<order::Answer> answers) mutable {
    const bool all = answers.size() == answered.size();
    for (std::size_t i = 0; i < answered.size(); ++i) {
      answered[i](all ? std::move(answers[i])
                      : order::Answer{.sent = order::Sent::unknown,
                                      .code = "no_answer",
                                      .message = "the venue did not answer for every order"});
    }
  });
}

}  // namespace pawl::desk
