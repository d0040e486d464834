#include "server/responder.h"

#include "base/text.h"

namespace pawl::server {
namespace {

class Responder final : public RequestHandler {
 public:
  Responder(Connection& connection, const Respond& respond, std::size_t body_bytes_max)
      : connection_(connection), respond_(respond), body_bytes_max_(body_bytes_max) {}

  void on_head(const http::RequestHead& head) override {
    request_ = Request{.method = std::string(head.method),
                       .target = std::string(head.target),
                       .headers = {},
                       .body = {}};
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

  void on_body_end() override { answer(respond_(request_), connection_.may_keep_alive()); }

 private:
  void refuse_body() {
    connection_.discard_body();
    answer(problem_response({.code = http::ProblemCode::too_large,
                             .detail = "The body is larger than " +
                                       std::to_string(body_bytes_max_) + " bytes."}),
           false);
  }

  void answer(const Response& response, bool keep_alive) {
    std::string out;
    append_answer(out,
                  {.status = response.status,
                   .content_type = response.content_type,
                   .body = response.body,
                   .extra_fields = response.extra_fields},
                  keep_alive, request_.method == "HEAD");
    connection_.send(out);
    connection_.finish(keep_alive);
  }

  Connection& connection_;
  Respond respond_;
  std::size_t body_bytes_max_;
  Request request_;
};

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return {};
}

Response problem_response(const http::Problem& problem, std::string extra_fields) {
  return {.status = http::status_of(problem.code),
          .content_type = "application/problem+json",
          .body = http::body_of(problem),
          .extra_fields = std::move(extra_fields)};
}

std::shared_ptr<RequestHandler> make_responder(Connection& connection, const Respond& respond,
                                               std::size_t body_bytes_max) {
  return std::make_shared<Responder>(connection, respond, body_bytes_max);
}

}  // namespace pawl::server
