#include "venue/saxo/saxo_venue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/sha256.h"
#include "base/text.h"
#include "venue/common/wire.h"
#include "venue/saxo/saxo_answer.h"
#include "venue/saxo/saxo_wire.h"

namespace pawl::saxo {
namespace {

using order::Answer;
using order::Life;

constexpr std::string_view orders_path = "/trade/v2/orders";
constexpr std::string_view accounts_path = "/port/v1/accounts/me";

Result<void> check_options(const SaxoOptions& options) {
  const auto missing = [](std::string_view what, std::string_view why) {
    return failure(Code::invalid,
                   "the venue saxo has no good " + std::string(what) + ": " + std::string(why));
  };
  const auto is_url = [](std::string_view url) {
    return is_visible(url) && (url.starts_with("https://") || url.starts_with("http://"));
  };
  if (!is_url(options.base_url)) return missing("base_url", "it must be an address of http(s)");
  if (options.account_key.empty()) return missing("account_key", "orders need an account");
  if (!options.refresh_token.empty() && !is_url(options.token_url)) {
    return missing("token_url", "a refresh token is of no use without it");
  }
  if (!is_visible(options.access_token.reveal())) {
    return missing("access_token", "it has characters that no token has");
  }
  return {};
}

std::string session_of(const SaxoOptions& options) {
  if (!options.session.empty()) return options.session;
  const std::string whose = options.app_key + '\n' + options.client_key;
  return options.name + '-' + to_hex(sha256(whose)).substr(0, 12);
}

bool is_over(Life life) {
  return life == Life::filled || life == Life::canceled || life == Life::rejected;
}

Answer not_possible(const std::string& message) {
  return {.sent = order::Sent::refused, .code = "invalid", .message = message};
}

// The stop price of an order is not shown, so a change must say all prices.
bool lacks_stop_prices(const ChangeAsk& ask) {
  const bool is_stop_limit = ask.order.type == order::Type::stop_limit;
  if (ask.order.type != order::Type::stop && !is_stop_limit) return false;
  return !ask.change.stop_price || (is_stop_limit && !ask.change.price);
}

// A change that is none of this order: a price that its type does not have would go out as another.
std::optional<Answer> why_impossible(const ChangeAsk& ask) {
  if (!is_order_id(ask.order_id)) return not_possible("the order has no id of Saxo yet");
  if (const auto good = order::check(changed(ask.order, ask.change)); !good) {
    return not_possible(good.error().message);
  }
  if (!lacks_stop_prices(ask)) return std::nullopt;
  return Answer{.sent = order::Sent::refused,
                .code = "stop_price_needed",
                .message =
                    "Saxo takes a change as the whole order, and does not show its stop "
                    "price: give every price (the stop price; of a stop_limit order the "
                    "price too)"};
}

// What the change leaves as it is comes from the order as it is now: Saxo takes the whole of it,
// and as it was placed it would undo every change before.
Result<void> fill_in(ChangeAsk& ask, const Result<order::VenueOrder>& shown) {
  if (!shown) return std::unexpected(shown.error());
  ask.order.size = shown->size;
  if (ask.order.type != order::Type::limit) return {};
  if (!shown->price && !ask.change.price) {
    return failure(Code::unavailable, "Saxo does not show the price of order " + ask.order_id);
  }
  ask.order.price = shown->price;
  return {};
}

Result<std::string> probed(const Rows& rows, const Account& account) {
  if (!rows.problem.empty() && rows.rows.empty()) {
    return failure(Code::unavailable, "Saxo does not answer as it should: " + rows.problem);
  }
  for (const json::Value& row : rows.rows) {
    if (venue::text_of(row, "AccountKey") != account.account_key) continue;
    const std::string client = venue::text_of(row, "ClientKey");
    if (!account.client_key.empty() && !client.empty() && client != account.client_key) {
      return failure(Code::invalid, "client_key is not the one that the account belongs to");
    }
    const std::string id = venue::for_people(venue::text_of(row, "AccountId"));
    return "Saxo answers, and the account is there" + (id.empty() ? "" : " (" + id + ")");
  }
  return failure(Code::invalid, "account_key is none of the accounts of this login");
}

}  // namespace

Result<std::unique_ptr<SaxoVenue>> SaxoVenue::open(SaxoOptions options, Ports ports) {
  PAWL_TRY(check_options(options));
  auto tokens = PAWL_TRY(TokenKeeper::open({.url = options.token_url,
                                            .access = options.access_token,
                                            .refresh = options.refresh_token,
                                            .app_key = options.app_key,
                                            .app_secret = options.app_secret,
                                            .file = options.token_file},
                                           {.http = ports.http,
                                            .clock = ports.clock,
                                            .timers = ports.timers,
                                            .note = std::move(ports.note)}));
  auto caller = std::make_shared<Caller>(options.base_url, ports.http, std::move(tokens));
  VenueTraits traits{.name = options.name,
                     .session = session_of(options),
                     .has_reduce_only = false,
                     .paces_prechecks = true,
                     .duplicate_window = Duration::seconds(15),
                     .batch_max = 1,
                     .history_kept = Duration::days(730)};
  Account account{.client_key = std::move(options.client_key),
                  .account_key = std::move(options.account_key),
                  .manual = options.manual_order};
  return std::unique_ptr<SaxoVenue>(new SaxoVenue(
      std::move(traits), std::move(account), {.caller = std::move(caller), .clock = ports.clock}));
}

Result<void> SaxoVenue::check(const order::Order& order, const std::string& reference) const {
  return saxo::check(order, reference);
}

void SaxoVenue::ready(Leaving, Done<Result<void>> done) {
  ports_.caller->ready(std::move(done));
}

void SaxoVenue::place(std::vector<PlaceAsk> asks, Done<std::vector<Answer>> done) {
  PAWL_ASSERT(asks.size() == 1);
  PlaceAsk& ask = asks.front();
  if (const auto good = saxo::check(ask.order, ask.reference); !good) {
    return done({not_possible(good.error().message)});
  }
  Call call{.method = "POST",
            .path = std::string(orders_path),
            .body = place_body(ask.order, ask.reference, account_),
            .ids = venue::ids_of({&ask, 1}),
            .timeout = ask.timeout,
            .in_turn = true};
  ports_.caller->send(std::move(call),
                      [&clock = ports_.clock, reference = ask.reference,
                       done = std::move(done)](const Result<HttpAnswer>& answer) mutable {
                        done({answer ? place_answer(*answer, reference, clock.wall_now())
                                     : venue::answer_of(answer.error())});
                      });
}

void SaxoVenue::precheck(PlaceAsk ask, Done<Result<Precheck>> done) {
  if (auto good = saxo::check(ask.order, ask.reference); !good) {
    return done(std::unexpected(good.error()));
  }
  Call call{.method = "POST",
            .path = std::string(orders_path) + "/precheck",
            .body = precheck_body(ask.order, ask.reference, account_),
            .ids = venue::ids_of({&ask, 1}),
            .timeout = ask.timeout,
            .in_turn = true};
  ports_.caller->send(std::move(call), [&clock = ports_.clock, done = std::move(done)](
                                           const Result<HttpAnswer>& answer) mutable {
    if (answer) return done(precheck_answer(*answer, clock.wall_now()));
    done(std::unexpected(
        Error(Code::unavailable, answer.error().outcome,
              "the precheck had no answer: " + venue::for_people(answer.error().message))));
  });
}

void SaxoVenue::prepare(ChangeAsk ask, Done<Prepared> done) {
  if (auto impossible = why_impossible(ask)) return done(std::unexpected(*std::move(impossible)));
  const std::string id = ask.order_id;
  look_at_terms(ports_, account_, id,
                [ask = std::move(ask),
                 done = std::move(done)](const Result<order::VenueOrder>& shown) mutable {
                  if (const auto filled = fill_in(ask, shown); !filled) {
                    return done(std::unexpected(Answer{
                        .sent = order::Sent::not_sent,
                        .code = "order_not_seen",
                        .message = venue::for_people(
                            "nothing was sent, for what the order is now could not be seen: " +
                            filled.error().message)}));
                  }
                  ask.prepared = true;
                  done(std::move(ask));
                });
}

void SaxoVenue::modify(ChangeAsk ask, Done<Answer> done) {
  if (auto impossible = why_impossible(ask)) return done(*std::move(impossible));
  if (!ask.prepared) {
    return done(not_possible("the change would undo those before it: it was not prepared"));
  }
  Call call{.method = "PATCH",
            .path = std::string(orders_path),
            .body = change_body(ask, account_),
            .ids = venue::ids_of(ask),
            .timeout = ask.timeout,
            .in_turn = true};
  ports_.caller->send(std::move(call), [&clock = ports_.clock, id = ask.order_id,
                                        done = std::move(done)](
                                           const Result<HttpAnswer>& answer) mutable {
    done(answer ? change_answer(*answer, id, clock.wall_now()) : venue::answer_of(answer.error()));
  });
}

void SaxoVenue::cancel(ChangeAsk ask, Done<Answer> done) {
  if (!is_order_id(ask.order_id)) return done(not_possible("the order has no id of Saxo yet"));
  Call call{.method = "DELETE",
            .path = std::string(orders_path) + '/' + ask.order_id,
            .query = venue::query_of({{"AccountKey", account_.account_key}}),
            .ids = venue::ids_of(ask),
            .timeout = ask.timeout,
            .in_turn = true};
  const auto look_closer = [ports = ports_, account = account_, id = ask.order_id](
                               Answer answer, Done<Answer> tell) {
    look_at_order(ports, account, id,
                  [answer = std::move(answer),
                   tell = std::move(tell)](const Result<order::VenueOrder>& shown) mutable {
                    if (shown && is_over(shown->life)) {
                      answer.sent = order::Sent::accepted;
                      answer.message = venue::for_people("it was over already (" +
                                                         std::string(to_string(shown->life)) +
                                                         "): " + answer.message);
                    }
                    tell(std::move(answer));
                  });
  };
  ports_.caller->send(std::move(call),
                      [&clock = ports_.clock, id = ask.order_id, look_closer,
                       done = std::move(done)](const Result<HttpAnswer>& answer) mutable {
                        if (!answer) return done(venue::answer_of(answer.error()));
                        Answer heard = cancel_answer(*answer, id, clock.wall_now());
                        if (heard.sent != order::Sent::refused) return done(std::move(heard));
                        look_closer(std::move(heard), std::move(done));
                      });
}

void SaxoVenue::read(ReadAsk ask, Done<order::Reading> done) {
  read_intent(ports_, account_, std::move(ask), std::move(done));
}

void SaxoVenue::look(ReadAsk ask, Done<Result<order::VenueOrder>> done) {
  if (is_order_id(ask.order_id)) {
    return look_at_order(ports_, account_, ask.order_id, std::move(done));
  }
  read_intent(
      ports_, account_, std::move(ask), [done = std::move(done)](order::Reading reading) mutable {
        if (reading.orders.size() == 1) return done(std::move(reading.orders.front()));
        if (!reading.whole) {
          return done(
              failure(Code::unavailable, "Saxo was not heard in full: " + reading.why_not_whole));
        }
        done(failure(Code::not_found, "Saxo shows no such order"));
      });
}

void SaxoVenue::history(Instant from, Instant to, std::string, Done<Result<HistoryPage>> done) {
  read_rows(ports_.caller, activities_path, activities_query(account_, {.from = from, .to = to}),
            [from, to, done = std::move(done)](Rows rows) mutable {
              if (!rows.problem.empty()) {
                return done(failure(Code::unavailable,
                                    "the order activities could not be read to their end: " +
                                        rows.problem + "; ask for fewer days"));
              }
              Sightings sightings;
              for (const json::Value& row : rows.rows) sightings.add_activity(row);
              done(HistoryPage{.orders = placed_within(sightings, from, to),
                               .note = "Saxo keeps order activities for two years"});
            });
}

void SaxoVenue::probe(Done<Result<std::string>> done) {
  read_rows(ports_.caller, accounts_path, "",
            [account = account_, done = std::move(done)](const Rows& rows) mutable {
              done(probed(rows, account));
            });
}

void SaxoVenue::on_heard(HeardAnswer heard) {
  ports_.caller->on_heard(std::move(heard));
}

}  // namespace pawl::saxo
