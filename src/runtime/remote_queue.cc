#include "runtime/remote_queue.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "base/bounds_queue.h"
#include "core/queue/command_check.h"
#include "runtime/broker_way.h"

namespace pawl {
namespace {

using broker::Hello;
using broker::Look;
using queue::Command;
using queue::Reply;
using queue::Task;
using Tasks = std::vector<Task>;
using Replies = std::vector<Reply>;
template <class T>
using Done = TaskQueue::Done<T>;

// Between two claims of which the first came back too early.
constexpr Duration claim_pause = Duration::milliseconds(200);

std::vector<Command> given_back(const Tasks& tasks) {
  std::vector<Command> commands;
  for (const Task& task : tasks) {
    commands.emplace_back(queue::Reschedule{.id = task.id, .fence = task.fence, .counted = false});
  }
  return commands;
}

Error not_asked_for(std::string_view what) {
  return {Code::unavailable, Outcome::unknown,
          "the broker answered with " + std::string(what) + " than was asked for"};
}

// A broker is believed no further than what it was asked.
Result<void> check_claimed(const queue::Claim& claim, const ClaimedTasks& claimed) {
  if (claimed.tasks.size() > claim.count) return std::unexpected(not_asked_for("more tasks"));
  for (const Task& task : claimed.tasks) {
    const bool wanted =
        claim.types.empty() || std::ranges::find(claim.types, task.terms.type) != claim.types.end();
    if (!wanted) return std::unexpected(not_asked_for("a task of another type"));
  }
  return {};
}

Result<void> check_page(const queue::TaskFilter& filter, const Tasks& page) {
  if (page.size() > filter.limit) return std::unexpected(not_asked_for("a longer page"));
  std::optional<queue::TaskId> last = filter.after;
  for (const Task& task : page) {
    if (last && task.id <= *last) return std::unexpected(not_asked_for("another order of tasks"));
    last = task.id;
  }
  return {};
}

// Endings name no lease.
bool is_ending(const Command& command) {
  return std::holds_alternative<queue::Complete>(command) ||
         std::holds_alternative<queue::Fail>(command) ||
         std::holds_alternative<queue::Reschedule>(command);
}

// Leases count from when the claim was asked for.
void count_wait(Result<ClaimedTasks>& claimed, Duration passed) {
  if (!claimed) return;
  claimed->waited = passed + std::clamp(claimed->waited, Duration(), bounds::task_lease_max);
}
template <class T>
void count_wait(Result<T>& /*other*/, Duration /*passed*/) {}

}  // namespace

void give_back(TaskQueue& queue, const std::vector<queue::Task>& tasks) {
  if (!tasks.empty()) queue.give(given_back(tasks), [](const Result<Replies>&) {});
}

class RemoteQueue::State : public std::enable_shared_from_this<State> {
 public:
  State(Options options, Ports ports)
      : clock_(ports.clock),
        timers_(ports.timers),
        way_(std::make_shared<BrokerWay>(std::move(options), std::move(ports))) {}

  // Asks a broker, or calls `directly` with the queue itself.
  template <class T, class Directly>
  void run(BrokerWay::Ask ask, Directly directly, Done<T> done);
  template <class T, class Directly>
  void look(const Look& look, Directly directly, Done<T> done) {
    run<T>({.path = broker::look_path, .body = broker::write_look(look)}, std::move(directly),
           std::move(done));
  }

  void open(Done<void> done);
  void close();
  void give(std::vector<Command> commands, Done<Replies> done);
  void claim(ClaimAsk ask, Done<ClaimedTasks> done);
  void list(queue::TaskFilter filter, Done<Tasks> done);
  void refresh_view();
  QueueView view() { return way_->known().value_or(Hello()).view; }
  void stop_claims();

 private:
  // Commands that fit into one request each.
  struct Giving {
    std::vector<Command> commands = {};    // those that may be given at all
    std::vector<std::size_t> places = {};  // of their replies
    Replies replies = {};
    std::size_t given = 0;
    Done<Replies> done = {};
  };
  using GivingPtr = std::shared_ptr<Giving>;
  struct Claiming {
    ClaimAsk ask = {};
    SteadyInstant began = {};
    SteadyInstant until = {};
    SteadyInstant asked = {};  // the last time
    Done<ClaimedTasks> done = {};
  };
  using ClaimingPtr = std::shared_ptr<Claiming>;
  struct Listing {
    queue::TaskFilter filter = {};
    std::size_t wanted = 0;
    Tasks tasks = {};
    Done<Tasks> done = {};
  };

