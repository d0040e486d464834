#include "config/schema.h"

#include <algorithm>
#include <set>

#include "base/bounds.h"
#include "base/redis_url.h"
#include "base/text.h"
#include "config/policies.h"
#include "config/values.h"

namespace pawl::config {
namespace {

// The member that a row fills, of a const Owner and of one to be filled.
#define PAWL_MEMBER(member) [](auto& owner) -> auto& { return owner.member; }

constexpr bool needs_restart = true;

Node texts(std::initializer_list<std::string_view> texts) {
  std::vector<Node> items;
  for (const std::string_view text : texts) items.push_back(Node::of(text));
  return Node::list(std::move(items));
}

Node standard_buckets() {
  return Node::list(
      {Node::map({{"name", 0, Node::of("global")}, {"rate", 0, Node::of("100/1m")}})});
}

// Rates of buckets, by their names.
Type<limit::Rates> rates() {
  return map_by(name_key(), rate(), "a map of buckets and rates, as in {global: 1000/1m}");
}

Fields<Config> server_fields() {
  return {
      bind<Config>({"server.listen", "Where guarded traffic comes in.", Node::of("127.0.0.1:8080"),
                    needs_restart},
                   address(), PAWL_MEMBER(server.listen)),
      bind<Config>({"server.upstream", "The service that guarded requests are passed to.",
                    Node::of("http://127.0.0.1:9000")},
                   upstream(), PAWL_MEMBER(server.upstream)),
      bind<Config>({"server.threads", "How many threads carry traffic; 0 is one per core.",
                    Node::of("0"), needs_restart},
                   whole_number<int>(0, bounds::threads_max), PAWL_MEMBER(server.threads)),
      bind<Config>({"server.admin.listen",
                    "Where panel, API and metrics are; an address that others can reach needs a "
                    "token.",
                    Node::of("127.0.0.1:8081"), needs_restart},
                   address(), PAWL_MEMBER(server.admin.listen)),
      bind<Config>(
          {"server.admin.token",
           "What callers of the admin listener must show; nothing when it is empty.", Node::of("")},
          secret(), PAWL_MEMBER(server.admin.token)),
  };
}

Fields<Config> tenants_fields() {
  return {
      bind<Config>(
          {"tenants.header", "The request header that names the tenant.", Node::of("X-Tenant-Id")},
          header_name(), PAWL_MEMBER(tenants.header)),
      bind<Config>({"tenants.trusted_proxies",
                    "From whom the tenant header is believed; from everybody when the list is "
                    "empty.",
                    texts({})},
                   list_of(prefix(), {0, bounds::config_list_max},
                           "a list of up to " + std::to_string(bounds::config_list_max) +
                               " addresses or prefixes, as in [192.0.2.1, 10.0.0.0/8]"),
                   PAWL_MEMBER(tenants.trusted_proxies)),
      bind<Config>({"tenants.missing",
                    "A request without a tenant: anonymous counts it by client address, reject "
                    "answers 401.",
                    Node::of("anonymous")},
                   one_of<MissingTenant>({{"anonymous", MissingTenant::anonymous},
                                          {"reject", MissingTenant::reject}}),
                   PAWL_MEMBER(tenants.missing)),
      bind<Config>({"tenants.default_plan",
                    "The plan of tenants that tenants.plans does not name. The plan free is always "
                    "there; it changes nothing unless plans says so.",
                    Node::of(free_plan)},
                   bucket_name(), PAWL_MEMBER(tenants.default_plan)),
      bind<Config>(
          {"tenants.plans", "Which tenant has which plan.", Node::map({})},
          map_by(tenant_key(), bucket_name(), "a map of tenants and plans, as in {acme: pro}"),
          PAWL_MEMBER(tenants.plans)),
      bind<Config>({"tenants.overrides",
                    "Rates agreed with one tenant; they beat those of its plan.", Node::map({})},
                   map_by(tenant_key(), rates(),
                          "a map of tenants and rates, as in {acme: {global: 500/1m}}"),
                   PAWL_MEMBER(tenants.overrides)),
  };
}

Fields<Config> plans_fields() {
  return {
      bind<Config>(
          {"plans",
           "Rates that a plan gives to buckets of scope tenant, in place of their own. "
           "For concurrency COUNT is slots and DURATION the lease; for calendar DURATION "
           "is the length of its window.",
           Node::map({})},
          map_by(name_key(), rates(), "a map of plans and rates, as in {pro: {global: 1000/1m}}"),
          PAWL_MEMBER(plans)),
  };
}

Type<LimitHeader> limit_header() {
  return one_of<LimitHeader>({{"ratelimit", LimitHeader::ratelimit},
                              {"draft7", LimitHeader::draft7},
                              {"draft6", LimitHeader::draft6},
                              {"legacy", LimitHeader::legacy}});
}

Fields<Config> store_fields() {
  return {
      bind<Config>({"limits.store",
                    "Where counts are kept: memory is this process alone, sqlite a file that "
                    "survives it, a Redis is shared by many.",
                    Node::of("memory"), needs_restart},
                   limit_store(), PAWL_MEMBER(limits.store)),
      bind<Config>({"limits.calendar_store",
                    "Where calendar buckets are kept, so that a month's count outlives the "
                    "process; empty: where the others are.",
                    Node::of(""), needs_restart},
                   calendar_store(), PAWL_MEMBER(limits.calendar_store)),
      bind<Config>({"limits.store_deadline",
                    "How long a Redis may take over an ask. One that takes longer is decided as "
                    "on_store_failure says; three in a row, or a lost connection, and so are all.",
                    Node::of("50ms"), needs_restart},
                   duration(bounds::redis_deadline_min, bounds::redis_deadline_max),
                   PAWL_MEMBER(limits.store_deadline)),
      bind<Config>({"limits.on_store_failure",
                    "While the store does not answer: local counts in this process, allow lets "
                    "everything through, deny refuses everything.",
                    Node::of("local"), needs_restart},
                   one_of<OnStoreFailure>({{"local", OnStoreFailure::local},
                                           {"allow", OnStoreFailure::allow},
                                           {"deny", OnStoreFailure::deny}}),
                   PAWL_MEMBER(limits.on_store_failure)),
      bind<Config>({"limits.batch",
                    "How many are taken from the store at once and handed out here: fewer trips, "
                    "and up to so many too many a process; 1 is exact.",
                    Node::of("1"), needs_restart},
                   whole_number<std::int64_t>(1, bounds::limit_batch_max),
                   PAWL_MEMBER(limits.batch)),
  };
}

Fields<Config> limits_fields() {
  return {
      bind<Config>({"limits.headers",
                    "What an answer says of its limits: ratelimit is RateLimit and "
                    "RateLimit-Policy, draft7 and draft6 their older forms, legacy is "
                    "X-RateLimit-Limit, -Remaining and -Reset.",
                    texts({"ratelimit", "legacy"})},
                   list_of(limit_header(), {0, bounds::config_list_max},
                           "a list of at most one of ratelimit, draft7 and draft6, and legacy or "
                           "not"),
                   PAWL_MEMBER(limits.headers)),
      bind<Config>(
          {"limits.buckets",
           "The limits that requests are counted against: all of them let a request through, or "
           "none is charged.",
           standard_buckets()},
          list_of(bucket(), {1, bounds::limit_policies_max},
                  "a list of 1 to " + std::to_string(bounds::limit_policies_max) + " buckets"),
          PAWL_MEMBER(limits.buckets)),
  };
}

Fields<Config> audit_fields() {
  return {
      bind<Config>(
          {"audit.sinks", "Where audit events are written.", texts({"file:data/audit.jsonl"}),
           needs_restart},
          list_of(sink(), {1, 1}, "a list of exactly one file:PATH, as in [file:data/audit.jsonl]"),
          PAWL_MEMBER(audit.sinks)),
      bind<Config>({"audit.on_full",
                    "What a full sink does: block makes the caller wait, fail fails the "
                    "operation; no event is dropped.",
                    Node::of("block"), needs_restart},
                   one_of<OnFull>({{"block", OnFull::block}, {"fail", OnFull::fail}}),
                   PAWL_MEMBER(audit.on_full)),
  };
}

Fields<Config> log_fields() {
  return {
      bind<Config>({"log.level", "The least level that is logged.", Node::of("info")},
                   one_of<LogLevel>({{"trace", LogLevel::trace},
                                     {"debug", LogLevel::debug},
                                     {"info", LogLevel::info},
                                     {"warn", LogLevel::warn},
                                     {"error", LogLevel::error}}),
                   PAWL_MEMBER(log.level)),
      bind<Config>({"log.format", "text is for people, json for machines; one line an event.",
                    Node::of("text")},
                   one_of<LogFormat>({{"text", LogFormat::text}, {"json", LogFormat::json}}),
                   PAWL_MEMBER(log.format)),
  };
}

// Whether one of the two takes the port away from the other.
bool collide(const Endpoint& a, const Endpoint& b) {
  if (a.port != b.port || a.port == 0) return false;
  if (a.address == b.address) return true;
  return a.address.is_v4() == b.address.is_v4() &&
         (a.address.is_unspecified() || b.address.is_unspecified());
}

struct Side {
  std::string path;
  Endpoint endpoint;
};

// Told at whichever of the two the file names; the other may be a default.
void refuse_collision(const Side& a, const Side& b, const std::string& advice, Reader& reader) {
  const bool at_a = reader.line_of(a.path) > 0 || reader.line_of(b.path) == 0;
  const Side& here = at_a ? a : b;
  const Side& there = at_a ? b : a;
  reader.problem(reader.line_of(here.path), here.path,
                 "found " + to_string(here.endpoint) + ", which collides with " + there.path +
                     " (" + to_string(there.endpoint) + "); " + advice);
}

void check_listeners(const Server& server, Reader& reader) {
  const Side guarded{"server.listen", server.listen};
  const Side admin{"server.admin.listen", server.admin.listen};
  if (!reader.sound(admin.path)) return;
  if (reader.sound(guarded.path) && collide(guarded.endpoint, admin.endpoint)) {
    refuse_collision(admin, guarded, "give each listener a port of its own", reader);
  }
  if (reader.sound("server.admin.token") && server.admin.token.empty() &&
      !admin.endpoint.address.is_loopback()) {
    reader.problem(reader.line_of(admin.path), admin.path,
                   "found " + to_string(admin.endpoint) +
                       ", which others can reach, without a server.admin.token; set the token, or "
                       "listen on 127.0.0.1 or [::1]");
  }
}

// Whether what is sent to `target` arrives at a listener of this machine.
bool arrives(const Endpoint& target, const Endpoint& listener) {
  if (target.port != listener.port) return false;
  const IpAddress& to = target.address;
  const IpAddress& at = listener.address;
  return to == at || (at.is_unspecified() && (to.is_loopback() || to.is_unspecified())) ||
         (to.is_unspecified() && at.is_loopback());
}

// Traffic sent to a listener of pawl's own would go round for ever, or lay the admin API open.
void check_upstream(const Server& server, Reader& reader) {
  const bool local = equal_ignoring_case(server.upstream.host, "localhost");
  const auto ip = parse_ip(local ? "127.0.0.1" : server.upstream.host);
  if (!ip || !reader.sound("server.upstream")) return;
  const Side upstream{"server.upstream", {*ip, server.upstream.port}};
  for (const Side& listener :
       {Side{"server.listen", server.listen}, Side{"server.admin.listen", server.admin.listen}}) {
    if (!reader.sound(listener.path) || !arrives(upstream.endpoint, listener.endpoint)) continue;
    refuse_collision(upstream, listener, "pawl must not send traffic to itself", reader);
  }
}

// The three say the same in the same fields, so only one of them can be said.
void check_store(const LimitStore& store, Reader& reader) {
  const std::string path = "limits.store";
  if (store.kind != LimitStore::Kind::redis || !reader.sound(path)) return;
  const auto url = redis::parse_redis_url(store.url.reveal());
  if (!url) reader.problem(reader.line_of(path), path, url.error().message);
}

void check_headers(const Limits& limits, Reader& reader) {
  const std::string path = "limits.headers";
  const auto standards = std::ranges::count_if(
      limits.headers, [](LimitHeader each) { return each != LimitHeader::legacy; });
  if (standards <= 1 || !reader.sound_below(path)) return;
  reader.problem(reader.line_of(path), path,
                 "found " + std::to_string(standards) +
                     " of ratelimit, draft7 and draft6, which use the same fields; keep one");
}

void check_buckets(const Limits& limits, Reader& reader) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < limits.buckets.size(); ++i) {
    const std::string path = "limits.buckets[" + std::to_string(i) + "]";
    check_bucket(limits.buckets[i], path, reader);
    const std::string& name = limits.buckets[i].name;
    if (name.empty() || names.insert(name).second) continue;
    reader.problem(
        reader.line_of(path + ".name"), path + ".name",
        "found \"" + name + "\" for the second time; give each bucket a name of its own");
  }
}

}  // namespace

const Fields<Config>& config_fields() {
  static const Fields<Config> fields = [] {
    Fields<Config> rows;
    for (const auto& part : {server_fields(), tenants_fields(), plans_fields(), store_fields(),
                             limits_fields(), audit_fields(), log_fields()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return fields;
}

Config::Config() {
  set_defaults(config_fields(), *this);
}

void check_together(const Config& config, Reader& reader) {
  check_listeners(config.server, reader);
  check_upstream(config.server, reader);
  check_store(config.limits.store, reader);
  check_headers(config.limits, reader);
  check_buckets(config.limits, reader);
  check_plans(config, reader);
}

}  // namespace pawl::config
