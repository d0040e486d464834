// AppendedFile: a file of lines that only grows: the emulator's book, and its log.
//
// Why:      an order that was acknowledged must be there after a kill; so the book's lines are
//           synced before their answer leaves. The log is for reading, and is not.
// Contract: a last line without its end (a kill while it was written) is cut off when the file is
//           opened.
// Bounds:   bounds::emulator_book_bytes_max is read at the start.
// Threads:  one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::emulator {

class AppendedFile {
 public:
  // Made if it is not there.
  static Result<AppendedFile> open(const std::string& path);
  AppendedFile(AppendedFile&& other) noexcept;
  AppendedFile& operator=(AppendedFile&& other) noexcept;
  ~AppendedFile();

  // What was in it when it was opened; once.
  std::vector<std::string> take_lines();
  // The lines, each with its end; on the disk when it returns, if that was asked for.
  Result<void> append(const std::vector<std::string>& lines, bool synced);

 private:
  AppendedFile(int descriptor, std::string path);

  Result<void> read_lines();
  std::unexpected<Error> problem(std::string_view what) const;

  int descriptor_ = -1;
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace pawl::emulator
