#include "gateway/authorize.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/id.h"
#include "base/text.h"
#include "core/limit/headers.h"

namespace pawl::gateway {
namespace {

http::Fields forwarded_for(const http::Fields& fields) {
  http::Fields out;
  for (const http::Header& field : fields.all()) {
    if (equal_ignoring_case(field.name, "X-Forwarded-For")) (void)out.add(field);
  }
  return out;
}

// The way of one question through the engine.
class AuthorizeDoor final : public Door {
 public:
  explicit AuthorizeDoor(const Authorizer::Parts& parts)
      : engine_(parts.engine),
        loop_(parts.loop),
        tenants_(parts.tenants),
        settings_(parts.settings()) {
    policies = settings_;
  }

  void start(const http::RequestHead& head, const IpAddress& client, const IpAddress& proxy) {
    // Who is believed is a matter of who asks; whose address it is, of whom that is for.
    request::Tenant at_address;
    request::fill_tenant(at_address, settings_->tenants, forwarded_for(head.fields), client);
    const auto found = request::fill_tenant(tenant_, settings_->tenants, head.fields, proxy);
    if (found == request::TenantFound::unknown_key) {
      engine_.handle(*this, request::Unnamed{});
      return;
    }
    if (found == request::TenantFound::missing) {
      engine_.handle(*this, request::Unnamed{settings_->tenants.header});
      return;
    }
    if (tenant_.name.empty()) {
      tenant_ = std::move(at_address);
    } else {
      tenant_.address = std::move(at_address.address);
      tenant_.address_key = std::move(at_address.address_key);
    }
    correlation.tenant_id = tenant_.id;
    fill_counts(counts_, *settings_, tenant_, head);
    engine_.handle(*this, request::Arrived{counts_, false});
  }

  void send_upstream() override {
    answer({.status = 200, .body = "{\"allowed\":true}\n", .extra_fields = limit_fields()});
    engine_.handle(*this, request::Abandoned{.sent = true, .status = 200});
  }
  void refuse(const request::Refuse& refusal) override {
    std::string fields = limit_fields();
    limit::append_retry_after(fields, refusal.retry_after_seconds);
    std::string detail;
    machine.append_words(detail, refusal);
    const request::Refusers refusers = machine.refusers();
    const bool over_limit = refusal.code == http::ProblemCode::rate_limit;
    answer(server::problem_response({.code = refusal.code,
                                     .detail = std::move(detail),
                                     .violated_policies = refusers.all(),
                                     .status = over_limit ? refusal_status : 0},
                                    std::move(fields)));
  }
  // Its decision is counted as a request's is; its end is not, for nobody sees it here.
  void ended(const request::RecordEnd&, const Result<void>&) override {
    const limit::Counts decided = machine.has_answer() ? machine.counts() : limit::Counts();
    tenants_.saw(tenant_, decided, machine.answer(), *settings_);
  }
  void resume(std::move_only_function<void()> continuation) override {
    loop_.dispatch(std::move(continuation));
  }

  Authorizer::Done done;
  int refusal_status = 0;  // 0: that of the problem

 private:
  void answer(server::Response response) {
    response.extra_fields.append("X-Request-Id: ").append(correlation.request_id).append("\r\n");
    std::exchange(done, nullptr)(std::move(response));
  }
  std::string limit_fields() const {
    std::string out;
    if (!machine.has_answer()) return out;
    limit::append_headers(out, settings_->dialects, machine.counts(), machine.answer());
    return out;
  }

  Engine& engine_;
  net::Loop& loop_;
  Tenants& tenants_;
  SettingsPtr settings_;
  request::Tenant tenant_;
  std::vector<limit::Count> counts_;
};

// Of the way from the proxy to pawl, and not of the client's request.
bool is_of_the_connection(std::string_view name) {
  constexpr std::array<std::string_view, 6> names = {
      "Connection", "Content-Length", "Expect", "Transfer-Encoding", "Upgrade", "X-Pawl-Token"};
  return std::ranges::any_of(
      names, [&](std::string_view each) { return equal_ignoring_case(each, name); });
}

// The client's request as it would have come to the gateway, so that the same gate reads it.
std::string head_of(const admin::Context::Question& question) {
  std::string out = question.method + " " + question.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : question.request->headers) {
    if (is_of_the_connection(name)) continue;
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (question.request->header("Host").empty()) out.append("Host: unnamed\r\n");
  return out.append("\r\n");
}

IpAddress client_of(const server::Request& request) {
  std::string_view seen;
  for (const auto& [name, value] : request.headers) {
    if (equal_ignoring_case(name, "X-Forwarded-For")) seen = value;
  }
  const std::size_t comma = seen.rfind(',');
  if (comma != std::string_view::npos) seen.remove_prefix(comma + 1);
  return parse_ip(trim_blanks(seen)).value_or(request.peer);
}

}  // namespace

void Authorizer::decide(const admin::Context::Question& question, Done done) {
  const std::string text = head_of(question);
  http::RequestHead head;
  const auto parsed = http::parse_request(text, head);
  if (!parsed || *parsed != http::HeadProgress::complete) {
    done(server::problem_response(
        {.code = http::ProblemCode::bad_request,
         .detail = "What the proxy passed on is no request that pawl would let through: " +
                   std::string(parsed ? "it does not end" : parsed.error().reason)}));
    return;
  }
  const auto door = std::make_shared<AuthorizeDoor>(parts_);
  door->done = std::move(done);
  door->refusal_status = question.refusal_status;
  door->operation = question.method + " " + std::string(head.path());
  door->correlation.request_id = uuid_v7(parts_.clock.wall_now(), parts_.entropy.next());
  door->start(head, client_of(*question.request), question.request->peer);
}

}  // namespace pawl::gateway
