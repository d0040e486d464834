#include "adapter/redis/redis_durability.h"

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace pawl::redis {
namespace {

constexpr std::string_view unseen = "unseen";

std::string value_of(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string(unseen) : found->second;
}

// Nothing when the server does not let us ask.
Result<Settings> configuration(Client& client, const std::string& key, Duration deadline) {
  Settings settings;
  for (const std::string_view pattern : {"*append*", "maxmemory*"}) {
    const std::string_view command[] = {"CONFIG", "GET", pattern};
    const auto reply = client.call_and_wait(command, key, deadline);
    if (!reply && reply.error().code == Code::refused) return Settings();
    if (!reply) return std::unexpected(reply.error());
    const auto items = reply->items();
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i].text() != nullptr && items[i + 1].text() != nullptr) {
        settings[*items[i].text()] = *items[i + 1].text();
      }
    }
  }
  return settings;
}

// What INFO tells of the same.
Result<Settings> information(Client& client, const std::string& key, Duration deadline) {
  const std::string_view command[] = {"INFO"};
  const auto reply = client.call_and_wait(command, key, deadline);
  if (!reply && reply.error().code == Code::refused) return Settings();
  if (!reply) return std::unexpected(reply.error());
  Settings settings;
  std::string_view rest = reply->text() != nullptr ? *reply->text() : std::string_view();
  while (!rest.empty()) {
    std::string_view value = take_until(rest, '\n');
    if (value.ends_with('\r')) value.remove_suffix(1);
    const std::string_view name = take_until(value, ':');
    if (name == "aof_enabled") settings["appendonly"] = value == "1" ? "yes" : "no";
    if (name == "maxmemory") settings["maxmemory"] = value;
    if (name == "maxmemory_policy") settings["maxmemory-policy"] = value;
  }
  return settings;
}

}  // namespace

FoundDurability durability_of(const Settings& settings) {
  FoundDurability found;
  for (const char* name :
       {"appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy"}) {
    if (!found.seen.empty()) found.seen += ", ";
    found.seen += std::string(name) + " " + value_of(settings, name);
  }
  const bool drops_keys = value_of(settings, "maxmemory") != "0" &&
                          value_of(settings, "maxmemory-policy") != "noeviction";
  if (value_of(settings, "appendonly") != "yes" || drops_keys) return found;
  const bool syncs = value_of(settings, "appendfsync") == "always" &&
                     value_of(settings, "no-appendfsync-on-rewrite") == "no";
  found.durability = syncs ? Durability::fsync : Durability::process;
  return found;
}

Result<FoundDurability> probe_durability(Client& client, std::span<const std::string> keys,
                                         Duration deadline) {
  FoundDurability weakest{.durability = Durability::fsync};
  for (const std::string& key : keys) {
    // Only a command with a key is sent on by a node that does not have it, and then we know who
    // has.
    const std::string_view exists[] = {"EXISTS", key};
    const auto there = client.call_and_wait(exists, key, deadline);
    if (!there) return std::unexpected(there.error());
    Settings settings = PAWL_TRY(configuration(client, key, deadline));
    if (settings.empty()) settings = PAWL_TRY(information(client, key, deadline));
    FoundDurability found = durability_of(settings);
    if (weakest.seen.empty() || found.durability < weakest.durability) weakest = std::move(found);
  }
  return weakest;
}

}  // namespace pawl::redis
