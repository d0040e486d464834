#include "emulator/door.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/calendar.h"
#include "base/text.h"
#include "core/http/problem.h"

namespace pawl::emulator {
namespace {

constexpr std::size_t promised_too_much = 64;  // bytes that a wrong Content-Length names

std::string head_of(const Reply& reply, Instant now, std::size_t length, bool keep_alive) {
  std::string head = "HTTP/1.1 ";
  append_number(head, reply.status);
  head.append(" ").append(http::reason_phrase(reply.status)).append("\r\nDate: ");
  head.append(http_date(now)).append("\r\n");
  for (const Field& field : reply.fields) {
    head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  head.append("Content-Length: ");
  append_number(head, length);
  head.append("\r\n");
  if (!keep_alive) head.append("Connection: close\r\n");
  return head.append("\r\n");
}

class Door final : public server::RequestHandler {
 public:
  Door(server::Connection& connection, DoorOptions options)
      : connection_(connection), options_(std::move(options)) {}
  ~Door() override { leave(); }

  void on_head(const http::RequestHead& head) override {
    call_ = {};
    call_.method = head.method;
    std::string_view target = head.target;
    call_.path = take_until(target, '?');
    call_.query = target;
    for (const http::Header& header : head.fields.all()) {
      std::string name(header.name);
      std::ranges::transform(name, name.begin(), ascii_lower);
      call_.fields.push_back({.name = std::move(name), .value = std::string(header.value)});
    }
    wants_upgrade_ = !head.upgrade.empty();
  }

  void on_body(std::string_view piece) override {
    if (tunnel_) return tunnel_->on_data(piece);
    if (call_.body.size() + piece.size() > options_.body_bytes_max) {
      connection_.discard_body();
      Line(connection_, {.keep_alive = false}).send({.status = 413}, Instant());
      return;
    }
    call_.body.append(piece);
  }

  void on_body_end() override {
    if (wants_upgrade_ && options_.channels != nullptr) {
      tunnel_ = options_.channels->open(connection_, call_);
      if (tunnel_) {
        tunnel_->on_open();
        return connection_.become_tunnel();
      }
    }
    line_ =
        std::make_shared<Line>(connection_, Line::Client{.keep_alive = connection_.may_keep_alive(),
                                                         .asked_for_head = call_.method == "HEAD"});
    options_.take(std::move(call_), line_);
  }

  void on_gone(int) override { leave(); }

 private:
  void leave() {
    if (line_) line_->detach();
    line_.reset();
    if (tunnel_) std::exchange(tunnel_, nullptr)->on_gone();
  }

  server::Connection& connection_;
  DoorOptions options_;
  Call call_;
  bool wants_upgrade_ = false;
  std::shared_ptr<Line> line_;      // of the current call
  std::shared_ptr<Tunnel> tunnel_;  // once no HTTP is spoken
};

}  // namespace

void Line::send(const Reply& reply, Instant now) {
  if (connection_ == nullptr) return;
  server::Connection& connection = *std::exchange(connection_, nullptr);
  if (reply.wire == Wire::drop || reply.wire == Wire::restart) return connection.abort();
  const bool is_cut = reply.wire == Wire::half || reply.wire == Wire::wrong_length;
  const bool keep_alive = client_.keep_alive && !is_cut;
  const std::size_t promised =
      reply.body.size() + (reply.wire == Wire::wrong_length ? promised_too_much : 0);
  std::string_view body = client_.asked_for_head ? std::string_view() : reply.body;
  if (reply.wire == Wire::half) body = body.substr(0, body.size() / 2);
  std::string answer = head_of(reply, now, promised, keep_alive);
  answer.append(body);
  connection.send(answer);
  if (reply.wire == Wire::twice) connection.send(answer);
  connection.finish(keep_alive);
}

std::shared_ptr<server::RequestHandler> make_door(server::Connection& connection,
                                                  DoorOptions options) {
  return std::make_shared<Door>(connection, std::move(options));
}

}  // namespace pawl::emulator
