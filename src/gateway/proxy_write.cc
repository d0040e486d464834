// What is special to a write with a key: it is gathered, its answer held back until that is on
// record, and the next one like it gets the same answer again.
#include <utility>

#include "base/text.h"
#include "gateway/proxy.h"

namespace pawl::gateway {
namespace {

// Of the buffers of a write, what a connection keeps for its next one.
constexpr std::size_t buffer_bytes_kept = 16 * 1024;

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > buffer_bytes_kept) buffer.shrink_to_fit();
}

}  // namespace

// The whole body is compared with the first one's, so it is gathered before anything is asked.
void Proxy::begin_write(const http::RequestHead& head, std::string key) {
  write = std::make_shared<Write>();
  write->client_key = key;
  write->key.scope = correlation.tenant_id;
  write_key_ = {
      .method = std::string(head.method), .path = std::string(head.path()), .key = std::move(key)};
  write_query_ = head.target.substr(head.path().size());
  write_content_type_ = head.fields.find("Content-Type").value_or("");
  write_credentials_ = tenant_.name.empty() ? request::credentials_of(head.fields) : std::string();
  context_.engine.handle(*this, request::Arrived{counts_, false, &settings_->writes});
  const auto limit = static_cast<std::int64_t>(settings_->writes.body_limit);
  if (head.framing.kind == http::Framing::Kind::length && head.framing.length > limit) {
    context_.engine.handle(*this, request::TooLarge{settings_->writes.body_limit});
    return;
  }
  if (head.framing.kind == http::Framing::Kind::length) {
    write_body_.reserve(static_cast<std::size_t>(head.framing.length));
  }
  client_.invite_body();
}

void Proxy::gather(std::string_view piece) {
  const std::size_t size = write_body_.size() + piece.size();
  if (size > settings_->writes.body_limit) {
    context_.engine.handle(*this, request::TooLarge{settings_->writes.body_limit});
    return;
  }
  if (!has_room_for(piece.size())) {
    context_.engine.handle(*this, request::Overloaded{});
    return;
  }
  hold(piece.size());
  write_body_.append(piece);
}

void Proxy::gathered() {
  std::string fingerprint = request::fingerprint_of(settings_->writes.fingerprint, write_query_,
                                                    write_content_type_, write_body_);
  const bool separate = settings_->writes.on_mismatch == request::OnMismatch::separate;
  write->key.key = request::to_record_key(write_key_, separate ? fingerprint : "");
  if (body_chunked_) {
    if (!write_body_.empty()) http::append_chunk(upstream_request_, write_body_);
    http::append_last_chunk(upstream_request_, client_.trailers(), withheld_trailers());
  } else {
    upstream_request_.append(write_body_);
  }
  empty(write_body_);
  context_.engine.handle(*this, request::Gathered{std::move(fingerprint), write_credentials_});
}

bool Proxy::has_room_for(std::size_t bytes) const {
  return context_.load.held_bytes.load(std::memory_order_relaxed) + bytes <= bounds::held_bytes_max;
}

void Proxy::hold(std::size_t bytes) {
  held_bytes_ += bytes;
  context_.load.held_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void Proxy::hold_answer(std::string_view out) {
  hold(2 * out.size());  // as the client gets it, and as it is kept
  held_.append(out);
  if (!must_stream_on()) return;
  upstream_->stream().pause();
  context_.engine.handle(*this, request::Overflowed{answer_status_, std::move(kept_metadata_)});
}

// What is larger than what is kept, or has no end, cannot wait for its end. Nor can what finds no
// room: answers have as much again as bodies of requests, of which no more are taken then.
bool Proxy::must_stream_on() const {
  const auto limit = static_cast<std::int64_t>(settings_->writes.body_limit);
  const http::Framing& framing = answer_framing_.framing;
  const std::size_t held = context_.load.held_bytes.load(std::memory_order_relaxed);
  return streams_ || std::ssize(kept_body_) > limit || held > 2 * bounds::held_bytes_max ||
         (framing.kind == http::Framing::Kind::length && framing.length > limit);
}

// Of a write that is on record, or as much on record as it will be.
void Proxy::deliver() {
  const bool streams_on = machine.state() == request::Machine::State::sending;
  if (streams_on && left_client_) {
    on_gone(0);
    return;
  }
  client_.send(held_);
  empty(held_);
  if (streams_on) {
    go_on_streaming();
  } else {
    client_.finish(answer_framing_.keep_alive);
  }
}

void Proxy::go_on_streaming() {
  empty(kept_body_);
  if (upstream_) {
    upstream_->stream().resume();
  } else {
    on_upstream_closed();  // while it was put on record
  }
}

void Proxy::replay(const request::Replay& replay) {
  const bool keep_alive = client_.may_keep_alive();
  std::string out = "HTTP/1.1 ";
  append_number(out, replay.head.status);
  out.append(" ").append(replay.head.reason).append("\r\n").append(replay.head.fields);
  out.append("Idempotent-Replay: true\r\nIdempotent-Replayed: true\r\n");
  append_request_id(out);
  const bool bodiless = replay.head.status == 204 || replay.head.status == 304;
  if (!bodiless) {
    out.append("Content-Length: ");
    append_number(out, replay.body.size());
    out.append("\r\n");
  }
  out.append(keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
  if (!bodiless) out.append(replay.body);
  client_.send(out);
  client_.finish(keep_alive);
}

void Proxy::noted(const request::NoteWrite& note) {
  context_.telemetry.count_write(note.what);
  const bool needs_a_look = note.what == request::WriteEvent::store_failure ||
                            note.what == request::WriteEvent::unknown ||
                            note.what == request::WriteEvent::taken_over;
  if (!needs_a_look) return;
  context_.telemetry.log.with(correlation)
      .warn("idempotency", {{"operation", operation},
                            {"key", write ? write->client_key : std::string()},
                            {"result", to_string(note.what)},
                            {"detail", note.detail}});
  // Of one that was unknown before, whoever left it so has told.
  if (note.what == request::WriteEvent::unknown && note.of_this_one) {
    context_.unknown_write({.tenant = correlation.tenant_id,
                            .method = write_key_.method,
                            .path = write_key_.path,
                            .key = write_key_.key,
                            .request_id = correlation.request_id});
  }
}

void Proxy::wake_after(Duration wait, std::uint64_t ask) {
  if (!wake_) {
    wake_ = context_.loop.timer([this] {
      const auto keep = self();
      context_.engine.handle(*this, request::Overdue{wake_ask_});
    });
  }
  wake_ask_ = ask;
  wake_->start(wait);
}

void Proxy::release_write() {
  context_.load.held_bytes.fetch_sub(std::exchange(held_bytes_, 0), std::memory_order_relaxed);
  for (std::string* buffer : {&write_body_, &kept_body_, &upstream_request_}) empty(*buffer);
}

// The write goes on; ticks come from the context now.
void Proxy::detach() {
  left_client_ = client_.shared_from_this();
  context_.detached.insert(self());
  context_.engine.handle(*this, request::Abandoned{.sent = true});
}

void Proxy::cut_off() {
  if (machine.state() != request::Machine::State::sending) return;
  held_.clear();
  upstream_failed(request::Failed::Kind::unreachable,
                  connecting_ ? Outcome::not_applied : Outcome::unknown);
}

void Proxy::forget_client() {
  context_.detached.erase(self());
  left_client_.reset();
}

}  // namespace pawl::gateway
