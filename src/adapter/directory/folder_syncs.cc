#include "adapter/directory/folder_syncs.h"

#include <cerrno>
#include <unistd.h>

namespace pawl {

int FolderSyncs::sync(const std::string& folder, int fd) {
  std::unique_lock lock(mutex_);
  const auto found = states_.try_emplace(folder).first;
  State& state = found->second;
  ++state.users;
  if (!state.next) state.next = std::make_shared<Batch>();
  const std::shared_ptr<Batch> batch = state.next;
  while (!batch->done) {
    if (state.syncing) {
      changed_.wait(lock);
      continue;
    }
    state.syncing = true;
    state.next = nullptr;  // whoever comes from now on needs a later sync than this one
    lock.unlock();
    int error = 0;
    do {
      error = ::fsync(fd) == 0 ? 0 : errno;
    } while (error == EINTR);
    lock.lock();
    state.syncing = false;
    if (error != 0 && !state.owed) ++owing_;
    if (error == 0 && state.owed) --owing_;
    state.owed = error != 0;
    *batch = {.done = true, .error = error};
    changed_.notify_all();
  }
  if (--state.users == 0 && !state.owed) states_.erase(found);
  return batch->error;
}

bool FolderSyncs::owed(const std::string& folder) const {
  if (owing_ == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(folder);
  return found != states_.end() && found->second.owed;
}

std::vector<std::string> FolderSyncs::all_owed() const {
  std::vector<std::string> folders;
  if (owing_ == 0) return folders;
  const std::lock_guard lock(mutex_);
  for (const auto& [folder, state] : states_) {
    if (state.owed) folders.push_back(folder);
  }
  return folders;
}

}  // namespace pawl
