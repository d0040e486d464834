#include "admin/usage.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "admin/parameters.h"
#include "admin/tenants.h"
#include "base/bounds_panel.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr TimeSeries::Scales scales = {{{10, 90}, {40, 90}, {960, 90}}};
constexpr std::uint64_t sample_every = 10;  // ticks
constexpr std::string_view used_line = "used.";
constexpr std::string_view limit_line = "limit.";

// Asks for the usage of many, so many at once.
class Round : public std::enable_shared_from_this<Round> {
 public:
  using Found = std::vector<std::optional<TenantUsage>>;
  using Done = std::move_only_function<void(Result<Found>)>;

  Round(Context& context, std::vector<std::string> names, Done done)
      : context_(context),
        names_(std::move(names)),
        found_(names_.size()),
        done_(std::move(done)) {}

  // Answers may come at once, and then from within: the loop goes on, not the answer.
  void go_on() {
    if (std::exchange(going_on_, true)) return;
    while (next_ < names_.size() && under_way_ < bounds::panel_usage_asks_max) ask(next_++);
    going_on_ = false;
    if (next_ < names_.size() || under_way_ > 0 || !done_) return;
    Done done = std::move(done_);
    done_ = nullptr;
    if (error_) return done(std::unexpected(*std::move(error_)));
    done(std::move(found_));
  }

 private:
  void ask(std::size_t place) {
    ++under_way_;
    context_.asks->begun();
    context_.tenants.usage(
        names_[place], [self = shared_from_this(), place](Result<TenantUsage> usage) mutable {
          Context& context = self->context_;
          context.resume([self = std::move(self), place, usage = std::move(usage)]() mutable {
            --self->under_way_;
            if (usage) {
              self->found_[place].emplace(*std::move(usage));
            } else {
              self->error_.emplace(usage.error());
              self->next_ = self->names_.size();  // the others would end alike
            }
            self->go_on();
          });
          context.asks->finished();
        });
  }

  Context& context_;
  std::vector<std::string> names_;
  Found found_;
  Done done_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  bool going_on_ = false;
  std::optional<Error> error_;
};

void tell_page(Context& context, Call call) {
  const std::size_t limit = limit_of(call);
  std::vector<TenantSummary> listed = context.tenants.list(limit, call.text("after"));
  std::vector<std::string> names;
  for (const TenantSummary& each : listed) names.push_back(each.tenant);
  const Value next = listed.size() == limit ? Value(names.back()) : Value();
  auto answer = [call = std::move(call), listed = std::move(listed),
                 next](Result<Round::Found> found) mutable {
    if (!found) return std::move(call).fail(found.error());
    Array tenants;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const Value told = usage_json((*found)[i].value());
      Object tenant = *told.if_object();
      const Instant seen = listed[i].last_seen;
      tenant.emplace("last_seen", seen == Instant() ? Value() : Value(to_string(seen)));
      tenants.push_back(std::move(tenant));
    }
    std::move(call).answer(Object{{"tenants", std::move(tenants)}, {"next", next}});
  };
  std::make_shared<Round>(context, std::move(names), std::move(answer))->go_on();
}

void tell_history(const UsageHistory& history, Call call) {
  const Span span = span_of(call.text("span")).value_or(Span::quarter_hour);
  const TimeSeries* series = history.of(call.text("tenant"));
  Array buckets;
  const TimeSeries empty(scales, 0);
  const TimeSeries& told = series == nullptr ? empty : *series;
  for (const std::string& line : told.lines()) {
    if (!line.starts_with(used_line)) continue;
    const std::string bucket = line.substr(used_line.size());
    buckets.push_back(
        Object{{"bucket", bucket},
               {"used", values_json(told.values(line, span))},
               {"limit", values_json(told.values(std::string(limit_line) + bucket, span))}});
  }
  std::move(call).answer(Object{{"step_seconds", told.step_seconds(span)},
                                {"times", numbers_json(told.times(span))},
                                {"buckets", std::move(buckets)}});
}

Schema history_schema() {
  const Schema values = schema::list_of(schema::anything());
  const Schema bucket =
      schema::object({{"bucket", schema::text()}, {"used", values}, {"limit", values}});
  return schema::object({{"step_seconds", schema::count()},
                         {"times", schema::list_of(schema::count())},
                         {"buckets", schema::list_of(bucket)}});
}

}  // namespace

void UsageHistory::tick() {
  if (ticks_++ % sample_every != 0 || kept_->sampling) return;
  kept_->sampling = true;
  const Instant now = context_.clock.wall_now();
  const SteadyInstant steady = context_.clock.steady_now();
  auto take_all = [kept = kept_, now, steady](Result<Round::Found> found) {
    kept->sampling = false;
    if (!found) return;  // the store is away: its line has a hole
    for (const auto& usage : *found) {
      if (usage) take(*kept, *usage, now, steady);
    }
  };
  std::make_shared<Round>(context_, context_.tenants.recent(bounds::panel_usage_tenants_max),
                          std::move(take_all))
      ->go_on();
}

void UsageHistory::take(Kept& kept, const TenantUsage& usage, Instant now, SteadyInstant steady) {
  auto found = kept.tenants.find(usage.tenant);
  if (found == kept.tenants.end()) {
    if (kept.tenants.size() >= bounds::panel_usage_tenants_max) {
      kept.tenants.erase(std::ranges::min_element(
          kept.tenants, {}, [](const auto& each) { return each.second.sampled; }));
    }
    Line line{.series = TimeSeries(scales, 2 * bounds::panel_usage_buckets_max), .sampled = steady};
    found = kept.tenants.emplace(usage.tenant, std::move(line)).first;
  }
  TimeSeries::Sample sample;
  for (const BucketUsage& bucket : usage.buckets) {
    sample.emplace_back(std::string(used_line) + bucket.bucket, static_cast<double>(bucket.used));
    sample.emplace_back(std::string(limit_line) + bucket.bucket, static_cast<double>(bucket.limit));
  }
  found->second.series.add(now, sample);
  found->second.sampled = steady;
}

const TimeSeries* UsageHistory::of(std::string_view tenant) const {
  const auto found = kept_->tenants.find(tenant);
  return found == kept_->tenants.end() ? nullptr : &found->second.series;
}

Routes usage_routes(Context& context, const UsageHistory& history) {
  const Schema some = schema::map_of(schema::anything());
  return {
      {.path = "/v1/usage",
       .id = "list_usage",
       .summary = "A page of tenants with the usage of each, by name.",
       .parameters = {limit_in_query(),
                      {"after", "The next of the page before.",
                       schema::text(1, bounds::tenant_bytes_max)}},
       .answers = {{200, "next is null at the end.",
                    schema::object({{"tenants", schema::list_of(some)},
                                    {"next", schema::or_null(schema::text())}})}},
       .problems = {503},
       .handle = [&context](Call call) { tell_page(context, std::move(call)); }},
      {.path = "/v1/tenants/{tenant}/history",
       .id = "tenant_history",
       .summary = "How much a tenant used of its buckets of late, as lines.",
       .parameters = {tenant_in_path(), span_in_query()},
       .answers = {{200, "A value for each time; null where there is none.", history_schema()}},
       .handle = [&history](Call call) { tell_history(history, std::move(call)); }},
  };
}

}  // namespace pawl::admin
