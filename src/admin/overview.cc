#include "admin/overview.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "admin/parameters.h"
#include "base/bounds.h"
#include "base/bounds_panel.h"
#include "runtime/placed_json.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::text_or_null;
using json::Value;

constexpr TimeSeries::Scales scales = {{{1, 900}, {10, 360}, {240, 360}}};
constexpr std::uint64_t quota_every = 5;  // ticks
// Unknown records are listed no more often than this, and for no more than a hundredth of the time:
// some stores walk through all they have for them.
constexpr Duration unknown_every = Duration::seconds(5);
constexpr int unknown_share = 100;

std::string_view label(const metrics::Reading& reading, std::string_view name) {
  for (const auto& [each, value] : reading.labels) {
    if (each == name) return value;
  }
  return {};
}

void take(Counted& out, const metrics::Reading& reading) {
  const auto add_to = [&](double& sum) { sum += reading.value; };
  const std::string_view name = reading.name;
  if (name == "pawl_limit_decisions_total") {
    add_to(label(reading, "decision") == "allowed" ? out.allowed : out.refused);
  } else if (name == "pawl_idempotency_total") {
    if (label(reading, "result") == "replayed") add_to(out.replayed);
  } else if (name == "pawl_retries_in_last_minute") {
    add_to(out.retries);
  } else if (name == "pawl_retry_rate_alert") {
    out.retry_alert = reading.value > 0;
  } else if (name == "pawl_tasks_total") {
    out.has_queue = true;
  } else if (name == "pawl_queue_tasks") {
    const std::string_view status = label(reading, "status");
    if (status == "pending") add_to(out.pending);
    if (status == "running") add_to(out.running);
    if (status == "failed") add_to(out.failed);
  } else if (name == "pawl_queue_due_tasks") {
    add_to(out.due);
  } else if (name == "pawl_queue_oldest_due_seconds") {
    out.oldest_due_seconds = std::max(out.oldest_due_seconds, reading.value);
  } else if (name == "pawl_orders_unresolved") {
    add_to(out.unresolved);
  } else if (name == "pawl_orders_left_open") {
    add_to(out.left_open);
  } else if (name == "pawl_orders_under_way") {
    add_to(out.under_way);
  }
}

std::string_view to_string(StoreState::Health health) {
  constexpr std::string_view words[] = {"ok", "degraded", "down"};
  return words[static_cast<std::size_t>(health)];
}

Value stores_json(const std::vector<StoreState>& stores) {
  Array out;
  for (const StoreState& store : stores) {
    out.push_back(
        Object{{"name", store.name},
               {"state", to_string(store.health)},
               {"durability", text_or_null(store.durability)},
               {"seen", text_or_null(store.seen)},
               {"probed_at", store.probed == Instant() ? Value() : Value(to_string(store.probed))},
               {"detail", text_or_null(store.detail)}});
  }
  return out;
}

Value breakers_json(const RetryTally* retries, const Webhooks* webhooks) {
  Array out;
  if (retries == nullptr) return out;
  for (const RetryTally::Breaker& breaker : retries->breakers()) {
    if (webhooks != nullptr && !webhooks->is_in_use(breaker.name)) continue;
    out.push_back(Object{
        {"name", breaker.name}, {"state", breaker.state}, {"since", to_string(breaker.since)}});
  }
  return out;
}

Schema overview_schema() {
  const Schema number = schema::anything();
  const Schema some = schema::map_of(schema::anything());
  return schema::object(
      {{"at", schema::instant()},
       {"rates", schema::object({{"allowed", number}, {"refused", number}, {"replayed", number}})},
       {"retries", schema::object({{"last_minute", number},
                                   {"alert", schema::truth()},
                                   {"categories", schema::map_of(schema::count())}})},
       {"queue", schema::or_null(some)},
       {"orders", schema::or_null(some)},
       {"idempotency", schema::object({{"unknown", schema::or_null(schema::count())}})},
       {"breakers", schema::list_of(some)},
       {"stores", schema::list_of(some)},
       {"ready", schema::truth()},
       {"detail", schema::or_null(schema::text())}});
}

