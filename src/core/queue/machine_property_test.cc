// Goal: the machine does what a queue that searches a list from end to end does: same replies, same
//       tasks, same histories, whatever is asked of it and whenever; and a snapshot at any point
//       goes on as if it had never been one.
// Method: rapidcheck chooses segments of commands over a few ids, types and keys, so that they meet
//         often; naive_queue_fixture.h is the other side.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/queue/naive_queue_fixture.h"

namespace pawl::queue {
namespace {

bool chance(int percent) {
  return *rc::gen::inRange(0, 100) < percent;
}
template <class T>
T one_of(std::vector<T> choices) {
  return *rc::gen::elementOf(std::move(choices));
}
template <class T>
T one_of(std::initializer_list<T> choices) {
  return one_of(std::vector<T>(choices));
}
Duration some_time() {
  return Duration::milliseconds(one_of({0, 1, 5, 10, 20, 40, 100, 300}));
}
TaskId some_id() {
  TaskId id;
  id.bytes[11] = static_cast<std::uint8_t>(*rc::gen::inRange(0, 24));
  return id;
}
std::string some_type() {
  return one_of<std::string>({"mail", "trade", "report"});
}
std::string some_key() {
  return one_of<std::string>({"", "a", "b", "c"});
}

// Chooses what happens next, from what there is.
class Chooser {
 public:
  explicit Chooser(const NaiveQueue& queue) : queue_(queue) {}

  Command command() {
    const int kind = *rc::gen::inRange(0, 100);
    if (kind < 28) return submit();
    if (kind < 52) return claim();
    if (kind < 55) return renew();
    if (kind < 63) return complete();
    if (kind < 72) return fail();
    if (kind < 82) return reschedule();
    if (kind < 86) return Cancel{.id = some_id(), .by = "ops", .why = "no need"};
    if (kind < 89) return Replay{.id = some_id()};
    if (kind < 93) return close();
    if (kind < 97) return limit();
    return schedule();
  }

