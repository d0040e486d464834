// SystemChildProcesses: ChildProcesses by posix_spawn, pipes and pidfds, on a thread of its own.
//
// Contract: ChildProcesses. Nothing is left behind: every child is waited for, and its group killed
//           before its number can be another's. One that is stopped is killed with all below it,
//           those that have left its group included (kin.h); of one that ends by itself, those live
//           on, as a command wants that starts a daemon.
// End:      the destructor kills what runs still, and answers it. When this process is killed, its
//           children are not: what they did is then told to nobody.
// Bounds:   descriptors: four a child.
// Threads:  any; `done` is called on the thread of this, or by the caller when it is ending.
#pragma once

#include <memory>

#include "port/child_processes.h"

namespace pawl {

class SystemChildProcesses final : public ChildProcesses {
 public:
  // The error is that of a system without the means: epoll, an event, a thread.
  static Result<std::unique_ptr<SystemChildProcesses>> open();
  ~SystemChildProcesses() override;

  std::shared_ptr<Child> start(ChildAsk ask, Done done) override;
  // Kills all there are, at once.
  void kill_all();

 private:
  class Room;
  explicit SystemChildProcesses(std::shared_ptr<Room> room);

  std::shared_ptr<Room> room_;
};

}  // namespace pawl