  std::optional<Duration> least_lease(const std::vector<Command>& commands);
  void give_next(const GivingPtr& giving);
  void given(const GivingPtr& giving, std::size_t count, Result<Replies> result);
  void ask_claim(const ClaimingPtr& claiming);
  void claimed(const ClaimingPtr& claiming, Result<ClaimedTasks> result);
  bool waits(const ClaimingPtr& claiming);
  void leave(const ClaimingPtr& claiming, Result<ClaimedTasks> result);
  void list_next(const std::shared_ptr<Listing>& listing);

  Clock& clock_;
  Timers& timers_;
  const std::shared_ptr<BrokerWay> way_;
  std::mutex mutex_;
  std::set<ClaimingPtr> claims_;        // that are to be answered
  std::optional<Duration> lease_ = {};  // of the last claim
};

template <class T, class Directly>
void RemoteQueue::State::run(BrokerWay::Ask ask, Directly directly, Done<T> done) {
  way_->send(std::move(ask), [directly = std::move(directly), asked = clock_.steady_now(),
                              done = std::move(done)](Result<BrokerWay::Arrived> arrived) mutable {
    if (!arrived) return done(std::unexpected(std::move(arrived).error()));
    const bool second = arrived->may_be_the_second;
    Done<T> tell = [second, passed = arrived->sent - asked,
                    done = std::move(done)](Result<T>&& result) mutable {
      if (!result && second) result.error().outcome = Outcome::unknown;
      count_wait(result, passed);
      done(std::move(result));
    };
    if (arrived->directly == nullptr) return tell(broker::read_result<T>(arrived->bytes));
    directly(*arrived->directly, std::move(tell));
  });
}

void RemoteQueue::State::open(Done<void> done) {
  look<Hello>(
      {.kind = Look::Kind::hello},
      [](TaskQueue& queue, Done<Hello> to) { to(Hello{.view = queue.view()}); },
      [way = way_, done = std::move(done)](Result<Hello> hello) mutable {
        if (!hello) return done(std::unexpected(std::move(hello).error()));
        way->know(*std::move(hello));
        done({});
      });
}

void RemoteQueue::State::refresh_view() {
  open([](const Result<void>&) {});
}

void RemoteQueue::State::close() {
  way_->close();
  stop_claims();
}

void RemoteQueue::State::give(std::vector<Command> commands, Done<Replies> done) {
  auto giving = std::make_shared<Giving>();
  giving->replies.resize(commands.size());
  giving->done = std::move(done);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (const auto good = check(commands[i]); !good) {
      giving->replies[i] =
          queue::Refusal{.code = good.error().code, .message = good.error().message};
      continue;
    }
    giving->places.push_back(i);
    giving->commands.push_back(std::move(commands[i]));
  }
  give_next(giving);
}

void RemoteQueue::State::give_next(const GivingPtr& giving) {
  std::vector<Command> part;
  std::size_t bytes = 0;
  for (std::size_t i = giving->given; i < giving->commands.size(); ++i) {
    bytes += broker::bytes_of(giving->commands[i]);
    const bool full =
        bytes > bounds::broker_ask_bytes_max || part.size() == bounds::segment_commands_max;
    if (!part.empty() && full) break;
    part.push_back(std::move(giving->commands[i]));
  }
  if (part.empty()) return giving->done(std::move(giving->replies));
  const std::size_t count = part.size();
  BrokerWay::Ask sent{.path = broker::commands_path,
                      .body = broker::write_commands(part),
                      .lease = least_lease(part)};
  run<Replies>(
      std::move(sent),
      [part = std::move(part)](TaskQueue& queue, Done<Replies> to) mutable {
        queue.give(std::move(part), std::move(to));
      },
      [self = shared_from_this(), giving, count](Result<Replies> result) {
        self->given(giving, count, std::move(result));
      });
}

