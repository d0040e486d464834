#include "adapter/redis/redis_router.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

constexpr Duration slots_deadline = Duration::seconds(2);
constexpr Duration refresh_wait = Duration::milliseconds(100);  // after a sign of change
constexpr Duration trouble_wait = Duration::seconds(1);         // between looks while it is ill
constexpr Duration try_again_wait = Duration::milliseconds(20);

constexpr std::string_view asking = "*1\r\n$6\r\nASKING\r\n";
constexpr std::string_view cluster_slots = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";

// Said before a command or script begins, and likely to pass.
constexpr std::array<std::string_view, 10> passing = {
    "LOADING",    "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN",
    "NOREPLICAS", "MISCONF",  "BUSY",        "MOVED",      "ASK"};

template <std::size_t size>
bool is_one_of(std::string_view word, const std::array<std::string_view, size>& words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

Error server_error(const std::string& server, std::string_view text) {
  std::string_view rest = text;
  const std::string_view word = take_until(rest, ' ');
  const std::string message = server + ": " + std::string(text);
  if (is_one_of(word, passing)) return Error(Code::unavailable, Outcome::not_applied, message);
  if (word == "NOSCRIPT") return Error(Code::not_found, Outcome::not_applied, message);
  // A script that fails midway keeps what it has written.
  const bool is_script = text.find("script") != text.npos;
  return Error(Code::refused, is_script ? Outcome::unknown : Outcome::not_applied, message);
}

Router::Router(const Surroundings& around, OnHealth on_health)
    : around_(around),
      on_health_(std::move(on_health)),
      refresh_timer_(around.loop.timer([this] {
        refresh_at_ = SteadyInstant::max();
        refresh();
      })),
      later_timer_(around.loop.timer([this] { send_those_that_waited(); })) {
  if (around.url.cluster) slots_.resize(slots_count);
  for (const net::Target& target : around.url.servers) {
    nodes_.push_back({.connection = Connection::make(around_, target, *this), .is_seed = true});
  }
}

Router::~Router() {
  for (const Node& node : nodes_) node.connection->close();
}

void Router::send(Call call) {
  Connection* to = nullptr;
  if (!around_.url.cluster) {
    to = nodes_.front().connection.get();
  } else if (call.slot < slots_count) {
    to = slots_[call.slot];
  }
  if (to == nullptr) to = &any_node();
  to->send(std::move(call));
}

// One that is up; else one that may soon be.
Connection& Router::any_node() {
  for (const auto state : {Connection::State::up, Connection::State::connecting}) {
    for (const Node& node : nodes_) {
      if (node.connection->state() == state) return *node.connection;
    }
  }
  return *nodes_.front().connection;
}

// Null when there are too many.
Connection* Router::node_at(const net::Target& target) {
  for (const Node& node : nodes_) {
    if (node.connection->target() == target) return node.connection.get();
  }
  if (nodes_.size() == bounds::redis_nodes_max) return nullptr;
  nodes_.push_back({.connection = Connection::make(around_, target, *this)});
  return nodes_.back().connection.get();
}

void Router::on_answer(Connection& connection, Call call, Result<Reply> reply) {
  if (!reply || !reply->is_error()) {
    if (call.done) call.done(std::move(reply));
    return;
  }
  const std::string& refusal = *reply->text();
  if (send_again(connection, call, refusal)) return;
  if (call.done) call.done(std::unexpected(server_error(connection.name(), refusal)));
}

// Takes the call when it goes elsewhere, or there again.
bool Router::send_again(Connection& from, Call& call, const std::string& refusal) {
  if (!around_.url.cluster || call.kept == nullptr) return false;
  if (call.resends == bounds::redis_resends_max) return false;
  if (const auto redirect = parse_redirect(refusal, from.target())) {
    Connection* to = node_at(redirect->target);
    if (to == nullptr) return false;
    ++call.resends;
    if (redirect->ask) {
      to->send({.bytes = asking, .deadline = call.deadline});
    } else {
      slots_[redirect->slot] = to;
      refresh_soon(refresh_wait);
    }
    to->send(std::move(call));
    return true;
  }
  if (refusal.starts_with("CLUSTERDOWN")) {
    refresh_soon(refresh_wait);
  } else if (!refusal.starts_with("TRYAGAIN")) {
    return false;
  }
  ++call.resends;
  send_later(std::move(call));
  return true;
}

void Router::send_later(Call call) {
  if (later_.empty()) later_timer_->start(try_again_wait);
  later_.push_back(std::move(call));
}

void Router::send_those_that_waited() {
  for (Call& call : std::exchange(later_, {})) send(std::move(call));
}

void Router::on_state(Connection& connection) {
  if (around_.url.cluster) {
    if (connection.state() != Connection::State::up) {
      refresh_soon(refresh_wait);
    } else if (!has_map_) {
      refresh();
    }
  }
  note_health();
}

void Router::refresh_soon(Duration wait) {
  const SteadyInstant at = around_.clock.steady_now() + wait;
  if (is_refreshing_ || at >= refresh_at_) return;
  refresh_at_ = at;
  refresh_timer_->start(wait);
}

// Another node each time: one that lags behind must not have the last word.
void Router::refresh() {
  if (is_refreshing_) return;
  for (std::size_t i = 1; i <= nodes_.size(); ++i) {
    const std::size_t index = (asked_last_ + i) % nodes_.size();
    Connection& node = *nodes_[index].connection;
    if (node.state() != Connection::State::up) continue;
    asked_last_ = index;
    is_refreshing_ = true;
    node.send(
        {.bytes = cluster_slots,
         .deadline = around_.clock.steady_now() + slots_deadline,
         .done = [this, asked = node.target()](Result<Reply> reply) { on_slots(asked, reply); }});
    return;
  }
}

void Router::on_slots(const net::Target& asked, const Result<Reply>& reply) {
  is_refreshing_ = false;
  if (reply) {
    if (const auto ranges = parse_slots(*reply, asked)) apply(*ranges);
  }
  note_health();
  if (!trouble().empty()) refresh_soon(trouble_wait);
}

void Router::apply(const std::vector<SlotRange>& ranges) {
  for (Node& node : nodes_) node.slots = 0;
  std::ranges::fill(slots_, nullptr);
  for (const SlotRange& range : ranges) {
    Connection* master = node_at(range.master);
    if (master == nullptr) continue;
    for (std::size_t slot = range.first; slot <= range.last; ++slot) slots_[slot] = master;
    for (Node& node : nodes_) {
      if (node.connection.get() == master) node.slots += range.last - range.first + 1u;
    }
  }
  has_map_ = true;
  drop_strangers();
}

// Nodes that have no slot any more and no call either.
void Router::drop_strangers() {
  std::erase_if(nodes_, [](const Node& node) {
    const bool is_stranger = !node.is_seed && node.slots == 0 && node.connection->calls() == 0;
    if (is_stranger) node.connection->close();
    return is_stranger;
  });
}

// Empty when all is well.
std::string Router::trouble() const {
  if (around_.url.cluster && !has_map_) {
    for (const Node& node : nodes_) {
      const std::string& why = node.connection->trouble();
      if (!why.empty()) return node.connection->name() + ": " + why;
    }
    return "no node has told the map of the cluster yet";
  }
  std::size_t covered = 0;
  for (const Node& node : nodes_) {
    covered += node.slots;
    const bool is_needed = node.slots > 0 || !around_.url.cluster;
    if (is_needed && node.connection->state() != Connection::State::up) {
      return node.connection->name() + ": " + node.connection->trouble();
    }
  }
  if (covered >= slots_.size()) return "";
  return std::to_string(slots_.size() - covered) + " slots of the cluster have no node";
}

void Router::note_health() {
  const std::string why = trouble();
  on_health_(why.empty(), why.empty() ? "connected to " + to_string(around_.url) : why);
}

void Router::close() {
  for (const Node& node : nodes_) node.connection->close();
  for (Call& call : std::exchange(later_, {})) {
    call.done(failure(Code::unavailable, "redis: the client ends"));
  }
}

}  // namespace pawl::redis
