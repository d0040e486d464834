// Kin: the processes below a command, whatever groups or sessions they have put themselves into
// (`timeout` and `setsid` do), and whoever has left them in between (a daemon's way).
//
// Contract: found in /proc by their parents, and by the marks: all of these stand in the
//           environment that they were begun with. One whose parent had ended before anybody
//           looked, and which was begun with another environment, or as another user, is not
//           among them. A number that became another process's is passed over.
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pawl {

class Kin {
 public:
  // "NAME=value", which nobody else has; none: only parents tell.
  explicit Kin(std::vector<std::string> marks) : marks_(std::move(marks)) {}

  // Looks for those below `root`, and below whom it found before; false: there are no new ones.
  bool look(pid_t root);
  void signal(int number) const;

 private:
  struct One {
    pid_t pid = 0;
    std::uint64_t born = 0;  // in ticks of the machine
  };
  std::vector<std::string> marks_;
  std::vector<One> all_;
};

}  // namespace pawl
