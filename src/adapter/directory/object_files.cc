#include "adapter/directory/object_files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "adapter/directory/draft.h"
#include "adapter/directory/object_listing.h"
#include "adapter/directory/turn.h"
#include "base/sha256.h"

namespace pawl {
namespace {

using Verdict = PutAnswer::Verdict;

constexpr mode_t folder_mode = 0700;
constexpr std::size_t known_max = 10'000;  // folders; then it begins anew
// Of somebody who creates the same; he may be stopped.
constexpr Duration turn_wait = Duration::milliseconds(50);
constexpr const char* lock_name = ".lock";
constexpr int lock_flags = O_RDWR | O_CREAT | O_CLOEXEC;
constexpr auto lock_pause = std::chrono::milliseconds(2);

std::string tag_of(std::string_view body) {
  const Digest digest = sha256(body);
  return to_hex(std::span(digest).first(16));
}

std::unexpected<Error> trouble(int error, const std::string& what) {
  return std::unexpected(trouble_of(error, Outcome::not_applied, what));
}

// Whether a call that failed so has surely changed nothing. Of others a network file system may
// have done what it could not tell.
bool is_sure(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EMLINK:
    case EXDEV:
    case ENAMETOOLONG:
      return true;
    default:
      return false;
  }
}

std::unexpected<Error> not_stored(int error, const std::string& name) {
  return std::unexpected(trouble_of(error, is_sure(error) ? Outcome::not_applied : Outcome::unknown,
                                    "store '" + name + "'"));
}

Result<std::string> read_all(int fd, const GetObject& get, std::uint64_t size) {
  const std::uint64_t start = std::min(get.offset, size);
  const std::uint64_t wanted = get.bytes == 0 ? size : get.bytes;
  std::string body(std::min(wanted, size - start), '\0');
  std::size_t done = 0;
  while (done < body.size()) {
    const ssize_t got =
        ::pread(fd, body.data() + done, body.size() - done, static_cast<off_t>(start + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return trouble(errno, "read the object '" + get.name + "'");
    if (got == 0) {
      return failure(Code::unavailable, "the object '" + get.name +
                                            "' got shorter while it was read: somebody else "
                                            "writes into the folder of the store");
    }
    done += static_cast<std::size_t>(got);
  }
  return body;
}

bool is_there(int folder, const std::string& leaf) {
  struct stat status = {};
  return ::fstatat(folder, leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

void sync_if_possible(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) (void)::fsync(fd.get());
}

}  // namespace

Result<std::unique_ptr<ObjectFiles>> ObjectFiles::open(const std::string& path,
                                                       Duration lock_wait) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  std::vector<std::filesystem::path> missing;
  for (std::filesystem::path at = whole; !error && !std::filesystem::exists(at, error) && !error;
       at = at.parent_path()) {
    missing.push_back(at);
  }
  for (; !error && !missing.empty(); missing.pop_back()) {
    if (::mkdir(missing.back().c_str(), folder_mode) != 0 && errno != EEXIST) {
      return trouble(errno, "make the folder '" + missing.back().string() + "'");
    }
    sync_if_possible(missing.back().parent_path());
  }
  Descriptor root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0 && errno == ENOTDIR) {
    return failure(Code::invalid,
                   "'" + path + "' is no folder: name one, or one that is to be made");
  }
  if (root.get() < 0) return trouble(errno, "open the folder '" + path + "'");
  // Made while there is room: nothing could be removed from a full disk without it. Whoever may
  // only read does without.
  const Descriptor lock(::openat(root.get(), lock_name, lock_flags, 0600));
  if (lock.get() >= 0) (void)give_to_owner(root.get(), lock.get());
  return std::unique_ptr<ObjectFiles>(new ObjectFiles(path, std::move(root), lock_wait));
}

ObjectFiles::Place ObjectFiles::place_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {.folder = ".", .leaf = name};
  return {.folder = name.substr(0, slash), .leaf = name.substr(slash + 1)};
}

