#include "server/responder.h"

#include "base/bounds.h"
#include "base/text.h"
#include "core/http/body.h"

namespace pawl::server {

namespace responder_detail {

// What a Reply holds of its connection, until the answer is complete or nobody waits for it.
class Exchange {
 public:
  struct Client {
    bool keep_alive = true;
    bool asked_for_head = false;  // no body is sent, whatever the answer
    int minor_version = 1;
  };

  Exchange(Connection& connection, Client client) : connection_(&connection), client_(client) {}

  bool is_open() const { return connection_ != nullptr; }
  void detach() { connection_ = nullptr; }

  void send(const Response& response) {
    if (!is_open()) return;
    std::string out;
    append_answer(out,
                  {.status = response.status,
                   .content_type = response.content_type,
                   .body = response.body,
                   .extra_fields = response.extra_fields},
                  client_.keep_alive, client_.asked_for_head);
    connection_->send(out);
    finish(client_.keep_alive);
  }

  void begin_stream(const Response& head) {
    if (!is_open()) return;
    streaming_ = true;
    chunked_ = client_.minor_version == 1;
    std::string out;
    append_open_answer(out,
                       {.status = head.status,
                        .content_type = head.content_type,
                        .body = {},
                        .extra_fields = head.extra_fields},
                       chunked_ && client_.keep_alive, chunked_);
    connection_->send(out);
    if (client_.asked_for_head) return finish(chunked_ && client_.keep_alive);
    push(head.body);
  }

  void push(std::string_view bytes) {
    if (!is_open() || bytes.empty()) return;
    if (chunked_) {
      std::string out;
      http::append_chunk(out, bytes);
      connection_->send(out);
    } else {
      connection_->send(bytes);
    }
    if (connection_->queued_bytes() > bounds::send_queue_bytes_max) break_off();
  }

  // The holder is done with it.
  void end() {
    if (!is_open()) return;
    if (!streaming_) return break_off();
    if (chunked_) connection_->send(http::last_chunk);
    finish(chunked_ && client_.keep_alive);
  }

 private:
  void finish(bool keep_alive) { std::exchange(connection_, nullptr)->finish(keep_alive); }
  void break_off() { std::exchange(connection_, nullptr)->abort(); }

  Connection* connection_;
  Client client_;
  bool streaming_ = false;
  bool chunked_ = false;
};

}  // namespace responder_detail

namespace {

using responder_detail::Exchange;

class Responder final : public RequestHandler {
 public:
  Responder(Connection& connection, Respond respond, std::size_t body_bytes_max)
      : connection_(connection), respond_(std::move(respond)), body_bytes_max_(body_bytes_max) {}
  ~Responder() override { detach(); }

  void on_head(const http::RequestHead& head) override {
    request_ = Request{.method = std::string(head.method),
                       .target = std::string(head.target),
                       .headers = {},
                       .body = {},
                       .peer = connection_.peer()};
    minor_version_ = head.minor_version;
    for (const http::Header& header : head.fields.all()) {
      request_.headers.emplace_back(header.name, header.value);
    }
    if (head.framing.kind == http::Framing::Kind::length &&
        head.framing.length > static_cast<std::int64_t>(body_bytes_max_)) {
      refuse_body();
    }
  }

  void on_body(std::string_view piece) override {
    if (request_.body.size() + piece.size() > body_bytes_max_) {
      refuse_body();
    } else {
      request_.body.append(piece);
    }
  }

  void on_body_end() override {
    respond_(request_, Reply(open_exchange(connection_.may_keep_alive())));
  }

  void on_gone(int) override { detach(); }

 private:
  std::shared_ptr<Exchange> open_exchange(bool keep_alive) {
    exchange_ = std::make_shared<Exchange>(
        connection_, Exchange::Client{.keep_alive = keep_alive,
                                      .asked_for_head = request_.method == "HEAD",
                                      .minor_version = minor_version_});
    return exchange_;
  }

  void detach() {
    if (exchange_) exchange_->detach();
    exchange_.reset();
  }

  void refuse_body() {
    connection_.discard_body();
    open_exchange(false)->send(problem_response(
        {.code = http::ProblemCode::too_large,
         .detail = "The body is larger than " + std::to_string(body_bytes_max_) + " bytes."}));
  }

  Connection& connection_;
  Respond respond_;
  std::size_t body_bytes_max_;
  Request request_;
  int minor_version_ = 1;
  std::shared_ptr<Exchange> exchange_;  // of the current request
};

}  // namespace

ReplyStream::ReplyStream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
ReplyStream::ReplyStream(ReplyStream&&) noexcept = default;
ReplyStream& ReplyStream::operator=(ReplyStream&& other) noexcept {
  std::swap(exchange_, other.exchange_);  // what was there ends with `other`
  return *this;
}
ReplyStream::~ReplyStream() {
  if (exchange_) exchange_->end();
}

bool ReplyStream::push(std::string_view bytes) {
  exchange_->push(bytes);
  return is_open();
}

bool ReplyStream::is_open() const {
  return exchange_->is_open();
}

Reply::Reply(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
Reply::Reply(Reply&&) noexcept = default;
Reply& Reply::operator=(Reply&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  return *this;
}
Reply::~Reply() {
  if (exchange_) exchange_->end();
}

bool Reply::is_open() const {
  return exchange_->is_open();
}

void Reply::send(const Response& response) && {
  std::exchange(exchange_, nullptr)->send(response);
}

ReplyStream Reply::stream(const Response& head) && {
  exchange_->begin_stream(head);
  return ReplyStream(std::exchange(exchange_, nullptr));
}

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return {};
}

Response problem_response(const http::Problem& problem, std::string extra_fields) {
  return {.status = http::status_of(problem),
          .content_type = "application/problem+json",
          .body = http::body_of(problem),
          .extra_fields = std::move(extra_fields)};
}

std::shared_ptr<RequestHandler> make_responder(Connection& connection, Respond respond,
                                               std::size_t body_bytes_max) {
  return std::make_shared<Responder>(connection, std::move(respond), body_bytes_max);
}

std::shared_ptr<RequestHandler> make_responder(Connection& connection, RespondAtOnce respond,
                                               std::size_t body_bytes_max) {
  return make_responder(
      connection,
      [respond = std::move(respond)](const Request& request, Reply reply) {
        std::move(reply).send(respond(request));
      },
      body_bytes_max);
}

}  // namespace pawl::server
