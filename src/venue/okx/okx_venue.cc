#include "venue/okx/okx_venue.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/sha256.h"
#include "base/text.h"
#include "net/loop.h"
#include "net/tls.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_channel.h"
#include "venue/okx/okx_client_id.h"
#include "venue/okx/okx_codes.h"
#include "venue/okx/okx_history.h"
#include "venue/okx/okx_reading.h"
#include "venue/okx/okx_talk.h"

namespace pawl::okx {
namespace {

using order::Answer;
using order::Life;
using order::Sent;
using order::VenueOrder;

constexpr std::string_view place_path = "/api/v5/trade/order";
constexpr std::string_view batch_path = "/api/v5/trade/batch-orders";
constexpr std::string_view amend_path = "/api/v5/trade/amend-order";
constexpr std::string_view cancel_path = "/api/v5/trade/cancel-order";

Result<void> check_options(const OkxOptions& options) {
  const auto missing = [&](std::string_view what, std::string_view why) {
    return failure(Code::invalid, "the venue " + options.name + " has no good " +
                                      std::string(what) + ": " + std::string(why));
  };
  const std::string& url = options.base_url;
  if (!is_visible(url) || (!url.starts_with("https://") && !url.starts_with("http://"))) {
    return missing("base_url", "it must be an address of http(s)");
  }
  const auto is_good = [](const Secret<std::string>& secret) {
    return !secret.empty() && is_visible(secret.reveal());
  };
  if (!is_good(options.credentials.api_key)) return missing("api_key", "OKX shows one");
  if (!is_good(options.credentials.secret_key)) return missing("secret_key", "OKX shows one");
  if (!is_good(options.credentials.passphrase)) return missing("passphrase", "it is your own");
  if (options.ws_url.empty()) return {};
  const auto channel = parse_channel_url(options.ws_url);
  return channel ? Result<void>() : missing("ws_url", channel.error().message);
}

std::string session_of(const OkxOptions& options) {
  if (!options.session.empty()) return options.session;
  return options.name + '-' + to_hex(sha256(options.credentials.api_key.reveal())).substr(0, 12);
}

Result<VenueOrder> order_in(const Reply& reply, const std::string& reference) {
  if (!reply.answer) return std::unexpected(reply.answer.error());
  auto orders = PAWL_TRY(orders_of(*reply.answer, "trade/order"));
  if (orders.size() != 1) {
    return failure(Code::unavailable, "trade/order: neither an order nor 51603");
  }
  VenueOrder& order = orders.front();
  if (order.reference == client_order_id(reference)) order.reference = reference;
  return std::move(order);
}

// What a cancel was that OKX did not do because the order is over, as it says.
Answer canceled_by(Answer answer, const Result<VenueOrder>& order) {
  if (order) {
    answer.order_id = order->order_id;
    const bool over = order->life == Life::filled || order->life == Life::canceled;
    answer.sent = over ? Sent::accepted : Sent::unknown;
    answer.message += over ? " (it is " + order->says + ")" : " (yet it is " + order->says + ")";
    return answer;
  }
  // An order that had an id and is not shown any more was canceled without a fill.
  const bool gone = order.error().code == Code::not_found;
  answer.sent = !gone ? Sent::unknown : answer.order_id.empty() ? Sent::refused : Sent::accepted;
  if (!gone) answer.message += " (" + order.error().message + ")";
  return answer;
}

// By OKX's id, or by our own name where that is empty.
void show(const std::shared_ptr<Caller>& caller, const ChangeAsk& ask, const std::string& order_id,
          std::move_only_function<void(const Result<VenueOrder>&)> done) {
  caller->read(order_call(ask.order.instrument, order_id, client_order_id(ask.reference)),
               [reference = ask.reference, done = std::move(done)](const Reply& shown) mutable {
                 done(order_in(shown, reference));
               });
}

ReadCall account_call(ReadKind kind, const std::string& name, const std::string& query = {}) {
  return {.kind = kind, .name = name, .path = "/api/v5/" + name + query};
}

Precheck checked_alone(const PlaceAsk& ask, PositionMode mode) {
  const auto mode_text = mode == PositionMode::net ? "net" : "long/short";
  return {.ok = true,
          .message = "OKX has no dry run of an order; these are pawl's own checks",
          .details = {{"instrument_type", std::string(to_string(kind_of(ask.order)))},
                      {"trade_mode", trade_mode(ask.order)},
                      {"client_order_id", client_order_id(ask.reference)},
                      {"position_mode", mode_text}}};
}

// A position that the order would reduce?
void judge_positions(Precheck& precheck, const PlaceAsk& ask, const json::Array& positions) {
  bool reduces = false;
  for (const json::Value& row : positions) {
    const auto held = venue::decimal_of(row, "pos");
    if (!held || *held == Decimal() || precheck.details.size() >= bounds::venue_precheck_max) {
      continue;
    }
    const std::string side = venue::text_of(row, "posSide");
    const bool is_long = side == "long" || (side != "short" && *held > Decimal());
    precheck.details.emplace_back("position", venue::for_people(side + " " + to_string(*held)));
    reduces = reduces || is_long == (ask.order.side == order::Side::sell);
  }
  if (!ask.order.reduce_only || reduces) return;
  precheck.ok = false;
  precheck.code = "51169";
  precheck.message = "there is no position in " + ask.order.instrument + " that it would reduce";
}

}  // namespace

// The order channel, its loop, and the thread that runs it.
class OkxVenue::ChannelThread {
 public:
  ChannelThread(OkxChannel::Options options, OkxChannel::Ports ports,
                std::unique_ptr<net::Loop> loop)
      : loop_(std::move(loop)),
        channel_(std::make_unique<OkxChannel>(std::move(options), std::move(ports))),
        thread_([this] { loop_->run(); }) {}
  ~ChannelThread() {
    loop_->post([this] {
      channel_.reset();
      loop_->stop();
    });
    thread_.join();
  }

