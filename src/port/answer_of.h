// The one answer of a call that hands it over later, for whoever waits for it.
//
//   PAWL_TRY(answer_of<Record>([&](auto done) { store.get(key, std::move(done)); }));
//
// Threads:  any; the answer may come on another one.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "pawl/result.h"

namespace pawl {

// To be waited for later.
template <class T, class Call>
std::future<Result<T>> asked(Call&& call) {
  // Shared: whoever answers on another thread may still be in set_value() when it is read.
  auto promise = std::make_shared<std::promise<Result<T>>>();
  auto answer = promise->get_future();
  call([promise](Result<T> result) { promise->set_value(std::move(result)); });
  return answer;
}

template <class T, class Call>
Result<T> answer_of(Call&& call) {
  return asked<T>(std::forward<Call>(call)).get();
}

}  // namespace pawl