Schema series_schema() {
  return schema::object({{"step_seconds", schema::count()},
                         {"times", schema::list_of(schema::count())},
                         {"series", schema::map_of(schema::list_of(schema::anything()))}});
}

server::Response json_text(std::string body) {
  return {.status = 200,
          .content_type = "application/json",
          .body = std::move(body),
          .extra_fields = {}};
}

void tell_series(const Sampler& sampler, Call call) {
  const Span span = span_of(call.text("span")).value_or(Span::quarter_hour);
  const TimeSeries& series = sampler.series();
  Object lines;
  for (const std::string& line : series.lines()) {
    lines.emplace(line, values_json(series.values(line, span)));
  }
  std::move(call).answer(Object{{"step_seconds", series.step_seconds(span)},
                                {"times", numbers_json(series.times(span))},
                                {"series", std::move(lines)}});
}

}  // namespace

Counted counted(const metrics::Registry& metrics) {
  Counted out;
  metrics.for_each([&](const metrics::Reading& reading) { take(out, reading); });
  return out;
}

Sampler::Sampler(Context& context, Gate& gate)
    : context_(context),
      gate_(gate),
      series_(scales, bounds::panel_series_max),
      last_at_(context.clock.steady_now()) {}

void Sampler::tick() {
  if (context_.orders != nullptr && ticks_ % quota_every == 0) ask_quota();
  ask_unknown();
  ++ticks_;
  sample();
  const std::string event = "event: overview\ndata: " + overview_ + "\n\n";
  const SteadyInstant now = context_.clock.steady_now();
  std::erase_if(listeners_, [&](Listener& each) {
    return !gate_.is_still_in(context_.gate, each.request, now) || !each.stream.push(event);
  });
}

void Sampler::ask_quota() {
  if (std::exchange(quota_->asked, true)) return;
  context_.asks->begun();
  context_.orders->quota([this, quota = quota_](Result<order::Quota> answer) {
    context_.resume([quota, answer = std::move(answer)] {
      quota->asked = false;
      quota->known = answer ? std::optional(*answer) : std::nullopt;
    });
    context_.asks->finished();
  });
}

void Sampler::ask_unknown() {
  const SteadyInstant begun = context_.clock.steady_now();
  if (begun < unknown_->next || std::exchange(unknown_->asked, true)) return;
  context_.asks->begun();
  context_.records.list(
      {.status = idempotency::Status::unknown},
      [this, unknown = unknown_, begun](const Result<std::vector<KeptRecord>>& records) {
        std::optional<std::int64_t> writes;
        if (records) writes = static_cast<std::int64_t>(records->size());
        context_.resume([&clock = context_.clock, unknown, begun, writes] {
          const SteadyInstant now = clock.steady_now();
          unknown->asked = false;
          unknown->writes = writes;
          unknown->next = now + std::max(unknown_every, (now - begun) * unknown_share);
        });
        context_.asks->finished();
      });
}

void Sampler::sample() {
  const SteadyInstant now = context_.clock.steady_now();
  const Counted counts = counted(context_.metrics);
  const double seconds = (now - last_at_).seconds();
  const auto a_second = [&](double Counted::* what) {
    if (!last_ || seconds <= 0) return 0.0;
    return std::max(0.0, counts.*what - (*last_).*what) / seconds;
  };
  const double allowed = a_second(&Counted::allowed);
  const double refused = a_second(&Counted::refused);
  const double replayed = a_second(&Counted::replayed);
  overview_ = json::print(make(counts, allowed, refused, replayed));
  TimeSeries::Sample sample = {{"allowed", allowed},
                               {"refused", refused},
                               {"replayed", replayed},
                               {"retries", counts.retries}};
  const Instant at = context_.clock.wall_now();
  if (context_.retries != nullptr) {
    for (const auto& [category, retries] : context_.retries->last_minute(at)) {
      sample.emplace_back("retry." + category, static_cast<double>(retries));
    }
  }
  if (counts.has_queue) {
    sample.emplace_back("queue.due", counts.due);
    sample.emplace_back("queue.pending", counts.pending);
    sample.emplace_back("queue.running", counts.running);
    sample.emplace_back("queue.oldest", counts.oldest_due_seconds);
  }
  series_.add(at, sample);
  last_ = counts;
  last_at_ = now;
}

