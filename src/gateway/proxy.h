// Proxy: takes the requests of one client connection to the upstream and brings the answers back.
//
// It is the HTTP door to the engine: what is decided about a request (pass, refuse, send again)
// comes from there; here bytes are moved. Bodies stream both ways; the side that is slower holds
// the other back.
// Threads: those of its loop.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/body.h"
#include "core/http/head.h"
#include "core/http/rewrite.h"
#include "gateway/settings.h"
#include "gateway/telemetry.h"
#include "gateway/upstream_pool.h"
#include "net/loop.h"
#include "port/entropy.h"
#include "runtime/engine.h"
#include "server/connection.h"

namespace pawl::gateway {

// What the proxies of one loop share.
struct LoopContext {
  net::Loop& loop;
  Engine& engine;
  Clock& clock;
  Entropy& entropy;
  Telemetry& telemetry;
  UpstreamPool& pool;
  SettingsPtr settings;  // replaced by a reload
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
  void ended(const request::RecordEnd& end, const Result<void>& recorded) override;
  void resume(std::move_only_function<void()> continuation) override;

 private:
  class UpstreamSide;

  std::shared_ptr<Proxy> self();
  void start_request(const http::RequestHead& head, request::Tenant tenant);
  void on_upstream_ready(Result<UpstreamPool::Taken> taken);
  void send_to_upstream(std::string_view bytes);
  void on_upstream_data(std::string_view bytes);
  void on_upstream_closed();
  void on_upstream_drained();
  void note_progress();
  void read_answer(std::string_view bytes);
  bool relay_body(std::string_view& bytes, std::string& out);
  void answer_complete(std::string_view last, std::string_view rest);
  void answer_broken();
  void upstream_failed(request::Failed::Kind kind, Outcome outcome);
  void drop_upstream();
  std::string limit_fields() const;

  LoopContext& context_;
  server::Connection& client_;

  // The request.
  SettingsPtr settings_;
  SteadyInstant arrived_at_;
  std::string tenant_key_;
  std::string address_key_;
  std::vector<limit::Count> counts_;
  std::string upstream_request_;  // head, and what of the body waits for the connection
  bool body_chunked_ = false;
  bool head_request_ = false;
  int client_minor_version_ = 1;
  bool request_sent_ = false;  // in full, as far as it has come

  // The upstream.
  std::unique_ptr<UpstreamSide> upstream_;
  bool connecting_ = false;
  bool sent_ = false;         // something of the current request, on this or an earlier connection
  bool heard_ = false;        // something from the upstream, on this connection
  SteadyInstant answer_due_;  // renewed by every sign of life

  // The answer.
  std::string answer_stash_;  // a head that is not complete yet
  bool answer_begun_ = false;
  http::ResponseHead answer_head_;
  http::BodyReader answer_body_;
  http::ClientFraming answer_framing_;
  int answer_status_ = 0;
  bool upstream_keep_alive_ = false;
};

}  // namespace pawl::gateway
