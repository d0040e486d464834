// Sends webhooks as a gateway does, on command: what it is told on its standard input it does, and
// answers on its standard output, a line each.
//
//   webhook_sender OUTBOX RECORDS NAME URL SECRET [CA]
//     emit ID TYPE TENANT JSON   ok | known | error MESSAGE, once it is on the disk
//     list                       the deliveries, as a list of JSON
//     quit                       ends in good order
//
// Waits between attempts are a hundredth of the usual ones, and a claim lasts two seconds.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "adapter/curl/curl_http_client.h"
#include "adapter/sqlite/sqlite_outbox.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/waiting_room.h"
#include "assembly/record_stores.h"
#include "port/answer_of.h"
#include "runtime/webhooks.h"

namespace {

using namespace pawl;

Webhooks::Options fast() {
  Webhooks::Options options;
  for (Duration& delay : options.policy.delays) delay = delay / 100;
  options.policy.attempt_timeout = Duration::seconds(5);
  options.lease = Duration::seconds(2);
  return options;
}

Result<bool> emit(Webhooks& webhooks, std::istringstream& words, Instant now) {
  webhook::Event event{.time = now};
  std::string data;
  words >> event.id >> event.type >> event.tenant;
  std::getline(words, data);
  event.data = PAWL_TRY(json::parse(data));
  return answer_of<bool>([&](auto done) { webhooks.emit(event, std::move(done)); });
}

json::Value to_json(const webhook::Delivery& one) {
  return json::Object{{"event_id", one.event_id},       {"endpoint", one.endpoint},
                      {"state", to_string(one.state)},  {"attempts", one.attempts},
                      {"last_status", one.last_status}, {"last_error", one.last_error}};
}

Result<std::string> list(Webhooks& webhooks) {
  const auto all = PAWL_TRY(answer_of<std::vector<webhook::Delivery>>(
      [&](auto done) { webhooks.deliveries(std::nullopt, 1'000, std::move(done)); }));
  json::Array listed;
  for (const webhook::Delivery& one : all) listed.push_back(to_json(one));
  return json::print(listed);
}

void obey(Webhooks& webhooks, Clock& clock) {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    const Result<std::string> said = [&]() -> Result<std::string> {
      if (verb == "list") return list(webhooks);
      return PAWL_TRY(emit(webhooks, words, clock.wall_now())) ? "ok" : "known";
    }();
    std::cout << (said ? *said : "error " + said.error().message) << std::endl;
  }
}

Result<void> serve(const std::vector<std::string>& words) {
  SystemClock clock;
  const auto records =
      PAWL_TRY(open_records(PAWL_TRY(parse_store(words[1])), Durability::none, clock));
  const auto outbox = PAWL_TRY(SqliteOutbox::open({.path = words[0]}, clock));
  const auto http = PAWL_TRY(CurlHttpClient::open({.ca_file = words.size() > 5 ? words[5] : ""}));
  WaitingRoom timers;
  Webhooks webhooks(fast(), {.clock = clock,
                             .timers = timers,
                             .outbox = *outbox,
                             .http = *http,
                             .records = records.get()});
  PAWL_TRY(webhooks.set_endpoints(
      {{.name = words[2], .url = words[3], .secret = Secret<std::string>(words[4])}}));
  webhooks.start();
  obey(webhooks, clock);
  webhooks.stop(Duration::seconds(5));
  timers.close();
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::cerr << "usage: webhook_sender OUTBOX RECORDS NAME URL SECRET [CA]\n";
    return EXIT_FAILURE;
  }
  const auto served = serve({words + 1, words + count});
  if (!served) std::cerr << served.error().message << "\n";
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}