void RemoteQueue::State::given(const GivingPtr& giving, std::size_t count, Result<Replies> result) {
  if (result && result->size() != count) {
    result = std::unexpected(Error(Code::unavailable, Outcome::unknown,
                                   "the broker answered " + std::to_string(result->size()) +
                                       " commands in place of " + std::to_string(count)));
  }
  if (!result) {
    // What went before this part is committed, and may be given again.
    Error error = std::move(result).error();
    if (giving->given > 0) error.outcome = Outcome::unknown;
    return giving->done(std::unexpected(std::move(error)));
  }
  for (Reply& reply : *result) giving->replies[giving->places[giving->given++]] = std::move(reply);
  give_next(giving);
}

// The shortest lease of the tasks that they are about, as far as we know; none: nobody's task
// depends on when they arrive.
std::optional<Duration> RemoteQueue::State::least_lease(const std::vector<Command>& commands) {
  const std::lock_guard lock(mutex_);
  std::optional<Duration> least;
  for (const Command& command : commands) {
    const auto* renew = std::get_if<queue::Renew>(&command);
    const auto lease = renew != nullptr ? std::optional(renew->lease)
                                        : (is_ending(command) ? lease_ : std::nullopt);
    if (lease && (!least || *lease < *least)) least = lease;
  }
  return least;
}

void RemoteQueue::State::claim(ClaimAsk ask, Done<ClaimedTasks> done) {
  if (const auto good = check(Command(ask.claim)); !good) {
    return done(std::unexpected(good.error()));
  }
  const SteadyInstant now = clock_.steady_now();
  const SteadyInstant until = now + std::max(ask.wait, Duration());
  ask.claim.count = std::min(ask.claim.count, static_cast<std::uint32_t>(bounds::broker_tasks_max));
  auto claiming = std::make_shared<Claiming>(
      Claiming{.ask = std::move(ask), .began = now, .until = until, .done = std::move(done)});
  {
    const std::lock_guard lock(mutex_);
    lease_ = claiming->ask.claim.lease;
    claims_.insert(claiming);
  }
  ask_claim(claiming);
}

void RemoteQueue::State::ask_claim(const ClaimingPtr& claiming) {
  claiming->asked = clock_.steady_now();
  ClaimAsk ask = claiming->ask;
  ask.wait = std::clamp(claiming->until - claiming->asked, Duration(), bounds::broker_wait_max);
  BrokerWay::Ask sent{
      .path = broker::claim_path, .body = broker::write_claim(ask), .waits = ask.wait};
  run<ClaimedTasks>(
      std::move(sent),
      [ask = std::move(ask)](TaskQueue& queue, Done<ClaimedTasks> to) mutable {
        queue.claim(std::move(ask), std::move(to));
      },
      [self = shared_from_this(), claiming](Result<ClaimedTasks> result) {
        self->claimed(claiming, std::move(result));
      });
}

bool RemoteQueue::State::waits(const ClaimingPtr& claiming) {
  const std::lock_guard lock(mutex_);
  return claims_.contains(claiming);
}

void RemoteQueue::State::claimed(const ClaimingPtr& claiming, Result<ClaimedTasks> result) {
  const SteadyInstant now = clock_.steady_now();
  if (result) {
    if (const auto good = check_claimed(claiming->ask.claim, *result); !good) {
      return leave(claiming, std::unexpected(good.error()));
    }
    result->waited = (claiming->asked - claiming->began) + result->waited;
  }
  const bool again = result && result->tasks.empty() && now < claiming->until && waits(claiming);
  if (!again) return leave(claiming, std::move(result));
  if (now - claiming->asked >= claim_pause) return ask_claim(claiming);
  // Whoever says at once that there is nothing is not asked in a circle.
  timers_.after(claim_pause, [self = shared_from_this(), claiming](bool over) {
    if (over || !self->waits(claiming)) return self->leave(claiming, ClaimedTasks());
    self->ask_claim(claiming);
  });
}

void RemoteQueue::State::leave(const ClaimingPtr& claiming, Result<ClaimedTasks> result) {
  bool waited = false;
  {
    const std::lock_guard lock(mutex_);
    waited = claims_.erase(claiming) > 0;
  }
  if (waited) return claiming->done(std::move(result));
  if (result && !result->tasks.empty()) {
    give(given_back(result->tasks), [](const Result<Replies>&) {});
  }
}

void RemoteQueue::State::stop_claims() {
  std::set<ClaimingPtr> claims;
  {
    const std::lock_guard lock(mutex_);
    claims.swap(claims_);
  }
  for (const ClaimingPtr& claiming : claims) claiming->done(ClaimedTasks());
  if (TaskQueue* direct = way_->direct()) direct->stop_claims();
}

