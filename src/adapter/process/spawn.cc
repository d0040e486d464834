#include "adapter/process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace pawl {
namespace {

std::unexpected<Error> not_started(std::string_view what, int code) {
  return failure(Code::unavailable, "the command could not be started: " + std::string(what) +
                                        ": " + std::system_category().message(code));
}

// Above the standard three: where those are closed, a pipe would take their numbers, and be
// overwritten by what the child is to have there.
int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int other = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int code = errno;
  ::close(fd);
  errno = code;
  return other;
}

struct Pipe {
  Descriptor read = Descriptor(-1);
  Descriptor write = Descriptor(-1);
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return not_started("pipe", errno);
  Pipe pipe{.read = Descriptor(above_standard(ends[0])),
            .write = Descriptor(above_standard(ends[1]))};
  if (pipe.read.get() < 0 || pipe.write.get() < 0) return not_started("pipe", errno);
  return pipe;
}

bool stop_blocking(const Descriptor& descriptor) {
  return ::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK) == 0;
}

// "NAME=value" of ours, but for those that are given anew.
std::vector<std::string> joined_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view name = line.substr(0, line.find('='));
    const bool anew =
        std::ranges::any_of(added, [&](const auto& one) { return one.first == name; });
    if (!anew) all.emplace_back(line);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

// What posix_spawn is to do, freed with its owner.
class Plan {
 public:
  Plan() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // A group of its own, no signal held back, and a broken pipe ends it as it should.
  int set(int in, int out, int errors) {
    sigset_t none;
    sigset_t usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    const int codes[] = {
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
        ::posix_spawnattr_setpgroup(&attributes_, 0),
        ::posix_spawnattr_setsigmask(&attributes_, &none),
        ::posix_spawnattr_setsigdefault(&attributes_, &usual),
        ::posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO),
        ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO),
        ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO),
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1),
    };
    return *std::ranges::max_element(codes);
  }
  int run(pid_t& pid, const std::string& command, const std::vector<std::string>& environment) {
    std::vector<char*> variables;
    for (const std::string& line : environment) variables.push_back(const_cast<char*>(line.data()));
    variables.push_back(nullptr);
    char name[] = "sh";
    char option[] = "-c";
    char* const words[] = {name, option, const_cast<char*>(command.c_str()), nullptr};
    return ::posix_spawn(&pid, "/bin/sh", &actions_, &attributes_, words, variables.data());
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

}  // namespace

Result<Spawned> spawn_shell(const std::string& command,
                            const std::vector<std::pair<std::string, std::string>>& environment) {
  Pipe in = PAWL_TRY(make_pipe());
  Pipe out = PAWL_TRY(make_pipe());
  Pipe errors = PAWL_TRY(make_pipe());
  if (!stop_blocking(in.write) || !stop_blocking(out.read) || !stop_blocking(errors.read)) {
    return not_started("fcntl", errno);
  }
  Plan plan;
  pid_t pid = 0;
  int code = plan.set(in.read.get(), out.write.get(), errors.write.get());
  if (code == 0) code = plan.run(pid, command, joined_environment(environment));
  if (code != 0) return not_started("/bin/sh", code);
  // By number: nobody but us waits for it, so the number stays its own.
  const int end = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (end < 0) {
    code = errno;
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return not_started("pidfd_open", code);
  }
  return Spawned{.pid = pid,
                 .in = std::move(in.write),
                 .out = std::move(out.read),
                 .errors = std::move(errors.read),
                 .end = Descriptor(end)};
}

}  // namespace pawl
