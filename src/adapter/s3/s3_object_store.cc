#include "adapter/s3/s3_object_store.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>

#include "adapter/s3/s3_answer.h"
#include "adapter/s3/s3_request.h"
#include "base/base64.h"
#include "base/bounds_queue.h"
#include "base/calendar.h"
#include "base/md5.h"
#include "base/xml.h"
#include "core/retry/attempts.h"
#include "core/retry/backoff.h"
#include "core/retry/budget.h"
#include "port/object_name.h"

namespace pawl {
namespace {

constexpr std::int64_t slowest_bytes_a_second = 1024 * 1024;
constexpr std::size_t error_bytes_max = 64 * 1024;
// A page of keys: each with its tags, and what a letter may become in XML.
constexpr std::size_t listing_bytes_max = 16 * 1024 * 1024;

constexpr Duration attempt_time = Duration::minutes(1);
// Of what leases wait for: a store that falls silent is asked again long before one is over.
constexpr Duration silence_max = Duration::seconds(5);

retry::Policy reads_policy() {
  return {.max_attempts = S3ObjectStore::reads_attempts_max,
          .base_delay = Duration::milliseconds(100),
          .max_delay = Duration::seconds(5),
          .multiplier_milli = 3000,
          .jitter = retry::Jitter::equal,
          .deadline = Duration::minutes(3),
          .attempt_timeout = attempt_time};
}

Duration time_for(std::uint64_t bytes) {
  return Duration::seconds(30 + static_cast<std::int64_t>(bytes) / slowest_bytes_a_second);
}

std::string range_of(const GetObject& get) {
  std::string range = "bytes=" + std::to_string(get.offset) + "-";
  if (get.bytes > 0) {
    const std::uint64_t last = get.offset + (get.bytes - 1);
    range += std::to_string(std::max(last, get.offset));
  }
  return range;
}

// radosgw takes a tag for another when it stands in quotes.
std::string condition_of(const S3Url& url, const std::string& tag) {
  const bool is_quoted = tag.size() >= 2 && tag.starts_with('"') && tag.ends_with('"');
  return url.bare_etags && is_quoted ? tag.substr(1, tag.size() - 2) : tag;
}

std::string removal_of(const S3Url& url, const std::vector<std::string>& names) {
  std::string body =
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const std::string& name : names) {
    body += "<Object><Key>" + xml::escaped(s3_key(url, name)) + "</Key></Object>";
  }
  return body + "</Delete>";
}

Error closing() {
  return {Code::unavailable, Outcome::not_applied, "the store is closing; nothing was sent"};
}

}  // namespace

// What all calls share, for as long as any of them is under way.
class S3ObjectStore::Calls {
 public:
  Calls(S3Url url, S3Access access, World world)
      : url_(std::move(url)), access_(std::move(access)), world_(world) {}

