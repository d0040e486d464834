// Kin: the processes below a command, whatever groups or sessions they have put themselves into
// (`timeout` and `setsid` do).
//
// Contract: found by their parents in /proc, so one whose parent had ended before anybody looked (a
//           daemon) is not among them. A number that became another process's is passed over.
// Threads:  one.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace pawl {

class Kin {
 public:
  // Looks for those below `root`, and below whom it found before; false: there are no new ones.
  bool look(pid_t root);
  void signal(int number) const;

 private:
  struct One {
    pid_t pid = 0;
    std::uint64_t born = 0;  // in ticks of the machine
  };
  std::vector<One> all_;
};

}  // namespace pawl
