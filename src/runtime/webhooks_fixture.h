// What the tests of webhooks share: endpoints that are a function, and samples.
#pragma once

#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapter/memory/memory_event_sink.h"
#include "adapter/memory/memory_outbox.h"
#include "adapter/memory/memory_record_store.h"
#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"
#include "runtime/webhooks.h"

namespace pawl {

inline HttpAnswer status_answer(int status, std::vector<HttpField> fields = {}) {
  return {.status = status, .fields = std::move(fields), .complete = true};
}
inline std::unexpected<Error> no_answer(Outcome outcome) {
  return std::unexpected(Error(Code::unavailable, outcome, "no answer: the line is dead"));
}

// Answers by `answer`; where that gives nothing, when the test does, or never.
class FakeEndpoints final : public HttpClient {
 public:
  using Reply = std::optional<Result<HttpAnswer>>;

  void send(HttpRequest request, Done done) override {
    sent.push_back(request);
    Reply reply = answer(request);
    if (reply) return done(std::move(*reply));
    held.push_back(std::move(done));
  }
  // The n-th that waits.
  void release(std::size_t index, Result<HttpAnswer> with) {
    std::exchange(held.at(index), {})(std::move(with));
  }

  std::function<Reply(const HttpRequest&)> answer = [](const HttpRequest&) {
    return status_answer(200);
  };
  std::vector<HttpRequest> sent;
  std::deque<Done> held;
};

inline std::string field_of(const HttpRequest& request, std::string_view name) {
  for (const HttpField& field : request.fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

inline webhook::Endpoint endpoint_named(const std::string& name,
                                        std::vector<std::string> events = {}) {
  return {.name = name,
          .url = "https://" + name + ".example.com/in",
          .secret = Secret<std::string>("the secret of " + name + ", long enough"),
          .events = std::move(events)};
}

inline webhook::Event event_with(const std::string& id, const std::string& type = "invoice.paid") {
  return {.id = id,
          .type = type,
          .tenant = "acme",
          .time = Instant::from_ns(1'700'000'000'000'000'000),
          .data = json::Object{{"amount", 7}}};
}

}  // namespace pawl
