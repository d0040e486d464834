// What tests of the proxy stand on: fake connections on both sides, a hand-moved clock, the real
// engine and stores.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/memory/memory_event_sink.h"
#include "gateway/proxy.h"
#include "log/capture_sink.h"
#include "net/fake.h"
#include "runtime/held_records_fixture.h"
#include "runtime/manual_clock.h"
#include "server/http_server.h"
#include "tests/temp_folder.h"

namespace pawl::gateway {

class CountingEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    ++bytes_[15];
    return bytes_;
  }

 private:
  Entropy16 bytes_{};
};

class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest() {
    config.limits.buckets = {paced("global", 9)};
    apply();
    EXPECT_TRUE(server.listen(parse_endpoint("127.0.0.1:0").value()).has_value());
    loop.accepted(client);
  }

  std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\n\r\n";
  }
  // Sends a request and gives the fresh connection it goes out on.
  std::shared_ptr<net::FakeStream> send(std::string_view bytes) {
    client->receive(bytes);
    return loop.accept_connect();
  }
  std::string outcome() {
    const audit::Event last = sink.events().back();
    for (const auto& [name, value] : last.details) {
      if (name == "outcome") return *value.if_string();
    }
    return "none";
  }
  void pass(Duration time) {
    for (const auto& tick : loop.ticks) tick();  // deadlines are counted from here
    clock.advance(time);
    for (const auto& tick : loop.ticks) tick();
  }

  // One a second, and `burst` more at once.
  static config::Bucket paced(std::string name, std::int64_t burst) {
    return {.name = std::move(name),
            .algorithm = config::Algorithm::token_bucket,
            .rate = limit::Rate{1, Duration::seconds(1)},
            .burst = burst};
  }
  void apply() {
    context.settings = make_settings(config);
    tenants->use(context.settings);
    upstreams = make_upstreams(*context.settings, upstreams, [](const HealthChange&) {}).value();
    router.use(upstreams);
  }

  config::Config config;
  ManualClock clock;
  CountingEntropy entropy;
  MemoryCounterStore counters{clock};
  MemoryEventSink sink;
  HeldRecords records{clock};
  Engine engine{{clock, counters, sink, &records}};
  metrics::Registry registry;
  log::CaptureSink lines;
  log::Output output{clock, lines, {}};
  Telemetry telemetry{registry, log::Logger(output)};
  net::FakeLoop loop;
  UpstreamRouter router{loop};
  UpstreamsPtr upstreams;
  TempFolder folder;
  std::vector<NearLimit> near;
  std::unique_ptr<Tenants> tenants =
      Tenants::open({.store = counters,
                     .clock = clock,
                     .telemetry = telemetry,
                     .plans_file = folder / "plans.json",
                     .near = [this](const NearLimit& limit) { near.push_back(limit); },
                     .plans_changed = [] {}})
          .value();
  Load load;
  LoopContext context{.loop = loop,
                      .engine = engine,
                      .clock = clock,
                      .entropy = entropy,
                      .telemetry = telemetry,
                      .router = router,
                      .tenants = *tenants,
                      .load = load,
                      .settings = nullptr};
  server::HttpServer server{loop, clock, {.make_handler = [this](server::Connection& c) {
                              return std::make_shared<Proxy>(context, c);
                            }}};
  std::shared_ptr<net::FakeStream> client = std::make_shared<net::FakeStream>();
};

}  // namespace pawl::gateway
