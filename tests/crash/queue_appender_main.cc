// Appends to the log of a queue in a store (dir:, s3:), as one of several processes; or reads what
// is in it.
//
//   queue_appender append URL NAME SECONDS CALLERS [DEADLINE BYTES]
//   queue_appender read URL
//
// append: so many callers, each one task at a time, for so long, and until each had one stored. A
// caller is told after so many seconds (30) that the store is away; an input has so many bytes (2).
// "stored ID", "unknown ID" or "refused ID" for each task, as soon as that is known, and "numbers
// …" at the end. read: "logged SEQUENCE ID" for each task in each segment, then "held ID" for each
// one that a replica has.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "core/queue/segment.h"
#include "port/answer_of.h"
#include "runtime/queue_log.h"
#include "runtime/queue_settings.h"

namespace {

using namespace pawl;

// One line, in one piece, though the process may be killed behind it.
void say(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) >= 0) return;
  std::perror("queue_appender: cannot say what became of a task");
  std::_Exit(1);
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

struct Place {
  SystemClock clock;
  SystemEntropy entropy;
  std::unique_ptr<QueueStore> store = {};
  std::unique_ptr<QueueLog> log = {};

  Result<void> open(const std::string& url, const std::string& name,
                    Duration deadline = Duration::seconds(30)) {
    store = PAWL_TRY(
        QueueStore::open(url, {.clock = clock, .entropy = entropy, .environment = variable}));
    ObjectStore& objects = store->objects();
    const queue::Settings settings = PAWL_TRY(answer_of<queue::Settings>(
        [&](auto done) { open_queue_settings(objects, {}, std::move(done)); }));
    log = std::make_unique<QueueLog>(QueueLog::Options{.settings = settings,
                                                       .writer = name,
                                                       .deadline = deadline,
                                                       .snapshots = {.segments_min = 200}},
                                     QueueLog::Ports{clock, store->timers(), objects, entropy},
                                     QueueLog::Hooks{});
    return answer_of<void>([&](auto done) { log->open(std::move(done)); });
  }
  void close() {
    store->close();
    log.reset();
  }
};

struct Plan {
  int seconds = 0;
  int callers = 0;
  Duration deadline = Duration::seconds(30);
  std::size_t bytes = 2;
};

class Appender {
 public:
  Appender(Place& place, const Plan& plan)
      : place_(place),
        until_(place.clock.steady_now() + Duration::seconds(plan.seconds)),
        input_('"' + std::string(plan.bytes - 2, 'x') + '"') {}

  void run(int callers) {
    under_way_ = callers;
    auto over = over_.get_future();
    for (int i = 0; i < callers; ++i) next(false);
    over.wait();
  }

 private:
  void next(bool had_one) {
    if (had_one && place_.clock.steady_now() >= until_) {
      if (--under_way_ == 0) over_.set_value();
      return;
    }
    const Entropy16 random = place_.entropy.next();
    queue::TaskId id;
    std::copy_n(random.begin(), id.bytes.size() - 1, id.bytes.begin() + 1);
    place_.log->submit(
        {queue::Submit{.id = id, .terms = {.type = "t", .input = input_}}},
        [this, id, had_one](const Result<QueueLog::Replies>& result) {
          const bool unknown = !result && result.error().outcome == Outcome::unknown;
          say((result ? "stored " : unknown ? "unknown " : "refused ") + queue::to_string(id));
          next(had_one || result.has_value());
        });
  }

  Place& place_;
  const SteadyInstant until_;
  const std::string input_;
  std::atomic<int> under_way_ = 0;
  std::promise<void> over_;
};

Result<void> append(const std::string& url, const std::string& name, const Plan& plan) {
  Place place;
  PAWL_TRY(place.open(url, name, plan.deadline));
  Appender(place, plan).run(plan.callers);
  const QueueLogNumbers numbers = place.log->numbers();
  const RequestCounts counts = place.store->objects().counts();
  say("numbers commits " + std::to_string(numbers.commits) + " commands " +
      std::to_string(numbers.commands) + " conflicts " + std::to_string(numbers.conflicts) +
      " puts " + std::to_string(counts.puts) + " gets " + std::to_string(counts.gets) + " lists " +
      std::to_string(counts.lists) + " snapshots " + std::to_string(numbers.snapshots) +
      " longest_ms " + std::to_string(numbers.commit_time_max.milliseconds_up()));
  place.close();
  return {};
}

Result<void> read_segments(ObjectStore& store) {
  for (ListObjects list = {.under = "log/"};;) {
    const Listing listing =
        PAWL_TRY(answer_of<Listing>([&](auto done) { store.list(list, std::move(done)); }));
    for (const Listing::Entry& entry : listing.entries) {
      const Object object = PAWL_TRY(
          answer_of<Object>([&](auto done) { store.get({.name = entry.name}, std::move(done)); }));
      const queue::Segment segment = PAWL_TRY(queue::parse_segment(object.body));
      for (const queue::Command& command : segment.commands) {
        const auto& submit = std::get<queue::Submit>(command);
        std::cout << "logged " << segment.sequence << " " << queue::to_string(submit.id) << "\n";
      }
    }
    if (!listing.more) return {};
    list.after = listing.entries.back().name;
  }
}

Result<void> read(const std::string& url) {
  Place place;
  PAWL_TRY(place.open(url, "reader"));
  PAWL_TRY(read_segments(place.store->objects()));
  place.log->look([](const queue::Machine& machine) {
    queue::TaskFilter filter = {.limit = 1000};
    for (auto page = machine.list(filter); !page.empty(); page = machine.list(filter)) {
      for (const queue::Task& task : page)
        std::cout << "held " << queue::to_string(task.id) << "\n";
      filter.after = page.back().id;
    }
  });
  place.close();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  Result<void> result = pawl::failure(
      Code::usage, "queue_appender append URL NAME SECONDS CALLERS [DEADLINE BYTES] | read URL");
  if (verb == "append" && (argc == 6 || argc == 8)) {
    Plan plan = {.seconds = std::atoi(argv[4]), .callers = std::atoi(argv[5])};
    if (argc == 8) plan.deadline = Duration::seconds(std::atoi(argv[6]));
    if (argc == 8) plan.bytes = std::strtoul(argv[7], nullptr, 10);
    result = append(argv[2], argv[3], plan);
  } else if (verb == "read" && argc == 3) {
    result = read(argv[2]);
  }
  if (result) return 0;
  std::cerr << result.error().message << "\n";
  return static_cast<int>(result.error().code);
}