Result<Descriptor> ObjectFiles::open_folder(const std::string& folder) {
  for (int attempt = 0;; ++attempt) {
    Descriptor fd(::openat(root_.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() >= 0) {
      PAWL_TRY(sync_above(folder));
      return fd;
    }
    if (errno != ENOENT || attempt > 0) {
      return trouble(errno, "open the folder '" + folder + "' in '" + path_ + "'");
    }
    PAWL_TRY(make_folder(folder));
  }
}

Result<void> ObjectFiles::make_folder(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    known_.clear();  // what was there is not
  }
  for (std::size_t end = 0; end != std::string::npos;) {
    end = folder.find('/', end + 1);
    const std::string above = folder.substr(0, end);
    const int error = ::mkdirat(root_.get(), above.c_str(), folder_mode) == 0
                          ? give_to_owner(root_.get(), root_.get(), above.c_str())
                          : errno;
    if (error != 0 && error != EEXIST) {
      return trouble(error, "make the folder '" + above + "' in '" + path_ + "'");
    }
  }
  return {};
}

// Whoever made the folders may have died before they were on the disk.
Result<void> ObjectFiles::sync_above(const std::string& folder) {
  {
    const std::lock_guard lock(mutex_);
    if (folder == "." || known_.contains(folder)) return {};
  }
  for (std::string above = folder; above != ".";) {
    above = place_of(above).folder;
    const Descriptor fd(::openat(root_.get(), above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const int error = fd.get() < 0 ? errno : syncs_.sync(above, fd.get());
    if (error != 0) return trouble(error, "get the folder '" + folder + "' onto the disk");
  }
  const std::lock_guard lock(mutex_);
  if (known_.size() >= known_max) known_.clear();
  known_.insert(folder);
  return {};
}

// What is in a folder whose sync failed may not be on the disk.
Result<void> ObjectFiles::settle(const std::string& folder) {
  if (!syncs_.owed(folder)) return {};
  const Descriptor fd(::openat(root_.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = fd.get() < 0 ? errno : syncs_.sync(folder, fd.get());
  if (error == 0) return {};
  return trouble(error, "believe what is in the folder '" + folder +
                            "', since it cannot be got onto the disk");
}

Result<void> ObjectFiles::sync(const std::string& folder, int fd, const std::string& name) {
  const int error = syncs_.sync(folder, fd);
  if (error == 0) return {};
  return std::unexpected(trouble_of(error, Outcome::unknown,
                                    "get the folder '" + folder +
                                        "' onto the disk, so nobody "
                                        "knows whether the change of '" +
                                        name + "' lasts"));
}

Result<ObjectFiles::Stored> ObjectFiles::put(const PutObject& put) {
  return put.only == PutObject::If::absent ? create(put) : replace(put);
}

Result<ObjectFiles::Stored> ObjectFiles::create(const PutObject& put) {
  const Place place = place_of(put.name);
  const Descriptor folder = PAWL_TRY(open_folder(place.folder));
  PAWL_TRY(settle(place.folder));
  // Seen before it is written and synced in vain; should it come meanwhile, the link fails.
  const auto is_taken = [&] { return is_there(folder.get(), place.leaf); };
  const Turn turn = Turn::take(root_.get(), put.name, turn_wait, is_taken);
  if (is_taken() && !is_folder(put.name)) return Stored{.answer = {.verdict = Verdict::exists}};
  Draft draft = PAWL_TRY(Draft::open_in(root_.get(), folder.get()));
  const Instant written = PAWL_TRY(draft.write(put.body));
  const int error = draft.link(folder.get(), place.leaf);
  if (error == EEXIST) {
    if (is_folder(put.name)) return trouble(EISDIR, "store '" + put.name + "'");
    return Stored{.answer = {.verdict = Verdict::exists}, .written = written};
  }
  if (error != 0) return not_stored(error, put.name);
  PAWL_TRY(sync(place.folder, folder.get(), put.name));
  return Stored{.answer = {.verdict = Verdict::stored, .tag = tag_of(put.body)},
                .written = written};
}

Result<ObjectFiles::Stored> ObjectFiles::replace(const PutObject& put) {
  const Place place = place_of(put.name);
  const Descriptor folder = PAWL_TRY(open_folder(place.folder));
  PAWL_TRY(settle(place.folder));
  Draft draft = PAWL_TRY(Draft::open_named(root_.get()));
  const Instant written = PAWL_TRY(draft.write(put.body));
  {
    const std::optional<Descriptor> held = PAWL_TRY(lock());
    if (!held) return Stored{.answer = {.verdict = Verdict::busy}, .written = written};
    if (put.only == PutObject::If::match) {
      std::optional<PutAnswer> differs = PAWL_TRY(compare(put));
      if (differs) return Stored{.answer = *std::move(differs), .written = written};
    }
    const int error = draft.rename(folder.get(), place.leaf);
    if (error != 0) return not_stored(error, put.name);
  }
  PAWL_TRY(sync(place.folder, folder.get(), put.name));
  return Stored{.answer = {.verdict = Verdict::stored, .tag = tag_of(put.body)},
                .written = written};
}

// None: what is there is what the caller has seen.
Result<std::optional<PutAnswer>> ObjectFiles::compare(const PutObject& put) {
  const Result<Object> found = get({.name = put.name});
  if (!found && found.error().code == Code::not_found) return PutAnswer{.verdict = Verdict::gone};
  if (!found) return std::unexpected(found.error());
  if (found->tag != put.tag) return PutAnswer{.verdict = Verdict::exists};
  return std::nullopt;
}

Result<std::optional<Descriptor>> ObjectFiles::lock() {
  // Opened each time: the lock belongs to the open file, so threads exclude each other as processes
  // do.
  Descriptor fd(::openat(root_.get(), lock_name, lock_flags, 0600));
  if (fd.get() < 0) return trouble(errno, "open the file '.lock' in '" + path_ + "'");
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(lock_wait_.ns());
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return trouble(errno, "lock the file '.lock' in '" + path_ + "'");
    if (std::chrono::steady_clock::now() > end) return std::nullopt;
    std::this_thread::sleep_for(lock_pause);
  }
  return std::optional(std::move(fd));
}

Result<Object> ObjectFiles::get(const GetObject& get) {
  PAWL_TRY(settle(place_of(get.name).folder));
  // Without waiting, should it be a pipe.
  const Descriptor file(::openat(root_.get(), get.name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::unexpected(not_there(get.name));
  }
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return trouble(errno, "open the object '" + get.name + "' in '" + path_ + "'");
  }
  if (!S_ISREG(status.st_mode)) return std::unexpected(not_there(get.name));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string body = PAWL_TRY(read_all(file.get(), get, size));
  std::string tag = body.size() == size ? tag_of(body) : std::string();
  return Object{.body = std::move(body), .tag = std::move(tag)};
}

Result<Listing> ObjectFiles::list(const ListObjects& list) {
  for (const std::string& folder : syncs_.all_owed()) PAWL_TRY(settle(folder));
  PAWL_TRY(check_root());
  return list_objects(root_.get(), list);
}

Error ObjectFiles::not_there(const std::string& name) const {
  const Result<void> checked = check_root();
  if (!checked) return checked.error();
  return {Code::not_found, Outcome::not_applied, "there is no object '" + name + "'"};
}

// Nothing is in a folder that was removed; that does not mean that nothing was.
Result<void> ObjectFiles::check_root() const {
  struct stat status = {};
  if (::fstat(root_.get(), &status) == 0 && status.st_nlink > 0) return {};
  return trouble(ENOENT, "look into the folder '" + path_ + "'");
}

bool ObjectFiles::is_folder(const std::string& name) const {
  struct stat status = {};
  return ::fstatat(root_.get(), name.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode);
}

Result<void> ObjectFiles::remove(const std::vector<std::string>& names) {
  const std::optional<Descriptor> held = PAWL_TRY(lock());
  if (!held) {
    return failure(Code::unavailable,
                   "another process holds the file '.lock' in '" + path_ +
                       "' for long: it may be stopped; nothing was removed, so try again");
  }
  std::set<std::string> folders;
  for (const std::string& name : names) {
    if (::unlinkat(root_.get(), name.c_str(), 0) == 0) {
      folders.insert(place_of(name).folder);
    } else if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR) {
      const bool is_first = folders.empty();
      return std::unexpected(
          trouble_of(errno, is_first && is_sure(errno) ? Outcome::not_applied : Outcome::unknown,
                     "remove '" + name + "' from '" + path_ + "'"));
    }
  }
  for (const std::string& folder : folders) {
    const Descriptor fd(::openat(root_.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() >= 0) PAWL_TRY(sync(folder, fd.get(), names.front()));
  }
  return {};
}

Result<Instant> ObjectFiles::time() {
  const Draft draft = PAWL_TRY(Draft::open_in(root_.get(), root_.get()));
  return draft.made();
}

void ObjectFiles::sweep(Instant before) {
  Draft::sweep(root_.get(), before);
}

Result<std::string> ObjectFiles::path_of(const std::string& folder) {
  PAWL_TRY(open_folder(folder));
  return path_ + "/" + folder;
}

}  // namespace pawl
