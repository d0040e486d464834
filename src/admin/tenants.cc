#include "admin/tenants.h"

#include "admin/parameters.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::text_or_null;
using json::Value;

Schema summary_schema() {
  return schema::object({{"tenant", schema::text()},
                         {"plan", schema::text()},
                         {"last_seen", schema::or_null(schema::instant())}});
}

Schema usage_schema() {
  const Schema bucket = schema::object({{"bucket", schema::text()},
                                        {"scope", schema::text()},
                                        {"limit", schema::count()},
                                        {"used", schema::count()},
                                        {"remaining", schema::count()},
                                        {"reset_seconds", schema::count()},
                                        {"near", schema::truth()},
                                        {"shadow", schema::truth()},
                                        {"plan", schema::text()},
                                        {"next_plan", schema::or_null(schema::text())}});
  return schema::object({{"tenant", schema::text()},
                         {"plan", schema::text()},
                         {"next_plan", schema::or_null(schema::text())},
                         {"buckets", schema::list_of(bucket)}});
}

Value to_json(const TenantSummary& tenant) {
  return Object{
      {"tenant", tenant.tenant},
      {"plan", tenant.plan},
      {"last_seen", tenant.last_seen == Instant() ? Value() : Value(to_string(tenant.last_seen))}};
}

}  // namespace

Value usage_json(const TenantUsage& usage) {
  Array buckets;
  for (const BucketUsage& bucket : usage.buckets) {
    buckets.push_back(Object{{"bucket", bucket.bucket},
                             {"scope", bucket.scope},
                             {"limit", bucket.limit},
                             {"used", bucket.used},
                             {"remaining", bucket.remaining},
                             {"reset_seconds", bucket.reset_seconds},
                             {"near", bucket.near},
                             {"shadow", bucket.shadow},
                             {"plan", bucket.plan},
                             {"next_plan", text_or_null(bucket.next_plan)}});
  }
  return Object{{"tenant", usage.tenant},
                {"plan", usage.plan},
                {"next_plan", text_or_null(usage.next_plan)},
                {"buckets", std::move(buckets)}};
}

namespace {

audit::Event change(Context& context, std::string operation, std::string tenant, Details details) {
  return {.type = audit::EventType::config,
          .timestamp = context.clock.wall_now(),
          .operation = std::move(operation),
          .correlation = {.tenant_id = std::move(tenant)},
          .details = std::move(details)};
}

void list(Context& context, Call call) {
  Array tenants;
  for (const TenantSummary& tenant : context.tenants.list(limit_of(call), "")) {
    tenants.push_back(to_json(tenant));
  }
  std::move(call).answer(Object{{"tenants", std::move(tenants)}});
}

void tell_usage(Context& context, Call call) {
  const std::string tenant = call.text("tenant");
  context.tenants.usage(
      tenant, back<TenantUsage>(context, std::move(call), [](Call asked, const TenantUsage& usage) {
        std::move(asked).answer(usage_json(usage));
      }));
}

void reset(Context& context, Call call) {
  const std::string tenant = call.text("tenant");
  const std::string bucket = call.member("bucket");
  // A bucket that is not there is told before anything is on record.
  const auto counts = context.tenants.counts(tenant, bucket);
  if (!counts) return std::move(call).fail(counts.error());
  const auto recorded =
      record_change(context, call, change(context, "tenant reset", tenant, {{"bucket", bucket}}));
  if (!recorded) return std::move(call).fail(recorded.error());
  context.tenants.reset(tenant, bucket, back<void>(context, std::move(call), [](Call asked) {
                          std::move(asked).answer(Object{{"reset", true}});
                        }));
}

void set_plan(Context& context, Call call) {
  const std::string tenant = call.text("tenant");
  const std::string plan = call.member("plan");
  // A plan that is not there is told before anything is on record.
  const auto checked = context.tenants.check_plan(tenant, plan);
  if (!checked) return std::move(call).fail(checked.error());
  const auto recorded =
      record_change(context, call, change(context, "tenant plan", tenant, {{"plan", plan}}));
  if (!recorded) return std::move(call).fail(recorded.error());
  if (const auto set = context.tenants.set_plan(tenant, plan); !set) {
    return std::move(call).fail(set.error());
  }
  std::move(call).answer(Object{{"tenant", tenant}, {"plan", plan}});
}

}  // namespace

Routes tenant_routes(Context& context) {
  const Schema name = schema::text(1, bounds::config_name_bytes_max);
  return {
      {.method = "GET",
       .path = "/v1/tenants",
       .id = "list_tenants",
       .summary = "Tenants that settings name and those seen of late, by name.",
       .parameters = {limit_in_query()},
       .answers = {{200, "The tenants.",
                    schema::object({{"tenants", schema::list_of(summary_schema())}})}},
       .handle = [&context](Call call) { list(context, std::move(call)); }},
      {.method = "GET",
       .path = "/v1/tenants/{tenant}/usage",
       .id = "tenant_usage",
       .summary = "What a tenant has used of its buckets, its plan and the one above it.",
       .parameters = {tenant_in_path()},
       .answers = {{200, "The usage; near is true once 80 % are used.", usage_schema()}},
       .problems = {503},
       .handle = [&context](Call call) { tell_usage(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/tenants/{tenant}/reset",
       .id = "reset_tenant",
       .summary = "Gives a tenant back what it has used of one bucket, or of all its buckets.",
       .parameters = {tenant_in_path()},
       .body = schema::object({{"bucket", name, false}}),
       .answers = {{200, "It is done.", schema::object({{"reset", schema::truth()}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { reset(context, std::move(call)); }},
      {.method = "PUT",
       .path = "/v1/tenants/{tenant}/plan",
       .id = "set_tenant_plan",
       .summary = "Moves a tenant to another plan. What was used stays used.",
       .parameters = {tenant_in_path()},
       .body = schema::object({{"plan", name}}),
       .answers = {{200, "It holds from the next request on.",
                    schema::object({{"tenant", schema::text()}, {"plan", schema::text()}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { set_plan(context, std::move(call)); }},
  };
}

}  // namespace pawl::admin
