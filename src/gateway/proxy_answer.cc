// The proxy's way back: what the upstream says, and how much of it the client gets.
#include <utility>

#include "base/text.h"
#include "gateway/proxy.h"

namespace pawl::gateway {
namespace {

bool is_event_stream(const http::Fields& fields) {
  std::string_view type = fields.find("Content-Type").value_or("");
  return equal_ignoring_case(trim_blanks(take_until(type, ';')), "text/event-stream");
}

}  // namespace

void Proxy::on_upstream_data(std::string_view bytes) {
  const auto keep = self();
  heard_ = true;
  if (tunnel_) {
    pass_on(bytes);
    return;
  }
  progress_ = true;
  if (!answer_stash_.empty()) {
    answer_stash_.append(bytes);
    const std::string joined = std::exchange(answer_stash_, std::string());
    read_answer(joined);
    return;
  }
  read_answer(bytes);
}

// Reads head and body as far as they have come and passes them on in one send.
void Proxy::read_answer(std::string_view bytes) {
  Scratch out(context_);
  const bool head_sent = answer_begun_;
  if (!answer_begun_ && !read_head(bytes, out.text)) return;
  const auto ready = relay_body(bytes, out.text);
  if (!ready) {
    answer_begun_ = head_sent;
    answer_lost(request::Failed::Kind::bad_answer);
  } else if (answer_body_.done()) {
    answer_complete(*ready, bytes);
  } else {
    pass_on(*ready);
  }
}

// True once there is a head that the client gets; `out` has it then. Interim answers are for us.
bool Proxy::read_head(std::string_view& bytes, std::string& out) {
  http::ResponseHead head;
  while (true) {
    const auto progress = http::parse_response(bytes, head_request_, head);
    if (!progress) {
      bad_answer(progress.error().reason);
      return false;
    }
    if (*progress == http::HeadProgress::needs_more) {
      answer_stash_.assign(bytes);
      return false;
    }
    bytes.remove_prefix(head.bytes);
    if (head.status >= 200) break;
    if (head.status == 100) client_.invite_body();
    if (head.status != 101) continue;
    if (!upgrades_ || !request_sent_ || !equal_ignoring_case(head.upgrade, "websocket")) {
      bad_answer("a change of protocol that nobody asked for");
      return false;
    }
    begin_answer(head, out);
    begin_tunnel(out.append(bytes));
    return false;
  }
  begin_answer(head, out);
  return true;
}

void Proxy::begin_answer(const http::ResponseHead& head, std::string& out) {
  answer_begun_ = true;
  answer_status_ = head.status;
  answer_body_ = http::BodyReader(head.framing);
  upstream_keep_alive_ = head.keep_alive;
  // An answer before the request's end leaves the rest of the request without a reader.
  answer_framing_ =
      http::client_framing(head, client_minor_version_, client_.may_keep_alive() && request_sent_);
  http::append_client_response(out, head, answer_framing_);
  append_limit_fields(out);
  append_request_id(out);
  out.append("\r\n");
  if (!machine.holds_answer()) return;
  kept_metadata_ =
      request::answer_metadata(answer_status_, head.reason, head.fields, write_credentials_);
  streams_ = is_event_stream(head.fields);
}

// What the client is to get of it, which is `out` or what came, where that can go on as it is.
// Nothing: the body is not framed as HTTP asks.
std::optional<std::string_view> Proxy::relay_body(std::string_view& bytes, std::string& out) {
  const bool chunked = answer_framing_.framing.kind == http::Framing::Kind::chunked;
  while (!answer_body_.done() && !bytes.empty()) {
    const auto piece = answer_body_.feed(bytes);
    if (!piece) return std::nullopt;
    if (piece->empty()) continue;
    if (machine.holds_answer()) kept_body_.append(*piece);
    if (chunked) {
      http::append_chunk(out, *piece);
    } else if (out.empty() && (bytes.empty() || answer_body_.done())) {
      return *piece;
    } else {
      out.append(*piece);
    }
  }
  if (chunked && answer_body_.done()) {
    http::append_last_chunk(out, answer_body_.trailers(), withheld_trailers());
  }
  return out;
}

void Proxy::pass_on(std::string_view out) {
  if (machine.holds_answer()) {
    hold_answer(out);
    return;
  }
  client_.send(out);
  if (client_.queued_bytes() > bounds::send_queue_bytes_max) upstream_->stream().pause();
}

// `last` is what the client has not got yet, `rest` what came behind the answer.
void Proxy::answer_complete(std::string_view last, std::string_view rest) {
  // Bytes behind the answer belong to nobody: such a connection is not used again.
  if (upstream_keep_alive_ && request_sent_ && rest.empty()) {
    context_.router.give_back(std::move(upstream_));
  } else {
    upstream_.reset();
  }
  if (machine.holds_answer()) {
    held_.append(last);
    context_.engine.handle(*this, request::Answered{answer_status_,
                                                    {.body = std::move(kept_body_),
                                                     .metadata = std::move(kept_metadata_)}});
    return;
  }
  const bool keep_alive = answer_framing_.keep_alive;
  // First its slots come back: who has the whole answer may send the next request at once.
  context_.engine.handle(*this, request::Answered{answer_status_});
  if (!last.empty()) client_.send(last);
  client_.finish(keep_alive);
}

void Proxy::on_upstream_closed() {
  const auto keep = self();
  if (machine.state() == request::Machine::State::completing) {
    upstream_.reset();  // go_on_streaming() will see
  } else if (tunnel_) {
    end_tunnel();
    client_.finish(false);
  } else if (answer_begun_ && answer_body_.complete_on_close()) {
    const bool chunked = answer_framing_.framing.kind == http::Framing::Kind::chunked;
    upstream_keep_alive_ = false;
    answer_complete(chunked ? http::last_chunk : "", "");
  } else {
    answer_lost(request::Failed::Kind::unreachable);
  }
}

// `first` ends the talk in HTTP: the head, and what came behind it.
void Proxy::begin_tunnel(std::string_view first) {
  tunnel_ = true;
  pass_on(first);
  client_.become_tunnel();
}

// Either side has closed, which is how a tunnel ends.
void Proxy::end_tunnel() {
  tunnel_ = false;
  upstream_.reset();
  context_.engine.handle(*this, request::Answered{answer_status_});
}

// The rest of it will not come. Of an answer that was held back nothing went on: the client can
// still be told.
void Proxy::answer_lost(request::Failed::Kind kind) {
  if (answer_begun_ && !machine.holds_answer()) {
    answer_broken();
    return;
  }
  answer_begun_ = false;
  held_.clear();
  upstream_failed(kind, Outcome::unknown);
}

// The client has half an answer: closing is the one way left to tell.
void Proxy::answer_broken() {
  context_.telemetry.upstream_failures.add();
  context_.telemetry.log.with(correlation)
      .warn("upstream_answer_cut", {{"status", answer_status_}});
  upstream_.reset();
  context_.engine.handle(*this, request::CutOff{answer_status_});
  client_.abort();
}

void Proxy::bad_answer(std::string_view reason) {
  context_.telemetry.log.with(correlation).warn("upstream_answer_refused", {{"reason", reason}});
  upstream_failed(request::Failed::Kind::bad_answer, Outcome::unknown);
}

void Proxy::upstream_failed(request::Failed::Kind kind, Outcome outcome) {
  context_.telemetry.upstream_failures.add();
  const bool reused = upstream_ && upstream_->reused() && !heard_;
  answer_stash_.clear();
  upstream_.reset();
  context_.engine.handle(
      *this, request::Failed{.kind = kind, .outcome = outcome, .reused_connection = reused});
}

// Nothing where no bucket counts it.
void Proxy::append_limit_fields(std::string& out) const {
  if (!machine.has_answer()) return;
  limit::append_headers(out, settings_->dialects, machine.counts(), machine.answer());
}

void Proxy::append_request_id(std::string& out) const {
  out.append("X-Request-Id: ").append(correlation.request_id).append("\r\n");
}

}  // namespace pawl::gateway
