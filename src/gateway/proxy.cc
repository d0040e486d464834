#include "gateway/proxy.h"

#include <algorithm>
#include <utility>

#include "base/request_id.h"
#include "base/text.h"

namespace pawl::gateway {
namespace {

// A second copy of these changes nothing at the upstream (RFC 9110 §9.2.1).
bool is_harmless(const http::RequestHead& head) {
  const bool safe = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
  return safe && head.framing.kind == http::Framing::Kind::none;
}

// What a client calls its request, if that is an id.
std::string_view id_of(const http::Fields& fields, std::string_view name) {
  const std::string_view given = fields.find(name).value_or("");
  return is_id(given) ? given : std::string_view();
}

// The first span of a trace needs a name within the trace alone: a part of the trace's will do.
http::Traceparent make_trace(Entropy& entropy) {
  const Entropy16 trace = entropy.next();
  return http::Traceparent(trace, std::span(trace).last<8>());
}

}  // namespace

Proxy::Proxy(LoopContext& context, server::Connection& client)
    : context_(context), client_(client) {}

Proxy::~Proxy() = default;

std::shared_ptr<Proxy> Proxy::self() {
  return std::static_pointer_cast<Proxy>(shared_from_this());
}

void Proxy::on_head(const http::RequestHead& head) {
  settings_ = context_.settings;
  policies = settings_;
  arrived_at_ = context_.clock.steady_now();
  machine = request::Machine();
  write.reset();
  if (wake_) wake_->stop();
  head_request_ = head.method == "HEAD";
  client_minor_version_ = head.minor_version;
  if (head.expects_continue) client_.hold_invitation();
  name_request(head);
  if (is_overloaded()) {
    context_.engine.handle(*this, request::Overloaded{});
    return;
  }
  switch (request::fill_tenant(tenant_, settings_->tenants, head.fields, client_.peer())) {
    case request::TenantFound::yes:
      start_request(head);
      break;
    case request::TenantFound::missing:
      context_.engine.handle(*this, request::Unnamed{settings_->tenants.header});
      break;
    case request::TenantFound::unknown_key:
      context_.engine.handle(*this, request::Unnamed{});
      break;
  }
}

// By which logs, the audit trail and the upstream know it.
void Proxy::name_request(const http::RequestHead& head) {
  operation.assign(head.method).append(" ").append(head.path());
  correlation.tenant_id.clear();
  correlation.request_id.assign(id_of(head.fields, "X-Request-Id"));
  correlation.correlation_id.assign(id_of(head.fields, "X-Correlation-Id"));
  correlation.trace_id.assign(http::trace_id_of(head.fields.find_only("Traceparent").value_or("")));
  if (correlation.request_id.empty()) {
    append_uuid_v7(correlation.request_id, context_.clock.wall_now(), context_.entropy.next());
  }
}

// Counts this one in.
bool Proxy::is_overloaded() {
  Load& load = context_.load;
  const auto requests = load.requests.fetch_add(1, std::memory_order_relaxed);
  return std::cmp_greater_equal(requests, settings_->requests_max) || !has_room_for(0) ||
         !context_.engine.has_room();
}

void Proxy::start_request(const http::RequestHead& head) {
  correlation.tenant_id = tenant_.id;
  upgrades_ = head.is_websocket() && settings_->websocket;
  if (!head.upgrade.empty() && !upgrades_) {
    context_.engine.handle(*this, request::UpgradeRefused{});
    return;
  }
  fill_counts(counts_, *settings_, tenant_, head);
  body_chunked_ = head.framing.kind == http::Framing::Kind::chunked;
  harmless_ = is_harmless(head);
  request_sent_ = false;
  sent_ = false;
  answer_begun_ = false;
  tunnel_ = false;
  answer_stash_.clear();
  request::KeyFound found;
  if (!upgrades_) found = request::find_key(settings_->writes, head);
  expects_continue_ = head.expects_continue && found.kind == request::KeyFound::Kind::none;
  name_trace();
  head_ = &head;
  switch (found.kind) {
    case request::KeyFound::Kind::none:
      context_.engine.handle(*this, request::Arrived{counts_, harmless_});
      break;
    case request::KeyFound::Kind::key:
      begin_write(head, std::move(found.key));
      break;
    case request::KeyFound::Kind::missing:
    case request::KeyFound::Kind::invalid:
      context_.engine.handle(*this, request::BadKey{found.kind, settings_->writes.header});
      break;
  }
  if (machine.state() != request::Machine::State::ended) build_request();
  head_ = nullptr;
}

void Proxy::name_trace() {
  trace_.reset();
  if (!correlation.trace_id.empty()) return;
  trace_.emplace(make_trace(context_.entropy));
  correlation.trace_id.assign(trace_->trace_id());
}

// Before it is sent, or its head is gone, whichever comes first: most that are refused need none.
void Proxy::build_request() {
  if (head_ == nullptr) return;
  const http::RequestHead& head = *std::exchange(head_, nullptr);
  upstream_request_.clear();
  http::append_upstream_request(
      upstream_request_, head,
      {.client_address = tenant_.peer,
       .upstream_host = settings_->upstream_host,
       .request_id = correlation.request_id,
       .tenant_header = settings_->tenants.header,
       .tenant = tenant_.name,
       .scheme = context_.scheme,
       .traceparent = trace_ ? trace_->text() : std::string_view(),
       .peer_trusted = request::is_proxy(settings_->tenants, client_.peer()),
       .expects_continue = expects_continue_,
       .upgrades = upgrades_});
}

void Proxy::on_body(std::string_view piece) {
  progress_ = true;
  if (machine.state() == request::Machine::State::gathering) {
    gather(piece);
    return;
  }
  if (!body_chunked_) {
    send_to_upstream(piece);
    return;
  }
  Scratch chunk(context_);
  http::append_chunk(chunk.text, piece);
  send_to_upstream(chunk.text);
}

void Proxy::on_body_end() {
  request_sent_ = true;
  progress_ = true;
  if (machine.state() == request::Machine::State::gathering) {
    gathered();
    return;
  }
  if (!body_chunked_) return;
  Scratch end(context_);
  http::append_last_chunk(end.text, client_.trailers(), withheld_trailers());
  send_to_upstream(end.text);
}

// What a client may not say behind its body, since it is believed of nobody but us.
std::array<std::string_view, 2> Proxy::withheld_trailers() const {
  return {settings_->tenants.header, settings_->writes.header};
}

// Until the connection stands, the request waits here; a client that sends faster is held back.
void Proxy::send_to_upstream(std::string_view bytes) {
  if (machine.state() == request::Machine::State::ended) return;
  if (!upstream_) {
    upstream_request_.append(bytes);
    if (upstream_request_.size() > bounds::send_queue_bytes_max) client_.pause_input();
    return;
  }
  upstream_->stream().send(bytes);
  if (upstream_ && upstream_->stream().queued_bytes() > bounds::send_queue_bytes_max) {
    client_.pause_input();
  }
}

void Proxy::send_upstream() {
  build_request();
  upstream_.reset();
  const auto purpose = harmless_ ? UpstreamRouter::Purpose::read : UpstreamRouter::Purpose::write;
  connecting_ = true;
  context_.router.take(purpose, [keep = self()](Result<UpstreamLinkPtr> taken) mutable {
    keep->on_upstream_ready(std::move(taken));
  });
}

void Proxy::on_upstream_ready(Result<UpstreamLinkPtr> taken) {
  connecting_ = false;
  if (machine.state() != request::Machine::State::sending) {
    return;  // the client left while we were connecting
  }
  if (!taken) {
    context_.telemetry.log.with(correlation)
        .warn("upstream_unreachable", {{"reason", taken.error().message}});
    upstream_failed(request::Failed::Kind::unreachable, taken.error().outcome);
    return;
  }
  upstream_ = *std::move(taken);
  progress_ = true;
  sent_ = true;
  heard_ = false;
  upstream_->stream().start(upstream_events_);
  if (expects_continue_) {
    invite_due_ = context_.clock.steady_now() + bounds::http_continue_deadline;
  }
  upstream_->stream().send(upstream_request_);
  client_.resume_input();
}

void Proxy::on_upstream_drained() {
  progress_ = true;
  client_.resume_input();
}

void Proxy::refuse(const request::Refuse& refusal) {
  Scratch out(context_);
  append_limit_fields(out.text);
  limit::append_retry_after(out.text, refusal.retry_after_seconds);
  append_request_id(out.text);
  const std::size_t fields_size = out.text.size();
  std::string& words = context_.words;
  words.clear();
  machine.append_words(words, refusal);
  const int status = refusal.status != 0 ? refusal.status : http::status_of(refusal.code);
  http::append_body(out.text, {.code = refusal.code,
                               .detail = words,
                               .violated_policies = machine.refusers().all(),
                               .status = status});
  client_.discard_body();
  const bool keep_alive = client_.may_keep_alive();
  const std::string_view all = out.text;
  words.clear();
  server::append_answer(words,
                        {.status = status,
                         .content_type = "application/problem+json",
                         .body = all.substr(fields_size),
                         .extra_fields = all.substr(0, fields_size)},
                        keep_alive, head_request_);
  client_.send(words);
  client_.finish(keep_alive);
}

void Proxy::ended(const request::RecordEnd& end, const Result<void>& recorded) {
  Telemetry& telemetry = context_.telemetry;
  if (write) release_write();
  context_.load.requests.fetch_sub(1, std::memory_order_relaxed);
  // Not at once: whoever called is still in it.
  if (left_client_) context_.loop.post([keep = self()] { keep->forget_client(); });
  if (!correlation.tenant_id.empty()) {
    const limit::Counts decided = machine.has_answer() ? machine.counts() : limit::Counts();
    context_.tenants.saw(tenant_, decided, machine.answer(), *settings_);
  }
  const Duration took = context_.clock.steady_now() - arrived_at_;
  telemetry.count_end(end, took);
  if (!recorded) {
    telemetry.audit_failures.add();
    telemetry.log.with(correlation)
        .error("audit_failed", {{"operation", operation}, {"reason", recorded.error().message}});
  }
  if (telemetry.log.enabled(log::Level::info)) {
    telemetry.log.with(correlation)
        .info("request", {{"operation", operation},
                          {"status", end.status},
                          {"outcome", to_string(end.outcome)},
                          {"seconds", took.seconds()}});
  }
}

void Proxy::resume(std::move_only_function<void()> continuation) {
  context_.loop.dispatch(std::move(continuation));
}

void Proxy::on_drained() {
  // What is held back is not asked for more until it is on record.
  if (upstream_ && !machine.holds_answer()) upstream_->stream().resume();
}

void Proxy::on_gone(int status) {
  const auto keep = self();
  if (machine.holds_answer()) {
    detach();
  } else if (tunnel_) {
    end_tunnel();
  } else {
    upstream_.reset();
    context_.engine.handle(*this, request::Abandoned{.sent = sent_, .status = status});
  }
}

void Proxy::on_tick(SteadyInstant now) {
  context_.engine.handle(*this, request::TimePassed{now});
  const bool waits = machine.state() == request::Machine::State::sending && !connecting_;
  if (!waits || tunnel_) return;
  if (expects_continue_ && now >= invite_due_) client_.invite_body();
  // After a sign of life the upstream has its whole time again. A client that takes nothing has a
  // deadline of its own.
  if (std::exchange(progress_, false) || client_.queued_bytes() > 0) {
    answer_due_ = now + settings_->timeouts.answer;
  }
  if (now < answer_due_) return;
  const auto keep = self();
  answer_lost(request::Failed::Kind::timeout);
}

}  // namespace pawl::gateway