 private:
  TaskTerms terms() {
    TaskTerms terms = {.type = some_type(),
                       .input = one_of<std::string>({"{}", "[1]"}),
                       .key = some_key(),
                       .unique = chance(15) ? "only" : "",
                       .priority = one_of({0, 0, 0, 1, -1}),
                       .max_retries = one_of({0U, 1U, 3U}),
                       .timeout = Duration::milliseconds(one_of({30, 100, 5000}))};
    if (chance(30)) terms.max_reschedules = one_of({0U, 1U, 2U});
    terms.retry.base_delay = some_time();
    if (chance(20)) terms.retry.delays = {some_time(), some_time()};
    return terms;
  }
  Submit submit() {
    Submit submit = {.id = some_id(), .terms = terms(), .delay = some_time()};
    if (chance(10)) submit.at = queue_.now() + some_time() - Duration::milliseconds(20);
    if (chance(10)) submit.time_to_live = some_time();
    if (chance(10)) submit.expires = queue_.now() + some_time() - Duration::milliseconds(10);
    if (chance(10)) submit.counts = {.attempts = 7, .retries = 2, .reschedules = 1};
    return submit;
  }
  Claim claim() {
    Claim claim = {.worker = one_of<std::string>({"w1", "w2"}),
                   .count = one_of({1U, 2U, 5U, 30U}),
                   .lease = Duration::milliseconds(one_of({5, 30, 200}))};
    if (chance(50)) claim.types = {some_type(), some_type(), "unheard of"};
    return claim;
  }
  struct Held {
    TaskId id = some_id();
    std::uint64_t fence = static_cast<std::uint64_t>(*rc::gen::inRange(0, 40));
  };
  // Mostly a task that runs, by its claim.
  Held held() {
    std::vector<NaiveQueue::Row> rows = queue_.rows();
    if (chance(80)) {
      std::erase_if(rows, [](const auto& row) { return row.task.status != Status::running; });
    }
    if (rows.empty() || chance(10)) return {};
    const Task task = one_of(rows).task;
    return {.id = task.id, .fence = task.fence};
  }
  Renew renew() {
    const auto [id, fence] = held();
    return {.id = id, .fence = fence, .lease = Duration::milliseconds(one_of({5, 30, 200}))};
  }
  Complete complete() {
    const auto [id, fence] = held();
    return {.id = id, .fence = fence, .output = one_of<std::string>({"", "{\"ok\":true}"})};
  }
  Fail fail() {
    const auto [id, fence] = held();
    return {.id = id,
            .fence = fence,
            .error = chance(10) ? std::string(5000, 'x') : std::string("reset"),
            .permanent = chance(10),
            .not_before = some_time()};
  }
  Reschedule reschedule() {
    const auto [id, fence] = held();
    return {.id = id,
            .fence = fence,
            .delay = some_time(),
            .scope = one_of({Scope::task, Scope::task, Scope::key, Scope::type, Scope::queue}),
            .counted = !chance(10),
            .input = one_of<std::string>({"", "", R"({"at":2})"})};
  }
  Close close() {
    const Scope scope = one_of({Scope::key, Scope::key, Scope::type, Scope::queue});
    return {.scope = scope,
            .name = scope == Scope::queue  ? ""
                    : scope == Scope::type ? some_type()
                                           : "a",
            .until = queue_.now() + some_time(),
            .spread = chance(50) ? Duration() : some_time()};
  }
  SetLimit limit() {
    const Limited limited =
        one_of({Limited::queue, Limited::type, Limited::key, Limited::key, Limited::each_key});
    SetLimit limit = {.limited = limited};
    if (limited == Limited::type) limit.name = some_type();
    if (limited == Limited::key) limit.name = one_of<std::string>({"a", "b"});
    if (chance(40)) limit.rate = one_of({1U, 3U, 10U, 25U, 40U});
    limit.period = Duration::milliseconds(one_of({7, 50, 200}));
    if (chance(40)) limit.running = one_of({1U, 2U, 4U});
    return limit;
  }
  Command schedule() {
    const Instant next = queue_.now() + some_time();
    if (chance(50)) {
      return SetSchedule{.name = "daily",
                         .cron = chance(80) ? "@daily" : "",
                         .zone = "UTC",
                         .terms = terms(),
                         .enabled = chance(80),
                         .next = next};
    }
    const auto& all = queue_.schedules();
    const Instant due = all.empty() ? next : all.begin()->second.next;
    return Fire{
        .name = "daily", .due = due, .next = due + Duration::milliseconds(10), .id = some_id()};
  }

