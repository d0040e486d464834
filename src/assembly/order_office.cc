#include "assembly/order_office.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "adapter/curl/curl_http_client.h"
#include "adapter/sqlite/sqlite_counter_store.h"
#include "adapter/sqlite/sqlite_intent_store.h"
#include "adapter/system/waiting_room.h"
#include "port/answer_of.h"
#include "runtime/order_store.h"

namespace pawl {
namespace {

// A folder that is missing is made; what else may be wrong with it, the database says.
void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

Result<std::unique_ptr<CounterStore>> open_paces(const OrderOfficeSettings& settings,
                                                 const OrderOffice::Parts& parts) {
  SqliteCounterStoreOptions options{.path = settings.database + "-pace"};
  options.synced = false;
  return PAWL_TRY(SqliteCounterStore::open(std::move(options), parts.clock, parts.entropy));
}

}  // namespace

std::string token_file_of(const OrderOfficeSettings& settings) {
  if (!settings.saxo || settings.saxo->refresh_token.empty()) return "";
  if (!settings.saxo->token_file.empty()) return settings.saxo->token_file;
  return settings.database + "-saxo-tokens";
}

// In this order: what stands further down is used by nothing above it, and goes first.
struct OrderOffice::Rooms {
  explicit Rooms(bool made) : made_database(made) {}

  Result<void> try_stores(const OrderOfficeSettings& settings, const Parts& parts);
  Result<void> open_stores(const OrderOfficeSettings& settings, const Parts& parts);
  Result<void> open_venues(OrderOfficeSettings& settings, const Parts& parts);
  void open_desk(const OrderOfficeSettings& settings, const Parts& parts);
  void close();

  bool made_database;
  bool closed = false;
  std::unique_ptr<IntentStore> store;
  std::unique_ptr<CounterStore> paces;
  WaitingRoom timers;
  std::unique_ptr<HttpClient> saxo_http;
  std::unique_ptr<HttpClient> okx_http;
  std::vector<std::unique_ptr<Venue>> owned;
  std::vector<Venue*> venues;
  std::unique_ptr<OrderDesk> desk;
};

Result<void> OrderOffice::Rooms::try_stores(const OrderOfficeSettings& settings,
                                            const Parts& parts) {
  make_folder_of(settings.database);
  store = PAWL_TRY(SqliteIntentStore::open({.path = settings.database}, parts.clock));
  paces = PAWL_TRY(open_paces(settings, parts));
  return {};
}

Result<void> OrderOffice::Rooms::open_stores(const OrderOfficeSettings& settings,
                                             const Parts& parts) {
  const std::size_t tries = store_waits.size() + 1;
  for (std::size_t failures = 1;; ++failures) {
    Result<void> opened = try_stores(settings, parts);
    if (opened || opened.error().code != Code::unavailable) return opened;
    const bool is_last = failures == tries;
    const Duration wait = is_last ? Duration() : store_waits[failures - 1];
    if (parts.note) {
      parts.note(desk::StoreFailed{.what = parts.wants,
                                   .attempt = static_cast<int>(failures),
                                   .max_attempts = static_cast<int>(tries),
                                   .delay = wait,
                                   .error = opened.error()});
    }
    if (is_last) return opened;
    if (parts.wait) {
      parts.wait(wait);
    } else {
      std::this_thread::sleep_for(std::chrono::nanoseconds(wait.ns()));
    }
  }
}

Result<void> OrderOffice::Rooms::open_venues(OrderOfficeSettings& settings, const Parts& parts) {
  const auto note_of = [&](std::string venue) {
    return [note = parts.venue_note, venue = std::move(venue)](const std::string& text) {
      if (note) note(venue, text);
    };
  };
  if (settings.saxo) {
    saxo_http = PAWL_TRY(CurlHttpClient::open({.proxy = settings.saxo_proxy}));
    settings.saxo->token_file = token_file_of(settings);
    const std::string name = settings.saxo->name;
    owned.push_back(PAWL_TRY(saxo::SaxoVenue::open(
        *std::move(settings.saxo), {*saxo_http, parts.clock, timers, note_of(name)})));
  }
  if (settings.okx) {
    okx_http = PAWL_TRY(CurlHttpClient::open({.proxy = settings.okx_proxy}));
    const std::string name = settings.okx->name;
    if (!settings.with_channel) settings.okx->ws_url.clear();
    auto venue = PAWL_TRY(okx::OkxVenue::open(
        *std::move(settings.okx), {*okx_http, parts.clock, timers, parts.entropy, note_of(name)}));
    owned.push_back(std::move(venue));
  }
  for (const auto& venue : owned) venues.push_back(venue.get());
  return {};
}

void OrderOffice::Rooms::open_desk(const OrderOfficeSettings& settings, const Parts& parts) {
  std::vector<OrderDesk::VenueSeat> seats;
  for (Venue* venue : venues) {
    seats.push_back({.venue = *venue,
                     .pace = {.name = "orders",
                              .rate = settings.rate,
                              .burst = settings.burst,
                              .adaptive = settings.adaptive}});
  }
  desk = std::make_unique<OrderDesk>(
      OrderDesk::Options{.limit = settings.limit, .placement = settings.placement},
      OrderDesk::Ports{.clock = parts.clock,
                       .timers = timers,
                       .entropy = parts.entropy,
                       .store = *store,
                       .counters = *paces,
                       .audit = parts.audit,
                       .note = parts.note,
                       .pace_note = parts.pace_note},
      std::move(seats));
}

void OrderOffice::Rooms::close() {
  if (std::exchange(closed, true)) return;
  if (desk) (void)answer_of<void>([&](auto done) { desk->drain(std::move(done)); });
  timers.close();
}

OrderOffice::OrderOffice(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}

OrderOffice::~OrderOffice() {
  close();
}

Result<std::unique_ptr<OrderOffice>> OrderOffice::open(OrderOfficeSettings settings,
                                                       const Parts& parts) {
  PAWL_TRY(order::check(settings.placement));
  auto rooms = std::make_unique<Rooms>(!std::filesystem::exists(settings.database));
  PAWL_TRY(rooms->open_stores(settings, parts));
  PAWL_TRY(rooms->open_venues(settings, parts));
  rooms->open_desk(settings, parts);
  std::unique_ptr<OrderOffice> office(new OrderOffice(std::move(rooms)));
  return office;
}

OrderDesk& OrderOffice::desk() {
  return *rooms_->desk;
}

IntentStore& OrderOffice::store() {
  return *rooms_->store;
}

const std::vector<Venue*>& OrderOffice::venues() const {
  return rooms_->venues;
}

bool OrderOffice::made_database() const {
  return rooms_->made_database;
}

void OrderOffice::close() {
  rooms_->close();
}

}  // namespace pawl