 private:
  std::unique_ptr<net::Loop> loop_;
  std::unique_ptr<OkxChannel> channel_;  // the loop's thread alone, once that runs
  std::thread thread_;
};

Result<std::unique_ptr<OkxVenue>> OkxVenue::open(OkxOptions options, Ports ports) {
  PAWL_TRY(check_options(options));
  if (!ports.note) ports.note = [](const std::string&) {};
  return std::unique_ptr<OkxVenue>(new OkxVenue(std::move(options), std::move(ports)));
}

OkxVenue::OkxVenue(OkxOptions options, Ports ports)
    : options_(std::move(options)),
      ports_(std::move(ports)),
      traits_{.name = options_.name,
              .session = session_of(options_),
              .has_reduce_only = true,
              .batch_max = bounds::okx_batch_max,
              .history_kept = archive_kept},
      caller_(std::make_shared<Caller>(Caller::Options{.base_url = options_.base_url,
                                                       .credentials = options_.credentials,
                                                       .simulated = options_.simulated},
                                       Caller::Ports{ports_.http, ports_.clock, ports_.timers})) {}

OkxVenue::~OkxVenue() = default;

Result<void> OkxVenue::check(const order::Order& order, const std::string&) const {
  return check_order(order);
}

std::string OkxVenue::name_of(const std::string& reference) const {
  return client_order_id(reference);
}

bool OkxVenue::enforces_reduce_only(const order::Order& order) const {
  return okx::enforces_reduce_only(order, account_->mode);
}

void OkxVenue::read_mode(Done<Result<PositionMode>> done) {
  const auto found = [](const Reply& reply) -> Result<PositionMode> {
    if (!reply.answer) return std::unexpected(reply.answer.error());
    const auto rows = PAWL_TRY(data_of(*reply.answer, "account/config"));
    const std::string name = rows.empty() ? "" : venue::text_of(rows.front(), "posMode");
    const PositionMode mode = position_mode_of(name);
    if (mode != PositionMode::unknown) return mode;
    return failure(Code::unavailable,
                   "account/config: posMode is '" + venue::for_people(name) + "'");
  };
  caller_->read(account_call(ReadKind::config, "account/config"),
                [account = account_, found, done = std::move(done)](Reply reply) mutable {
                  const auto mode = found(reply);
                  if (mode) account->mode = *mode;
                  done(mode);
                });
}

void OkxVenue::ready(Leaving what, Done<Result<void>> done) {
  // What waits must not hold the caller: it may wait in there, and neither would ever go.
  auto learn_time = [weak = std::weak_ptr(caller_), done = std::move(done)]() mutable {
    const auto caller = weak.lock();
    if (!caller) return done({});
    caller->learn_time([done = std::move(done)]() mutable { done({}); });
  };
  if (what == Leaving::change || account_->mode != PositionMode::unknown) return learn_time();
  if (!account_->learning.join(ports_.clock.steady_now(), std::move(learn_time))) return;
  read_mode([account = account_, &clock = ports_.clock](const Result<PositionMode>& mode) {
    account->learning.end(mode.has_value(), clock.steady_now());
  });
}

void OkxVenue::place(std::vector<PlaceAsk> asks, Done<std::vector<Answer>> done) {
  PAWL_ASSERT(!asks.empty() && asks.size() <= traits_.batch_max);
  const PositionMode mode = account_->mode;
  std::vector<std::string> ids;
  ChangeCall call{
      .path = std::string(asks.size() == 1 ? place_path : batch_path),
      .body = asks.size() == 1 ? place_body(asks.front(), mode) : batch_body(asks, mode),
      .expires = true,
      .ids = venue::ids_of(asks)};
  for (const PlaceAsk& ask : asks) {
    ids.push_back(client_order_id(ask.reference));
    call.timeout = std::max(call.timeout, ask.timeout);
  }
  caller_->change(std::move(call), [ids = std::move(ids), caller = caller_,
                                    done = std::move(done)](Reply reply) mutable {
    auto answers = reply.answer
                       ? place_answers(*reply.answer, ids)
                       : std::vector<Answer>(ids.size(), venue::answer_of(reply.answer.error()));
    for (Answer& answer : answers) {
      answer.expires = reply.expires;
      if (reply.answer) venue::note_limits(answer, *reply.answer, caller->clock().wall_now());
    }
    done(std::move(answers));
  });
}

void OkxVenue::modify(ChangeAsk ask, Done<Answer> done) {
  auto body = amend_body(ask);
  if (!body) return done(venue::answer_of(body.error()));
  ChangeCall call{.path = std::string(amend_path),
                  .body = std::move(*body),
                  .timeout = ask.timeout,
                  .expires = true,
                  .ids = venue::ids_of(ask)};
  caller_->change(std::move(call), [done = std::move(done)](Reply reply) mutable {
    Answer answer =
        reply.answer ? change_answer(*reply.answer) : venue::answer_of(reply.answer.error());
    answer.expires = reply.expires;
    done(std::move(answer));
  });
}

void OkxVenue::cancel(ChangeAsk ask, Done<Answer> done) {
  ChangeCall call{.path = std::string(cancel_path),
                  .body = cancel_body(ask),
                  .timeout = ask.timeout,
                  .ids = venue::ids_of(ask)};
  caller_->change(std::move(call), [caller = caller_, ask = std::move(ask),
                                    done = std::move(done)](Reply reply) mutable {
    Answer answer =
        reply.answer ? change_answer(*reply.answer) : venue::answer_of(reply.answer.error());
    if (answer.sent != Sent::refused || !is_over(answer.code)) return done(std::move(answer));
    if (answer.order_id.empty()) answer.order_id = ask.order_id;
    show(caller, ask, ask.order_id,
         [caller, ask, answer = std::move(answer),
          done = std::move(done)](const Result<VenueOrder>& order) mutable {
           const bool is_gone = !order && order.error().code == Code::not_found;
           if (!is_gone || ask.order_id.empty()) return done(canceled_by(std::move(answer), order));
           // Where it is there by our own name, the id on record is not its.
           show(caller, ask, "",
                [answer = std::move(answer),
                 done = std::move(done)](const Result<VenueOrder>& ours) mutable {
                  done(canceled_by(std::move(answer), ours));
                });
         });
  });
}

namespace {

struct ReadingUnderWay {
  OkxReading reading;
  std::shared_ptr<Caller> caller;
  Venue::Done<order::Reading> done;
};

void go_on(const std::shared_ptr<ReadingUnderWay>& under_way) {
  auto call = under_way->reading.next();
  if (!call) return std::exchange(under_way->done, {})(under_way->reading.result());
  under_way->caller->read(std::move(*call), [under_way](const Reply& reply) {
    under_way->reading.heard(reply.answer, under_way->caller->clock().wall_now());
    go_on(under_way);
  });
}

}  // namespace

void OkxVenue::read(ReadAsk ask, Done<order::Reading> done) {
  go_on(std::make_shared<ReadingUnderWay>(ReadingUnderWay{
      .reading = OkxReading(std::move(ask)), .caller = caller_, .done = std::move(done)}));
}

void OkxVenue::look(ReadAsk ask, Done<Result<VenueOrder>> done) {
  auto call = order_call(ask.order.instrument, ask.order_id, client_order_id(ask.reference));
  caller_->read(std::move(call),
                [reference = std::move(ask.reference), done = std::move(done)](
                    const Reply& reply) mutable { done(order_in(reply, reference)); });
}

void OkxVenue::history(Instant from, Instant to, std::string page, Done<Result<HistoryPage>> done) {
  const Instant now = caller_->venue_now().value_or(ports_.clock.wall_now());
  const HistoryAsk ask{.from = from, .to = to, .now = now};
  auto place = parse_place(page, ask);
  if (!place) return done(std::unexpected(std::move(place.error())));
  caller_->read(history_call(ask, *place),
                [ask, place = *place, done = std::move(done)](const Reply& reply) mutable {
                  if (!reply.answer) return done(std::unexpected(reply.answer.error()));
                  done(history_page(ask, place, *reply.answer));
                });
}

void OkxVenue::precheck(PlaceAsk ask, Done<Result<Precheck>> done) {
  if (auto checked = check_order(ask.order); !checked) {
    return done(Precheck{.code = "invalid", .message = checked.error().message});
  }
  read_mode([caller = caller_, ask = std::move(ask),
             done = std::move(done)](Result<PositionMode> mode) mutable {
    if (!mode) return done(std::unexpected(std::move(mode.error())));
    Precheck precheck = checked_alone(ask, *mode);
    if (kind_of(ask.order) == Kind::spot) return done(std::move(precheck));
    const std::string query = "?" + venue::query_of({{"instId", ask.order.instrument}});
    caller->read(account_call(ReadKind::positions, "account/positions", query),
                 [precheck = std::move(precheck), ask = std::move(ask),
                  done = std::move(done)](const Reply& reply) mutable {
                   if (!reply.answer) return done(std::unexpected(reply.answer.error()));
                   const auto rows = data_of(*reply.answer, "account/positions");
                   if (!rows) return done(std::unexpected(rows.error()));
                   judge_positions(precheck, ask, *rows);
                   done(std::move(precheck));
                 });
  });
}

void OkxVenue::probe(Done<Result<std::string>> done) {
  const std::string where = options_.simulated ? "demo" : "live";
  read_mode([caller = caller_, where, done = std::move(done)](Result<PositionMode> mode) mutable {
    if (!mode) return done(std::unexpected(std::move(mode.error())));
    const Instant ours = caller->clock().wall_now();
    const Duration ahead = caller->venue_now().value_or(ours) - ours;
    const std::int64_t milliseconds = ahead.ns() / Duration::milliseconds(1).ns();
    done("OKX answers (" + where + "), and the key works; positions are " +
         (*mode == PositionMode::net ? "net" : "long/short") + ", its clock is " +
         std::to_string(milliseconds) + " ms ahead of this machine's");
  });
}

void OkxVenue::watch(std::function<void(VenueOrder)> told) {
  if (options_.ws_url.empty() || channel_) return;
  const auto url = parse_channel_url(options_.ws_url);
  PAWL_ASSERT(url);
  auto tls = url->is_tls ? net::Tls::client(options_.ca_file, net::Tls::Protocol::any)
                         : Result<std::shared_ptr<net::Tls>>(nullptr);
  if (!tls) return ports_.note("the order channel of OKX is not opened: " + tls.error().message);
  // The login wants OKX's time; until it has come, ours must do.
  caller_->read(time_call(), [](const Reply&) {});
  auto loop = net::Loop::make();
  OkxChannel::Ports ports{
      .loop = *loop,
      .entropy = ports_.entropy,
      .venue_now =
          [caller = caller_] { return caller->venue_now().value_or(caller->clock().wall_now()); },
      .told = std::move(told),
      .note = ports_.note};
  channel_ = std::make_unique<ChannelThread>(
      OkxChannel::Options{.url = *url, .credentials = options_.credentials, .tls = std::move(*tls)},
      std::move(ports), std::move(loop));
}

void OkxVenue::on_heard(HeardAnswer heard) {
  caller_->on_heard(std::move(heard));
}

}  // namespace pawl::okx