  const NaiveQueue& queue_;
};

bool same(const Reply& a, const Reply& b) {
  if (a.index() != b.index()) return false;
  if (const auto* refusal = std::get_if<Refusal>(&a)) {
    return refusal->code == std::get<Refusal>(b).code && !refusal->message.empty();
  }
  if (const auto* submitted = std::get_if<Submitted>(&a)) {
    const auto& other = std::get<Submitted>(b);
    return submitted->id == other.id && submitted->fresh == other.fresh;
  }
  if (const auto* claimed = std::get_if<Claimed>(&a)) {
    return claimed->tasks == std::get<Claimed>(b).tasks;
  }
  const auto& changed = std::get<Changed>(a);
  const auto& other = std::get<Changed>(b);
  return changed.status == other.status && changed.available_at == other.available_at &&
         changed.lease_expires_at == other.lease_expires_at &&
         changed.cancel_requested == other.cancel_requested;
}

std::string bytes_of(const Machine& machine) {
  ByteWriter out;
  machine.save(out);
  return out.take();
}
Machine loaded(const std::string& bytes, const Settings& settings) {
  ByteReader in(bytes);
  auto machine = Machine::load(in, 0, settings);
  RC_ASSERT(machine.has_value());
  RC_ASSERT(in.left() == 0U);
  return *std::move(machine);
}

void count(Depth& depth, const Task& task, Instant at) {
  const bool waits = task.status == Status::pending;
  const bool is_gone = waits && task.expires_at && *task.expires_at <= at;
  const Status status = is_gone ? Status::expired : task.status;
  const bool due = status == Status::pending && task.available_at <= at;
  depth.due += due ? 1 : 0;
  if (due && (!depth.oldest_due || task.available_at < *depth.oldest_due)) {
    depth.oldest_due = task.available_at;
  }
  depth.pending += status == Status::pending ? 1 : 0;
  depth.running += status == Status::running ? 1 : 0;
  depth.completed += status == Status::completed ? 1 : 0;
  depth.failed += status == Status::failed ? 1 : 0;
  depth.cancelled += status == Status::cancelled ? 1 : 0;
  depth.expired += status == Status::expired ? 1 : 0;
}

// At any time, though no segment has come since.
void check_depths(const Machine& machine, const NaiveQueue& naive, Instant at) {
  std::map<std::string, Depth> depths;
  for (const NaiveQueue::Row& row : naive.rows()) count(depths[row.task.terms.type], row.task, at);
  const Stats stats = machine.stats(at);
  RC_ASSERT(stats.types.size() == depths.size());
  for (const Depth& depth : stats.types) {
    const Depth& other = depths.at(depth.type);
    RC_ASSERT(depth.pending == other.pending && depth.due == other.due);
    RC_ASSERT(depth.running == other.running && depth.completed == other.completed);
    RC_ASSERT(depth.failed == other.failed && depth.cancelled == other.cancelled);
    RC_ASSERT(depth.expired == other.expired && depth.oldest_due == other.oldest_due);
  }
}

void check_tasks(const Machine& machine, const NaiveQueue& naive) {
  const auto rows = naive.rows();
  const auto tasks = machine.list({.limit = 1000});
  RC_ASSERT(tasks.size() == rows.size());
  RC_ASSERT(machine.tasks() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Task& task = rows[i].task;
    RC_ASSERT(tasks[i] == task);
    RC_ASSERT(machine.find(task.id) == task);
    RC_ASSERT(machine.history(task.id)->versions == rows[i].versions);
  }
  check_depths(machine, naive, naive.now());
  check_depths(machine, naive, naive.now() + some_time());
}

// Pages of any size, of any filter, and names that nobody has.
void check_pages(const Machine& machine, const NaiveQueue& naive) {
  TaskFilter filter = {.type = one_of<std::string>({"", "", "mail", "unheard of"}),
                       .key = one_of<std::string>({"", "", "a", "b", "unheard of"}),
                       .limit = one_of<std::size_t>({1, 3, 50})};
  if (chance(30)) filter.status = one_of({Status::pending, Status::running, Status::expired});
  std::vector<Task> expected;
  for (const NaiveQueue::Row& row : naive.rows()) {
    const TaskTerms& terms = row.task.terms;
    if (!filter.type.empty() && terms.type != filter.type) continue;
    if (!filter.key.empty() && terms.key != filter.key) continue;
    if (!filter.status || row.task.status == *filter.status) expected.push_back(row.task);
  }
  std::vector<Task> found;
  for (;;) {
    const auto page = machine.list(filter);
    found.insert(found.end(), page.begin(), page.end());
    if (page.size() < filter.limit) break;
    filter.after = page.back().id;
  }
  RC_ASSERT(found == expected);
}

// How many tasks a claim at this moment brings, on a copy.
std::size_t brought(const Machine& machine, const Settings& settings, Instant at) {
  Machine copy = loaded(bytes_of(machine), settings);
  const std::vector<Command> claim = {Claim{.worker = "w", .count = 1000}};
  const auto replies = copy.apply(at, claim);
  return std::get<Claimed>(replies[0]).tasks.size();
}

void check_waiting(const Machine& machine, const Settings& settings) {
  const Instant now = machine.now();
  RC_ASSERT((machine.claimable({}, now, 1000) > 0) == (brought(machine, settings, now) > 0));
  const Instant at = now + some_time();
  if (machine.claimable({}, at, 1000) > 0) return;
  RC_ASSERT(brought(machine, settings, at) == 0U);
  const auto next = machine.next_change({}, at);
  const Instant before = next ? *next - Duration::nanoseconds(1) : at + Duration::milliseconds(500);
  RC_ASSERT(before >= at);
  RC_ASSERT(brought(machine, settings, before) == 0U);
}

// Whoever looked before a segment said so has seen the same end as who looks behind it.
void check_expired(const Machine& machine, const Settings& settings) {
  const Instant at = machine.now() + some_time();
  Machine written = loaded(bytes_of(machine), settings);
  written.apply(at, {});
  for (const Task& task : machine.list({.limit = 1000}, at)) {
    const auto later = written.find(task.id);
    if (task.status != Status::expired || !later) continue;
    RC_ASSERT(later->status == Status::expired);
    RC_ASSERT(later->completed_at == task.completed_at);
    RC_ASSERT(written.history(task.id)->versions == machine.history(task.id, at)->versions);
  }
}

// What has a reply in vain changes nothing when it is written, and is replied the same.
void check_vain(const Machine& machine, const Settings& settings, const Command& command) {
  const Instant at = machine.now() + some_time();
  const auto reply = machine.reply_in_vain(command, at);
  RC_CLASSIFY(reply.has_value(), "in vain");
  if (!reply) return;
  const bool is_refused = std::holds_alternative<Refusal>(*reply);
  const std::vector<Command> another = {Claim{.worker = ""}};  // refused too
  Machine written = loaded(bytes_of(machine), settings);
  Machine without = loaded(bytes_of(machine), settings);
  const auto replies = written.apply(at, std::vector<Command>{command});
  without.apply(at, is_refused ? another : std::vector<Command>());
  RC_ASSERT(same(replies.at(0), *reply));
  RC_ASSERT(bytes_of(written) == bytes_of(without));
}

RC_GTEST_PROP(Machine, DoesWhatAListThatIsSearchedWouldDo, ()) {
  const Settings settings = {.kept = Duration::milliseconds(one_of({0, 50, 400}))};
  Machine machine(0, settings);
  Machine twin(0, settings);
  NaiveQueue naive(settings);
  Chooser chooser(naive);
  const int segments = *rc::gen::inRange(1, 40);
  Instant at = Instant::from_ns(1'000'000'000);
  for (int i = 0; i < segments; ++i) {
    at = at + some_time();
    const Instant told = chance(5) ? at - Duration::milliseconds(50) : at;  // clocks disagree
    std::vector<Command> commands;
    const int count = *rc::gen::inRange(0, 8);
    for (int k = 0; k < count; ++k) commands.push_back(chooser.command());
    const auto replies = machine.apply(told, commands);
    twin.apply(told, commands);
    const auto expected = naive.apply(told, commands);
    RC_ASSERT(replies.size() == expected.size());
    for (std::size_t k = 0; k < replies.size(); ++k) {
      if (!same(replies[k], expected[k])) RC_LOG() << "segment " << i << " command " << k;
      RC_ASSERT(same(replies[k], expected[k]));
    }
    check_tasks(machine, naive);
    if (chance(30)) check_pages(machine, naive);
    RC_ASSERT(machine.next_firing() == naive.next_firing());
    RC_ASSERT(machine.closings(naive.now()).size() == naive.closings().size());
    RC_ASSERT(bytes_of(twin) == bytes_of(machine));
    if (chance(30)) {
      check_waiting(machine, settings);
      check_vain(machine, settings, chooser.command());
      check_expired(machine, settings);
      RC_ASSERT(bytes_of(twin) == bytes_of(machine));
    }
    if (chance(20)) machine = loaded(bytes_of(machine), settings);
  }
}

}  // namespace
}  // namespace pawl::queue