  // Nobody uses the world once this has returned.
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    nobody_inside_.wait(lock, [&] { return inside_ == 0; });
  }

  struct Shape {
    std::uint64_t RequestCounts::* kind;
    Duration deadline;
    std::size_t body_bytes_max;
    Duration stall = {};
  };
  // One request. The answer's time is kept, and its bytes are counted, before `done` hears of it.
  static void send(const std::shared_ptr<Calls>& calls, S3Ask ask, const Shape& shape,
                   HttpClient::Done done) {
    const Visit visit(*calls);
    if (!visit.is_in()) return done(std::unexpected(closing()));
    const Instant asked = calls->world_.clock.wall_now();
    calls->count(shape.kind, ask.body.size());
    HttpRequest request = s3_request(calls->url_, calls->access_, std::move(ask), asked);
    request.deadline = shape.deadline;
    request.stall = shape.stall;
    request.body_bytes_max = shape.body_bytes_max;
    calls->world_.client.send(std::move(request), [calls, asked, done = std::move(done)](
                                                      Result<HttpAnswer> answer) mutable {
      if (answer) calls->hear(*answer, asked);
      done(std::move(answer));
    });
  }

  // Calls back when the wait is over; `over` when there will be no more.
  static void wait(const std::shared_ptr<Calls>& calls, Duration time, Timers::Call call) {
    const Visit visit(*calls);
    if (!visit.is_in()) return call(true);
    calls->world_.timers.after(time, std::move(call));
  }

  // Once it is closed, time stands still.
  SteadyInstant steady_now() {
    const Visit visit(*this);
    const SteadyInstant now = visit.is_in() ? world_.clock.steady_now() : SteadyInstant();
    const std::lock_guard lock(mutex_);
    return last_now_ = std::max(last_now_, now);
  }
  Instant wall_now() {
    const Visit visit(*this);
    return visit.is_in() ? world_.clock.wall_now() : Instant();
  }

  void earn() {
    const std::lock_guard lock(mutex_);
    retry::earn(budget_rule_, budget_);
  }
  bool spend(SteadyInstant now) {
    const std::lock_guard lock(mutex_);
    return retry::spend(budget_rule_, budget_, now);
  }

  Result<void> check_name(std::string_view name) const {
    PAWL_TRY(check_object_name(name));
    return check_key(name);
  }
  // A prefix of names takes its part of the length that a key may have.
  Result<void> check_key(std::string_view name) const {
    if (s3_key(url_, name).size() <= bounds::object_key_bytes_max) return {};
    return failure(Code::invalid, "the name " + std::string(name.substr(0, 64)) +
                                      "… is too long behind the prefix " + url_.prefix + ": " +
                                      std::to_string(bounds::object_key_bytes_max) +
                                      " bytes are allowed for both");
  }

  const S3Url& url() const { return url_; }
  const retry::Policy& reads() const { return reads_; }
  S3Asked asked(std::string what, bool changes) {
    return {
        .what = std::move(what), .store = to_string(url_), .now = wall_now(), .changes = changes};
  }
  std::optional<TimeSample> time_sample() const {
    const std::lock_guard lock(mutex_);
    return sample_;
  }
  RequestCounts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  // While one is in, the world is there.
  class Visit {
   public:
    explicit Visit(Calls& calls) : calls_(calls) {
      const std::lock_guard lock(calls_.mutex_);
      is_in_ = !calls_.closed_;
      if (is_in_) ++calls_.inside_;
    }
    ~Visit() {
      if (!is_in_) return;
      const std::lock_guard lock(calls_.mutex_);
      if (--calls_.inside_ == 0) calls_.nobody_inside_.notify_all();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    bool is_in() const { return is_in_; }

   private:
    Calls& calls_;
    bool is_in_ = false;
  };

  void count(std::uint64_t RequestCounts::* kind, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    ++(counts_.*kind);
    counts_.bytes_up += bytes;
  }

  void hear(const HttpAnswer& answer, Instant asked) {
    const Instant answered = wall_now();
    const Result<Instant> date = parse_http_date(field_of(answer, "date"));
    const bool is_time = date && is_own(answer);
    const std::lock_guard lock(mutex_);
    counts_.bytes_down += answer.body.size();
    // A clock that was set in between makes no sample.
    if (!is_time || answered < asked) return;
    sample_ = TimeSample{
        .store = *date, .resolution = Duration::seconds(1), .asked = asked, .answered = answered};
  }

  const S3Url url_;
  const S3Access access_;
  World world_;
  const retry::Policy reads_ = reads_policy();
  const retry::BudgetRule budget_rule_ = {};

  mutable std::mutex mutex_;
  std::condition_variable nobody_inside_;
  int inside_ = 0;
  bool closed_ = false;
  SteadyInstant last_now_;
  retry::BudgetState budget_;
  RequestCounts counts_;
  std::optional<TimeSample> sample_;
};

// A call that does no harm when it is sent again, from its first attempt to its end.
template <class T>
class S3ObjectStore::Reading : public std::enable_shared_from_this<Reading<T>> {
 public:
  struct Plan {
    S3Ask ask;
    Calls::Shape shape;
    std::string what;
    bool changes = false;
    std::function<Result<T>(const S3Asked&, HttpAnswer)> read;
  };

