#include "cli/queue_session.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/configuration.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "core/queue/shards.h"

namespace pawl::cli {
namespace {

// With a store that is slow, before somebody who waits hears why.
constexpr auto patience = std::chrono::seconds(3);

// Tells whoever waits, as long as this is there, that it is waited for.
class Patience {
 public:
  explicit Patience(std::string text)
      : waiting_([this, text = std::move(text)] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, patience, [this] { return over_; })) complain(text);
        }) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    waiting_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread waiting_;  // last: it uses the others
};

queue::SetLimit limit_of(const config::QueueLimit& limit) {
  queue::SetLimit set{.limited = limit.scope, .name = limit.name.value_or("")};
  if (limit.rate) {
    set.rate = static_cast<std::uint32_t>(limit.rate->count);
    set.period = limit.rate->period;
  }
  if (limit.running) set.running = static_cast<std::uint32_t>(*limit.running);
  return set;
}

}  // namespace

QueueOfficeSettings queue_settings(const config::Config& config, Opens opens) {
  QueueOfficeSettings settings{.url = config.queue.url,
                               .wanted = {.shards = config.queue.shards, .kept = config.queue.kept},
                               .makes = opens == Opens::give || opens == Opens::work,
                               .follows = opens == Opens::follow || opens == Opens::work,
                               .changes = opens != Opens::look && opens != Opens::follow,
                               .works = opens == Opens::work};
  if (opens == Opens::work) {
    for (const config::QueueLimit& limit : config.queue.limits) {
      settings.limits.push_back(limit_of(limit));
    }
  }
  return settings;
}

QueueOffice::Parts queue_parts(Clock& clock, Entropy& entropy) {
  return {.clock = clock,
          .entropy = entropy,
          .environment = [](const std::string& name) { return environment()(name); },
          .note = [](const std::string& text) { complain("pawl: " + text); }};
}

Result<std::unique_ptr<QueueSession>> QueueSession::open(const config::Config& config,
                                                         Opens opens) {
  std::unique_ptr<QueueSession> session(new QueueSession(config));
  QueueOffice::Parts parts = queue_parts(session->clock_, session->entropy_);
  // Whoever asks once hears of it in the answer.
  if (opens == Opens::look || opens == Opens::give) parts.note = {};
  const Patience told("pawl: the queue at " +
                      config.queue.url.substr(0, config.queue.url.find('?')) +
                      " has not answered yet; it is asked again");
  session->office_ = PAWL_TRY(QueueOffice::open(queue_settings(config, opens), parts));
  return session;
}

Result<std::vector<queue::Reply>> QueueSession::give(std::vector<queue::Command> commands) {
  auto answer = asked<std::vector<queue::Reply>>(
      [&](auto done) { queue().give(std::move(commands), std::move(done)); });
  if (answer.wait_for(patience) == std::future_status::timeout) {
    complain("pawl: " + queue().view().store + " has not taken it yet; it is tried again");
  }
  auto replies = answer.get();
  if (!replies && replies.error().outcome == Outcome::unknown) {
    replies.error().code = Code::unresolved;
  }
  return replies;
}

queue::TaskId QueueSession::new_id(const queue::TaskTerms& terms) {
  const queue::TaskId id = queue::make_task_id(entropy_.next());
  return queue::placed(id, queue::shard_of(id, terms, queue().view().settings.shards));
}

Result<queue::Reply> QueueSession::give_one(queue::Command command) {
  std::vector<queue::Command> commands;
  commands.push_back(std::move(command));
  auto replies = PAWL_TRY(give(std::move(commands)));
  if (const auto* refusal = std::get_if<queue::Refusal>(&replies.front())) {
    return failure(typed_wrong(refusal->code), refusal->message);
  }
  return std::move(replies.front());
}

Error in_doubt(const std::string& store, const json::Array& ids) {
  std::string text = store +
                     " ceased to answer, and nobody knows whether it was submitted; when it is "
                     "back, and before submitting again, look with 'pawl get'";
  for (const json::Value& id : ids) text += " " + *id.if_string();
  return Error(Code::unresolved, Outcome::unknown, std::move(text));
}

int run_queue_verb(const Arguments& arguments, Opens opens, const QueueDeed& deed) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const auto session = QueueSession::open(*config, opens);
  if (!session) return fail(session.error());
  const Result<int> code = deed(**session, arguments);
  (*session)->close();
  return code ? *code : fail(code.error());
}

std::string who() {
  if (const auto named = environment()("USER"); named && !named->empty()) return *named;
  return user_name();
}

}  // namespace pawl::cli
