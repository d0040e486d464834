#include "gateway/proxy.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::gateway {
namespace {

// A second copy of these changes nothing at the upstream (RFC 9110 §9.2.1).
bool is_harmless(const http::RequestHead& head) {
  const bool safe = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
  return safe && head.framing.kind == http::Framing::Kind::none;
}

// Fit for a log line and a header.
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= bounds::request_id_bytes_max &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

// What a client calls its request, if that is an id.
std::string id_of(const http::Fields& fields, std::string_view name) {
  const std::string_view given = fields.find(name).value_or("");
  return is_id(given) ? std::string(given) : std::string();
}

// The trace id of a W3C traceparent: 00-{32 hex}-{16 hex}-{2 hex}.
std::string trace_id_of(const http::Fields& fields) {
  const std::string_view parent = fields.find("traceparent").value_or("");
  if (parent.size() != 55 || parent[2] != '-' || parent[35] != '-') return {};
  const std::string_view id = parent.substr(3, 32);
  const bool hex = std::ranges::all_of(
      id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hex ? std::string(id) : std::string();
}

}  // namespace

// The other end of the exchange: one connection to the upstream, while it is ours.
class Proxy::UpstreamSide final : public net::StreamHandler {
 public:
  UpstreamSide(Proxy& proxy, UpstreamPool::Taken taken)
      : stream(std::move(taken.stream)), reused(taken.reused), proxy_(proxy) {
    stream->start(*this);
  }

  void on_data(std::string_view bytes) override { proxy_.on_upstream_data(bytes); }
  void on_drained() override { proxy_.on_upstream_drained(); }
  void on_closed() override { proxy_.on_upstream_closed(); }

  net::StreamPtr stream;
  bool reused;