  Reading(std::shared_ptr<Calls> calls, Plan plan, Done<T> done)
      : calls_(std::move(calls)),
        plan_(std::move(plan)),
        done_(std::move(done)),
        // Not all who read one object are to come again at the same time.
        attempts_({.policy = &calls_->reads(),
                   .key = retry::jitter_key(plan_.what + to_string(calls_->wall_now())),
                   .harmless = true}) {}

  void begin() {
    calls_->earn();
    run(attempts_.decide(retry::Begin{.now = calls_->steady_now()}));
  }

 private:
  void run(retry::Effect effect) {
    while (std::holds_alternative<retry::SpendBudget>(effect)) {
      const bool allowed = calls_->spend(calls_->steady_now());
      effect = attempts_.decide(retry::BudgetAnswered{.allowed = allowed});
    }
    if (const auto* send = std::get_if<retry::Send>(&effect)) return this->send(*send);
    if (const auto* until = std::get_if<retry::WaitUntil>(&effect)) return wait(until->at);
    finish();
  }

  void send(const retry::Send& send) {
    Calls::Shape shape = plan_.shape;
    shape.deadline = std::min(shape.deadline, send.timeout);
    Calls::send(calls_, plan_.ask, shape,
                [self = this->shared_from_this(), attempt = send.attempt](
                    Result<HttpAnswer> answer) { self->hear(attempt, std::move(answer)); });
  }

  void hear(int attempt, Result<HttpAnswer> answer) {
    const S3Asked asked = calls_->asked(plan_.what, plan_.changes);
    if (answer) {
      result_.emplace(plan_.read(asked, *std::move(answer)));
    } else {
      result_.emplace(std::unexpected(unanswered(asked, answer.error())));
    }
    retry::Ended ended{.now = calls_->steady_now(),
                       .attempt = attempt,
                       .seen = {retry::Failure::none, Outcome::applied, false}};
    if (!*result_) {
      ended.seen = retry::classify(result_->error());
      ended.pushback = result_->error().retry_after;
    }
    run(attempts_.decide(ended));
  }

  void wait(SteadyInstant until) {
    const Duration time = std::max(Duration(), until - calls_->steady_now());
    Calls::wait(calls_, time, [self = this->shared_from_this()](bool over) {
      if (over) return self->finish();
      self->run(self->attempts_.decide(retry::Woken{.now = self->calls_->steady_now()}));
    });
  }

  // With what came last.
  void finish() { std::exchange(done_, {})(*std::move(result_)); }

  std::shared_ptr<Calls> calls_;
  Plan plan_;
  Done<T> done_;
  retry::Attempts attempts_;
  std::optional<Result<T>> result_;
};

S3ObjectStore::S3ObjectStore(S3Url url, S3Access access, World world)
    : calls_(std::make_shared<Calls>(std::move(url), std::move(access), world)) {}

S3ObjectStore::~S3ObjectStore() {
  calls_->close();
}

void S3ObjectStore::put(PutObject put, Done<PutAnswer> done) {
  if (const auto named = calls_->check_name(put.name); !named) {
    return done(std::unexpected(named.error()));
  }
  if (put.body.size() > bounds::snapshot_bytes_max) {
    return done(failure(Code::invalid, "the object " + put.name + " is too large: " +
                                           std::to_string(put.body.size()) + " bytes"));
  }
  S3Ask ask{.method = "PUT", .key = s3_key(calls_->url(), put.name), .body = std::move(put.body)};
  if (put.only == PutObject::If::absent) ask.fields = {{"if-none-match", "*"}};
  if (put.only == PutObject::If::match) {
    ask.fields = {{"if-match", condition_of(calls_->url(), put.tag)}};
  }
  const Calls::Shape shape{.kind = &RequestCounts::puts,
                           .deadline = time_for(ask.body.size()),
                           .body_bytes_max = error_bytes_max,
                           .stall = silence_max};
  Calls::send(calls_, std::move(ask), shape,
              [calls = calls_, what = "put " + put.name, only = put.only,
               done = std::move(done)](Result<HttpAnswer> answer) mutable {
                const S3Asked asked = calls->asked(std::move(what), true);
                if (answer) return done(read_put(asked, *answer, only));
                done(std::unexpected(unanswered(asked, answer.error())));
              });
}

