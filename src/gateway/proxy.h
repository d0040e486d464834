// Proxy: takes the requests of one client connection to the upstream and brings the answers back.
//
// It is the HTTP door to the engine: what is decided about a request (pass, refuse, send again)
// comes from there; here bytes are moved. Bodies stream both ways; the side that is slower holds
// the other back. A write with an idempotency key is gathered first, and its answer held back until
// it is on record; when its client leaves meanwhile, the write goes on without one. A WebSocket is
// a tunnel once the upstream has agreed to it, and a request like any other until then.
// Files:    proxy.cc has the request's side, proxy_answer.cc the answer's, proxy_write.cc what is
//           special to a write with a key.
// Threads:  those of its loop.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/body.h"
#include "core/http/head.h"
#include "core/http/rewrite.h"
#include "core/http/trace.h"
#include "core/webhook/event.h"
#include "gateway/settings.h"
#include "gateway/telemetry.h"
#include "gateway/tenants.h"
#include "gateway/upstream_router.h"
#include "net/loop.h"
#include "port/entropy.h"
#include "runtime/engine.h"
#include "server/connection.h"

namespace pawl::gateway {

class Proxy;

// What all loops carry together; above their bounds requests are turned away.
struct Load {
  std::atomic<std::int64_t> requests = 0;
  std::atomic<std::size_t> held_bytes = 0;  // of writes
};

// What the proxies of one loop share.
struct LoopContext {
  net::Loop& loop;
  Engine& engine;
  Clock& clock;
  Entropy& entropy;
  Telemetry& telemetry;
  UpstreamRouter& router;
  Tenants& tenants;
  Load& load;
  SettingsPtr settings;  // replaced by a reload
  // A write has ended, and nobody knows how.
  std::function<void(const webhook::UnknownWrite&)> unknown_write = [](const auto&) {};
  std::string_view scheme = "http";                // by which clients reach the listener
  std::set<std::shared_ptr<Proxy>> detached = {};  // writes whose client has left
  std::string scratch = {};                        // see Scratch
  std::string words = {};                          // of a refusal; kept for its room
};

// A buffer of the loop's, for the length of one call: what is built there is sent by the call's
// end, and the next one finds the room. Whoever comes in between gets an empty one.
class Scratch {
 public:
  explicit Scratch(LoopContext& context)
      : text(std::exchange(context.scratch, {})), context_(context) {
    text.clear();
  }
  ~Scratch() { context_.scratch = std::move(text); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string text;

 private:
  LoopContext& context_;
};

class Proxy final : public Door, public server::RequestHandler {
 public:
  Proxy(LoopContext& context, server::Connection& client);
  ~Proxy() override;

  // server::RequestHandler
  void on_head(const http::RequestHead& head) override;
  void on_body(std::string_view piece) override;
  void on_body_end() override;
  void on_drained() override;
  void on_gone(int status) override;
  void on_tick(SteadyInstant now) override;

  // Door
  void send_upstream() override;
  void refuse(const request::Refuse& refusal) override;
  void deliver() override;
  void replay(const request::Replay& replay) override;
  void noted(const request::NoteWrite& note) override;
  void wake_after(Duration wait, std::uint64_t ask) override;
  void ended(const request::RecordEnd& end, const Result<void>& recorded) override;
  void resume(std::move_only_function<void()> continuation) override;
  bool is_here() const override { return context_.loop.is_here(); }

  // The end of the process: of a write that goes on without its client, nobody will hear more.
  void cut_off();

 private:
  // What happens on the upstream's connection, while it is ours.
  class UpstreamEvents final : public net::StreamHandler {
   public:
    explicit UpstreamEvents(Proxy& proxy) : proxy_(proxy) {}
    void on_data(std::string_view bytes) override { proxy_.on_upstream_data(bytes); }
    void on_drained() override { proxy_.on_upstream_drained(); }
    void on_closed() override { proxy_.on_upstream_closed(); }

   private:
    Proxy& proxy_;
  };

