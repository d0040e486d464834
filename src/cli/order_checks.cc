#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapter/curl/curl_http_client.h"
#include "adapter/sqlite/sqlite_intent_store.h"
#include "adapter/system/system_entropy.h"
#include "adapter/system/waiting_room.h"
#include "cli/checks.h"
#include "cli/open_orders.h"
#include "cli/order_session.h"

namespace pawl::cli {
namespace {

constexpr const char* database_check = "orders.database";

// A venue that says nothing must not keep doctor for ever; its own deadlines are shorter.
constexpr auto venue_patience = std::chrono::seconds(30);

Finding check_database(const std::string& path, Clock& clock) {
  if (!std::filesystem::exists(path)) {
    return {.check = database_check,
            .found = path + ": not there yet; it is made with the first order",
            .advice = "after a loss of it run `pawl backfill-orders` first"};
  }
  const auto opened = SqliteIntentStore::open({.path = path}, clock);
  if (!opened) {
    return {.check = database_check,
            .health = Health::fail,
            .found = opened.error().message,
            .advice = "set the file right, or move it away and run `pawl backfill-orders`"};
  }
  const Result<OpenOrders> open = open_orders(**opened);
  if (!open) {
    return {.check = database_check,
            .health = Health::fail,
            .found = open.error().message,
            .advice = "set the file right"};
  }
  const std::string summary = open_orders_summary(open->unresolved.size(), open->left.size());
  if (!summary.empty()) {
    return {.check = database_check,
            .health = Health::warn,
            .found = summary,
            .advice = "run `pawl order reconcile`, then `pawl order list --unresolved`"};
  }
  return {.check = database_check,
          .found =
              "it opens; what is acknowledged survives a power cut; nothing is unresolved "
              "or was left open",
          .advice = ""};
}

// The answer, or nothing when none came in time.
template <class T, class Call>
std::optional<T> in_time(Call call) {
  auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  call([promise](T value) { promise->set_value(std::move(value)); });
  if (answer.wait_for(venue_patience) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

std::vector<Finding> check_venue(Venue& venue, Clock& clock) {
  const std::string name = "orders.venues." + venue.traits().name;
  const auto probed =
      in_time<Result<std::string>>([&](auto done) { venue.probe(std::move(done)); });
  if (!probed || !*probed) {
    return {{.check = name,
             .health = Health::fail,
             .found = probed ? probed->error().message : "it does not answer",
             .advice = "look at base_url and the credentials; keys of a demo account do not work "
                       "elsewhere"}};
  }
  std::vector<Finding> findings = {{.check = name, .found = **probed, .advice = ""}};
  const Instant now = clock.wall_now();
  const auto reading = in_time<order::Reading>([&](auto done) {
    venue.read({.order = {.venue = venue.traits().name, .instrument = "none"},
                .reference = "pawl-doctor",
                .since = now - Duration::minutes(1),
                .now = now},
               std::move(done));
  });
  findings.push_back(check_venue_clock(
      venue.traits().name, reading ? reading->venue_time : std::nullopt, clock.wall_now()));
  return findings;
}

std::vector<Finding> broken_client(const Error& error) {
  return {{.check = "orders.venues",
           .health = Health::fail,
           .found = error.message,
           .advice = "look at the proxy, and at the installation of libcurl"}};
}

}  // namespace

Finding check_venue_clock(const std::string& venue, std::optional<Instant> venue_time,
                          Instant now) {
  const std::string name = "orders.venues." + venue + " clock";
  if (!venue_time) {
    return {.check = name,
            .health = Health::warn,
            .found = "the venue told no time",
            .advice = "run doctor again"};
  }
  const Duration ahead = now - *venue_time;
  const Duration apart = ahead < Duration() ? Duration() - ahead : ahead;
  constexpr Duration fine = Duration::seconds(5);
  constexpr std::int64_t half_a_millisecond = 500'000;
  // No venue tells its time better than that.
  const Duration shown =
      Duration::milliseconds((apart.ns() + half_a_millisecond) / Duration::milliseconds(1).ns());
  const std::string found = "this machine's clock is " + to_string(shown) +
                            (ahead < Duration() ? " behind" : " ahead of") + " the venue's";
  if (apart <= fine) return {.check = name, .found = found, .advice = ""};
  return {.check = name,
          .health = Health::warn,
          .found = found,
          .advice = "set it with NTP: weeks, and the times of signed calls, go by it"};
}

std::vector<Finding> check_orders(const config::Config& config, Clock& clock) {
  if (!config.orders.venues.any()) return {};
  std::vector<Finding> findings = {check_database(config.orders.database, clock)};
  OrderOfficeSettings settings = office_settings(config);
  SystemEntropy entropy;
  WaitingRoom timers;
  const auto add = [&](const std::string& name, const auto& venue) {
    if (venue) {
      for (Finding& each : check_venue(**venue, clock)) findings.push_back(std::move(each));
    } else {
      findings.push_back({.check = "orders.venues." + name,
                          .health = Health::fail,
                          .found = venue.error().message,
                          .advice = "correct the setting"});
    }
  };
  if (settings.saxo) {
    settings.saxo->token_file = token_file_of(settings);
    const auto http = CurlHttpClient::open({.proxy = settings.saxo_proxy});
    if (!http) return broken_client(http.error());
    add("saxo", saxo::SaxoVenue::open(*settings.saxo, {**http, clock, timers}));
  }
  if (settings.okx) {
    settings.okx->ws_url.clear();
    const auto http = CurlHttpClient::open({.proxy = settings.okx_proxy});
    if (!http) return broken_client(http.error());
    add("okx", okx::OkxVenue::open(*settings.okx, {**http, clock, timers, entropy}));
  }
  timers.close();
  return findings;
}

}  // namespace pawl::cli
