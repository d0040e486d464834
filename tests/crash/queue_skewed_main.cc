// A process whose clock is wrong: submits to a queue, or works on it, by a wall clock that is so
// many seconds ahead of the machine's (or behind).
//
//   queue_skewed submit URL AHEAD COUNT DELAY          so many tasks, due after so many seconds
//   queue_skewed work URL AHEAD FOLDER LEASE HOLD      until SIGTERM; seconds
//
// submit: the ids, one a line. work: each execution makes the file FOLDER/ID.FENCE, holds its task
// for so long and completes it with its fence; "claimed ID" is said when one begins.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "core/queue/shards.h"
#include "port/answer_of.h"
#include "runtime/task_worker.h"

namespace {

using namespace pawl;

class WrongClock final : public Clock {
 public:
  explicit WrongClock(Duration ahead) : ahead_(ahead) {}
  Instant wall_now() override { return right_.wall_now() + ahead_; }
  SteadyInstant steady_now() override { return right_.steady_now(); }

 private:
  SystemClock right_;
  const Duration ahead_;
};

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Duration seconds(const char* text) {
  return Duration::seconds(std::atoi(text));
}

struct Place {
  explicit Place(Duration ahead) : clock(ahead) {}

  Result<void> open(const std::string& url) {
    office = PAWL_TRY(QueueOffice::open(
        {.url = url}, {.clock = clock, .entropy = entropy, .environment = variable}));
    return {};
  }

  WrongClock clock;
  SystemEntropy entropy;
  std::unique_ptr<QueueOffice> office = {};
};

Result<void> submit(const std::string& url, Duration ahead, int count, Duration delay) {
  Place place(ahead);
  PAWL_TRY(place.open(url));
  std::vector<queue::Command> commands;
  for (int i = 0; i < count; ++i) {
    commands.emplace_back(queue::Submit{.id = queue::make_task_id(place.entropy.next()),
                                        .terms = {.type = "t", .input = "{}"},
                                        .delay = delay});
  }
  const auto replies = PAWL_TRY(answer_of<std::vector<queue::Reply>>(
      [&](auto done) { place.office->queue().give(std::move(commands), std::move(done)); }));
  for (const queue::Reply& reply : replies) {
    const auto* submitted = std::get_if<queue::Submitted>(&reply);
    if (submitted == nullptr) return failure(Code::internal, "a submit was refused");
    std::cout << queue::to_string(submitted->id) << std::endl;
  }
  place.office->close();
  return {};
}

Result<void> work(const std::string& url, Duration ahead, const std::string& folder,
                  std::pair<Duration, Duration> lease_and_hold) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are threads, for all of them
  Place place(ahead);
  PAWL_TRY(place.open(url));
  Timers& timers = place.office->timers();
  const Duration hold = lease_and_hold.second;
  TaskWorker worker(place.office->queue(),
                    {.name = "ahead by " + to_string(ahead),
                     .types = {"t"},
                     .concurrency = 4,
                     .lease = lease_and_hold.first},
                    [&](const std::shared_ptr<HandledTask>& task, auto done) {
                      const std::string id = queue::to_string(task->task().id);
                      const std::string fence = std::to_string(task->task().fence);
                      const std::string witness = folder + "/" + id + "." + fence;
                      const int file = ::open(witness.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
                      if (file < 0) std::_Exit(9);  // somebody has worked by this fence
                      ::close(file);
                      std::cout << "claimed " + id + "\n" << std::flush;
                      timers.after(hold, [fence, done = std::move(done)](bool) mutable {
                        done({.kind = TaskEnding::Kind::completed, .output = fence});
                      });
                    },
                    {place.clock, timers});
  worker.start();
  int number = 0;
  sigwait(&ends, &number);
  worker.drain(Duration::seconds(30));
  PAWL_TRY(worker.wait());
  place.office->close();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  Result<void> result = pawl::failure(
      Code::usage, "queue_skewed submit URL AHEAD COUNT DELAY | work URL AHEAD FOLDER LEASE HOLD");
  if (verb == "submit" && argc == 6) {
    result = submit(argv[2], seconds(argv[3]), std::atoi(argv[4]), seconds(argv[5]));
  } else if (verb == "work" && argc == 7) {
    result = work(argv[2], seconds(argv[3]), argv[4], {seconds(argv[5]), seconds(argv[6])});
  }
  if (result) return 0;
  std::cerr << result.error().message << "\n";
  return static_cast<int>(result.error().code);
}
