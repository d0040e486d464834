// Wording: puts what came late into words, straight into a draft, without a JSON tree in between.
//
// Contract: the same text, to the byte, as draft(to_event(late)) gives. What it is asked for
//           surely_fits(). Asks for no memory once its draft has had such a text, unless something
//           in it must be escaped or scrubbed, several policies refuse, or a trail has a context.
// Threads:  one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bounds.h"
#include "core/audit/chain.h"
#include "core/audit/late.h"

namespace pawl::audit {

class Wording {
 public:
  void word(const Success& success, Draft& draft);
  void word(const LimitDecided& decided, Draft& draft);
  void word(const RequestEnded& ended, Draft& draft);

 private:
  std::string_view text_of(Instant instant);

  std::array<char, bounds::audit_event_bytes_max> record_;
  std::string words_;  // both kept for their room
  std::string spare_;  //
  // The last instant that was put into words: most that follow lie in the same millisecond.
  std::int64_t millisecond_ = -1;
  std::string instant_;
};

}  // namespace pawl::audit
