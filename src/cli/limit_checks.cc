#include <filesystem>
#include <string>
#include <string_view>

#include "adapter/redis/redis_client.h"
#include "adapter/sqlite/sqlite_counter_store.h"
#include "adapter/system/system_entropy.h"
#include "adapter/system/system_zones.h"
#include "base/redis_url.h"
#include "cli/checks.h"

namespace pawl::cli {
namespace {

constexpr Duration patience = Duration::seconds(2);

Finding check_sqlite(const std::string& setting, const std::string& path, Clock& clock) {
  Finding finding{.check = setting, .found = path + ": ", .advice = ""};
  if (!std::filesystem::exists(path)) {
    finding.found += "not there yet; it is made at the first start";
    return finding;
  }
  SystemEntropy entropy;
  const auto opened =
      SqliteCounterStore::open({.path = path, .book = {.zones = load_zone}}, clock, entropy);
  if (opened) {
    finding.found += "opens; counts survive the process and a power cut";
    return finding;
  }
  finding.health = Health::fail;
  finding.found = opened.error().message;
  finding.advice = "set the file right, or name another one in " + setting;
  return finding;
}

// What the server says to CONFIG GET; empty when it does not tell.
std::string setting_of(redis::Client& client, std::string_view name) {
  const std::string_view command[] = {"CONFIG", "GET", name};
  const auto reply = client.call_and_wait(command, "", patience);
  if (!reply || reply->items().size() != 2 || reply->items()[1].text() == nullptr) return {};
  return *reply->items()[1].text();
}

Finding check_redis(const std::string& setting, const Secret<std::string>& text, Clock& clock) {
  Finding finding{.check = setting, .found = "", .advice = ""};
  const auto fail = [&](const Error& error) {
    finding.health = Health::fail;
    finding.found = error.message;
    finding.advice = "start the server, or correct " + setting +
                     "; until then limits.on_store_failure says what becomes of requests";
    return finding;
  };
  const auto url = redis::parse_redis_url(text.reveal());
  if (!url) return fail(url.error());
  const auto client = redis::Client::make(*url, clock);
  if (!client) return fail(client.error());
  const std::string_view ping[] = {"PING"};
  if (const auto pong = (*client)->call_and_wait(ping, "", patience); !pong) {
    return fail(pong.error());
  }
  finding.found = "the Redis answers";
  const std::string eviction = setting_of(**client, "maxmemory-policy");
  if (!eviction.empty() && eviction != "noeviction") {
    finding.health = Health::warn;
    finding.found += "; its maxmemory-policy is " + eviction + ": what it drops is handed out anew";
    finding.advice = "set maxmemory-policy to noeviction";
    return finding;
  }
  const std::string append_only = setting_of(**client, "appendonly");
  if (append_only == "yes") finding.found += "; counts survive its restart";
  if (append_only == "no") finding.found += "; without an append-only file, counts end with it";
  return finding;
}

Finding check_store(const std::string& setting, const StoreSetting& store, Clock& clock) {
  if (store.kind == StoreSetting::Kind::sqlite) return check_sqlite(setting, store.path, clock);
  if (store.kind == StoreSetting::Kind::redis) return check_redis(setting, store.url, clock);
  return {.check = setting,
          .found = "memory: counts are of this process alone, nothing survives a restart",
          .advice = ""};
}

}  // namespace

std::vector<Finding> check_limit_stores(const config::Limits& limits, Clock& clock) {
  std::vector<Finding> findings = {check_store("limits.store", limits.store, clock)};
  if (limits.calendar_store.kind != StoreSetting::Kind::none) {
    findings.push_back(check_store("limits.calendar_store", limits.calendar_store, clock));
  }
  return findings;
}

}  // namespace pawl::cli
