#include "runtime/broker_way.h"

#include <algorithm>
#include <utility>

#include "base/bounds_queue.h"
#include "base/json.h"

namespace pawl {
namespace {

constexpr Duration quick_end = Duration::seconds(1);
constexpr Duration deadline_min = Duration::milliseconds(500);

Error closed_error() {
  return {Code::unavailable, Outcome::not_applied, "the queue was closed"};
}

std::string_view field_of(const HttpAnswer& answer, std::string_view name) {
  for (const HttpField& field : answer.fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

// What a problem says, or the status alone.
std::string detail_of(const HttpAnswer& answer) {
  const auto body = json::parse(answer.body);
  const json::Value* detail = body ? body->find("detail") : nullptr;
  const std::string* text = detail == nullptr ? nullptr : detail->if_string();
  return "status " + std::to_string(answer.status) + (text == nullptr ? "" : ": " + *text);
}

// Of an answer that is none of a queue's.
Error error_of(const HttpAnswer& answer) {
  const std::string detail = detail_of(answer);
  switch (answer.status) {
    case 400:
    case 413:
      return {Code::invalid, Outcome::not_applied, "the broker refused the call, " + detail};
    case 401:
    case 403:
      return {Code::refused, Outcome::not_applied,
              "the broker did not let us in, " + detail +
                  "; set PAWL_ADMIN_TOKEN to its server.admin.token"};
    case 200:
    case 404:
    case 405:
      return {Code::not_found, Outcome::not_applied,
              "there is no broker at this address, " + detail +
                  "; it is that of the admin listener of a `pawl serve` that has a queue"};
    case 409:
      return {Code::unavailable, Outcome::not_applied,
              "it has another queue than this process works on, and is given nothing"};
    case 429:
      return {Code::unavailable, Outcome::not_applied, "the broker takes no more, " + detail};
    default:
      return {Code::unavailable, Outcome::unknown, "the broker did not answer, " + detail};
  }
}

// The error of an answer, where it is one of the way or of the store behind it.
std::optional<Error> error_in(const HttpAnswer& answer, bool& heard) {
  if (!answer.complete) {
    return Error(Code::unavailable, Outcome::unknown, "the broker's answer broke off");
  }
  if (answer.status != 200 || field_of(answer, "content-type") != broker::content_type) {
    return error_of(answer);
  }
  ByteReader in(answer.body);
  const Result<void> head = broker::read_head(in);
  heard = true;
  if (head || head.error().code != Code::unavailable) return std::nullopt;
  return head.error();
}

}  // namespace

void BrokerWay::send(Ask ask, Done done) {
  auto call = std::make_shared<Call>(
      Call{.ask = std::move(ask), .done = std::move(done), .error = closed_error()});
  bool directly = false;
  {
    const std::lock_guard lock(mutex_);
    call->first = current_;
    directly = direct_ != nullptr && !closed_ && ports_.clock.steady_now() < direct_until_;
  }
  if (directly) {
    go_directly(call);
  } else {
    attempt(call);
  }
}

void BrokerWay::attempt(const CallPtr& call) {
  if (is_closed()) return fail(call, closed_error());
  if (call->tried < options_.brokers.size()) {
    call->sent = ports_.clock.steady_now();
    ports_.http.send(request(place_of(*call), call->ask),
                     [self = shared_from_this(), call](Result<HttpAnswer> answer) {
                       self->answered(call, std::move(answer));
                     });
  } else if (call->heard) {
    fail(call, call->error);  // the store behind the brokers is away, for all
  } else {
    go_directly(call);
  }
}

void BrokerWay::answered(const CallPtr& call, Result<HttpAnswer> answer) {
  const std::size_t place = place_of(*call);
  std::optional<Error> error =
      answer ? error_in(*answer, call->heard) : std::optional(std::move(answer).error());
  if (error) {
    error->message = options_.brokers[place] + ": " + error->message;
    if (answer && answer->status == 409) tell_of_other(place, error->message);
    if (error->code == Code::unavailable) return pass_over(call, *std::move(error));
    return fail(call, *std::move(error));
  }
  found(place);
  call->done(Arrived{.bytes = std::move(answer->body),
                     .may_be_the_second = call->may_have_arrived,
                     .sent = call->sent});
}

// A connection that was kept and broke at once says nothing of the broker, which may have been
// started anew: it is asked a second time.
void BrokerWay::pass_over(const CallPtr& call, Error error) {
  const bool at_once = ports_.clock.steady_now() - call->sent < quick_end;
  const bool broke = error.outcome != Outcome::not_applied;
  if (broke) call->may_have_arrived = true;
  call->error = std::move(error);
  const bool again = broke && at_once && !call->heard && !std::exchange(call->again, true);
  if (!again) ++call->tried;
  attempt(call);
}

void BrokerWay::go_directly(const CallPtr& call) {
  reach_directly([self = shared_from_this(), call](Result<TaskQueue*> queue) {
    if (queue) {
      return call->done(Arrived{.directly = *queue,
                                .may_be_the_second = call->may_have_arrived,
                                .sent = self->ports_.clock.steady_now()});
    }
    // What the brokers said counts for more, where they were asked.
    Error error = call->tried == 0 ? queue.error() : call->error;
    if (call->tried > 0) error.message += "; nor directly: " + queue.error().message;
    fail(call, std::move(error));
  });
}

void BrokerWay::fail(const CallPtr& call, Error error) {
  if (call->may_have_arrived) error.outcome = Outcome::unknown;
  call->done(std::unexpected(std::move(error)));
}

// A broker that hangs must not cost the leases of what is handled. So where there are other ways,
// all of them together are tried within a third of the lease, and the next renewal has its turn;
// and within a third of the deadline where no lease depends on it.
Duration BrokerWay::deadline_of(const Ask& ask) {
  std::size_t ways = options_.brokers.size();
  {
    const std::lock_guard lock(mutex_);
    const bool direct = direct_ != nullptr || (ports_.open_directly && !not_direct_);
    if (direct) ++ways;
  }
  if (ways == 1) return options_.deadline;
  const Duration whole = ask.lease.value_or(options_.deadline);
  const auto part = whole / static_cast<std::int64_t>(3 * ways);
  return std::min(options_.deadline, std::max(part, deadline_min));
}

HttpRequest BrokerWay::request(std::size_t place, const Ask& ask) {
  HttpRequest request{.method = "POST",
                      .url = options_.brokers[place] + std::string(ask.path),
                      .fields = {{"Content-Type", std::string(broker::content_type)}},
                      .body = ask.body,
                      .connect_deadline = options_.connect_deadline,
                      .deadline = deadline_of(ask) + ask.waits,
                      .body_bytes_max = bounds::broker_answer_bytes_max};
  if (const auto hello = known(); hello && !hello->mark.empty()) {
    request.fields.push_back({std::string(broker::mark_field), hello->mark});
  }
  if (!options_.token.empty()) {
    request.fields.push_back({"Authorization", "Bearer " + options_.token.reveal()});
  }
  return request;
}

void BrokerWay::tell_of_other(std::size_t place, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!others_.insert(place).second) return;
  }
  note(text);
}

void BrokerWay::found(std::size_t place) {
  bool is_back = false;
  bool is_other = false;
  {
    const std::lock_guard lock(mutex_);
    is_back = std::exchange(direct_until_, SteadyInstant()) != SteadyInstant();
    is_other = std::exchange(current_, place) != place;
    others_.erase(place);
  }
  if (is_back) {
    note("the broker " + options_.brokers[place] + " answers again, and is used again");
  } else if (is_other) {
    note("the broker " + options_.brokers[place] + " is used: the last one does not answer");
  }
}

void BrokerWay::reach_directly(TaskQueue::Done<TaskQueue*> done) {
  const SteadyInstant now = ports_.clock.steady_now();
  std::unique_lock lock(mutex_);
  if (direct_ != nullptr) {
    if (direct_until_ <= now) direct_until_ = now + options_.back_after;
    lock.unlock();
    return done(direct_);
  }
  std::optional<Error> error;
  if (!ports_.open_directly) {
    error = Error(Code::unavailable, Outcome::not_applied,
                  "our settings name no store (?store=… behind the brokers)");
  } else if (not_direct_ && now < direct_until_) {
    error = not_direct_;
  }
  if (error) {
    lock.unlock();
    return done(std::unexpected(*std::move(error)));
  }
  waiting_.push_back(std::move(done));
  if (std::exchange(opening_, true)) return;
  const std::optional<broker::Hello> named = hello_;
  lock.unlock();
  ports_.open_directly(named,
                       [self = shared_from_this()](const Result<RemoteQueue::Direct>& opened) {
                         self->opened_directly(opened);
                       });
}

void BrokerWay::opened_directly(const Result<RemoteQueue::Direct>& opened) {
  std::vector<TaskQueue::Done<TaskQueue*>> waiting;
  {
    const std::lock_guard lock(mutex_);
    opening_ = false;
    direct_until_ = ports_.clock.steady_now() + options_.back_after;
    direct_ = opened ? opened->queue : nullptr;
    not_direct_ = opened ? std::nullopt : std::optional(opened.error());
    if (opened && !hello_) {
      hello_ = broker::Hello{.view = direct_->view(), .mark = opened->mark};
      heard_at_ = ports_.clock.steady_now();
    }
    waiting.swap(waiting_);
  }
  if (opened) note("no broker answers: the store is used directly, " + opened->queue->view().store);
  for (TaskQueue::Done<TaskQueue*>& done : waiting) {
    if (opened) {
      done(opened->queue);
    } else {
      done(std::unexpected(opened.error()));
    }
  }
}

void BrokerWay::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool BrokerWay::is_closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void BrokerWay::know(broker::Hello hello) {
  const std::lock_guard lock(mutex_);
  heard_at_ = ports_.clock.steady_now();
  if (hello.mark.empty() && hello_) {  // the store's own word
    hello_->view = std::move(hello.view);
  } else {
    hello_ = std::move(hello);
  }
}

std::optional<broker::Hello> BrokerWay::known() {
  const std::lock_guard lock(mutex_);
  std::optional<broker::Hello> known = hello_;
  if (known) known->view.now = known->view.now + (ports_.clock.steady_now() - heard_at_);
  return known;
}

TaskQueue* BrokerWay::direct() {
  const std::lock_guard lock(mutex_);
  return direct_;
}

}  // namespace pawl
