// ChildProcesses: commands that are run for us, and what came of them.
//
// Contract: `done` is called exactly once, before start() returns or later, on any thread, and must
//           not keep it. The command is run by /bin/sh, in a process group of its own, with our
//           environment and what the ask adds to it, and no file of ours but the standard three.
//           It is over when the shell has ended. What is left of its group is killed then: a
//           command that is over has nothing running.
//           stop() asks the whole group to end (SIGTERM) and kills it (SIGKILL) when the grace is
//           over; and with it whoever was begun with all that the ask adds to the environment,
//           which is therefore to be its own. It may be called at any time, any number of times.
// Output:   of standard output the beginning is kept, of standard error the end; the rest is read,
//           counted and thrown away, so that nobody waits for us.
// Errors:   it could not be started, and nothing was done.
// Threads:  any.
// Held by:  adapter/process; tests have fakes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct ChildAsk {
  std::string command = {};
  std::string input = {};                                             // standard input
  std::vector<std::pair<std::string, std::string>> environment = {};  // besides ours
  std::size_t output_bytes_max = 0;
  std::size_t error_bytes_max = 0;
};

struct ChildEnd {
  int code = 0;                    // its exit code
  int signal = 0;                  // not 0: this is what killed it
  std::string output = {};         // the first bytes of standard output
  std::string errors = {};         // the last bytes of standard error
  std::uint64_t output_bytes = 0;  // in all
  std::uint64_t error_bytes = 0;
};

class Child {
 public:
  virtual ~Child() = default;
  virtual void stop(Duration grace) = 0;
};

class ChildProcesses {
 public:
  using Done = std::move_only_function<void(Result<ChildEnd>)>;

  virtual ~ChildProcesses() = default;
  // Whoever drops the child does not stop it.
  virtual std::shared_ptr<Child> start(ChildAsk ask, Done done) = 0;
};

}  // namespace pawl
