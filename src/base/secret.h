// Secret<T>: a value that cannot be printed, logged, compared or copied into text by accident. The
// only way to it is reveal(), which is easy to find in a review.
#pragma once

#include <ostream>
#include <utility>

namespace pawl {

template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  const T& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  // Printing one does not compile.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>&,
                                                      const Secret&) = delete;

 private:
  T value_;
};

}  // namespace pawl
