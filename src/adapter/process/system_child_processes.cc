#include "adapter/process/system_child_processes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "adapter/process/kin.h"
#include "adapter/process/spawn.h"

namespace pawl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t piece_bytes = 64 * 1024;
// What a pipe can hold of a child that has ended; more comes from somebody who has left its group.
constexpr int last_pieces_max = 64;
constexpr int events_max = 64;

enum class Part : std::uint8_t { in, out, errors, end };
constexpr std::uint64_t parts = 4;
constexpr std::uint64_t wake_token = 0;

constexpr std::uint64_t token_of(std::uint64_t number, Part part) {
  return number * parts + static_cast<std::uint64_t>(part);
}

// One that runs.
struct Process {
  Spawned spawned;
  ChildProcesses::Done done;
  std::string input;
  std::size_t written = 0;
  std::size_t output_bytes_max = 0;
  std::size_t error_bytes_max = 0;
  ChildEnd end = {};
  std::optional<Steady::time_point> kill_at = {};
  Kin kin;  // of one that is to end
};

void signal_all(const Process& process, int number) {
  ::kill(-process.spawned.pid, number);
  process.kin.signal(number);
}

// What stands still starts nobody whom the kill would miss.
void kill_with_kin(Process& process) {
  do {
    signal_all(process, SIGSTOP);
  } while (process.kin.look(process.spawned.pid));
  signal_all(process, SIGKILL);
}

void close(Descriptor& descriptor) {
  const Descriptor closed = std::move(descriptor);
  descriptor = Descriptor(-1);
}

void keep_output(Process& process, std::string_view bytes) {
  ChildEnd& end = process.end;
  end.output_bytes += bytes.size();
  const std::size_t room = process.output_bytes_max - end.output.size();
  end.output.append(bytes.substr(0, room));
}

void keep_errors(Process& process, std::string_view bytes) {
  ChildEnd& end = process.end;
  end.error_bytes += bytes.size();
  end.errors.append(bytes);
  if (end.errors.size() <= process.error_bytes_max) return;
  end.errors.erase(0, end.errors.size() - process.error_bytes_max);
}

// A piece of what it says; false: for now there is no more, or never.
bool read_piece(Process& process, Part part) {
  Descriptor& from = part == Part::out ? process.spawned.out : process.spawned.errors;
  if (from.get() < 0) return false;
  char piece[piece_bytes];
  const ssize_t count = ::read(from.get(), piece, sizeof piece);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
  if (count <= 0) {
    close(from);
    return false;
  }
  const std::string_view bytes(piece, static_cast<std::size_t>(count));
  part == Part::out ? keep_output(process, bytes) : keep_errors(process, bytes);
  return true;
}

// A child that does not read all of its input is fine.
void write_input(Process& process) {
  const std::string_view rest = std::string_view(process.input).substr(process.written);
  const ssize_t count = ::write(process.spawned.in.get(), rest.data(), rest.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) process.written += static_cast<std::size_t>(count);
  if (count < 0 || process.written == process.input.size()) close(process.spawned.in);
}

// The shell has ended, and still has its number: until it is waited for, its group is nobody
// else's.
void reap(Process& process) {
  const pid_t pid = process.spawned.pid;
  if (process.kill_at) {
    kill_with_kin(process);
  } else {
    ::kill(-pid, SIGKILL);
  }
  for (const Part part : {Part::out, Part::errors}) {
    for (int i = 0; i < last_pieces_max && read_piece(process, part); ++i) {
    }
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    process.end.signal = WTERMSIG(status);
  } else {
    process.end.code = WEXITSTATUS(status);
  }
}

std::unexpected<Error> no_means(const char* what) {
  return failure(Code::unavailable, std::string("commands cannot be run: ") + what + ": " +
                                        std::system_category().message(errno));
}

}  // namespace