void RemoteQueue::State::list(queue::TaskFilter filter, Done<Tasks> done) {
  const std::size_t wanted = std::min(filter.limit, bounds::tasks_listed_max);
  list_next(std::make_shared<Listing>(
      Listing{.filter = std::move(filter), .wanted = wanted, .done = std::move(done)}));
}

void RemoteQueue::State::list_next(const std::shared_ptr<Listing>& listing) {
  const std::size_t left = listing->wanted - listing->tasks.size();
  if (left == 0) return listing->done(std::move(listing->tasks));
  listing->filter.limit = std::min(left, bounds::broker_tasks_max);
  look<Tasks>(
      {.kind = Look::Kind::list, .filter = listing->filter},
      [filter = listing->filter](TaskQueue& queue, Done<Tasks> to) {
        queue.list(filter, std::move(to));
      },
      [self = shared_from_this(), listing](Result<Tasks>&& page) {
        if (!page) return listing->done(std::move(page));
        if (const auto good = check_page(listing->filter, *page); !good) {
          return listing->done(std::unexpected(good.error()));
        }
        const bool last = page->size() < listing->filter.limit;
        std::ranges::move(*page, std::back_inserter(listing->tasks));
        if (last) return listing->done(std::move(listing->tasks));
        listing->filter.after = listing->tasks.back().id;
        self->list_next(listing);
      });
}

RemoteQueue::RemoteQueue(Options options, Ports ports)
    : state_(std::make_shared<State>(std::move(options), std::move(ports))) {}

RemoteQueue::~RemoteQueue() {
  state_->close();
}

void RemoteQueue::open(Done<void> done) {
  state_->open(std::move(done));
}

void RemoteQueue::give(std::vector<Command> commands, Done<Replies> done) {
  state_->give(std::move(commands), std::move(done));
}

void RemoteQueue::claim(ClaimAsk ask, Done<ClaimedTasks> done) {
  state_->claim(std::move(ask), std::move(done));
}

void RemoteQueue::find(queue::TaskId id, Done<Task> done) {
  state_->look<Task>(
      {.kind = Look::Kind::task, .id = id},
      [id](TaskQueue& queue, auto to) { queue.find(id, std::move(to)); }, std::move(done));
}

void RemoteQueue::history(queue::TaskId id, Done<queue::History> done) {
  state_->look<queue::History>(
      {.kind = Look::Kind::history, .id = id},
      [id](TaskQueue& queue, auto to) { queue.history(id, std::move(to)); }, std::move(done));
}

void RemoteQueue::why(queue::TaskId id, Done<queue::Why> done) {
  state_->look<queue::Why>(
      {.kind = Look::Kind::why, .id = id},
      [id](TaskQueue& queue, auto to) { queue.why(id, std::move(to)); }, std::move(done));
}

void RemoteQueue::list(queue::TaskFilter filter, Done<Tasks> done) {
  state_->list(std::move(filter), std::move(done));
}

void RemoteQueue::stats(Done<queue::Stats> done) {
  state_->refresh_view();
  state_->look<queue::Stats>(
      {.kind = Look::Kind::stats}, [](TaskQueue& queue, auto to) { queue.stats(std::move(to)); },
      std::move(done));
}

void RemoteQueue::schedules(Done<std::vector<queue::Schedule>> done) {
  state_->look<std::vector<queue::Schedule>>(
      {.kind = Look::Kind::schedules},
      [](TaskQueue& queue, auto to) { queue.schedules(std::move(to)); }, std::move(done));
}

void RemoteQueue::closings(Done<std::vector<queue::Closing>> done) {
  state_->look<std::vector<queue::Closing>>(
      {.kind = Look::Kind::closings},
      [](TaskQueue& queue, auto to) { queue.closings(std::move(to)); }, std::move(done));
}

void RemoteQueue::limits(Done<std::vector<queue::SetLimit>> done) {
  state_->look<std::vector<queue::SetLimit>>(
      {.kind = Look::Kind::limits}, [](TaskQueue& queue, auto to) { queue.limits(std::move(to)); },
      std::move(done));
}

QueueView RemoteQueue::view() {
  return state_->view();
}

void RemoteQueue::stop_claims() {
  state_->stop_claims();
}

}  // namespace pawl
