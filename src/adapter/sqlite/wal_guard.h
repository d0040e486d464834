// WalGuard: lets one connection of the machine at a time into a database with a WAL.
//
// Why:      from SQLite 3.7.0 to 3.51.2, two connections that write and checkpoint at the same
//           moment may lose or damage what was committed. So whoever does anything holds byte 0 of
//           PATH-lock: each transaction, each checkpoint, and the opening, which may have to
//           recover. What SQLite locks besides is then never fought over.
// Contract: a Hold is exclusive among all guards of that database, and may be taken again by who
//           has it. check() refuses to go on when one of the files was deleted or replaced
//           meanwhile: a WAL that has no name any more keeps nothing, and two of them, or two
//           indexes of one, would be written at once.
// Threads:  one at a time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "adapter/sqlite/lock_file.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::sqlite {

class WalGuard {
 public:
  class Hold {
   public:
    Hold(Hold&& other) noexcept : guard_(std::exchange(other.guard_, nullptr)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (guard_ != nullptr) guard_->let_go();
    }

   private:
    friend WalGuard;
    explicit Hold(WalGuard* guard) : guard_(guard) {}
    WalGuard* guard_;
  };

  // The database's file must be there.
  static Result<std::unique_ptr<WalGuard>> open(const std::string& path);

  // Waits for others; unavailable when they keep it for longer.
  Result<Hold> hold(Duration patience);
  // Takes the files as they are now for the right ones; with a Hold, when SQLite has them open.
  Result<void> note_files();
  Result<void> check() const;

  int pages = 0;  // in the WAL, as the last commit of this connection found it

 private:
  WalGuard(std::string path, std::unique_ptr<LockFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  void let_go();

  static constexpr std::array<const char*, 3> parts = {"", "-wal", "-shm"};

  const std::string path_;
  const std::unique_ptr<LockFile> file_;
  std::array<FileId, parts.size()> ids_ = {};
  int depth_ = 0;
};

}  // namespace pawl::sqlite
