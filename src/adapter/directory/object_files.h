// ObjectFiles: objects as files below a folder; each call does its work before it returns.
//
//   PATH/log/0/00000000000000000001   an object is a file with its bytes and nothing else
//   PATH/.tmp/                        drafts (draft.h)
//   PATH/.lock                        held by those who replace or remove
//   PATH/.turns                       who creates which object just now (turn.h)
//
// Create:   a draft is linked to the name, which the kernel refuses when the name is taken: of any
//           number of processes one gets it. No lock is needed for that; turns spare the others
//           their syncs.
// Replace:  match and always rename a draft over the name, remove takes it away; all three under
//           the lock, since no call of the kernel compares first.
// Tags:     the SHA-256 of the content. Inode, size and time do not tell two writes apart when the
//           inode is used again within one tick of the clock, and a number of our own would need a
//           place that every file system and every copy of the folder keeps. So a tag costs a look
//           at all bytes; a get of a part has none. Equal bytes have an equal tag, as in S3.
// Durable:  the draft before it gets the name, then the folder, and the folders above it before
//           their first use in this process. A get may see an object a moment before that; whoever
//           then writes into the same folder makes it durable with his own. A sync of a folder that
//           fails leaves the outcome unknown, and nothing in that folder is believed, by this
//           process, until a later sync went well.
// Names:    must have been checked (port/object_name.h). Files that no object can be called, those
//           beginning with a dot, and symbolic links are not listed.
// Gone:     a folder that is removed or moved away while it is open is not made anew.
// Threads:  any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/directory/folder_syncs.h"
#include "adapter/file/descriptor.h"
#include "port/object_store.h"

namespace pawl {

class ObjectFiles {
 public:
  struct Stored {
    PutAnswer answer = {};
    std::optional<Instant> written = {};  // by the file system's clock, in its ticks
  };

  // Makes the folder where it is missing. `lock_wait`: how long it waits for those who replace.
  static Result<std::unique_ptr<ObjectFiles>> open(const std::string& path,
                                                   Duration lock_wait = Duration::seconds(2));

  Result<Stored> put(const PutObject& put);
  Result<Object> get(const GetObject& get);
  Result<Listing> list(const ListObjects& list);
  Result<void> remove(const std::vector<std::string>& names);

  // The file system's clock, in its ticks, by a file that is gone again at once.
  Result<Instant> time();
  // Deletes what crashes left over and nobody wrote to since that moment.
  void sweep(Instant before);
  // The folder's path, for whoever watches it; made where it is missing.
  Result<std::string> path_of(const std::string& folder);

 private:
  // A name taken apart: "log/0/1" is "1" in "log/0"; "a" is "a" in ".".
  struct Place {
    std::string folder;
    std::string leaf;
  };
  static Place place_of(const std::string& name);

  ObjectFiles(std::string path, Descriptor root, Duration lock_wait)
      : path_(std::move(path)), root_(std::move(root)), lock_wait_(lock_wait) {}

  Result<Descriptor> open_folder(const std::string& folder);
  Result<void> make_folder(const std::string& folder);
  Result<void> sync_above(const std::string& folder);
  Result<void> settle(const std::string& folder);
  Result<void> sync(const std::string& folder, int fd, const std::string& name);

  Result<Stored> create(const PutObject& put);
  Result<Stored> replace(const PutObject& put);
  Result<std::optional<PutAnswer>> compare(const PutObject& put);
  // None: somebody else has it for long.
  Result<std::optional<Descriptor>> lock();
  Error not_there(const std::string& name) const;
  Result<void> check_root() const;
  bool is_folder(const std::string& name) const;

  const std::string path_;
  const Descriptor root_;
  const Duration lock_wait_;
  FolderSyncs syncs_;

  std::mutex mutex_;             // guards what follows
  std::set<std::string> known_;  // folders that are on the disk with all above them
};

}  // namespace pawl
