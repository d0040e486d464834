// Backlog: events on their way to a log, in the order they came: facts that are still to be put
// into words, and drafts.
//
// Why:      whoever appends should be held up as little as possible. So facts are packed into one
//           run of bytes, which keeps its room when it is emptied: nobody asks for memory.
// Contract: pure. next() gives the drafts of what was added, in order, until none is left.
//           What a late fact points at lives until clear().
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/audit/chain.h"
#include "core/audit/late.h"
#include "core/audit/wording.h"

namespace pawl::audit {

class Backlog {
 public:
  // Of what surely_fits(). Both give the bytes it takes here.
  std::size_t add(Late&& late);
  std::size_t add(const Draft& draft);

  // The next one in words, and the bytes it took here; 0 when none is left.
  std::size_t next(Wording& wording, Draft& draft);
  bool is_read() const { return read_ == used_; }

  std::size_t events() const { return events_; }  // that were added
  void clear();

 private:
  char* grow(std::size_t bytes);
  void pack(Success&& success);
  void pack(const LimitDecided& decided);
  void pack(const RequestEnded& ended);

  std::string bytes_;  // of which
  std::size_t used_ = 0;
  std::size_t read_ = 0;
  std::size_t events_ = 0;
  std::vector<std::shared_ptr<const void>> owners_;  // of what the facts point at
  std::vector<limit::Count> counts_;                 // of the next one; kept for its room
};

}  // namespace pawl::audit