  std::shared_ptr<Proxy> self();

  // The request.
  void name_request(const http::RequestHead& head);
  bool is_overloaded();
  void start_request(const http::RequestHead& head);
  void name_trace();
  void build_request();
  std::array<std::string_view, 2> withheld_trailers() const;
  void send_to_upstream(std::string_view bytes);
  void on_upstream_ready(Result<UpstreamLinkPtr> taken);
  void on_upstream_drained();

  // The answer.
  void on_upstream_data(std::string_view bytes);
  void on_upstream_closed();
  void read_answer(std::string_view bytes);
  bool read_head(std::string_view& bytes, std::string& out);
  void begin_answer(const http::ResponseHead& head, std::string& out);
  std::optional<std::string_view> relay_body(std::string_view& bytes, std::string& out);
  void pass_on(std::string_view out);
  void answer_complete(std::string_view last, std::string_view rest);
  void answer_lost(request::Failed::Kind kind);
  void answer_broken();
  void bad_answer(std::string_view reason);
  void upstream_failed(request::Failed::Kind kind, Outcome outcome);
  void append_limit_fields(std::string& out) const;
  void append_request_id(std::string& out) const;
  void begin_tunnel(std::string_view first);
  void end_tunnel();

  // A write with a key.
  void begin_write(const http::RequestHead& head, std::string key);
  void gather(std::string_view piece);
  void gathered();
  bool has_room_for(std::size_t bytes) const;
  void hold(std::size_t bytes);
  void hold_answer(std::string_view out);
  bool must_stream_on() const;
  void go_on_streaming();
  void release_write();
  void detach();
  void forget_client();

  LoopContext& context_;
  server::Connection& client_;

  // The request.
  SettingsPtr settings_;
  SteadyInstant arrived_at_;
  request::Tenant tenant_;
  std::vector<limit::Count> counts_;
  const http::RequestHead* head_ = nullptr;  // while it has not been put together anew
  std::optional<http::Traceparent> trace_;   // when the client names none
  std::string upstream_request_;             // head, and what of the body waits for the connection
  bool harmless_ = false;
  bool body_chunked_ = false;
  bool head_request_ = false;
  bool expects_continue_ = false;  // its body waits until the upstream wants it
  bool upgrades_ = false;          // it wants to become a WebSocket
  int client_minor_version_ = 1;
  bool request_sent_ = false;  // in full, as far as it has come

  // The upstream.
  UpstreamEvents upstream_events_{*this};
  UpstreamLinkPtr upstream_;
  bool connecting_ = false;
  bool sent_ = false;         // something of the current request, on this or an earlier connection
  bool heard_ = false;        // something from the upstream, on this connection
  bool progress_ = false;     // either side showed a sign of life since the last tick
  SteadyInstant answer_due_;  // as of the last tick
  SteadyInstant invite_due_;  // of a body that waits for an upstream that says nothing

  // A write with a key.
  request::WriteKey write_key_;
  std::string write_query_;
  std::string write_content_type_;
  std::string write_credentials_;  // of somebody who is known by nothing else
  std::string write_body_;         // of the request, while it is gathered
  std::string kept_body_;          // of the answer, for the record
  std::string kept_metadata_;      //
  std::string held_;               // the answer as the client will get it
  std::size_t held_bytes_ = 0;     // of bodies, as counted in the context
  net::TimerPtr wake_;             // made when it is first needed
  std::uint64_t wake_ask_ = 0;
  std::shared_ptr<server::Connection> left_client_;  // once it has left a write to go on

  // The answer.
  std::string answer_stash_;  // a head that is not complete yet
  bool answer_begun_ = false;
  bool tunnel_ = false;  // both sides speak past us
  http::BodyReader answer_body_;
  http::ClientFraming answer_framing_;
  int answer_status_ = 0;
  bool upstream_keep_alive_ = false;
  bool streams_ = false;  // it has no end that is worth waiting for
};

}  // namespace pawl::gateway