void S3ObjectStore::get(GetObject get, Done<Object> done) {
  if (const auto named = calls_->check_name(get.name); !named) {
    return done(std::unexpected(named.error()));
  }
  S3Ask ask{.key = s3_key(calls_->url(), get.name)};
  if (get.offset > 0 || get.bytes > 0) ask.fields = {{"range", range_of(get)}};
  const bool is_bounded = get.bytes > 0 && get.bytes < bounds::snapshot_bytes_max;
  Reading<Object>::Plan plan{.ask = std::move(ask),
                             .shape = {.kind = &RequestCounts::gets,
                                       .deadline = attempt_time,
                                       .body_bytes_max = is_bounded ? get.bytes + error_bytes_max
                                                                    : bounds::snapshot_bytes_max,
                                       .stall = silence_max},
                             .what = "get " + get.name,
                             .read = [get](const S3Asked& asked, HttpAnswer answer) {
                               return read_object(asked, std::move(answer), get);
                             }};
  std::make_shared<Reading<Object>>(calls_, std::move(plan), std::move(done))->begin();
}

void S3ObjectStore::list(ListObjects list, Done<Listing> done) {
  auto checked = check_object_prefix(list.under);
  if (checked) checked = calls_->check_key(list.under);
  if (checked) checked = check_object_prefix(list.after);
  if (!checked) return done(std::unexpected(checked.error()));
  const std::size_t limit = list.limit == 0 ? bounds::objects_listed_max
                                            : std::min(list.limit, bounds::objects_listed_max);
  const std::string prefix = s3_key(calls_->url(), "");
  S3Ask ask{.query = {{"list-type", "2"},
                      {"max-keys", std::to_string(limit)},
                      {"prefix", prefix + list.under}}};
  if (!list.after.empty()) ask.query.push_back({"start-after", prefix + list.after});
  Reading<Listing>::Plan plan{.ask = std::move(ask),
                              .shape = {.kind = &RequestCounts::lists,
                                        .deadline = attempt_time,
                                        .body_bytes_max = listing_bytes_max},
                              .what = "list " + list.under,
                              .read = [prefix](const S3Asked& asked, const HttpAnswer& answer) {
                                return read_listing(asked, answer, prefix);
                              }};
  std::make_shared<Reading<Listing>>(calls_, std::move(plan), std::move(done))->begin();
}

void S3ObjectStore::remove(std::vector<std::string> names, Done<void> done) {
  auto checked = check_removal(names);
  for (const std::string& name : names) {
    if (checked) checked = calls_->check_key(name);
  }
  if (!checked) return done(std::unexpected(checked.error()));
  if (names.empty()) return done({});
  S3Ask ask{.method = "POST", .query = {{"delete", ""}}, .body = removal_of(calls_->url(), names)};
  ask.fields = {{"content-md5", to_base64(md5(ask.body))}, {"content-type", "application/xml"}};
  Reading<void>::Plan plan{
      .ask = std::move(ask),
      .shape = {.kind = &RequestCounts::deletes,
                .deadline = attempt_time,
                .body_bytes_max = listing_bytes_max},
      .what = "remove " + names.front() + (names.size() > 1 ? " and others" : ""),
      .changes = true,
      .read = [](const S3Asked& asked, const HttpAnswer& answer) {
        return read_removal(asked, answer);
      }};
  std::make_shared<Reading<void>>(calls_, std::move(plan), std::move(done))->begin();
}

std::optional<TimeSample> S3ObjectStore::time_sample() const {
  return calls_->time_sample();
}

RequestCounts S3ObjectStore::counts() const {
  return calls_->counts();
}

std::string S3ObjectStore::name() const {
  return to_string(calls_->url());
}

}  // namespace pawl
