#include "venue/saxo/saxo_token_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/bounds.h"
#include "base/json.h"
#include "base/sha256.h"
#include "venue/common/wire.h"

namespace pawl::saxo {
namespace {

constexpr std::string_view format = "pawl-saxo-tokens-1";

class Handle {
 public:
  explicit Handle(int fd) : fd_(fd) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool good() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::unexpected<Error> cannot(std::string_view verb, const std::string& path) {
  const int number = errno;
  return failure(Code::unavailable, "cannot " + std::string(verb) + " the token file " + path +
                                        ": " + std::strerror(number));
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

Result<std::string> read_all(int fd, const std::string& path) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = ::read(fd, piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path);
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > 4 * bounds::token_bytes_max) {
      return failure(Code::invalid, "the token file " + path + " is too long to be one");
    }
  }
}

void put_instant(json::Object& out, std::string name, const std::optional<Instant>& instant) {
  if (instant) out[std::move(name)] = to_string(*instant);
}

}  // namespace

std::string origin_of(const Secret<std::string>& access, const Secret<std::string>& refresh) {
  const std::string both =
      std::to_string(access.reveal().size()) + ':' + access.reveal() + ':' + refresh.reveal();
  return to_hex(sha256(both));
}

TokenFile::Lock::~Lock() {
  if (fd_ >= 0) ::close(fd_);
}

TokenFile::TokenFile(const std::string& path) : path_(path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (!error) path_ = real.string();
}

Result<std::optional<Tokens>> TokenFile::load() const {
  const Handle file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.good()) {
    if (errno == ENOENT) return std::nullopt;
    return cannot("open", path_);
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return cannot("look at", path_);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return failure(Code::invalid, "the token file " + path_ +
                                      " may be read or written by others: chmod 600 it, and have "
                                      "the tokens renewed if somebody may have seen them");
  }
  const std::string text = PAWL_TRY(read_all(file.get(), path_));
  const auto value = json::parse(text);
  // The parser's own words would quote what stands there.
  if (!value || venue::text_of(*value, "format") != format) {
    return failure(Code::invalid, "the token file " + path_ +
                                      " is none of ours: remove it, and put a new pair of tokens "
                                      "into the configuration");
  }
  return Tokens{.access = Secret(venue::text_of(*value, "access_token")),
                .refresh = Secret(venue::text_of(*value, "refresh_token")),
                .since = venue::instant_of(*value, "since"),
                .access_ends = venue::instant_of(*value, "access_ends"),
                .refresh_ends = venue::instant_of(*value, "refresh_ends"),
                .origin = venue::text_of(*value, "origin")};
}

Result<void> TokenFile::store(const Tokens& tokens) const {
  json::Object out;
  out["format"] = format;
  out["access_token"] = tokens.access.reveal();
  out["refresh_token"] = tokens.refresh.reveal();
  out["origin"] = tokens.origin;
  put_instant(out, "since", tokens.since);
  put_instant(out, "access_ends", tokens.access_ends);
  put_instant(out, "refresh_ends", tokens.refresh_ends);
  const std::string text = json::print(std::move(out)) + '\n';

  const std::string fresh = path_ + ".new";
  {
    // One that is left over from a crash may not be followed or shared.
    (void)::unlink(fresh.c_str());
    const Handle file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.good()) return cannot("create", fresh);
    if (::fchmod(file.get(), 0600) != 0) return cannot("protect", fresh);
    if (!write_all(file.get(), text)) return cannot("write", fresh);
    if (::fsync(file.get()) != 0) return cannot("sync", fresh);
  }
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return cannot("replace", path_);
  const Handle folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.good() || ::fsync(folder.get()) != 0) return cannot("sync the folder of", path_);
  return {};
}

Result<std::optional<TokenFile::Lock>> TokenFile::try_lock() const {
  std::error_code ignored;  // what cannot be made cannot be opened either
  std::filesystem::create_directories(folder_of(path_), ignored);
  const std::string name = path_ + ".lock";
  Handle file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.good()) return cannot("open the lock of", path_);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return std::nullopt;
    return cannot("lock", path_);
  }
  return Lock(file.release());
}

}  // namespace pawl::saxo
