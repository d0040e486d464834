// Verdict: what one policy says to one ask. Answer: what all policies of the ask say together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/bounds.h"
#include "core/limit/state.h"

namespace pawl::limit {

struct Verdict {
  bool allowed = false;        // by this policy
  bool closed = false;         // shut until later, whatever the rule says
  std::int64_t limit = 0;      // as configured: tokens a period, slots
  std::int64_t remaining = 0;  // asks of cost 1 that this policy would allow right now
  Duration retry_after = {};  // until this ask would be allowed; Duration::max() when it never will
  Duration more_after = {};   // until `remaining` grows; zero when nothing is used
  Duration full_after = {};   // until nothing is used any more
  Cell before = {};           // what was decided on, so that it can be decided again
};

// The verdicts of an ask, in the order of its policies. Room for all of them, of which only those
// that are there are written and copied: a decision is made in less time than zeroing takes.
class Verdicts {
 public:
  Verdicts() {}  // NOLINT(modernize-use-equals-default): leaves items_ as it is
  Verdicts(const Verdicts& other) { *this = other; }
  Verdicts& operator=(const Verdicts& other) {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) items_[i] = other.items_[i];
    return *this;
  }

  Verdict& add(const Verdict& verdict) { return items_[size_++] = verdict; }
  // What `make` gives comes to stand where it belongs, without a copy.
  template <class Make>
  Verdict& add_made(const Make& make) {
    return *new (&items_[size_++]) Verdict(make());
  }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  Verdict& operator[](std::size_t i) { return items_[i]; }
  const Verdict& operator[](std::size_t i) const { return items_[i]; }
  const Verdict* begin() const { return items_.data(); }
  const Verdict* end() const { return items_.data() + size_; }

 private:
  std::size_t size_ = 0;
  union {
    std::array<Verdict, bounds::limit_policies_max> items_;
  };
};

// Whose count an answer stands on.
enum class CountedBy : std::uint8_t {
  store,    // the one that was asked
  process,  // the store did not answer: this process alone, which sees no other's uses
  nobody,   // the store did not answer: allowed uncounted; the verdicts are those of a rested key
};

struct Answer {
  bool allowed = false;  // by every policy that is enforced; then, and only then, all were charged
  CountedBy counted_by = CountedBy::store;
  bool as_decided = false;    // decide() says the same again to each `before` at `now`
  std::uint8_t binding = 0;   // the policy that refused for longest, or else is closest to refusing
  Duration retry_after = {};  // until the ask would be allowed by all; zero when it is
  Now now = {};
  Verdicts verdicts;

  const Verdict& bound() const { return verdicts[binding]; }
};

}  // namespace pawl::limit
