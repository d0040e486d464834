#include "emulator/appended_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"

namespace pawl::emulator {

AppendedFile::AppendedFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {}

AppendedFile::AppendedFile(AppendedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      lines_(std::move(other.lines_)) {}

AppendedFile& AppendedFile::operator=(AppendedFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(lines_, other.lines_);
  return *this;
}

AppendedFile::~AppendedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<AppendedFile> AppendedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  AppendedFile file(descriptor, path);
  if (descriptor < 0) return file.problem("cannot be opened");
  PAWL_TRY(file.read_lines());
  return file;
}

Result<void> AppendedFile::read_lines() {
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0) return problem("cannot be looked at");
  if (!S_ISREG(status.st_mode)) return {};  // a terminal or a pipe, to be written to
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > bounds::emulator_book_bytes_max) {
    return failure(Code::invalid, path_ + " is too large: move it away to begin anew");
  }
  std::string text(size, '\0');
  std::size_t read = 0;
  while (read < size) {
    const ssize_t count =
        ::pread(descriptor_, text.data() + read, size - read, static_cast<off_t>(read));
    if (count <= 0) return problem("cannot be read");
    read += static_cast<std::size_t>(count);
  }
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole < size && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) {
    return problem("cannot be cut behind its last whole line");
  }
  std::string_view rest(text.data(), whole);
  while (!rest.empty()) lines_.emplace_back(take_until(rest, '\n'));
  return {};
}

std::vector<std::string> AppendedFile::take_lines() {
  return std::exchange(lines_, {});
}

Result<void> AppendedFile::append(const std::vector<std::string>& lines, bool synced) {
  std::string text;
  for (const std::string& line : lines) text.append(line).push_back('\n');
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return problem("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  if (synced && !text.empty() && ::fdatasync(descriptor_) != 0) return problem("cannot be synced");
  return {};
}

std::unexpected<Error> AppendedFile::problem(std::string_view what) const {
  const char* why = std::strerror(errno);
  return failure(Code::unavailable, path_ + " " + std::string(what) + ": " + why);
}

}  // namespace pawl::emulator
