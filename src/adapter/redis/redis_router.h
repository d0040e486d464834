// Router: sends each command to the server that has its key, and follows a cluster when it moves.
//
// Contract: every send() ends in its `done`, once. One server: everything goes there. A cluster:
//           the map of slots is asked of any node, corrected by every MOVED, and asked again while
//           something is wrong (a node is away, a slot has none). A redirected command was not
//           executed, so it is sent again: bounds::redis_resends_max times, never after its
//           deadline.
//           A reply that is an error becomes an Error with the server's words.
// Bounds:   bounds::redis_nodes_max nodes.
// Threads:  none; all on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/redis/redis_connection.h"
#include "adapter/redis/slots.h"

namespace pawl::redis {

// A call that may go to any node.
inline constexpr std::uint16_t any_slot = slots_count;

// What the server's refusal means for the caller.
Error server_error(const std::string& server, std::string_view text);

class Router final : private Connection::Owner {
 public:
  // Called whenever it may have changed.
  using OnHealth = std::function<void(bool up, std::string detail)>;

  Router(const Surroundings& around, OnHealth on_health);
  ~Router();

  // In a cluster `kept` must hold the bytes.
  void send(Call call);
  // Fails everything under way.
  void close();

 private:
  struct Node {
    std::shared_ptr<Connection> connection;
    bool is_seed = false;  // named in the URL, so kept
    std::size_t slots = 0;
  };

  void on_answer(Connection& connection, Call call, Result<Reply> reply) override;
  void on_state(Connection& connection) override;

  bool send_again(Connection& from, Call& call, const std::string& refusal);
  void send_later(Call call);
  void send_those_that_waited();
  Connection& any_node();
  Connection* node_at(const net::Target& target);

  void refresh();
  void refresh_soon(Duration wait);
  void on_slots(const net::Target& asked, const Result<Reply>& reply);
  void apply(const std::vector<SlotRange>& ranges);
  void drop_strangers();

  void note_health();
  std::string trouble() const;

  Surroundings around_;
  OnHealth on_health_;
  std::vector<Node> nodes_;
  std::vector<Connection*> slots_;  // of a cluster; null: nobody's yet
  bool has_map_ = false;
  bool is_refreshing_ = false;
  SteadyInstant refresh_at_ = SteadyInstant::max();  // what refresh_timer_ waits for
  std::size_t asked_last_ = 0;
  net::TimerPtr refresh_timer_;
  std::vector<Call> later_;
  net::TimerPtr later_timer_;
};

}  // namespace pawl::redis