Value Sampler::make(const Counted& now, double allowed, double refused, double replayed) const {
  const Instant at = context_.clock.wall_now();
  Object categories;
  if (context_.retries != nullptr) {
    for (const auto& [category, retries] : context_.retries->last_minute(at)) {
      categories.emplace(category, retries);
    }
  }
  Value queue;
  if (context_.tasks != nullptr) {
    queue = Object{{"pending", rounded(now.pending)},
                   {"due", rounded(now.due)},
                   {"running", rounded(now.running)},
                   {"failed", rounded(now.failed)},
                   {"oldest_due_seconds", rounded(now.oldest_due_seconds)}};
  }
  Value orders;
  if (context_.orders != nullptr) {
    orders = Object{{"unresolved", rounded(now.unresolved)},
                    {"left_open", rounded(now.left_open)},
                    {"under_way", rounded(now.under_way)},
                    {"quota", quota_->known ? Value(whole_json_of(*quota_->known)) : Value()}};
  }
  const Result<void> ready = context_.ready();
  return Object{
      {"at", to_string(at)},
      {"rates", Object{{"allowed", rounded(allowed)},
                       {"refused", rounded(refused)},
                       {"replayed", rounded(replayed)}}},
      {"retries", Object{{"last_minute", rounded(now.retries)},
                         {"alert", now.retry_alert},
                         {"categories", std::move(categories)}}},
      {"queue", std::move(queue)},
      {"orders", std::move(orders)},
      {"idempotency", Object{{"unknown", unknown_->writes ? Value(*unknown_->writes) : Value()}}},
      {"breakers", breakers_json(context_.retries, context_.webhooks)},
      {"stores", stores_json(context_.stores())},
      {"ready", ready.has_value()},
      {"detail", text_or_null(ready ? context_.degraded() : ready.error().message)}};
}

const std::string& Sampler::overview() {
  if (overview_.empty()) sample();
  return overview_;
}

void Sampler::add(Call call) {
  std::erase_if(listeners_, [](const Listener& each) { return !each.stream.is_open(); });
  if (listeners_.size() >= bounds::panel_listeners_max) {
    return std::move(call).answer(problem(http::ProblemCode::overloaded,
                                          "Too many watch already. Close one, or read "
                                          "/v1/overview now and then.",
                                          "Retry-After: 5\r\n"));
  }
  std::string first = "retry: 2000\nevent: overview\ndata: " + overview() + "\n\n";
  server::Request request = call.request();
  listeners_.push_back({.request = std::move(request),
                        .stream = std::move(call).stream({.status = 200,
                                                          .content_type = "text/event-stream",
                                                          .body = std::move(first),
                                                          .extra_fields = {}})});
}

Routes overview_routes(Context&, Sampler& sampler) {
  return {
      {.path = "/v1/overview",
       .id = "overview",
       .summary = "How pawl does now: rates, retries, queue, orders, breakers and stores.",
       .answers = {{200, "As of the last second.", overview_schema()}},
       .handle =
           [&sampler](Call call) { std::move(call).answer(json_text(sampler.overview() + "\n")); }},
      {.path = "/v1/live",
       .id = "follow_overview",
       .summary = "The overview as server-sent events, one a second.",
       .answers = {{200, "The stream.", {}, "text/event-stream"}},
       .problems = {503},
       .handle = [&sampler](Call call) { sampler.add(std::move(call)); }},
      {.path = "/v1/series",
       .id = "series",
       .summary = "How it did of late, as lines of points.",
       .parameters = {span_in_query()},
       .answers = {{200, "A value for each time; null where there is none.", series_schema()}},
       .handle = [&sampler](Call call) { tell_series(sampler, std::move(call)); }},
  };
}

}  // namespace pawl::admin
