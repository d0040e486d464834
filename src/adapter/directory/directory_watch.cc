#include "adapter/directory/directory_watch.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <ranges>
#include <set>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>

namespace pawl {

class DirectoryWatch::Handle final : public ObjectWatch {
 public:
  Handle(DirectoryWatch& owner, std::uint64_t id) : owner_(owner), id_(id) {}
  ~Handle() override { owner_.end(id_); }

 private:
  DirectoryWatch& owner_;
  const std::uint64_t id_;
};

DirectoryWatch::~DirectoryWatch() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(close_.get(), &one, sizeof(one));
  thread_.join();
}

std::unique_ptr<ObjectWatch> DirectoryWatch::watch(const std::string& path,
                                                   std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable() && !start()) return nullptr;
  // A link creates, a rename moves: either is a whole object.
  const int folder =
      ::inotify_add_watch(events_.get(), path.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  if (folder < 0) return nullptr;
  watched_[++last_id_] = {
      .folder = folder,
      .changed = std::make_shared<const std::function<void()>>(std::move(changed))};
  return std::make_unique<Handle>(*this, last_id_);
}

bool DirectoryWatch::start() {
  events_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  close_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (events_.get() < 0 || close_.get() < 0) return false;
  thread_ = std::thread([this, events = events_.get(), close = close_.get()] {
    std::array<pollfd, 2> waited = {{{events, POLLIN, 0}, {close, POLLIN, 0}}};
    while (true) {
      if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
      if (waited[1].revents != 0) return;
      if (waited[0].revents != 0) tell();
    }
  });
  return true;
}

void DirectoryWatch::tell() {
  for (const std::uint64_t id : changed_ones()) {
    std::shared_ptr<const std::function<void()>> changed;
    {
      const std::lock_guard lock(mutex_);
      const auto watched = watched_.find(id);
      if (watched == watched_.end()) continue;  // ended by one before
      changed = watched->second.changed;
      calling_ = id;
    }
    (*changed)();
    {
      const std::lock_guard lock(mutex_);
      calling_ = 0;
    }
    called_.notify_all();
  }
}

std::vector<std::uint64_t> DirectoryWatch::changed_ones() {
  alignas(inotify_event) std::array<char, 16 * 1024> bytes;
  std::set<int> folders;
  bool all = false;
  const std::lock_guard lock(mutex_);
  while (true) {
    const ssize_t size = ::read(events_.get(), bytes.data(), bytes.size());
    if (size <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event = {};
      std::memcpy(&event, bytes.data() + at, sizeof(event));
      at += sizeof(event) + event.len;
      folders.insert(event.wd);
      all = all || (event.mask & IN_Q_OVERFLOW) != 0;  // some were lost, of whatever folder
    }
  }
  std::vector<std::uint64_t> ids;
  for (const auto& [id, watched] : watched_) {
    if (all || folders.contains(watched.folder)) ids.push_back(id);
  }
  return ids;
}

void DirectoryWatch::end(std::uint64_t id) {
  std::unique_lock lock(mutex_);
  const int folder = watched_.at(id).folder;
  watched_.erase(id);
  if (std::this_thread::get_id() != thread_.get_id()) {
    called_.wait(lock, [&] { return calling_ != id; });
  }
  for (const Watched& other : std::views::values(watched_)) {
    if (other.folder == folder) return;
  }
  (void)::inotify_rm_watch(events_.get(), folder);
}

}  // namespace pawl
