// Turn: of those who want to create the same object at the same time, one at a time.
//
// Why:      the kernel lets one of them have the name, but only after all have written and synced
//           their bytes. Who waits for its turn sees that the name is taken, and spares that.
// Contract: no more than a courtesy: whoever has waited for `wait`, or cannot lock, goes on without
//           it. Between processes as between threads; it ends with its object, or its process.
// Lock:     a byte of the file '.turns', by the hash of the name: two names may share one.
// Threads:  any; take() blocks.
#pragma once

#include <functional>
#include <string_view>

#include "adapter/file/descriptor.h"
#include "pawl/time.h"

namespace pawl {

class Turn {
 public:
  // `root`: the store's folder. Ends early when `is_settled` says that there is nothing to wait for
  // any more; it is asked now and then.
  static Turn take(int root, std::string_view name, Duration wait,
                   const std::function<bool()>& is_settled);

  bool is_ours() const { return ours_; }

 private:
  explicit Turn(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
  bool ours_ = false;
};

}  // namespace pawl