class SystemChildProcesses::Room {
 public:
  Result<void> open() {
    poll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
    if (poll_.get() < 0) return no_means("epoll");
    wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_.get() < 0) return no_means("eventfd");
    watch(wake_, wake_token, EPOLLIN);
    thread_ = std::thread([this] { run(); });
    return {};
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
  }

  // The number of the child; 0: too late, and `done` was not taken.
  std::uint64_t start(ChildAsk ask, Done& done) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return 0;
      number = ++last_number_;
      wishes_.push_back(
          {.number = number, .start = Start{.ask = std::move(ask), .done = std::move(done)}});
    }
    wake();
    return number;
  }
  void stop(std::uint64_t number, Duration grace) {
    {
      const std::lock_guard lock(mutex_);
      wishes_.push_back({.number = number, .grace = grace});
    }
    wake();
  }

 private:
  struct Start {
    ChildAsk ask;
    Done done;
  };
  struct Wish {
    std::uint64_t number = 0;  // 0: all
    std::optional<Start> start = {};
    Duration grace = {};  // of a stop
  };

  void wake() {
    const std::uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  void watch(const Descriptor& descriptor, std::uint64_t token, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = token;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor.get(), &event);
  }

  void run() {
    // Signals are for other threads; and a pipe that nobody reads is an error, not the end of us.
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (grant_wishes() || !running_.empty()) {
      epoll_event events[events_max];
      const int count = ::epoll_wait(poll_.get(), events, events_max, next_kill());
      for (int i = 0; i < count; ++i) look_at(events[i].data.u64);
      kill_the_slow();
    }
  }
  // False: no more will come.
  bool grant_wishes() {
    std::deque<Wish> wishes;
    bool closing = false;
    {
      const std::lock_guard lock(mutex_);
      wishes.swap(wishes_);
      closing = closing_;
    }
    for (Wish& wish : wishes) {
      if (wish.start) {
        begin(wish.number, *std::move(wish.start));
      } else if (wish.number == 0) {
        for (auto& [number, process] : running_) end(process, wish.grace);
      } else if (const auto found = running_.find(wish.number); found != running_.end()) {
        end(found->second, wish.grace);
      }
    }
    if (!closing) return true;
    for (auto& [number, process] : running_) end(process, {});
    return false;
  }

  void begin(std::uint64_t number, Start start) {
    auto spawned = spawn_shell(start.ask.command, start.ask.environment);
    if (!spawned) return start.done(std::unexpected(std::move(spawned).error()));
    std::vector<std::string> marks;
    for (const auto& [name, value] : start.ask.environment) marks.push_back(name + "=" + value);
    const auto place =
        running_.emplace(number, Process{.spawned = *std::move(spawned),
                                         .done = std::move(start.done),
                                         .input = std::move(start.ask.input),
                                         .output_bytes_max = start.ask.output_bytes_max,
                                         .error_bytes_max = start.ask.error_bytes_max,
                                         .kin = Kin(std::move(marks))});
    Process& process = place.first->second;
    watch(process.spawned.out, token_of(number, Part::out), EPOLLIN);
    watch(process.spawned.errors, token_of(number, Part::errors), EPOLLIN);
    watch(process.spawned.end, token_of(number, Part::end), EPOLLIN);
    if (process.input.empty()) {
      pawl::close(process.spawned.in);
    } else {
      watch(process.spawned.in, token_of(number, Part::in), EPOLLOUT);
    }
  }
  // A group that is stopped must go on to hear of its end.
  static void end(Process& process, Duration grace) {
    const auto at = Steady::now() + std::chrono::nanoseconds(grace.ns());
    if (process.kill_at) {
      process.kill_at = std::min(*process.kill_at, at);
      return;
    }
    process.kill_at = at;
    if (grace <= Duration()) return;
    process.kin.look(process.spawned.pid);
    signal_all(process, SIGTERM);
    signal_all(process, SIGCONT);
  }

  void look_at(std::uint64_t token) {
    if (token == wake_token) {
      std::uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
      return;
    }
    const auto found = running_.find(token / parts);
    if (found == running_.end()) return;  // it has ended a moment ago
    const Part part = static_cast<Part>(token % parts);
    if (part == Part::in) {
      write_input(found->second);
    } else if (part == Part::end) {
      has_ended(found->first);
    } else {
      read_piece(found->second, part);
    }
  }
  void has_ended(std::uint64_t number) {
    auto node = running_.extract(number);
    Process& process = node.mapped();
    reap(process);
    Done done = std::move(process.done);
    ChildEnd end = std::move(process.end);
    node = {};  // whoever hears of the end finds its descriptors closed
    done(std::move(end));
  }

  int next_kill() const {
    std::optional<Steady::time_point> first;
    for (const auto& [number, process] : running_) {
      if (process.kill_at && (!first || *process.kill_at < *first)) first = process.kill_at;
    }
    if (!first) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*first - Steady::now());
    return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
  }
  void kill_the_slow() {
    const auto now = Steady::now();
    for (auto& [number, process] : running_) {
      if (!process.kill_at || *process.kill_at > now) continue;
      kill_with_kin(process);
      process.kill_at = now + std::chrono::seconds(1);  // for one that was born meanwhile
    }
  }

  Descriptor poll_ = Descriptor(-1);
  Descriptor wake_ = Descriptor(-1);
  std::thread thread_;
  std::map<std::uint64_t, Process> running_;  // the thread's

  std::mutex mutex_;  // of the rest
  std::deque<Wish> wishes_;
  std::uint64_t last_number_ = 0;
  bool closing_ = false;
};

Result<std::unique_ptr<SystemChildProcesses>> SystemChildProcesses::open() {
  auto room = std::make_shared<Room>();
  PAWL_TRY(room->open());
  return std::unique_ptr<SystemChildProcesses>(new SystemChildProcesses(std::move(room)));
}

SystemChildProcesses::SystemChildProcesses(std::shared_ptr<Room> room) : room_(std::move(room)) {}

SystemChildProcesses::~SystemChildProcesses() {
  room_->close();
}

std::shared_ptr<Child> SystemChildProcesses::start(ChildAsk ask, Done done) {
  class Started final : public Child {
   public:
    Started(std::weak_ptr<Room> room, std::uint64_t number)
        : room_(std::move(room)), number_(number) {}
    void stop(Duration grace) override {
      const auto room = room_.lock();
      if (room && number_ != 0) room->stop(number_, grace);
    }

   private:
    const std::weak_ptr<Room> room_;
    const std::uint64_t number_;
  };
  const std::uint64_t number = room_->start(std::move(ask), done);
  if (number == 0) done(failure(Code::unavailable, "commands are no longer run: pawl is ending"));
  return std::make_shared<Started>(room_, number);
}

void SystemChildProcesses::kill_all() {
  room_->stop(0, {});
}

}  // namespace pawl
