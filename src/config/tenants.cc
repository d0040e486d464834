#include "config/tenants.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/bounds.h"
#include "config/places.h"
#include "config/values.h"
#include "core/http/chars.h"

namespace pawl::config {
namespace {

constexpr int ipv6_bits = 128;

// Not told when it is wrong: it may be the key itself.
Type<std::string> sha256() {
  Type<std::string> type = scalar<std::string>(
      {.name = "SHA-256",
       .allowed = "64 digits of 0-9 and a-f, as sha256sum prints them",
       .form = Form::secret},
      [](const std::string& text) -> std::optional<std::string> {
        const bool digits = std::ranges::all_of(
            text, [](char c) { return http::is_digit(c) || (c >= 'a' && c <= 'f'); });
        return digits && text.size() == 64 ? std::optional(text) : std::nullopt;
      },
      {});
  type.print = [](const std::string& value) { return Node::of(value); };
  return type;
}

// The plan's name, or nothing for none.
Type<std::string> plan_or_none() {
  Type<std::string> type = bucket_name();
  type.print = [print = std::move(type.print)](const std::string& value) {
    return value.empty() ? Node() : print(value);
  };
  return type;
}

Fields<Config> identity_fields() {
  return {
      bind<Config>(
          {"tenants.header", "The request header that names the tenant.", Node::of("X-Tenant-Id")},
          header_name(), PAWL_MEMBER(tenants.header)),
      bind<Config>({"tenants.trusted_proxies",
                    "From whom the tenant header is believed, and in X-Forwarded-For the client's "
                    "address; the header from everybody when the list is empty and there are no "
                    "API keys.",
                    Node::texts({})},
                   list_of(prefix(), {0, bounds::config_list_max},
                           "a list of up to " + std::to_string(bounds::config_list_max) +
                               " addresses or prefixes, as in [192.0.2.1, 10.0.0.0/8]"),
                   PAWL_MEMBER(tenants.trusted_proxies)),
      bind<Config>({"tenants.api_keys",
                    "Keys that name their tenant, sent as `Authorization: Bearer KEY` or "
                    "`X-Api-Key: KEY`. The file holds their hashes alone.",
                    Node::texts({})},
                   list_of(map_of(api_key_fields()), {0, bounds::config_api_keys_max, true},
                           "a list of up to " + std::to_string(bounds::config_api_keys_max) +
                               " keys, as in [{sha256: HEX, tenant: acme, plan: pro}]"),
                   PAWL_MEMBER(tenants.api_keys)),
      bind<Config>({"tenants.missing",
                    "A request without a tenant: anonymous counts it by client address, reject "
                    "answers 401.",
                    Node::of("anonymous")},
                   one_of<MissingTenant>({{"anonymous", MissingTenant::anonymous},
                                          {"reject", MissingTenant::reject}}),
                   PAWL_MEMBER(tenants.missing)),
      bind<Config>({"tenants.ipv6_prefix",
                    "By how many bits IPv6 addresses are told apart: a customer has a whole "
                    "network of them.",
                    Node::of("64")},
                   whole_number<int>(1, ipv6_bits), PAWL_MEMBER(tenants.ipv6_prefix)),
  };
}

Fields<Config> plan_fields() {
  return {
      bind<Config>({"tenants.default_plan",
                    "The plan of tenants that tenants.plans does not name. The plan free is always "
                    "there; it changes nothing unless plans says so.",
                    Node::of(free_plan)},
                   bucket_name(), PAWL_MEMBER(tenants.default_plan)),
      bind<Config>({"tenants.plans_file",
                    "Where plans are kept that were given to tenants while pawl ran, by its API; "
                    "they beat those of this file.",
                    Node::of("data/plans.json"), needs_restart},
                   file_path(), PAWL_MEMBER(tenants.plans_file)),
      bind<Config>(
          {"tenants.upgrades", "Which plan the tenants of a plan are offered next.", Node::map({})},
          map_by(name_key(), bucket_name(), "a map of plans, as in {free: pro}"),
          PAWL_MEMBER(tenants.upgrades)),
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

}  // namespace

const Fields<ApiKey>& api_key_fields() {
  static const Fields<ApiKey> fields = {
      bind<ApiKey>(row("sha256", "The key's hash: `printf %s KEY | sha256sum` prints it.", {}),
                   sha256(), PAWL_MEMBER(sha256)),
      bind<ApiKey>(row("tenant", "Whose key it is.", {}), tenant_name(), PAWL_MEMBER(tenant)),
      bind<ApiKey>(part("plan", "The plan of requests with this key (left out: the tenant's)."),
                   plan_or_none(), PAWL_MEMBER(plan)),
  };
  return fields;
}

Fields<Config> tenants_fields() {
  return joined({identity_fields(), plan_fields()});
}

Type<limit::Rates> rates() {
  return map_by(name_key(), rate(), "a map of buckets and rates, as in {global: 1000/1m}");
}

void check_api_keys(const Tenants& tenants, Reader& reader) {
  check_distinct(tenants.api_keys, &ApiKey::sha256, {"tenants.api_keys", "sha256", "keep one"},
                 reader);
}

}  // namespace pawl::config
