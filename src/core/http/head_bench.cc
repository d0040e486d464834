// What the gate costs a request: reading a head as browsers send it, and building the one that goes
// on.
#include <benchmark/benchmark.h>
#include <string>

#include "core/http/head.h"
#include "core/http/rewrite.h"

namespace pawl::http {
namespace {

constexpr std::string_view request =
    "GET /orders/42?full=1 HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: bench/1.0\r\n"
    "Accept: application/json\r\nAccept-Encoding: gzip, br\r\nX-Tenant-Id: acme\r\n"
    "Authorization: Bearer 0123456789abcdef\r\nConnection: keep-alive\r\n\r\n";

void BM_ParseRequest(benchmark::State& state) {
  RequestHead head;
  for (auto _ : state) benchmark::DoNotOptimize(parse_request(request, head));
}
BENCHMARK(BM_ParseRequest);

void BM_ParseAndRebuild(benchmark::State& state) {
  RequestHead head;
  std::string out;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse_request(request, head));
    out.clear();
    append_upstream_request(out, head,
                            {.client_address = "192.0.2.7",
                             .upstream_host = "u",
                             .request_id = "r",
                             .tenant_header = "X-Tenant-Id",
                             .tenant = "acme"});
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(BM_ParseAndRebuild);

}  // namespace
}  // namespace pawl::http