 private:
  Proxy& proxy_;
};

Proxy::Proxy(LoopContext& context, server::Connection& client)
    : context_(context), client_(client) {}

Proxy::~Proxy() {
  drop_upstream();
}

std::shared_ptr<Proxy> Proxy::self() {
  return std::static_pointer_cast<Proxy>(shared_from_this());
}

void Proxy::on_head(const http::RequestHead& head) {
  settings_ = context_.settings;
  policies = settings_;
  arrived_at_ = context_.clock.steady_now();
  machine = request::Machine();
  head_request_ = head.method == "HEAD";
  client_minor_version_ = head.minor_version;
  operation.assign(head.method).append(" ").append(head.path());
  correlation = {.tenant_id = {},
                 .request_id = id_of(head.fields, "X-Request-Id"),
                 .external_reference = {},
                 .correlation_id = id_of(head.fields, "X-Correlation-Id"),
                 .trace_id = trace_id_of(head.fields)};
  if (correlation.request_id.empty()) {
    correlation.request_id = uuid_v7(context_.clock.wall_now(), context_.entropy.next());
  }
  auto tenant = request::tenant_of(settings_->tenants, head.fields, client_.peer());
  if (tenant) {
    start_request(head, std::move(*tenant));
  } else {
    context_.engine.handle(*this, request::Unnamed{settings_->tenants.header});
  }
}

void Proxy::start_request(const http::RequestHead& head, request::Tenant tenant) {
  upstream_request_.clear();
  const std::string address = to_string(client_.peer());
  http::append_upstream_request(upstream_request_, head,
                                {.client_address = address,
                                 .upstream_host = settings_->upstream_host,
                                 .request_id = correlation.request_id,
                                 .tenant_header = settings_->tenants.header,
                                 .tenant = tenant.name});
  correlation.tenant_id = std::move(tenant.id);
  tenant_key_ = std::move(tenant.limit_key);
  address_key_ = request::address_key(address);
  fill_counts(counts_, *settings_,
              {.tenant = tenant.name, .tenant_key = tenant_key_, .address_key = address_key_});
  body_chunked_ = head.framing.kind == http::Framing::Kind::chunked;
  request_sent_ = false;
  sent_ = false;
  answer_begun_ = false;
  answer_stash_.clear();
  context_.engine.handle(*this, request::Arrived{counts_, is_harmless(head)});
}

void Proxy::on_body(std::string_view piece) {
  note_progress();
  if (!body_chunked_) {
    send_to_upstream(piece);
    return;
  }
  std::string chunk;
  http::append_chunk(chunk, piece);
  send_to_upstream(chunk);
}

void Proxy::on_body_end() {
  request_sent_ = true;
  note_progress();
  if (body_chunked_) send_to_upstream(http::last_chunk);
}

// Until the connection stands, the request waits here; a client that sends faster is held back.
void Proxy::send_to_upstream(std::string_view bytes) {
  if (machine.state() == request::Machine::State::ended) return;
  if (!upstream_) {
    upstream_request_.append(bytes);
    if (upstream_request_.size() > bounds::send_queue_bytes_max) client_.pause_input();
    return;
  }
  upstream_->stream->send(bytes);
  if (upstream_ && upstream_->stream->queued_bytes() > bounds::send_queue_bytes_max) {
    client_.pause_input();
  }
}

void Proxy::send_upstream() {
  drop_upstream();
  connecting_ = true;
  note_progress();
  context_.pool.take(settings_->upstream,
                     [keep = self()](Result<UpstreamPool::Taken> taken) mutable {
                       keep->on_upstream_ready(std::move(taken));
                     });
}

void Proxy::on_upstream_ready(Result<UpstreamPool::Taken> taken) {
  connecting_ = false;
  if (machine.state() != request::Machine::State::sending) {
    // The client left while we were connecting.
    if (taken) taken->stream->close();
    return;
  }
  if (!taken) {
    context_.telemetry.log.with(correlation)
        .warn("upstream_unreachable", {{"reason", taken.error().message}});
    upstream_failed(request::Failed::Kind::unreachable, taken.error().outcome);
    return;
  }
  upstream_ = std::make_unique<UpstreamSide>(*this, std::move(*taken));
  sent_ = true;
  heard_ = false;
  upstream_->stream->send(upstream_request_);
  client_.resume_input();
}

void Proxy::on_upstream_drained() {
  note_progress();
  client_.resume_input();
}

// Either side showed a sign of life: the upstream has its whole time again.
void Proxy::note_progress() {
  answer_due_ = context_.clock.steady_now() + bounds::upstream_answer_deadline;
}

void Proxy::on_upstream_data(std::string_view bytes) {
  const auto keep = self();
  heard_ = true;
  note_progress();
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
  std::string out;
  const bool head_sent = answer_begun_;
  while (!answer_begun_) {
    const auto progress = http::parse_response(bytes, head_request_, answer_head_);
    if (!progress) {
      context_.telemetry.log.with(correlation)
          .warn("upstream_answer_refused", {{"reason", progress.error().reason}});
      upstream_failed(request::Failed::Kind::bad_answer, Outcome::unknown);
      return;
    }
    if (*progress == http::HeadProgress::needs_more) {
      answer_stash_.assign(bytes);
      return;
    }
    bytes.remove_prefix(answer_head_.bytes);
    if (answer_head_.status < 200) continue;  // an interim answer is for us, not for the client
    answer_begun_ = true;
    answer_status_ = answer_head_.status;
    answer_body_ = http::BodyReader(answer_head_.framing);
    upstream_keep_alive_ = answer_head_.keep_alive;
    // An answer before the request's end leaves the rest of the request without a reader.
    answer_framing_ = http::client_framing(answer_head_, client_minor_version_,
                                           client_.may_keep_alive() && request_sent_);
    http::append_client_response(out, answer_head_, answer_framing_);
    out.append(limit_fields()).append("X-Request-Id: ").append(correlation.request_id);
    out.append("\r\n\r\n");
  }
  if (!relay_body(bytes, out)) {
    if (head_sent) {
      answer_broken();
    } else {
      answer_begun_ = false;  // nothing of it went on: the client can still be told
      upstream_failed(request::Failed::Kind::bad_answer, Outcome::unknown);
    }
    return;
  }
  if (answer_body_.done()) {
    answer_complete(out, bytes);
    return;
  }
  client_.send(out);
  if (client_.queued_bytes() > bounds::send_queue_bytes_max) upstream_->stream->pause();
}

// False: the body is not framed as HTTP asks.
bool Proxy::relay_body(std::string_view& bytes, std::string& out) {
  const bool chunked = answer_framing_.framing.kind == http::Framing::Kind::chunked;
  while (!answer_body_.done() && !bytes.empty()) {
    const auto piece = answer_body_.feed(bytes);
    if (!piece) return false;
    if (piece->empty()) continue;
    if (chunked) {
      http::append_chunk(out, *piece);
    } else {
      out.append(*piece);
    }
  }
  if (chunked && answer_body_.done()) out.append(http::last_chunk);
  return true;
}

// `last` is what the client has not got yet, `rest` what came behind the answer.
void Proxy::answer_complete(std::string_view last, std::string_view rest) {
  // Bytes behind the answer belong to nobody: such a connection is not used again.
  if (upstream_keep_alive_ && request_sent_ && rest.empty()) {
    context_.pool.give_back(settings_->upstream, std::move(upstream_->stream));
    upstream_.reset();
  } else {
    drop_upstream();
  }
  const bool keep_alive = answer_framing_.keep_alive;
  // First its slots come back: who has the whole answer may send the next request at once.
  context_.engine.handle(*this, request::Answered{answer_status_});
  if (!last.empty()) client_.send(last);
  client_.finish(keep_alive);
}

void Proxy::on_upstream_closed() {
  const auto keep = self();
  if (!answer_begun_) {
    upstream_failed(request::Failed::Kind::unreachable, Outcome::unknown);
  } else if (answer_body_.complete_on_close()) {
    const bool chunked = answer_framing_.framing.kind == http::Framing::Kind::chunked;
    upstream_keep_alive_ = false;
    answer_complete(chunked ? http::last_chunk : "", "");
  } else {
    answer_broken();
  }
}

// The client has half an answer: closing is the one way left to tell.
void Proxy::answer_broken() {
  context_.telemetry.upstream_failures.add();
  context_.telemetry.log.with(correlation)
      .warn("upstream_answer_cut", {{"status", answer_status_}});
  drop_upstream();
  context_.engine.handle(*this, request::CutOff{answer_status_});
  client_.abort();
}

void Proxy::upstream_failed(request::Failed::Kind kind, Outcome outcome) {
  context_.telemetry.upstream_failures.add();
  const bool reused = upstream_ && upstream_->reused && !heard_;
  answer_stash_.clear();
  drop_upstream();
  context_.engine.handle(
      *this, request::Failed{.kind = kind, .outcome = outcome, .reused_connection = reused});
}

void Proxy::drop_upstream() {
  if (upstream_) upstream_->stream->close();
  upstream_.reset();
}

void Proxy::refuse(const request::Refuse& refusal) {
  const http::Problem problem{.code = refusal.code,
                              .detail = refusal.detail,
                              .violated_policies = refusal.violated_policies};
  std::string fields;
  if (machine.has_answer()) fields = limit_fields();
  limit::append_retry_after(fields, refusal.retry_after_seconds);
  fields.append("X-Request-Id: ").append(correlation.request_id).append("\r\n");
  client_.discard_body();
  const bool keep_alive = client_.may_keep_alive();
  client_.send(server::problem_answer(problem, fields, keep_alive, head_request_));
  client_.finish(keep_alive);
}

void Proxy::ended(const request::RecordEnd& end, const Result<void>& recorded) {
  Telemetry& telemetry = context_.telemetry;
  if (machine.has_answer()) telemetry.count_limit(machine.counts(), machine.answer());
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
  if (upstream_) upstream_->stream->resume();
}

void Proxy::on_gone(int status) {
  const auto keep = self();
  drop_upstream();
  context_.engine.handle(*this, request::Abandoned{.sent = sent_, .status = status});
}

void Proxy::on_tick(SteadyInstant now) {
  context_.engine.handle(*this, request::TimePassed{now});
  if (machine.state() != request::Machine::State::sending || connecting_) return;
  // A client that takes nothing has a deadline of its own.
  if (client_.queued_bytes() > 0) note_progress();
  if (now < answer_due_) return;
  const auto keep = self();
  if (answer_begun_) {
    answer_broken();
  } else {
    upstream_failed(request::Failed::Kind::timeout, Outcome::unknown);
  }
}

std::string Proxy::limit_fields() const {
  std::string out;
  limit::append_headers(out, settings_->dialects, machine.counts(), machine.answer());
  return out;
}

}  // namespace pawl::gateway
