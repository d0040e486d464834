// Draft: a file that nobody sees until it is whole, on the disk and given its name.
//
// Why:      a name must never stand for a part of an object, whoever dies when. So the bytes are
//           written and synced without a name, or under one of the store's own below ".tmp"; then
//           one call of the kernel gives them theirs.
// Contract: every error before link() or rename() is not_applied. What a crash leaves below ".tmp"
//           is swept when it is an hour old; a file without a name leaves nothing.
// Threads:  one.
#pragma once

#include <string>
#include <string_view>

#include "adapter/file/descriptor.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// An error of the operating system as ours: what was tried, why it failed, and what to do.
Error trouble_of(int error, Outcome outcome, const std::string& what);

// What root makes is the owner's of the store's folder, who is to read it: of an open file, or of
// that name below one. 0, or the errno.
int give_to_owner(int root, int at, const char* name = "");

class Draft {
 public:
  // To be linked in this open folder. Without a name where the file system can.
  static Result<Draft> open_in(int root, int folder);
  // To be renamed.
  static Result<Draft> open_named(int root);
  Draft(Draft&& other) noexcept = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft();

  // When it was made, by the file system's clock.
  Result<Instant> made() const;
  // All of it, and onto the disk. When it was written, by the file system's clock.
  Result<Instant> write(std::string_view body);

  // 0, or the errno: EEXIST when the name is taken.
  int link(int folder, const std::string& name) const;
  // Over what is there.
  int rename(int folder, const std::string& name);

  // Deletes drafts that were last written before this moment. What cannot be deleted stays.
  static void sweep(int root, Instant before);

 private:
  Draft(Descriptor file, int root) : file_(std::move(file)), root_(root) {}

  Descriptor file_;
  int root_;
  std::string name_ = {};  // from the root; empty: it has none
};

}  // namespace pawl
